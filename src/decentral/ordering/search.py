"""Searches through the orders: one exact, by bidding with the subset programme, one greedy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import combinations
from typing import TypeVar, get_args

from decentral.numerics import ties
from decentral.ordering.sorting import Kind, sort_order
from decentral.ordering.subsets import Pool, Reach, Sweep, sweep, sweep_nonempty, trace
from decentral.partition import bidding
from decentral.partition.chain import Chain

Item = TypeVar("Item")


def permuted(chain: Chain, order: Iterable[int]) -> Chain:
    """Return the same chain with the devices in another order."""
    places = list(order)
    return replace(
        chain,
        speeds=[chain.speeds[d] for d in places],
        overhead=[chain.overhead[d] for d in places],
        capacity=[chain.capacity[d] for d in places] if chain.capacity else [],
        room=[chain.room[d] for d in places] if chain.room else [],
    )


def best_time(chain: Chain, order: Iterable[int]) -> float:
    """Return the bottleneck of the best cut in an order; infinite if there is none."""
    solution = bidding.optimum(permuted(chain, order))
    return math.inf if solution is None else solution[0]


def watched(items: Collection[Item], progress: bool, label: str) -> Iterable[Item]:
    """Return the items, with a bar that shows how many are done if asked for."""
    if not progress:
        return items
    try:
        from tqdm import tqdm
    except ImportError as missing:
        raise ImportError("progress=True needs the package tqdm: pip install tqdm") from missing
    bar: Iterable[Item] = tqdm(items, desc=label, leave=False)
    return bar


def descend(chain: Chain, order: list[int]) -> tuple[float, list[int]]:
    """Exchange the pair that helps most until none helps.

    While no cut fits, an exchange helps if the devices, filled in order, hold more layers.
    """
    time = best_time(chain, order)
    held = _held(permuted(chain, order))
    while True:
        better = None
        for a, b in combinations(range(chain.devices), 2):
            trial = order.copy()
            trial[a], trial[b] = trial[b], trial[a]
            swapped = permuted(chain, trial)
            if time < math.inf:
                helps = time > 0 and bidding.probe_once(swapped, bidding.just_below(time)).fits
            else:
                helps = _held(swapped) > held
            if helps:
                time, held, better = best_time(chain, trial), _held(swapped), trial
        if better is None:
            return time, order
        order = better


def _held(chain: Chain) -> int:
    """Count the layers that the devices hold if time does not matter."""
    return bidding.probe_once(replace(chain, nonempty=False), math.inf).ends[-1]


def _sorted_orders(chain: Chain) -> list[list[int]]:
    return [sort_order(chain.speeds, kind).tolist() for kind in get_args(Kind)]


class ExactSearch:
    """Bidding, as for a fixed order, with the subset programme as the probe."""

    def __init__(self, chain: Chain, most: int, progress: bool) -> None:
        self.chain = chain
        self.pool = Pool.build(chain, most)
        self.steps, self.reach = self.pool.steps(), Reach(self.pool)
        self.progress = progress

    def probe(self, target: float, *, worst: bool = False) -> Sweep:
        """Run the subset programme for one target."""
        steps = watched(self.steps, self.progress, f"target {target:g}")
        return sweep(self.pool, steps, self.reach, target, worst=worst)

    def best(self) -> list[int] | None:
        """Find an order of the least bottleneck, or None if no order allows a cut."""
        chain = self.chain
        if chain.held is not None and self.probe(math.inf).reach[-1] < chain.layers:
            return None
        usual = [(best_time(chain, order), order) for order in _sorted_orders(chain)]
        interval = bidding.Interval(chain, upper=min(usual)[0])
        while (target := interval.aim()) is not None:
            found = self.probe(target)
            reached = int(found.reach[-1])
            if reached == chain.layers:
                interval.success(best_time(chain, trace(self.pool, found)))
            else:
                interval.failure(found.bid, interval.work - chain.starts[reached])
        for time, order in usual:
            if ties.met(time, interval.upper):
                return order
        return trace(self.pool, self.probe(bidding.just_above(interval.upper)))

    def best_nonempty(self, relaxed: list[int]) -> list[int] | None:
        """Find the best order where no device stays empty, from the best where some may."""
        chain = replace(self.chain, nonempty=True)

        def test(target: float) -> tuple[list[int] | None, float]:
            steps = watched(self.steps, self.progress, f"target {target:g}")
            return sweep_nonempty(self.pool, steps, self.reach, target)

        usual = [(best_time(chain, order), order) for order in [*_sorted_orders(chain), relaxed]]
        upper = min(usual)[0]
        if upper == math.inf:
            found, _ = test(math.inf)
            if found is None:
                return None
            upper = best_time(chain, found)
        lower = best_time(self.chain, relaxed)
        interval = bidding.Interval(chain, lower=lower, upper=upper)
        while (target := interval.aim()) is not None:
            found, bid = test(target)
            if found is not None:
                interval.success(best_time(chain, found))
            else:
                interval.failure(bid, 0.0)
        for time, order in usual:
            if ties.met(time, interval.upper):
                return order
        return test(bidding.just_above(interval.upper))[0]

    def worst(self) -> list[int]:
        """Find an order of the largest bottleneck."""
        chain = self.chain
        slowest = max(best_time(chain, order) for order in _sorted_orders(chain))
        interval = bidding.Interval(chain, lower=slowest)
        while (target := interval.aim()) is not None:
            found = self.probe(target, worst=True)
            reached = int(found.reach[-1])
            if reached == chain.layers:
                interval.success(found.slowest)
            else:
                interval.failure(found.bid, interval.work - chain.starts[reached])
        return trace(self.pool, self.probe(bidding.just_below(interval.upper), worst=True))
