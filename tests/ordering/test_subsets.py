"""The exact programme over subsets of devices, against full enumeration of the orders."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.partition.oracle import dynamic_programme

from decentral import InfeasibleError
from decentral.ordering import best_order, swap_search, worst_order
from decentral.partition import (
    bottleneck,
    partition,
)


def _instance(rng, devices):
    """A random instance for `devices` devices; few layers, so that enumeration is quick."""
    layers = int(rng.integers(max(1, devices - 2), 12))
    costs = [
        rng.lognormal(size=layers),
        rng.integers(0, 5, layers).astype(float),
        10.0 ** rng.uniform(-20, 0, layers),
        np.full(layers, 0.1),
        rng.lognormal(sigma=0.01, size=layers),  # orders that differ by less than one per cent
    ][rng.integers(5)]
    speeds = [
        rng.lognormal(sigma=1.2, size=devices),
        rng.integers(1, 4, devices).astype(float),
        rng.lognormal(sigma=0.01, size=devices),
    ][rng.integers(3)]
    options = {}
    if rng.integers(2):
        sizes = rng.integers(0, 5, layers) * rng.choice([1, 0.1, 13.7])
        options["memory"] = sizes.tolist()
        options["capacity"] = rng.uniform(0, 3 * sizes.sum() / devices + 1, devices).round(1)
    if rng.integers(2):
        scale = costs.sum() / speeds.sum()
        options["overhead"] = scale * rng.choice([0, 0.1, 1, 3], devices)
    if rng.integers(2):
        options["nonempty"] = True
    return costs, speeds, options


def _permuted(speeds, options, order):
    """The instance with its devices in another order."""
    order = list(order)
    moved = {
        key: np.asarray(options[key])[order] for key in ("capacity", "overhead") if key in options
    }
    return np.asarray(speeds)[order], options | moved


def _all_orders(costs, speeds, options):
    """The bottleneck of every order, each distinct arrangement once."""
    kinds = {}
    for order in permutations(range(len(speeds))):
        pace, rest = _permuted(speeds, options, order)
        key = (
            tuple(pace),
            *(tuple(rest[k]) for k in ("capacity", "overhead") if k in rest),
        )
        if key not in kinds:
            kinds[key] = bottleneck(costs, pace, **rest)
    return kinds.values()


# Instances for each number of devices: hundreds together, and thousands in `soak_subsets.py`.
COUNTS = {1: 40, 2: 120, 3: 120, 4: 60, 5: 20, 6: 4}


@pytest.mark.parametrize(("devices", "count"), COUNTS.items())
def test_the_best_order_equals_full_enumeration(devices, count):
    rng, stuck = np.random.default_rng(devices), 0
    for _ in range(count):
        costs, speeds, options = _instance(rng, devices)
        best = min(_all_orders(costs, speeds, options))
        if best == math.inf:
            with pytest.raises(InfeasibleError, match="no order of the devices"):
                best_order(costs, speeds, **options)
            continue
        found = best_order(costs, speeds, **options)
        assert best <= found.partition.bottleneck <= best * (1 + 2e-12), (costs, speeds, options)
        assert sorted(found.order) == list(range(devices))
        pace, rest = _permuted(speeds, options, found.order)
        again = partition(costs, pace, **rest)
        np.testing.assert_array_equal(again.stage_times, found.partition.stage_times)
        try:
            assert swap_search(costs, speeds, **options).partition.bottleneck >= best
        except InfeasibleError:
            assert "memory" in options or "nonempty" in options
            stuck += 1
    assert stuck <= count / 5  # a heuristic may be stuck where little fits


@pytest.mark.parametrize(("devices", "count"), COUNTS.items())
def test_the_worst_order_equals_full_enumeration(devices, count):
    rng = np.random.default_rng(100 + devices)
    for _ in range(count // 2):
        costs, speeds, options = _instance(rng, devices)
        kept = {key: value for key, value in options.items() if key == "overhead"}
        found = worst_order(costs, speeds, **kept)
        worst = max(_all_orders(costs, speeds, kept))
        assert found.partition.bottleneck == pytest.approx(worst, rel=1e-12, abs=0)
        pace, rest = _permuted(speeds, kept, found.order)
        again = dynamic_programme(costs, pace, **rest)
        assert found.partition.bottleneck == pytest.approx(again, rel=1e-12, abs=0)


def test_types_agree_with_distinct_devices():
    """Equal devices as one type, or made distinct by a change of the last bit."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        costs = rng.lognormal(size=25)
        speeds = np.repeat(rng.lognormal(size=3), 3)
        typed = best_order(costs, speeds).partition.bottleneck
        nearly = speeds * (1 + 2.0**-50 * np.arange(9))
        distinct = best_order(costs, nearly).partition.bottleneck
        assert typed == pytest.approx(distinct, rel=1e-12, abs=0)


def test_too_many_states_are_refused():
    speeds = np.random.default_rng(8).lognormal(size=22)
    with pytest.raises(ValueError, match=r"22 devices of 22 types give 4,194,304; swap_search"):
        best_order([1, 2, 3], speeds)
    with pytest.raises(ValueError, match="swap_search"):
        best_order(np.arange(1000), speeds[:18], nonempty=True)
    assert swap_search(np.arange(1, 50), speeds, restarts=1).partition.bottleneck > 0


def test_as_many_states_as_are_allowed(monkeypatch):
    instance = ([1, 2, 3], [1, 2, 3])
    monkeypatch.setattr("decentral.ordering.order._MOST_STATES", 8)
    assert best_order(*instance).partition.bottleneck == 1
    monkeypatch.setattr("decentral.ordering.order._MOST_STATES", 7)
    with pytest.raises(ValueError, match=r"at most 7 states for an exact order, .* give 8;"):
        best_order(*instance)


def test_memory_that_just_fits_where_no_device_may_stay_empty():
    """The slow device holds layer 1 and no byte more; without it, it would have to take layer 2."""
    memory, capacity = [3, 2, 2, 3], [2, 10, 4]
    found = best_order([2, 2, 3, 2], [0.1, 5, 4], memory=memory, capacity=capacity, nonempty=True)
    assert found.order.tolist() == [2, 0, 1]
    assert found.partition.stage_times.tolist() == [0.5, 20, 1]


def test_memory_whose_sums_of_two_overflow():
    found = best_order([1, 2, 1, 5], [1, 2], memory=[2**60] * 4, capacity=[2**62] * 2)
    assert found.partition.bottleneck == best_order([1, 2, 1, 5], [1, 2]).partition.bottleneck


def test_a_target_that_overflows_when_it_is_inverted():
    """The slow devices take 5e299 seconds and more, where the fast one could do 5e449 of work."""
    costs, speeds = [1e200, 2e200, 3e200, 4e200, 5e200], [1e150, 1e-100, 2e-100]
    options = {"memory": [1] * 5, "capacity": [1, 2, 2]}
    found = best_order(costs, speeds, **options)
    assert found.partition.bottleneck == min(_all_orders(costs, speeds, options))


@pytest.mark.parametrize(
    ("costs", "speeds", "memory", "capacity", "best"),
    [
        ([3, 2, 8, 6], [2, 2, 4], [57, 51, 49, 0.1], [52, 131, 148], 3.0),
        ([4, 5, 4, 5], [4, 1, 2], [49, 36, 0.1, 44], [131, 147, 48], 3.25),
    ],
)
def test_sums_of_exact_memory_do_not_overflow(costs, speeds, memory, capacity, best):
    """A tenth makes the unit of memory so small that sums of two exceed 64 bits."""
    found = best_order(costs, speeds, memory=memory, capacity=capacity)
    assert found.partition.bottleneck == best


def _whole(options):
    """The same memory and capacity as exact whole numbers of a tiny unit, for the oracle."""
    names = {"memory", "capacity"} & set(options)
    return options | {n: [int(Fraction(float(x)) * 2**60) for x in options[n]] for n in names}


def test_small_orders_against_a_programme_of_its_own():
    rng = np.random.default_rng(12)
    for _ in range(80):
        costs, speeds, options = _instance(rng, int(rng.integers(1, 5)))
        best = min(
            dynamic_programme(costs, pace, **_whole(rest))
            for pace, rest in (
                _permuted(speeds, options, order) for order in permutations(range(len(speeds)))
            )
        )
        if best < math.inf:
            found = best_order(costs, speeds, **options).partition.bottleneck
            assert found == pytest.approx(best, rel=0 if np.ptp(costs) else 1e-14, abs=0)


def test_what_a_fast_device_could_do_in_the_time_of_a_slow_one_may_overflow():
    problem = {"costs": [1e300] * 3, "memory": [1] * 3, "capacity": [3, 1]}
    assert best_order(**problem, speeds=[1, 1e10]).partition.bottleneck == 2e300


def test_memory_close_to_what_an_integer_of_64_bits_holds():
    for capacity in ([math.inf, math.inf], [2.0**61, 2**62]):
        found = best_order([1, 2], [1, 2], memory=[2**61 - 10, 0.5], capacity=capacity)
        assert found.partition.counts.tolist() == [1, 1]
