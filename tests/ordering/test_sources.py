"""The experiments and the claims of the page: they compute what they say."""

import math

import numpy as np
import pytest

from decentral.ordering import best_order
from papers.sources import ordering


def recorder(calls, answers):
    """Stand in for a function: note the arguments and give the next answer."""
    answers = iter(answers)

    def stand_in(*args, **options):
        calls.append((args, options))
        return next(answers)

    return stand_in


def test_chains_and_pools_have_the_spreads_of_the_source():
    costs, speeds = ordering.draw(3, 2, np.random.default_rng(6))
    normal = np.random.default_rng(6).standard_normal(5)
    np.testing.assert_allclose(costs, np.exp(0.6 * normal[:3]), rtol=1e-14)
    np.testing.assert_allclose(speeds, np.exp(0.8 * normal[3:]), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_three_partition_separates_the_groups_by_heavy_layers(count):
    groups = [[3, 2, 4], [1, 5, 3], [2, 2, 5]][:count]
    costs, speeds, heavy = ordering.three_partition(groups)
    assert heavy == 10
    assert costs == ([1] * 9 + [10]) * (count - 1) + [1] * 9
    assert speeds == sorted(n for group in groups for n in group) + [10] * (count - 1)


def test_all_cuts_are_listed_with_their_sum_and_their_largest():
    costs, speeds = np.array([3.0, 1.0]), np.array([2.0, 1.0])
    total, longest = ordering.all_cuts(costs, speeds)
    # In the order 1, 2 and in the order 2, 1: nothing, one layer, both on the first device.
    pairs = [(0, 2), (0, 4), (3, 0.5), (1.5, 1), (4, 0), (2, 0)]
    assert sorted(zip(total, longest, strict=True)) == sorted((a + b, max(a, b)) for a, b in pairs)


def test_equal_orders_are_listed_once():
    total, _ = ordering.all_cuts(np.ones(3), np.array([1.0, 2.0, 1.0]))
    assert total.size == 3 * math.comb(5, 2)


def test_the_orders_of_the_claims_are_those_that_they_print(monkeypatch):
    calls = []
    monkeypatch.setattr(ordering, "order_ratios", recorder(calls, ["ratios"]))
    assert ordering._p6() == "ratios"
    assert calls == [((14, 6, 800, 6), {})]


def test_all_cuts_in_all_orders():
    costs, speeds = np.array([1.0, 3, 2, 5, 1]), np.array([3.0, 1, 2])
    total, longest = ordering.all_cuts(costs, speeds)
    assert total.size == longest.size == 6 * math.comb(5 + 2, 2)
    assert longest.min() == best_order(costs, speeds).partition.bottleneck
    assert total.min() == costs.sum() / 3


def test_three_partition():
    costs, speeds, heavy = ordering.three_partition([[30, 35, 40], [28, 36, 41]])
    assert costs == [1] * 105 + [106] + [1] * 105
    assert speeds == [28, 30, 35, 36, 40, 41, 106]
    assert heavy == 106
    assert best_order(costs, speeds).partition.bottleneck == 1
    # No triples of equal sum: the numbers sum to 210, but three of them never to 105.
    none, pool, _ = ordering.three_partition([[30, 34, 41], [32, 34, 39]])
    assert best_order(none, pool).partition.bottleneck == 1
    pool[0], pool[1] = 29, 33
    assert best_order(none, pool).partition.bottleneck > 1


def test_sampled_orders_lie_within_the_extremes():
    extremes = ordering.order_ratios(14, 4, 20, 3, swaps=False)["worst"]
    sampled = ordering.sampled_penalty(14, 4, 30, 20, 3)
    assert np.all(sampled >= 1)
    assert sampled.mean() <= extremes.mean()
