"""Properties that hold for all orders: bounds, monotony, invariances, limits."""

import itertools

import pytest
from hypothesis import given
from tests.library.strategies import few, leq, lists

from decentral import ordering, partition


@few
@given(lists(0.01, 10, 1, 6), lists(0.1, 10, 1, 4))
def test_orders(costs, speeds):
    best, worst = ordering.best_order(costs, speeds), ordering.worst_order(costs, speeds)
    times = [partition.bottleneck(costs, list(o)) for o in itertools.permutations(speeds)]
    assert best.partition.bottleneck == pytest.approx(min(times), rel=2e-12, abs=0)
    assert worst.partition.bottleneck == pytest.approx(max(times), rel=2e-12, abs=0)
    found = ordering.swap_search(costs, speeds).partition.bottleneck
    assert leq(min(times), found)
    assert leq(found, max(times))
    again = ordering.best_order(costs, speeds[::-1]).partition.bottleneck
    assert again == pytest.approx(best.partition.bottleneck, rel=2e-12, abs=0)
    for kind in ("given", "fast-first", "slow-first", "valley"):
        assert sorted(ordering.sort_order(speeds, kind)) == list(range(len(speeds)))
