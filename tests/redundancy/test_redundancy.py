"""decentral.redundancy against an oracle that shares no code with it, and by hand."""

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from tests.redundancy import oracle

from decentral import InfeasibleError
from decentral.redundancy import (
    allocation,
    best_allocation,
    best_design,
    cost_per_yield,
    drop_probability,
    log_drop_probability,
    min_replicas,
    shared_pool_drop_probability,
    stage_outage,
    success_floor,
    unequal_drop_probability,
    useful_yield,
)

RTOL = 1e-12
TAIL_RTOL = 1e-10  # what the docstring promises up to L = 10**8


def close(value, exact, rtol=RTOL):
    """Whether a float lies within a relative distance of a number of any precision."""
    if isinstance(exact, Fraction):
        exact = mpmath.mpf(exact.numerator) / exact.denominator
    return abs(mpmath.mpf(float(value)) - exact) <= rtol * abs(exact)


# --- outage ---------------------------------------------------------------------------------


def test_outage_of_the_case():
    """From the cases: never below the domain's outage."""
    found = stage_outage(0.95, [1, 2, 3, 100], domain_outage=0.01)
    np.testing.assert_allclose(found, [0.0595, 0.012475, 0.01012375, 0.01], rtol=1e-14)
    assert np.all(found >= 0.01)


@pytest.mark.parametrize("a", [1e-9, 1e-3, 0.1, 0.4999, 0.5, 0.9, 0.999, 1.0, 0.0])
def test_outage(a):
    for r in (1, 2, 7, 100, 10_000):
        for rho in (0.0, 1e-9, 0.3, 1.0):
            exact = oracle.outage(a, r, rho)
            if exact > 1e-300 or exact == 0:
                assert close(stage_outage(a, r, domain_outage=rho), exact), (a, r, rho)


# --- tails ----------------------------------------------------------------------------------

# L, q, s, drop, log drop: where double precision comes to its limits.
HARD = [
    (1, 0.5, 1, "0", "-inf"),
    (5, 0.0, 0, "0", "-inf"),
    (5, 1.0, 4, "1", "0"),
    (5, 1.0, 5, "0", "-inf"),
    (5, 5e-324, 0, None, "-742.8306340089471619395065"),
    (5, 5e-324, 1, None, "-1486.577558749768478944197"),
    (10**8, 5e-324, 0, None, "-726.0193911774288968419634"),
    (50, 0.9999999999999999, 48, "1", "-1.509929076399587544450203e-29"),
    (50, 0.9999999999999999, 49, "0.9999999999999944488848769", "-5.551115123125783010266949e-15"),
    (50, 1 - 2**-30, 40, "1", "-5.042757193027341882625101e-81"),
    (10**8, 1e-17, 0, "9.999999995000000767090906e-10", "-20.72326583744641107957783"),
    (10**8, 0.5, 5 * 10**7, "0.4999601057720595923021817", "-0.6932269721990942972292677"),
    (10**8, 0.5, 6 * 10**7, None, "-2013560.077642736781597461"),
    (10**8, 0.01, 2 * 10**6, None, "-391370.1410169036931616993"),
    (10**8, 0.9, 10**8 - 1, None, "-10536051.56578262765558782"),
    (10**8, 0.999, 10**8 - 1, None, "-100050.0333583534389210469"),
    (10**8, 1e-8, 50, "2.418160757611962487110599e-67", "-153.3901939969079147938214"),
    (10**6, 0.001, 5000, None, "-4061.774944187503767494424"),
    (10**5, 0.97, 96000, "1", "-4.892127989551011816423412e-70"),
]


@pytest.mark.parametrize(("stages", "q", "skips", "drop", "log_drop"), HARD)
def test_hard_tails(stages, q, skips, drop, log_drop):
    if drop is not None:
        assert close(drop_probability(stages, q, skips=skips), mpmath.mpf(drop), TAIL_RTOL)
    found = float(log_drop_probability(stages, q, skips=skips))
    if log_drop == "-inf":
        assert found == -math.inf
    else:
        assert close(found, mpmath.mpf(log_drop), TAIL_RTOL)


@pytest.mark.parametrize("stages", [1, 2, 10, 48, 1000, 10**5, 10**6])
def test_tails_against_fifty_digits(stages):
    rng, deep, plain = np.random.default_rng(stages), 0, 0
    for _ in range(60):
        q = float(10 ** rng.uniform(-12, -0.01))
        mean, spread = stages * q, math.sqrt(stages * q * (1 - q))
        skips = int(min(stages - 1, max(0, mean + rng.uniform(-3, 60) * spread)))
        exact = oracle.drop(stages, q, skips)
        if exact > mpmath.mpf(10) ** -300:
            assert close(drop_probability(stages, q, skips=skips), exact, TAIL_RTOL), (q, skips)
            plain += 1
        else:
            deep += 1
        logarithm = oracle.log_drop(stages, q, skips)
        assert close(log_drop_probability(stages, q, skips=skips), logarithm, TAIL_RTOL)
    assert plain > 20
    assert deep > 0 or stages < 1000


@pytest.mark.parametrize(
    ("q", "skips"), [(0.5, 50_150_000), (0.01, 1_030_000), (1e-6, 350), (1e-9, 40)]
)
def test_tails_of_a_hundred_million_stages(q, skips):
    exact = oracle.drop(10**8, q, skips)
    assert close(drop_probability(10**8, q, skips=skips), exact, TAIL_RTOL)


def test_tails_of_many_stages_near_one():
    """There SciPy's incomplete beta function is a hundred times less precise (found by attack)."""
    for q, skips in ((5.4375e-08, 4), (1.2e-8, 0), (9e-8, 6), (2e-6, 180)):
        exact = oracle.drop(10**8, q, skips)
        assert close(drop_probability(10**8, q, skips=skips), exact, TAIL_RTOL)
        yielded = useful_yield(10**8, q, 0.0, skips=skips)
        assert close(yielded, 1 - exact, TAIL_RTOL)
        assert close(success_floor(10**8, q, skips=skips), 1 - exact, TAIL_RTOL)


def test_one_log_for_tail_and_its_underflow():
    """Across the point where the method changes the logarithm stays smooth."""
    q = 10.0 ** -np.linspace(99.9, 100.1, 41)
    logs = log_drop_probability(3, q, skips=2)
    assert np.any(logs < math.log(1e-300))
    assert np.any(logs > math.log(1e-300))
    np.testing.assert_allclose(logs, 3 * np.log(q), rtol=1e-14)


@pytest.mark.parametrize(("stages", "replicas"), [(1, 1), (2, 2), (3, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize(("a", "rho"), [(0.9, 0.0), (0.75, 0.125), (0.3, 0.01)])
def test_all_failure_patterns(stages, replicas, a, rho):
    q = stage_outage(a, replicas, domain_outage=rho)
    for skips in range(stages + 1):
        exact = oracle.drop_by_patterns(stages, replicas, a, rho, skips)
        assert close(drop_probability(stages, q, skips=skips), exact)
        for kappa in (0.0, 0.02, 0.5, 1.0):
            exact = oracle.yield_by_patterns(stages, replicas, a, rho, skips, kappa)
            assert close(useful_yield(stages, q, kappa, skips=skips), exact)


def test_simulation():
    rng = np.random.default_rng(3)
    for stages, r, a, rho, skips in (
        (48, 1, 0.9, 0.0, 4),
        (48, 2, 0.9, 0.01, 1),
        (9, 3, 0.6, 0, 0),
    ):
        estimate, error = oracle.simulate_drop(stages, r, a, rho, skips, 20_000, rng)
        exact = drop_probability(stages, stage_outage(a, r, domain_outage=rho), skips=skips)
        assert abs(estimate - exact) < 4 * error


# --- floor and replica count ----------------------------------------------------------------


def test_floor():
    np.testing.assert_allclose(success_floor(48, 1e-3), 0.999**48, rtol=1e-14)
    for stages, rho, skips in (
        (48, 1e-3, 1),
        (10**6, 1e-9, 0),
        (5, 0.9, 4),
        (3, 1.0, 0),
        (3, 1, 3),
    ):
        exact = 1 - oracle.drop(stages, rho, skips)
        assert close(success_floor(stages, rho, skips=skips), exact)
        reached = drop_probability(stages, stage_outage(0.9, 60, domain_outage=rho), skips=skips)
        assert math.isclose(1 - reached, success_floor(stages, rho, skips=skips), rel_tol=1e-9)


# L, a, target, s, rho, least r (None: there is none). Ties are met, in decimals too.
LEAST = [
    (1, 0.5, 0.25, 0, 0.0, 2),
    (1, 0.5, 0.25 * (1 - 2e-12), 0, 0.0, 3),
    (2, 0.5, 0.4375, 0, 0.0, 2),
    (2, 0.5, 0.4375 * (1 - 2e-12), 0, 0.0, 3),
    (2, 0.5, 0.0625, 1, 0.0, 2),
    (3, 0.5, 0.15625, 1, 0.0, 2),
    (3, 0.75, 0.15625, 1, 0.0, 1),
    (1, 0.5, 2.0**-900, 0, 0.0, 900),
    (1, 0.5, 0.25, 0, 0.25, None),
    (1, 0.5, 0.25000000000000006, 0, 0.25, None),
    (1, 0.5, 0.25 * (1 + 4e-12), 0, 0.25, 40),
    (1, 0.5, 0.625, 0, 0.25, 1),
    (2, 0.5, 0.0625, 1, 0.25, None),
    (2, 0.5, 0.4375, 0, 0.25, None),
    (1, 0.1, 0.1, 0, 0.1, None),
    (1, 1.0, 0.25, 0, 0.25, 1),
    (1, 1.0, 0.25 * (1 - 2e-12), 0, 0.25, None),
    (1, 0.7, 0.09, 0, 0.0, 2),
    (1, 0.6, 0.16, 0, 0.0, 2),
    (1, 0.25, 0.421875, 0, 0.0, 3),
    (2, 0.75, 0.12109375, 0, 0.0, 2),
    (5, 0.5, 0.0, 0, 0.0, None),
    (5, 0.5, 0.0, 5, 0.0, 1),
    (5, 0.5, 0.0, 9, 1.0, 1),
    (5, 1.0, 0.0, 0, 0.0, 1),
    (5, 1.0, 0.0, 0, 5e-324, None),
    (5, 1 - 2.0**-53, 0.0, 4, 5e-324, None),
    (5, 0.0, 0.999, 0, 0.0, None),
    (5, 0.0, 1.0, 0, 0.0, 1),
    (5, 0.5, 1.0, 0, 1.0, 1),
    (5, 0.5, 0.9, 4, 1.0, None),
    (5, 1e-3, 1e-3, 0, 0.0, 8513),
    (10**6, 0.9, 1e-9, 0, 0.0, 15),
    (10**6, 0.9, 1e-9, 3, 0.0, 8),
    (10**8, 0.5, 1e-300, 0, 0.0, 1024),
    (10**8, 0.9, 1e-12, 100, 1e-9, 7),
    (10**8, 0.9, 0.5, 10**6, 0.01, 9),
    (10**4, 0.9, 1e-300, 50, 0.0, 9),
]


@pytest.mark.parametrize(("stages", "a", "target", "skips", "rho", "least"), LEAST)
def test_replicas_by_hand(stages, a, target, skips, rho, least):
    if least is None:
        with pytest.raises(InfeasibleError, match="no number of replicas") as caught:
            min_replicas(stages, a, target, skips=skips, domain_outage=rho)
        exact = oracle.drop(stages, rho if a else 1.0, skips)
        assert close(caught.value.floor, exact) or exact < 1e-300
        assert caught.value.shortfall == max(caught.value.floor - target, 0)
    else:
        assert min_replicas(stages, a, target, skips=skips, domain_outage=rho) == least


def test_replicas_against_a_linear_search():
    rng = np.random.default_rng(5)
    for _ in range(250):
        stages = int(rng.choice([1, 2, 5, 48, 1000]))
        a, target = float(rng.uniform(0.2, 0.999)), float(10 ** rng.uniform(-30, -0.01))
        skips = int(rng.integers(0, min(stages, 6)))
        rho = float(rng.choice([0.0, 1e-6, 1e-3, 0.05]))
        least = oracle.least_replicas(stages, a, target, skips, rho)
        found = min_replicas(stages, a, target, skips=skips, domain_outage=rho, infeasible="inf")
        assert found == (math.inf if least is None else least)


def test_replicas_where_the_target_is_a_drop_rate():
    """The rate that r replicas give, as computed, needs r replicas; a hair less needs more."""
    rng = np.random.default_rng(6)
    stages = rng.integers(1, 10**6, 5000)
    a, r = rng.uniform(0.3, 0.99, 5000), rng.integers(1, 30, 5000)
    skips = rng.integers(0, 8, 5000)
    target = drop_probability(stages, stage_outage(a, r), skips=skips)
    usable = (target > 1e-300) & (target < 1)
    stages, a, r, skips, target = (x[usable] for x in (stages, a, r, skips, target))
    before = drop_probability(stages, stage_outage(a, np.maximum(r - 1, 1)), skips=skips)
    steep = target * (1 + 1e-11) < before  # so many replicas multiply the rounding of a
    steep |= r == 1
    np.testing.assert_array_equal(min_replicas(stages, a, target, skips=skips)[steep], r[steep])
    less = target * (1 - 1e-11)
    assert np.all(min_replicas(stages, a, less, skips=skips)[steep] > r[steep])


def test_replicas_close_above_the_floor():
    """The closed form cancels there; what is returned is right all the same."""
    for a in (1e-4, 0.1, 0.9):
        for gap in (1e-3, 1e-9, 1e-11, 2e-12):
            for skips in (0, 2):
                floor = float(drop_probability(48, 1e-3, skips=skips))
                target = floor * (1 + gap)
                r = min_replicas(48, a, target, skips=skips, domain_outage=1e-3)
                drops = drop_probability(
                    48, stage_outage(a, [r - 1, r], domain_outage=1e-3), skips=skips
                )
                assert drops[1] <= target * (1 + 2e-12)
                assert target * (1 + 1e-12) < drops[0]
                with pytest.raises(InfeasibleError, match="and not reached"):
                    min_replicas(48, a, floor, skips=skips, domain_outage=1e-3)


def test_many_sizings_at_once():
    rng = np.random.default_rng(7)
    stages, skips = rng.integers(1, 500, (50, 40)), rng.integers(0, 9, 40)
    target = 10 ** rng.uniform(-12, -0.1, (50, 1))
    found = min_replicas(stages, 0.8, target, skips=skips)
    assert found.shape == (50, 40)
    assert found.dtype == np.int64

    def drop(r):
        return drop_probability(stages, stage_outage(0.8, r), skips=skips)

    assert np.all(drop(found) <= target)
    assert np.all((found == 1) | (drop(np.maximum(found - 1, 1)) > target))
    for i, j in ((0, 0), (49, 39), (20, 7)):
        one = min_replicas(stages[i, j], 0.8, target[i, 0], skips=skips[j])
        assert isinstance(one, int)
        assert one == found[i, j]


def test_the_error_names_the_entry():
    message = r"target 0.01 at index \[1\]: .* floor of 0.0468891,"
    with pytest.raises(InfeasibleError, match=message) as caught:
        min_replicas(48, 0.9, [0.1, 0.01], domain_outage=1e-3)
    assert caught.value.floor == drop_probability(48, 1e-3)
    for a in (1e-300, 1e-310):
        with pytest.raises(ValueError, match="fewer than 2\\*\\*52 replicas"):
            min_replicas(48, a, 0.01)
    with pytest.raises(InfeasibleError, match="set by an availability of 0"):
        min_replicas(48, 0.0, 0.01)
    with pytest.raises(InfeasibleError, match="set by the failure domains and not reached"):
        min_replicas(1, 0.5, 0.25, domain_outage=0.25)


# --- yield, cost, design --------------------------------------------------------------------

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


def test_designs_against_exhaustion():
    rng = np.random.default_rng(9)
    for _ in range(120):
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


# --- unequal stages -------------------------------------------------------------------------


def test_poisson_binomial():
    rng = np.random.default_rng(10)
    for size in (1, 2, 5, 10):
        outages = rng.random(size) * 10.0 ** rng.integers(-12, 1, size)
        for skips in range(size + 2):
            exact = oracle.poisson_binomial_drop(outages.tolist(), skips)
            assert close(unequal_drop_probability(outages, skips=skips), exact)
    outages = rng.random(60) ** 8
    for skips in (0, 3, 30, 59):
        exact = oracle.poisson_binomial_drop_mp(outages.tolist(), skips)
        assert close(unequal_drop_probability(outages, skips=skips), exact)
    rows = rng.random((4, 3, 20))
    many = unequal_drop_probability(rows, skips=4)
    assert many.shape == (4, 3)
    assert many[2, 1] == unequal_drop_probability(rows[2, 1], skips=4)


def test_equal_stages_collapse_to_the_binomial_law():
    for skips in (0, 1, 7):
        found = unequal_drop_probability(np.full(48, 0.013), skips=skips)
        assert math.isclose(found, drop_probability(48, 0.013, skips=skips), rel_tol=RTOL)


# availabilities, workers, s, least drop, the allocations that reach it.
ALLOCATIONS = [
    ([0.5, 0.5], 5, 0, "11/32", [(2, 3), (3, 2)]),
    ([0.5, 0.75], 5, 1, "1/512", [(1, 4)]),
    ([0.5] * 3, 7, 1, "7/64", [(2, 2, 3), (2, 3, 2), (3, 2, 2)]),
    ([0.875, 0.875, 0.75], 5, 1, "65/8192", [(2, 2, 1)]),  # one at a time does not get there
    ([0.75, 0.75, 0.75, 0.5], 7, 1, "767/8192", [(2, 2, 2, 1)]),
    ([0.75, 0.75, 0.5, 0.5], 8, 2, "129/16384", [(3, 3, 1, 1)]),
    ([0.0, 0.5, 0.5], 6, 1, "11/32", [(1, 2, 3), (1, 3, 2)]),
    ([1.0, 0.5, 0.5], 6, 0, "11/32", [(1, 2, 3), (1, 3, 2)]),
    ([0.5], 3, 0, "1/8", [(3,)]),
]


def _drop(availabilities, replicas, skips):
    return unequal_drop_probability(stage_outage(availabilities, replicas), skips=skips)


@pytest.mark.parametrize(("live", "workers", "skips", "least", "optima"), ALLOCATIONS)
def test_allocations_by_hand(live, workers, skips, least, optima):
    found = best_allocation(live, workers, skips=skips)
    assert tuple(found) in optima
    assert close(_drop(live, found, skips), Fraction(least))


def test_allocations_against_enumeration():
    rng = np.random.default_rng(11)
    for trial in range(250):
        size = int(rng.integers(1, 6))
        live = rng.choice([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0], size)
        if trial % 2:
            live = rng.random(size)
        workers, skips = size + int(rng.integers(0, 8)), int(rng.integers(0, size + 2))
        least, _ = oracle.best_allocation_by_enumeration(live.tolist(), workers, skips)
        found = best_allocation(live, workers, skips=skips)
        assert found.sum() == workers
        assert found.min() >= 1
        assert close(_drop(live, found, skips), least), (live, workers, skips)


def test_allocation_of_many_workers():
    """No move of one worker improves; without skips the greedy way and the search agree."""
    rng = np.random.default_rng(12)
    live = rng.uniform(0.6, 0.98, 4)[np.arange(32) % 4]
    for skips in (0, 1, 3):
        found = best_allocation(live, 120, skips=skips)
        best = _drop(live, found, skips)
        for i in range(4):
            for j in range(4):
                moved = found.copy()
                giver = np.flatnonzero(live == live[i])[0]
                taker = np.flatnonzero(live == live[j])[-1]
                moved[giver] -= 1
                moved[taker] += 1
                if moved.min() >= 1:
                    assert _drop(live, moved, skips) >= best * (1 - RTOL)
    one = best_allocation(live, 120)
    padded = best_allocation(np.append(live, 1e-16), 121, skips=1)  # a stage that is never live
    assert math.isclose(_drop(live, one, 0), _drop(live, padded[:-1], 0), rel_tol=RTOL)


def test_the_bounds_of_the_search_are_bounds():
    """With no skips they are the least drop itself, and with skips below it."""
    rng = np.random.default_rng(14)
    for _ in range(20):
        kinds, members = np.sort(rng.uniform(0.3, 0.95, 3)), rng.integers(1, 4, 3)
        live, workers = np.repeat(kinds, members), int(members.sum() + rng.integers(1, 12))
        hope = allocation._Search(kinds, members, workers, 2).fear[0][-1]
        for skips in range(3):
            least = _drop(live, best_allocation(live, workers, skips=skips), skips)
            assert hope[skips] <= least * (1 + RTOL)
            if skips == 0:
                assert hope[0] >= least * (1 - RTOL)


def test_allocation_one_by_one_among_nearly_equal_stages():
    rng = np.random.default_rng(15)
    options = np.array([o for o in product(range(1, 8), repeat=5) if sum(o) == 12])
    for _ in range(200):
        live = rng.uniform(0.5, 0.6, 5)
        least = _drop(live, options, 0).min()
        assert _drop(live, best_allocation(live, 12), 0) <= least * (1 + RTOL)
    options = np.array([[count, 9 - count] for count in range(1, 9)])
    for other in np.linspace(0.3, 0.99, 1000):  # close by the points where the best changes
        live = np.array([0.5, other])
        least = _drop(live, options, 0).min()
        assert _drop(live, best_allocation(live, 9), 0) <= least * (1 + RTOL)


def test_allocation_of_very_many_workers():
    """Where all gains underflow the stages still share alike (found by attack)."""
    np.testing.assert_array_equal(best_allocation([0.9, 0.9], 1000), [500, 500])
    for skips in (0, 1):
        np.testing.assert_array_equal(best_allocation([1.0] * 3, 9, skips=skips), [3, 3, 3])
    many = best_allocation([0.9, 0.5, 0.0], 10**12)
    assert many.sum() == 10**12
    assert many[2] == 1
    # The log-outages, which are as good as equal: r log(1 - a).
    assert math.isclose(many[0] * math.log(0.1), many[1] * math.log(0.5), rel_tol=1e-9)
    np.testing.assert_array_equal(best_allocation([0.9] * 5, 10**6 + 2, skips=2)[-3:], 200_000)
    with pytest.raises(ValueError, match="workers must be fewer for 2 kinds"):
        best_allocation([0.9, 0.5], 10**5, skips=1)
    with pytest.raises(ValueError, match="workers must be so few that more than 1e-300 is dropped"):
        best_allocation([0.9, 0.5, 0.7], 3000, skips=1)


def test_allocation_without_an_answer(monkeypatch):
    with pytest.raises(InfeasibleError, match="one for each of 3 stages, but it is 2") as caught:
        best_allocation([0.5] * 3, 2)
    assert caught.value.shortfall == 1
    live = [0.987, 0.972, 0.694, 0.661, 0.697]  # here a narrow first sweep misses the best
    best = best_allocation(live, 15, skips=2)
    monkeypatch.setattr("decentral.redundancy.allocation._BEAM", 1)
    np.testing.assert_array_equal(best_allocation(live, 15, skips=2), best)
    monkeypatch.setattr("decentral.redundancy.allocation._MOST_STATES", 1)
    with pytest.raises(ValueError, match="would keep more than 1 states"):
        best_allocation(live, 15, skips=2)


# --- shared pools ---------------------------------------------------------------------------


def test_shared_pools_against_all_states():
    rng = np.random.default_rng(13)
    for _ in range(120):
        stages, pools = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        live, replicas = rng.random(stages), rng.integers(1, 4, stages)
        down, member = rng.random(pools) ** 4, rng.integers(0, pools, stages)
        skips = int(rng.integers(0, stages + 1))
        exact = oracle.shared_pool_drop(
            live.tolist(), replicas.tolist(), down.tolist(), member.tolist(), skips
        )
        found = shared_pool_drop_probability(
            stages, live, replicas, pool_outages=down, pool_of_stage=member, skips=skips
        )
        assert close(found, exact)


def test_a_pool_for_each_stage_is_the_independent_law():
    for skips in (0, 2, 48):
        found = shared_pool_drop_probability(
            48, 0.9, 2, pool_outages=[1e-3] * 48, pool_of_stage=range(48), skips=skips
        )
        q = stage_outage(0.9, 2, domain_outage=1e-3)
        exact = drop_probability(48, q, skips=skips)
        assert math.isclose(found, exact, rel_tol=RTOL) or found == exact == 0


def test_one_pool_for_all():
    r = np.arange(1, 5)[:, None]
    found = shared_pool_drop_probability(
        48, 0.9, r, pool_outages=[0.01], pool_of_stage=[0] * 48, skips=4
    )
    exact = 0.01 + 0.99 * drop_probability(48, stage_outage(0.9, r[:, 0]), skips=4)
    np.testing.assert_allclose(found, exact, rtol=RTOL)


# --- errors ---------------------------------------------------------------------------------

POOL = {"pool_outages": [0.1, 0.2], "pool_of_stage": [0, 1, 0]}
BAD = [
    (stage_outage, (1.1, 1), {}, "availability must be a probability of at most 1, but it is 1.1"),
    (stage_outage, (-0.1, 1), {}, "availability must be non-negative"),
    (stage_outage, (math.nan, 1), {}, "availability must be non-negative, but it is nan"),
    (stage_outage, (0.5, 0), {}, "replicas must be at least 1, but it is 0"),
    (stage_outage, (0.5, [1, 2.5]), {}, r"replicas must be a whole number, but replicas\[1\]"),
    (stage_outage, (0.5, 1), {"domain_outage": math.inf}, "domain_outage must be finite"),
    (stage_outage, ([0.5, 0.6], [1, 2, 3]), {}, r"availability \(2,\), replicas \(3,\)"),
    (drop_probability, (0, 0.5), {}, "stages must be at least 1"),
    (drop_probability, (10**9, 0.5), {}, "stages must be at most 100,000,000"),
    (drop_probability, (5, 1.5), {}, "outage must be a probability"),
    (drop_probability, (5, 0.5), {"skips": -1}, "skips must be non-negative"),
    (drop_probability, (5, 0.5), {"skips": 0.5}, "skips must be a whole number"),
    (log_drop_probability, (5, "x"), {}, "outage must be real numbers"),
    (success_floor, (5, 2), {}, "domain_outage must be a probability"),
    (min_replicas, (5, 0.5, 1.5), {}, "target must be a probability"),
    (min_replicas, (5, 0.5, 1e-310), {}, "target must be 0 or at least 1e-300, but it is 1e-310"),
    (min_replicas, (5, 0.5, 0.1), {"infeasible": "nan"}, "infeasible must be 'raise' or 'inf'"),
    (useful_yield, (5, 0.5, -1), {}, "skip_loss must be non-negative"),
    (useful_yield, (5, 0.5, 1.01), {}, "skip_loss must be a probability of at most 1"),
    (cost_per_yield, (5, 0.5, 0, 0.1), {}, "replicas must be at least 1"),
    (best_design, (5, 0.5, []), {}, "skip_loss must have at least one entry"),
    (best_design, (5, 0.5, 0.1), {"max_skips": -2}, "max_skips must be non-negative"),
    (unequal_drop_probability, (0.5,), {}, "outages must have one entry for each stage"),
    (unequal_drop_probability, ([0.5, 1.5],), {}, r"outages\[1\] is 1.5"),
    (unequal_drop_probability, ([0.5],), {"skips": [0, 1]}, "skips must be a single number"),
    (best_allocation, ([[0.5]], 3), {}, "availabilities must be one-dimensional"),
    (best_allocation, ([0.5], 0), {}, "workers must be at least 1"),
    (best_allocation, ([0.5], 1.5), {}, "workers must be a whole number"),
    (
        shared_pool_drop_probability,
        (3, [0.5] * 2, 1),
        POOL,
        "availability must have one entry for each of 3 stages, got 2",
    ),
    (shared_pool_drop_probability, (2, 0.5, 1), POOL, r"each of 2 stages, got \(3,\)"),
    (shared_pool_drop_probability, (10**12, 0.5, 1), POOL, "each of 1000000000000 stages"),
    (
        shared_pool_drop_probability,
        (3, np.full((3, 3), 0.9), 2),
        POOL | {"pool_outages": np.full((2, 2), 0.1)},
        r"pool_outages \(2,\), availability \(3,\)",
    ),
    (stage_outage, (Decimal("sNaN"), 1), {}, "availability must be finite"),
    (stage_outage, (0.9, 2**53 + 2), {}, r"replicas must be at most 2\*\*53"),
    (
        shared_pool_drop_probability,
        (3, 0.5, 1),
        POOL | {"pool_of_stage": [0, 1, 2]},
        "pool_of_stage must name pools from 0 to 1, but it names 2",
    ),
    (
        shared_pool_drop_probability,
        (3, 0.5, 1),
        POOL | {"pool_outages": 0.1},
        "pool_outages must have one entry for each pool",
    ),
    (
        shared_pool_drop_probability,
        (1, [0.5] * 3, 1),
        POOL | {"pool_of_stage": [0]},
        "one entry for each of 1 stages, got 3",
    ),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)


def test_importing_it_does_not_import_scipy_stats():
    code = "import sys, decentral.redundancy; print([m for m in sys.modules if 'scipy.stats' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
