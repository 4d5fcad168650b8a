"""Whole answers at ties: what a person who types decimals expects, on every processor."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from decentral.inner_steps import best_inner_steps, contraction, stationary_variance
from decentral.machines.transformers import layers, model
from decentral.numerics import ties
from decentral.ordering import best_order, swap_search, worst_order
from decentral.partition import bottleneck, evaluate, fits, partition, proportional_split
from decentral.redundancy import best_allocation, best_design, min_replicas, stage_outage
from decentral.redundancy import unequal_drop_probability as unequal_drop
from decentral.stragglers import (
    best_quorum,
    best_step,
    min_quorum,
    pareto_round_time,
    rounds_to_accuracy,
)

# --- replicas -------------------------------------------------------------------------------


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


def test_of_designs_that_cost_the_same_the_least_is_taken():
    """At a = 2 - 2^(1/L) two replicas cost what one does; in doubles, a little more or less."""
    stages = np.arange(1, 60)
    live = 2 - 2 ** (1 / stages[1:])
    assert np.all(best_design(stages[1:], live, 0.0, max_skips=0).replicas == 1)
    assert np.all(best_design(stages[1:], live * (1 - 1e-10), 0.0, max_skips=0).replicas == 2)


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


def test_bytes_are_rounded_up_from_the_decimals_that_were_typed():
    for tenths in range(1, 80):
        size = tenths / 10
        found = layers(
            model("gpt2-xl"), sequence_length=10, bytes_per_parameter=size, bytes_per_value=size
        )
        exact = [math.ceil(Fraction(tenths, 10) * int(n)) for n in found.parameters]
        assert found.parameter_bytes.tolist() == exact
        assert found.boundary_bytes == 1600 * tenths  # ten tokens of 1600 values


# --- cuts and orders ------------------------------------------------------------------------


def chains(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        layers, devices = rng.integers(3, 14), rng.integers(2, 5)
        yield rng.integers(1, 30, layers), rng.integers(1, 8, devices)


SCALES = [(10, 1), (10, 10), (1, 10), (3, 7), (1000, 3)]


@pytest.mark.parametrize("scale", SCALES)
def test_decimals_are_cut_as_whole_numbers_are(scale):
    for costs, speeds in chains(200):
        whole, part = partition(costs, speeds), partition(costs / scale[0], speeds / scale[1])
        np.testing.assert_array_equal(part.counts, whole.counts)
        assert part.bottleneck == pytest.approx(whole.bottleneck * scale[1] / scale[0], rel=1e-12)
        split = proportional_split(costs / scale[0], speeds / scale[1])
        np.testing.assert_array_equal(split.counts, proportional_split(costs, speeds).counts)


@pytest.mark.parametrize("scale", SCALES)
def test_decimals_are_ordered_as_whole_numbers_are(scale):
    for costs, speeds in chains(50, seed=1):
        for law in (best_order, worst_order, swap_search):
            whole, part = law(costs, speeds), law(costs / scale[0], speeds / scale[1])
            np.testing.assert_array_equal(part.order, whole.order)
            np.testing.assert_array_equal(part.partition.counts, whole.partition.counts)


def test_the_given_order_is_kept_unless_another_is_better():
    assert best_order([0.1, 0.2, 0.3], [0.2, 0.1]).order.tolist() == [1, 0]
    assert best_order([0.3, 0.2, 0.1], [0.2, 0.1]).order.tolist() == [0, 1]


def test_a_target_that_is_typed_in_decimals_is_met():
    assert fits([0.1] * 6, [1, 1], 0.3)
    assert not fits([0.1] * 6, [1, 1], 0.3 * (1 - 2e-12))
    assert fits([0.1] * 10, [0.7, 0.3], 1.0)


def test_what_is_left_over_goes_to_the_first_of_equal_parts():
    assert proportional_split([1] * 5, [0.1, 0.2, 0.7]).counts.tolist() == [1, 1, 3]
    assert proportional_split([1] * 3, [1 / 6, 1 / 2, 1 / 3]).counts.tolist() == [1, 1, 1]
    assert ties.largest([Fraction(1, 2)] * 3, 0, 1e-12) == []


MEMORIES = {
    "two of 80": ([1.6] * 100, [80, 80], [50, 50]),
    "room on the second": ([1.6] * 100, [80, 90], [50, 50]),
    "four of 44": ([2.2] * 80, [44] * 4, [20] * 4),
    "decimals of the capacity": ([1] * 6, [0.1 + 0.2 + 2.7, 3], [3, 3]),
    "sixths": ([5 / 6] * 12, [5, 5], [6, 6]),
}


@pytest.mark.parametrize("case", MEMORIES)
def test_memory_that_is_typed_in_decimals_fits(case):
    memory, capacity, counts = MEMORIES[case]
    chain = [1] * len(memory), [1] * len(capacity)
    limits = {"memory": memory, "capacity": capacity}
    assert partition(*chain, **limits).counts.tolist() == counts
    assert evaluate(*chain, counts, **limits).counts.tolist() == counts
    assert best_order(*chain, **limits).partition.counts.tolist() == counts
    less = [(1 - 1e-11) * x for x in capacity]
    assert bottleneck(*chain, memory=memory, capacity=less) > max(counts)


def test_whole_bytes_are_compared_exactly():
    full = 2**52
    assert bottleneck([1, 1], [1, 1], memory=[full, 1], capacity=[full, 1]) == 1
    assert bottleneck([1, 1], [1, 1], memory=[full, 1], capacity=[full - 1, full - 1]) == math.inf
    huge = 2**60
    assert bottleneck([1, 1], [1, 1], memory=[huge, huge], capacity=[huge, huge - 1]) == math.inf


# --- rounds, quorums, and whether anything settles ------------------------------------------


def test_a_step_of_one_over_the_curvature_forgets_the_start_at_once():
    for a in range(1, 200):
        law = {"curvature": a, "step": 1 / a, "noise": 2 * a**2, "start": 1, "accuracy": 0.05}
        for whole in (True, False):
            assert rounds_to_accuracy(64, **law, whole=whole) == 1
        del law["start"]
        assert min_quorum(**law) == 40  # 2/.05, and that is enough with this step alone
        with pytest.raises(ValueError, match="step must be below 1/curvature"):
            best_inner_steps(a, 1 / a, 1)
        with pytest.raises(ValueError, match="step must be below 2/curvature"):
            contraction(a, 2 / a, 1)


def test_a_server_at_the_border_of_stability_is_unstable():
    for n in range(1, 60):
        weights = [1 / n] * n
        at = {"curvature": 1, "step": 1, "inner_steps": [1] * n, "weights": weights}
        assert np.isinf(stationary_variance(**at, outer_step=2))
        assert np.isfinite(stationary_variance(**at, outer_step=2 * (1 - 2e-12)))


def test_the_least_quorum_where_the_error_settles_at_the_accuracy_itself():
    """phi = eta sigma^2/(a (2 - eta a)) is 1/9 of the noise at eta = .2, a = 1."""
    for k in range(1, 100):
        law = {"curvature": 1, "step": 0.2, "noise": 0.9, "accuracy": 0.1 / k}
        assert min_quorum(**law) == k + 1
        assert rounds_to_accuracy(k, **law, start=1, infeasible="inf") == math.inf
        assert rounds_to_accuracy(k + 1, **law, start=1) < math.inf


def test_rounds_where_the_error_is_the_accuracy_itself():
    """rho = .9, noise that hardly counts: .81^t."""
    for t in range(1, 40):
        law = {"curvature": 1, "step": 0.1, "noise": 1e-40, "start": 1}
        assert rounds_to_accuracy(1, **law, accuracy=float(Fraction(81, 100) ** t)) == t


@pytest.mark.parametrize("n", range(2, 40))
def test_gradients_that_are_just_enough_take_one_round_of_the_best_step(n):
    """One round of k gradients leaves at best 1/(1 + k/2) of a start of 1 with noise 2."""
    for k in range(1, 20):
        best = best_step(k, curvature=n, noise=2 * n**2, start=1, accuracy=2 / (2 + k))
        assert best.rounds == 1


def test_of_quorums_that_take_the_same_time_the_least_is_taken():
    """Two rounds of 32 of 64 take what one round of 48 does: 2 * 64/32 = 64/16."""
    times = pareto_round_time(64, np.arange(1, 65), tail=1)
    law = {"curvature": 1, "step": 0.9, "noise": 0.5, "start": 1}
    for scale in (1.0, 0.1, 1 / 3, 7.7):
        whole = rounds_to_accuracy(np.arange(1, 65), **law, accuracy=0.0151, infeasible="inf")
        spent = [r * 64 / (64 - k) if k < 64 else math.inf for k, r in enumerate(whole, 1)]
        assert best_quorum(scale * times, **law, accuracy=0.0151).quorum == 1 + int(
            np.argmin(np.round(spent, 9))
        )


def test_a_pareto_mean_does_not_exist_at_its_border_in_decimals():
    for alpha in range(1, 100):
        spare = Fraction(100, alpha)
        if spare.denominator == 1:  # n - k + 1 = 1/alpha
            assert pareto_round_time(200, 201 - int(spare), tail=alpha / 100) == math.inf
            assert pareto_round_time(200, 200 - int(spare), tail=alpha / 100) < math.inf


# --- found by attack ------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [(1, 1e-313), (1, 5e-324), (1e120, 1e-200), (1e8, 1e-305)])
def test_orders_of_times_so_small_that_rounding_is_coarse(scale):
    speed, cost = scale
    costs, speeds = np.array([1, 5, 1, 1]) * cost, np.array([1, 2, 1]) * speed
    assert (
        swap_search(costs, speeds).order.tolist()
        == swap_search([1, 5, 1, 1], [1, 2, 1]).order.tolist()
    )
    times = [bottleneck(costs, speeds[list(p)]) for p in itertools.permutations(range(3))]
    assert worst_order(costs, speeds).partition.bottleneck == max(times)


def test_memory_close_to_what_an_integer_of_64_bits_holds():
    for capacity in ([math.inf, math.inf], [2.0**61, 2**62]):
        found = best_order([1, 2], [1, 2], memory=[2**61 - 10, 0.5], capacity=capacity)
        assert found.partition.counts.tolist() == [1, 1]


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


@pytest.mark.parametrize("nines", range(2, 9))
def test_an_availability_of_many_nines_is_rounded_where_it_is_typed(nines):
    for k in range(1, 100):
        live = float(1 - Fraction(k, 10**nines * 10))
        for r in range(1, 4):
            target = float(Fraction(k, 10**nines * 10) ** r)
            assert min_replicas(1, live, target) == r
    assert min_replicas(48, 0.999999, float(1 - (1 - Fraction(1, 10**6)) ** 48)) == 1
    dropped = stage_outage(0.999999, 1, domain_outage=0.5)  # of which hardly anything is rounded so
    assert min_replicas(1, 0.999999, dropped * (1 - 2e-12), domain_outage=0.5) == 2
