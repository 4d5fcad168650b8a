"""The useful yield, its cost, and the design of least cost."""

import math

import mpmath
import numpy as np
import pytest
from tests.numerics.precision import close
from tests.redundancy import oracle

from decentral import InfeasibleError
from decentral.redundancy import (
    best_design,
    cost_per_yield,
    stage_outage,
    useful_yield,
)

RTOL = 1e-12
TAIL_RTOL = 1e-10  # what the docstring promises up to L = 10**8


# L, q, kappa, s, yield.
YIELDS = [
    (3, 1.0, 1.0, None, "0"),
    (3, 1.0, 0.5, None, "0.125"),
    (3, 1.0, 0.5, 2, "0"),
    (3, 1.0, 0.0, 2, "0"),
    (3, 0.0, 1.0, 0, "1"),
    (3, 0.25, 1.0, None, "0.421875"),
    (3, 0.25, 1.0, 3, "0.421875"),
    (3, 0.25, 0.0, 3, "1"),
    (10**8, 1e-8, 0.5, 0, "0.3678794393320451003771771"),
    (10**6, 0.3, 1e-9, 299000, "0.01456386632312009542842186"),
    (50, 0.9999999999999999, 0.5, 49, "9.860761315262647567646607e-30"),
]


@pytest.mark.parametrize(("stages", "q", "kappa", "skips", "value"), YIELDS)
def test_yields_by_hand(stages, q, kappa, skips, value):
    found = useful_yield(stages, q, kappa, skips=skips)
    assert close(found, mpmath.mpf(value), TAIL_RTOL)


def test_yields_against_fifty_digits():
    rng = np.random.default_rng(8)
    for _ in range(150):
        stages = int(rng.choice([1, 5, 48, 1000]))
        q = float(rng.choice([10 ** rng.uniform(-9, 0), 1 - 10 ** rng.uniform(-9, -1)]))
        kappa = float(rng.choice([0, 1, rng.random(), 1 - 1e-9]))
        skips = None if rng.integers(3) == 0 else int(rng.integers(0, stages + 2))
        exact = oracle.useful_yield(stages, q, kappa, skips)
        if exact > mpmath.mpf(10) ** -290:
            assert close(useful_yield(stages, q, kappa, skips=skips), exact, 1e-11)


def test_cost():
    yield_ = useful_yield(48, stage_outage(0.9, 2, domain_outage=0.01), 0.1, skips=3)
    cost = cost_per_yield(48, 0.9, 2, 0.1, skips=3, domain_outage=0.01)
    assert math.isclose(cost, 96 / yield_, rel_tol=RTOL)
    assert cost_per_yield(3, 0.5, 1, 1.0, domain_outage=1.0) == math.inf


# L, a, kappa, rho, cap, best r, cost. In the last four r = 1 is a local minimum or a near tie.
DESIGNS = [
    (3, 1.0, 0.5, 0.0, None, 1, "3"),
    (3, 0.0, 0.5, 0.0, None, 1, "24"),
    (3, 0.5, 0.25, 1.0, None, 1, "7.1111111111111111111"),
    (3, 0.5, 0.0, 0.1, None, 1, "3"),
    (3, 0.5, 0.0, 0.0, 2, 1, "3.4285714285714285714"),
    (3, 0.5, 1.0, 0.1, None, 3, "18.428535435338156768"),
    (3, 0.5, 0.5, 0.1, 0, 3, "18.428535435338156768"),
    (100, 0.5, 0.5, 0.0, None, 8, "972.73842374427873986"),
    (100, 0.5, 0.5, 0.0, 0, 9, "1094.3307267123135823"),
    (1000, 0.5, 0.01, 0.001, 5, 9, "10031.39811239882415"),
    (10**6, 0.9, 1e-6, 1e-4, None, 1, "1105270.3934706551358"),
    (10**6, 0.9, 0.5, 1e-4, 0, 7, "2.0900048690764226404e+50"),
    (2000, 0.01, 0.9, 0.0, 0, 984, "2178041.0289191443856"),
    (2, 0.5857864376269049, 0.5, 0.0, 0, 1, "5.8284271247461912245"),
    (2, 0.05, 0.9, 0.0, None, 19, "87.135165592241913667"),
    (20, 0.05, 0.5, 0.0, None, 70, "1848.2309961057888312"),
    (5, 0.1, 0.5, 0.0, None, 1, "99.347411689464825405"),
]


@pytest.mark.parametrize(("stages", "a", "kappa", "rho", "cap", "replicas", "cost"), DESIGNS)
def test_designs_by_hand(stages, a, kappa, rho, cap, replicas, cost):
    found = best_design(stages, a, kappa, domain_outage=rho, max_skips=cap)
    assert found.replicas == replicas
    assert close(found.cost, mpmath.mpf(cost), 1e-10)


@pytest.mark.parametrize("seed", [9])
def test_designs_against_exhaustion(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        stages = int(rng.choice([1, 2, 7, 48, 200]))
        a, kappa = float(rng.uniform(0.05, 0.99)), float(rng.choice([0, 1, rng.random()]))
        rho = float(rng.choice([0.0, 1e-3, 0.1]))
        cap = None if rng.integers(2) else int(rng.integers(0, 6))
        replicas, cost = oracle.best_design(stages, a, kappa, rho, cap)
        _, rigid = oracle.best_rigid_design(stages, a, rho)
        found = best_design(stages, a, kappa, domain_outage=rho, max_skips=cap)
        assert close(found.cost, cost)
        assert close(found.cost_without_skips, rigid)
        assert found.replicas == replicas
        assert found.gain == found.cost_without_skips / found.cost
        again = cost_per_yield(
            stages, a, found.replicas, kappa, skips=found.skips, domain_outage=rho
        )
        assert math.isclose(again, found.cost, rel_tol=1e-14)
        assert found.skips <= (stages if cap is None else cap)


def test_the_skips_of_a_design_are_the_least_that_saturate():
    """From the claims: the search cap of the source, and what lies beyond it."""
    capped, free = (best_design(128, 0.9, 0.02, max_skips=cap) for cap in (24, None))
    assert (capped.replicas, capped.skips) == (1, 24)
    assert (free.replicas, free.skips) == (1, 48)
    assert round(capped.gain, 3) == 2.637
    assert round(free.gain, 3) == 2.639
    assert (
        oracle.drop(128, 0.1 * 0.98 / 0.998, 48)
        < 2.0**-54
        < oracle.drop(128, 0.1 * 0.98 / 0.998, 47)
    )
    assert best_design(128, 0.9, 0.0, max_skips=200).skips == best_design(128, 0.9, 0.0).skips
    assert best_design(5, 1.0, 0.5).skips == 0


def test_designs_broadcast():
    stages, kappa = np.array([16, 48, 128]), np.array([[0.02], [0.1], [0.4]])
    many = best_design(stages, 0.9, kappa, max_skips=24)
    assert many.replicas.shape == many.gain.shape == (3, 3)
    for i in range(3):
        for j in range(3):
            one = best_design(int(stages[j]), 0.9, float(kappa[i, 0]), max_skips=24)
            assert one.replicas == many.replicas[i, j]
            assert one.skips == many.skips[i, j]
            assert one.cost == many.cost[i, j]
            assert one.cost_without_skips == many.cost_without_skips[i, j]


def test_rarely_live_replicas():
    """The yield keeps its precision where 1 - q would not (found by attack)."""
    assert math.isclose(cost_per_yield(1, 1e-15, 1, 1.0), 1e15, rel_tol=RTOL)
    for a in (1e-3, 1e-6):
        found = best_design(1, a, 1.0)
        assert found.replicas == 1
        assert math.isclose(found.cost, 1 / a, rel_tol=RTOL)
    assert best_design(48, 1e-6, 0.5).replicas > 10**6


def test_large_replica_counts_are_searched_exactly():
    """A million replicas and more: the same as scanning a window around the best."""
    for cap in (0, 2, None):
        found = best_design(50, 1e-5, 0.5, max_skips=cap)
        assert 1e5 < found.replicas < 1e7
        near = found.replicas + np.arange(-2000, 2001)
        costs = cost_per_yield(50, 1e-5, near, 0.5, skips=cap)
        assert found.cost == costs.min()


def test_designs_without_an_answer():
    for arguments, options in (
        ((3, 1.0, 1.0), {"domain_outage": 1.0}),
        ((3, 0.0, 0.5), {"max_skips": 2}),
        ((3, 0.0, 1.0), {}),
        ((10**6, 0.9, 1.0), {"domain_outage": 0.5}),
    ):
        with pytest.raises(InfeasibleError, match="no number of replicas makes a useful"):
            best_design(*arguments, **options)
    with pytest.raises(ValueError, match="availability must be 0 or at least 1e-06"):
        best_design(100, [0.5, 1e-7], 0.9)


def test_no_design_without_skips():
    found = best_design(10**6, 0.9, 0.01, domain_outage=1e-2)
    assert found.cost_without_skips == math.inf == found.gain


def test_no_yield_where_every_stage_is_out_and_skips_take_all():
    np.testing.assert_array_equal(useful_yield(3, 1.0, 1.0, skips=[0, 1, 2, 3]), 0)


def test_costs_beyond_what_a_double_holds_are_infinite():
    """The yield of 1e-310 and a bit is not 0, but its inverse exceeds 1.8e308."""
    down = 1 - 10**-0.31
    assert 0 < useful_yield(1000, down, 1.0) < 1e-309
    assert cost_per_yield(1000, 1.0, 1, 1.0, domain_outage=down) == math.inf
    with pytest.raises(InfeasibleError, match="it exceeds 1e308"):
        best_design(1000, 0.9, 1.0, domain_outage=down)


def test_the_cost_of_very_many_workers():
    """More of them than a whole number of 64 bits holds."""
    assert cost_per_yield(10**8, 1.0, 2**53, 0.0) == 1e8 * 2.0**53


@pytest.mark.parametrize("kappa", [0.0, 0.02, 0.1, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("a", [0.5, 0.9, 0.999])
def test_the_skips_of_a_design_are_the_fewest_that_lose_nothing(a, kappa):
    """With one skip fewer, dropping takes more than 2**-54 of the yield."""
    stages = 60
    found = best_design(stages, a, kappa)
    q = mpmath.mpf(float(stage_outage(a, found.replicas)))
    whole = (1 - mpmath.mpf(kappa) * q) ** stages
    kept = [
        mpmath.binomial(stages, d) * q**d * (1 - q) ** (stages - d) * (1 - mpmath.mpf(kappa)) ** d
        for d in range(stages + 1)
    ]

    def lost(skips):
        return mpmath.fsum(kept[skips + 1 :]) / whole

    assert lost(found.skips) <= 2.0**-54
    assert found.skips == 0 or lost(found.skips - 1) > 2.0**-54


def test_a_loss_of_exactly_the_last_bit_counts_as_none():
    assert best_design(2, 1 - 2.0**-27, 0.0).skips == 1


def test_a_design_of_domains_that_are_hardly_ever_up():
    """The outage rounds to 1, and still one microbatch in 2**54 is useful, without any skip."""
    found = best_design(1, 0.5, 1.0, domain_outage=1 - 2.0**-53)
    assert (found.replicas, found.skips) == (1, 0)
    assert math.isclose(found.cost, 2.0**54, rel_tol=1e-12)


def test_the_skips_of_unlike_designs_do_not_disturb_each_other():
    stages, a = np.array([5, 128, 1, 3000]), np.array([1.0, 0.9, 0.5, 0.99])
    many = best_design(stages, a, 0.5)
    for i in range(stages.size):
        assert many.skips[i] == best_design(int(stages[i]), float(a[i]), 0.5).skips


def test_many_designs_are_of_whole_numbers():
    many = best_design([5, 128], 0.9, 0.5)
    assert many.replicas.dtype == np.int64
    assert many.skips.dtype == np.int64


def test_of_designs_that_cost_the_same_the_least_is_taken():
    """At a = 2 - 2^(1/L) two replicas cost what one does; in doubles, a little more or less."""
    stages = np.arange(1, 60)
    live = 2 - 2 ** (1 / stages[1:])
    assert np.all(best_design(stages[1:], live, 0.0, max_skips=0).replicas == 1)
    assert np.all(best_design(stages[1:], live * (1 - 1e-10), 0.0, max_skips=0).replicas == 2)


POOL = {"pool_outages": [0.1, 0.2], "pool_of_stage": [0, 1, 0]}
BAD = [
    (useful_yield, (5, 0.5, -1), {}, "skip_loss must be non-negative"),
    (useful_yield, (5, 0.5, 1.01), {}, "skip_loss must be a probability of at most 1"),
    (cost_per_yield, (5, 0.5, 0, 0.1), {}, "replicas must be at least 1"),
    (best_design, (5, 0.5, []), {}, "skip_loss must have at least one entry"),
    (best_design, (5, 0.5, 0.1), {"max_skips": -2}, "max_skips must be non-negative"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
