"""Outages, drop rates, their floor and the least number of replicas."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.numerics.precision import close
from tests.redundancy import oracle

from decentral import InfeasibleError
from decentral.redundancy import (
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


@pytest.mark.parametrize(("stages", "replicas"), [(1, 1), (2, 2), (3, 1), (3, 2)])
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


@pytest.mark.parametrize("seed", [5])
def test_replicas_against_a_linear_search(seed):
    rng = np.random.default_rng(seed)
    for _ in range(120):
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


def test_by_default_nothing_is_skipped():
    assert shared_pool_drop_probability(2, 0.5, 1, pool_outages=[0], pool_of_stage=[0, 0]) == 0.75
    assert drop_probability(2, 0.5) == 0.75
    assert log_drop_probability(2, 0.5) == math.log(0.75)
    assert unequal_drop_probability([0.5, 0.5]) == 0.75


def test_no_replicas_rule_out_a_drop_that_underflows():
    """A drop rate of (2**-53)**26 rounds to 0, but the target 0 is not met."""
    q = 2.0**-53
    assert drop_probability(30, q, skips=25) == 0
    with pytest.raises(InfeasibleError, match=r"target 0: .* and not reached"):
        min_replicas(30, 1 - q, 0.0, skips=25)


def test_the_most_replicas_that_are_given():
    """One stage, half of it allowed to fail: (1 - a)^r = 1/2."""
    enough = math.log(2) / 2**52
    r = min_replicas(1, enough * (1 + 1e-9), 0.5)
    assert math.isclose(r, 2**52, rel_tol=2e-9)
    assert r < 2**52
    with pytest.raises(ValueError, match=r"fewer than 2\*\*52 replicas .*, but it is 1.5391e-16"):
        min_replicas(1, enough * (1 - 1e-9), 0.5)
    with pytest.raises(ValueError, match=r"fewer than 2\*\*52 replicas .*, but it is 1e-17"):
        min_replicas(1, [0.1, 1e-17, 0.2], 0.5)


def test_a_floor_leaves_room_for_many_replicas():
    """Half of 0.6 - 0.5 stays for the stages: (1 - a)^r = 0.2."""
    r = min_replicas(1, 4e-16, 0.6, domain_outage=0.5)
    assert math.isclose(r, math.log(5) / 4e-16, rel_tol=1e-11)


@pytest.mark.parametrize(
    ("stages", "live", "down", "target", "skips"),
    [
        (28_234, 5.385263738010877e-05, 5.966026215272608e-12, 5.996046826155509e-113, 39),
        (1545, 2.223411559801767e-10, 0, 5.187587310360156e-103, 12),
        (5_011_103, 5.142479975796598e-15, 0, 0.6876055932330373, 6),
        (1_248_525, 1.6307205954280037e-13, 0, 9.248709449575534e-282, 5),
        (6_282_310, 3.0434269201199615e-14, 0, 2.5610896600295214e-251, 6),
    ],
)
def test_where_the_closed_form_is_a_few_replicas_off(stages, live, down, target, skips):
    least = min_replicas(stages, live, target, skips=skips, domain_outage=down)
    outage = stage_outage(live, [least, least - 1], domain_outage=down)
    enough, too_few = drop_probability(stages, outage, skips=skips)
    assert enough <= target * (1 + 1e-12) < too_few


def test_whether_a_floor_is_met_or_missed_is_said():
    with pytest.raises(InfeasibleError, match=r"set by the failure domains$"):
        min_replicas(1, 0.5, 0.125, domain_outage=0.25)
    with pytest.raises(InfeasibleError, match=r"^no number of replicas meets target 0\.125: the"):
        min_replicas(1, 0.5, 0.125, domain_outage=0.25)


@pytest.mark.parametrize("skips", [0, 1, 2, 3, 4])
def test_the_floor_of_few_stages(skips):
    exact = float(1 - oracle.drop_by_fraction(3, 0.125, skips))
    assert math.isclose(success_floor(3, 0.125, skips=skips), exact, rel_tol=1e-15)


def drop(stages, availability, replicas, skips):
    """P(more than s of L stages are out), as a fraction."""
    out = (1 - availability) ** replicas
    terms = (
        math.comb(stages, dead) * out**dead * (1 - out) ** (stages - dead)
        for dead in range(skips + 1, stages + 1)
    )
    return sum(terms, Fraction(0))


def exact_ties(availabilities, most=5):
    """Every drop rate of up to four stages and five replicas, with the least replicas for it."""
    for a, stages in itertools.product(availabilities, range(1, 5)):
        for skips in range(stages):
            rates = [drop(stages, a, r, skips) for r in range(1, most + 1)]
            for target in rates:
                least = next(r for r, rate in enumerate(rates, 1) if rate <= target)
                yield stages, float(a), float(target), skips, least


FAMILIES = {
    "dyadic": [Fraction(k, 64) for k in range(1, 64)],
    "two decimals": [Fraction(k, 100) for k in range(1, 100)],
    "thirds and sevenths": [Fraction(k, n) for n in (3, 7) for k in range(1, n)],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_target_that_replicas_meet_exactly_is_met(family):
    stages, live, target, skips, least = map(
        np.array, zip(*exact_ties(FAMILIES[family]), strict=True)
    )
    found = min_replicas(stages, live, target, skips=skips)
    np.testing.assert_array_equal(found, least)
    less = min_replicas(stages, live, target * (1 - 2e-12), skips=skips)
    np.testing.assert_array_equal(less, least + 1)


@pytest.mark.parametrize("down", [0.01, 0.1, 0.2, 0.25, 0.3, 0.7])
def test_a_target_at_the_floor_is_not_reached_however_its_decimals_are_rounded(down):
    floor = float(1 - (1 - Fraction(str(down))) ** 3)
    assert min_replicas(3, 0.9, floor, domain_outage=down, infeasible="inf") == math.inf
    assert min_replicas(3, 1.0, floor, domain_outage=down) == 1  # a replica that never dies


@pytest.mark.parametrize("nines", range(2, 9))
def test_an_availability_of_many_nines_is_rounded_where_it_is_typed(nines):
    dead = [Fraction(k, 10**nines * 10) for k in range(1, 100)]
    live = [float(1 - each) for each in dead]
    for r in range(1, 4):
        target = [float(each**r) for each in dead]
        assert np.all(min_replicas(1, live, target) == r)
    assert min_replicas(48, 0.999999, float(1 - (1 - Fraction(1, 10**6)) ** 48)) == 1
    dropped = stage_outage(0.999999, 1, domain_outage=0.5)  # of which hardly anything is rounded so
    assert min_replicas(1, 0.999999, dropped * (1 - 2e-12), domain_outage=0.5) == 2


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
    (stage_outage, (Decimal("sNaN"), 1), {}, "availability must be finite"),
    (stage_outage, (0.9, 2**53 + 2), {}, r"replicas must be at most 2\*\*53"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
