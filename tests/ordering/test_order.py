"""decentral.ordering against full enumeration of the orders."""

import math
import re
import sys
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.oracles import dynamic_programme

from decentral import InfeasibleError
from decentral.ordering import best_order, sort_order, swap_search, worst_order
from decentral.partition import bottleneck, lower_bound, partition, upper_bound


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


# Instances per number of devices: thousands together.
COUNTS = {1: 200, 2: 600, 3: 600, 4: 500, 5: 200, 6: 40, 7: 6}


@pytest.mark.parametrize("devices", COUNTS)
def test_equals_full_enumeration(devices):
    rng, stuck = np.random.default_rng(devices), 0
    for _ in range(COUNTS[devices]):
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
    assert stuck <= COUNTS[devices] / 5  # a heuristic may be stuck where little fits


@pytest.mark.parametrize("devices", COUNTS)
def test_worst_order_equals_full_enumeration(devices):
    rng = np.random.default_rng(100 + devices)
    for _ in range(COUNTS[devices] // 2):
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


def test_many_devices_lie_between_the_bounds():
    rng = np.random.default_rng(6)
    costs, speeds = rng.lognormal(size=60), rng.lognormal(size=16)
    best, worst = best_order(costs, speeds), worst_order(costs, speeds)
    assert lower_bound(costs, speeds) <= best.partition.bottleneck
    assert best.partition.bottleneck <= swap_search(costs, speeds).partition.bottleneck
    for seed in range(50):
        order = np.random.default_rng(seed).permutation(16)
        time = bottleneck(costs, speeds[order])
        assert best.partition.bottleneck <= time <= worst.partition.bottleneck
    assert worst.partition.bottleneck <= upper_bound(costs, speeds)


def test_equal_layers_keep_the_given_order():
    speeds = np.random.default_rng(7).lognormal(size=40)  # far too many for the programme
    found = best_order(np.ones(100), speeds)
    assert found.order.tolist() == list(range(40))
    assert found.partition.bottleneck == bottleneck(np.ones(100), speeds[::-1])
    options = {"memory": [2] * 100, "capacity": [7] * 40, "overhead": speeds}
    assert best_order(np.ones(100), speeds, **options).order.tolist() == list(range(40))


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
    ("kind", "order"),
    [
        ("given", [0, 1, 2, 3, 4]),
        ("fast-first", [1, 3, 4, 0, 2]),
        ("slow-first", [2, 0, 4, 3, 1]),
        ("valley", [1, 4, 2, 0, 3]),
    ],
)
def test_sort_order(kind, order):
    assert sort_order([2, 5, 1, 4, 3], kind).tolist() == order


def test_ties_keep_their_order():
    assert sort_order([1, 1, 1], "fast-first").tolist() == [0, 1, 2]
    assert sort_order([1, 1, 1], "slow-first").tolist() == [0, 1, 2]


def test_swap_search_is_repeatable_and_local():
    rng = np.random.default_rng(9)
    costs, speeds = rng.lognormal(size=30), rng.lognormal(size=9)
    one, two = (swap_search(costs, speeds, seed=4, restarts=1) for _ in range(2))
    np.testing.assert_array_equal(one.order, two.order)
    for a in range(9):  # no exchange helps
        for b in range(a):
            order = one.order.copy()
            order[[a, b]] = order[[b, a]]
            assert bottleneck(costs, speeds[order]) >= one.partition.bottleneck


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
    for _ in range(150):
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


def test_layers_alike_up_to_the_last_bit():
    speeds = np.random.default_rng(13).lognormal(size=40)
    assert best_order([0.1] * 100, speeds).order.tolist() == list(range(40))
    with pytest.raises(InfeasibleError, match="no order"):
        best_order([1] * 100, speeds, memory=[1] * 100, capacity=[1] * 40)
    for search in (best_order, swap_search):
        with pytest.raises(InfeasibleError, match=r"no order .* number of layers is 2"):
            search([1, 2], speeds, nonempty=True)


def test_infeasible():
    with pytest.raises(InfeasibleError, match=r"no order of the devices .* 1 short"):
        best_order([1, 2], [1, 2], memory=[1, 1], capacity=[0, 9], nonempty=True)
    with pytest.raises(InfeasibleError, match="heuristic"):
        swap_search([1, 2], [1, 2], memory=[5, 5], capacity=[1, 9])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_order([1, -1], [1, 2]), r"costs must be non-negative, but costs\[1\] is -1"),
        (lambda: best_order([1, 2], [1, 0]), r"speeds must be positive, but speeds\[1\] is 0"),
        (lambda: best_order([1, 2], [1, 2], progress=1), "progress must be True or False, got 1"),
        (lambda: best_order([1, 1], [1, 2], progress=1), "progress must be True or False, got 1"),
        (lambda: sort_order([1, 2], ["given"]), "kind must be 'given', "),
        (lambda: worst_order([1, 2], [1, 2], overhead=[1]), "overhead must have length 2"),
        (lambda: swap_search([1, 2], [1, 2], restarts=0), "restarts must be at least 1"),
        (lambda: swap_search([1, 2], [1, 2], seed=-1), "seed must be non-negative"),
        (lambda: sort_order([1, 2], "sideways"), "kind must be 'given', .*, got 'sideways'"),
        (lambda: sort_order([1, math.nan], "given"), r"speeds\[1\] is nan"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("search", [best_order, worst_order])
def test_progress_is_shown_if_asked_for(search, capsys):
    costs, speeds = [1.0, 3, 2, 5, 1], [1.0, 2, 3]
    quiet = search(costs, speeds)
    assert capsys.readouterr().err == ""
    loud = search(costs, speeds, progress=True)
    assert "target" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.order, loud.order)


def test_progress_is_shown_where_no_device_may_stay_empty(capsys):
    """Here the best order leaves the slow device empty, so that greater targets are tried."""
    costs, speeds = [4, 2, 1, 3, 5, 2], [5, 0.1, 4, 0.3]
    free = best_order(costs, speeds).partition.bottleneck
    best_order(costs, speeds, nonempty=True, progress=True)
    targets = re.findall(r"target ([\d.]+)", capsys.readouterr().err)
    assert max(map(float, targets)) > free


@pytest.mark.parametrize("search", [best_order, worst_order, swap_search])
def test_progress_is_silent_unless_asked_for(search, capsys):
    search([3, 1, 2], [2, 1, 3])
    assert capsys.readouterr() == ("", "")


# --- the heuristic, and ties -----------------------------------------------------------------


def test_by_default_the_heuristic_starts_three_times_from_seed_nought(capsys):
    problem = [5, 3, 3, 1, 1, 1, 2, 7, 6], [8, 5, 5, 8, 6, 6]
    found = swap_search(*problem, progress=True).order.tolist()
    assert re.search(r"^\rrestarts: .*\| 0/3 \[", capsys.readouterr().err)
    assert found == swap_search(*problem, restarts=3, seed=0).order.tolist()
    assert found != swap_search(*problem, restarts=3, seed=1).order.tolist()


def test_the_heuristic_returns_the_best_of_its_restarts():
    """The first ends at 2.125 with an order that sorts before that of the second."""
    costs, speeds = [5, 3, 3, 6, 5, 5, 3, 7, 4, 3], [8, 3, 2, 6, 5]
    assert swap_search(costs, speeds, restarts=1).partition.bottleneck == 2.125
    assert swap_search(costs, speeds).partition.bottleneck == 2


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_heuristic_does_not_depend_on_the_unit_of_costs(unit):
    costs, speeds = np.array([5, 3, 3, 6, 5, 5, 3, 7, 4, 3]), [8, 3, 2, 6, 5]
    found = swap_search(costs * unit, speeds)
    np.testing.assert_array_equal(found.order, swap_search(costs, speeds).order)


@pytest.mark.parametrize("seed", range(8))
def test_the_heuristic_finds_its_way_to_an_order_that_fits(seed):
    """From three of these starts no single exchange leads to one."""
    memory, capacity = [8, 1, 7, 4, 4, 4, 7, 2], [10, 12, 7, 11, 3]
    options = {"memory": memory, "capacity": capacity, "restarts": 1, "seed": seed}
    assert swap_search([1] * 8, [6, 3, 1, 3, 3], **options).partition.bottleneck < math.inf


def test_an_order_that_does_not_exist_says_what_is_missing():
    with pytest.raises(InfeasibleError) as caught:
        best_order([1, 1], [1, 1], memory=[1, 5], capacity=[2, 2])
    assert (caught.value.layer, caught.value.device, caught.value.shortfall) == (1, 0, 3)


@pytest.mark.parametrize(("kind", "sign"), [("fast-first", -1), ("slow-first", 1)])
def test_equal_speeds_stay_in_their_order(kind, sign):
    speeds = np.random.default_rng(0).integers(1, 4, 500)
    stable = sorted(range(500), key=lambda device: sign * speeds[device])
    np.testing.assert_array_equal(sort_order(speeds, kind), stable)


def test_what_a_fast_device_could_do_in_the_time_of_a_slow_one_may_overflow():
    problem = {"costs": [1e300] * 3, "memory": [1] * 3, "capacity": [3, 1]}
    assert best_order(**problem, speeds=[1, 1e10]).partition.bottleneck == 2e300


def test_an_order_is_not_to_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        best_order([1, 2, 3], [1, 2]).order[0] = 0


def test_the_bar_is_gone_in_the_end(capsys):
    best_order([1.0, 3, 2, 5, 1], [1.0, 2, 3], progress=True)
    assert capsys.readouterr().err.rsplit("\r", 2)[1].strip() == ""


def test_progress_without_its_package_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError) as caught:
        best_order([1.0, 3, 2, 5, 1], [1.0, 2, 3], progress=True)
    assert str(caught.value) == "progress=True needs the package tqdm: pip install tqdm"
