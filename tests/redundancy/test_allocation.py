"""Unequal stages, shared pools, and the best allocation of workers."""

import itertools
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.numerics.precision import close
from tests.redundancy import oracle

from decentral import InfeasibleError
from decentral.redundancy import (
    allocation,
    best_allocation,
    drop_probability,
    shared_pool_drop_probability,
    stage_outage,
    unequal_drop_probability,
)
from decentral.redundancy import unequal_drop_probability as unequal_drop

RTOL = 1e-12


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


@pytest.mark.parametrize("seed", [11])
def test_allocations_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    for trial in range(100):
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
    for _ in range(40):
        live = rng.uniform(0.5, 0.6, 5)
        least = _drop(live, options, 0).min()
        assert _drop(live, best_allocation(live, 12), 0) <= least * (1 + RTOL)
    options = np.array([[count, 9 - count] for count in range(1, 9)])
    for other in np.linspace(0.3, 0.99, 200):  # close by the points where the best changes
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


def test_a_probability_never_exceeds_one():
    rows = np.random.default_rng(0).random((1000, 60))
    for skips in range(3):
        assert unequal_drop_probability(rows, skips=skips).max() == 1


@pytest.mark.parametrize("skips", [0, 1, 2])
def test_an_allocation_is_of_whole_numbers(skips):
    assert best_allocation([0.9, 0.5, 0.5], 9, skips=skips).dtype == np.int64


def test_workers_are_all_given_even_where_everything_is_dropped():
    assert best_allocation([0.0, 0.0, 0.9, 0.9], 10, skips=1).sum() == 10


@pytest.mark.parametrize("rare", [1e-16, 1e-18, 1e-300, 5e-324])
def test_a_stage_that_is_hardly_ever_live_gets_nearly_all_workers(rare):
    """With r replicas it is live with probability ra; so r (1 - 2**-(1000 - r)) is to be large."""
    most = max(range(1, 1000), key=lambda r: r * (1 - 2.0 ** -(1000 - r)))
    np.testing.assert_array_equal(best_allocation([rare, 0.5], 1000), [most, 1000 - most])


@pytest.mark.parametrize(("rare", "workers"), [(1e-20, 20), (1e-12, 21), (1e-200, 33)])
def test_stages_that_are_hardly_ever_live_share_alike(rare, workers):
    """The success is nearly the product of all r a, whatever the availabilities are."""
    live = rare * np.array([1.0, 1e4, 1e7])
    found = best_allocation(live, workers)
    assert sorted(found) == [(workers + i) // 3 for i in range(3)]


@pytest.mark.parametrize(("first", "others"), [(0.999, 0.3), (0.9, 0.05), (0.5, 0.01)])
def test_workers_left_over_among_equal_stages_go_to_these(first, others):
    live = np.array([first, *[others] * 4])
    for workers in range(5, 60):
        found = best_allocation(live, workers)
        assert found.sum() == workers
        options = [
            [count, *sorted((workers - count + i) // 4 for i in range(4))]
            for count in range(1, workers - 3)
        ]
        outages = stage_outage(live, options)
        success = np.log1p(-outages).sum(axis=1).max()
        assert math.isclose(np.log1p(-stage_outage(live, found)).sum(), success, rel_tol=1e-12)


def test_a_search_that_would_take_minutes_says_how_many_steps():
    """Kinds of stages times (workers to spare + 1)^2 times (skips + 1)^2."""
    live = [0.5] * 2000 + [0.6] * 2000
    message = r"for 2 kinds of stages and 2999 skips, .* would take 4e\+09 steps"
    with pytest.raises(ValueError, match=message):
        best_allocation(live, 4014, skips=2999)
    with pytest.raises(ValueError, match=r"would take 3e\+11 steps"):
        best_allocation([0.9, 0.5, 0.7], 10**5, skips=2)


def test_of_allocations_that_drop_equally_little_the_first_stage_is_served():
    """(1 - .75)^2/(1 + .25) = .05 = 1 - .95: a third worker gains what a second does elsewhere."""
    for fleet in ([0.75, 0.95], [0.95, 0.75], [0.75, 0.95, 0.75], [0.5, 5 / 6, 0.5]):
        for workers in range(len(fleet), 12):
            found = best_allocation(fleet, workers)
            spread = itertools.product(range(1, workers + 1), repeat=len(fleet))
            options = np.array([each for each in spread if sum(each) == workers])
            lost = unequal_drop(stage_outage(fleet, options))
            best = options[lost <= lost.min() * (1 + 1e-12)]
            assert found.tolist() in best.tolist()
            backwards = best_allocation(fleet[::-1], workers)[::-1]
            assert len(best) > 1 or backwards.tolist() == found.tolist()
    assert best_allocation([0.75, 0.95], 4).tolist() == [2, 2]
    assert best_allocation([0.95, 0.75], 4).tolist() == [2, 2]
    # The third worker: .95 -> .9975 and .9375 -> .984375 gain equally; one replica goes first.
    assert best_allocation([0.95, 0.75, 0.95, 0.75], 7).tolist() == [2, 2, 1, 2]


KINDS = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85]


@pytest.mark.parametrize(
    ("fleet", "workers", "skips"),
    [
        ([0, *KINDS], 40, 1),
        (KINDS * 24, 250, 2),
        ([0.5, 0.6, 0.7, 0.8] * 25, 120, 2),
        ([k / 100 for k in range(1, 9)] * 8, 90, 1),
    ],
)
def test_where_almost_all_is_dropped_the_most_that_gets_through_counts(fleet, workers, skips):
    found = best_allocation(fleet, workers, skips=skips)

    def through(replicas):
        law = np.zeros(skips + 1)
        law[0] = 1
        for out in stage_outage(fleet, replicas):
            law[1:], law[0] = law[1:] * (1 - out) + law[:-1] * out, law[0] * (1 - out)
        return law.sum()

    best = through(found)
    rng = np.random.default_rng(0)
    for _ in range(300):  # no worker would do more elsewhere
        giver, taker = rng.integers(len(fleet), size=2)
        if found[giver] > 1:
            other = found.copy()
            other[giver] -= 1
            other[taker] += 1
            assert through(other) <= best * (1 + 1e-12)


def test_more_dead_stages_than_skips_are_no_search():
    assert best_allocation([0, 0, *KINDS], 40, skips=1).sum() == 40


def test_the_tolerance_is_one_of_the_gain_and_not_of_its_logarithm():
    assert best_allocation([0.95, 0.9998402361213256], 48).tolist() == [36, 12]


POOL = {"pool_outages": [0.1, 0.2], "pool_of_stage": [0, 1, 0]}
BAD = [
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
