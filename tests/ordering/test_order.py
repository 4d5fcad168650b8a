"""decentral.ordering: extremes, the heuristic, ties, progress and bad input."""

import itertools
import math
import re
import sys

import numpy as np
import pytest

from decentral import InfeasibleError
from decentral.ordering import best_order, sort_order, swap_search, worst_order
from decentral.partition import (
    bottleneck,
    lower_bound,
    upper_bound,
)


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


def chains(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        layers, devices = rng.integers(3, 14), rng.integers(2, 5)
        yield rng.integers(1, 30, layers), rng.integers(1, 8, devices)


SCALES = [(10, 1), (10, 10), (1, 10), (3, 7), (1000, 3)]


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
