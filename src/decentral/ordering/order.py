"""The best, the worst, and the usual orders of devices."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import ties
from decentral.numerics.validation import Ints, choice, flag, integers, scalar, vector
from decentral.ordering.subsets import Pool, Reach, Sweep, sweep, sweep_nonempty, trace
from decentral.partition import bidding
from decentral.partition.cut import Partition, solved

Kind = Literal["given", "fast-first", "slow-first", "valley"]

# A state costs four bytes for each device that can still join it: half a gigabyte at most.
_MOST_STATES = 4_000_000
# Where no device may stay empty, a state keeps a byte for each boundary of the chain.
_MOST_BOUNDARIES = 50_000_000

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Ordering:
    """Devices in pipeline order, with the best cut for it.

    Attributes
    ----------
    order : ndarray of int, shape (m,)
        ``order[k]`` is the device at place k, by its position in `speeds`.
    partition : Partition
        The best cut for that order; its arrays are in pipeline order.
    """

    order: Ints
    partition: Partition


def best_order(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
    progress: bool = False,
) -> Ordering:
    r"""Order the devices so that the best cut of the chain is as fast as it can be.

    .. math:: \min_{\pi} \; T^*(v_{\pi(1)}, \dots, v_{\pi(m)})

    over all orders :math:`\pi` of the devices, by an exact programme.

    Parameters
    ----------
    costs : array_like, shape (L,)
        Cost of each layer, non-negative.
    speeds : array_like, shape (m,)
        Speed of each device, positive.
    memory : array_like, shape (L,), optional
        Memory of each layer.
    capacity : array_like, shape (m,), optional
        Memory of each device; ``inf`` for no limit. Given together with `memory`.
    overhead : array_like, shape (m,), optional
        Time that a device pays once if its block is not empty.
    nonempty : bool, optional
        Require at least one layer on every device.
    progress : bool, optional
        Show a bar for each probe; needs the package tqdm.

    Returns
    -------
    Ordering
        Of orders that are equally good to a relative 1e-12, the given one, else one that
        is sorted by speed, else one that does not depend on chance. The given order if all
        layers are alike: then the order does not matter.

    Raises
    ------
    ValueError
        If an argument is malformed, or if the devices have so many types that the
        states of the exact programme would not fit into memory; the message says how
        many there are. :func:`swap_search` needs no states.
    InfeasibleError
        If no order allows a cut.

    Notes
    -----
    One probe takes :math:`O(k L \log L + k \prod_t (n_t + 1))` operations for k types
    with :math:`n_t` devices each. With `nonempty` every state keeps all boundaries it
    can reach, which takes L times the memory. The problem is NP-hard in general [1]_.

    References
    ----------
    .. [1] A. Pınar, E. K. Tabak and C. Aykanat, "One-dimensional partitioning for
       heterogeneous systems: theory and practice", J. Parallel Distrib. Comput. 68,
       1473-1486, 2008.

    Examples
    --------
    >>> from decentral.ordering import best_order
    >>> found = best_order([1, 5, 1, 1], [1, 2, 1])
    >>> found.order, found.partition.counts, found.partition.bottleneck
    (array([0, 1, 2]), array([1, 1, 2]), 2.5)
    """
    flag("progress", progress)
    chain = bidding.build(costs, speeds, memory, capacity, overhead, nonempty)
    given = range(chain.devices)
    if _hopeless(chain):
        raise _no_order(chain)
    if _alike(costs, memory):
        if _bottleneck(chain, given) == math.inf:
            raise _no_order(chain)
        return _result(chain, given)
    most = _MOST_BOUNDARIES // (chain.layers + 1) if chain.nonempty else _MOST_STATES
    search = _Search(replace(chain, nonempty=False), most, progress)
    order = search.best()
    if order is not None and chain.nonempty:
        order = search.best_nonempty(order)
    if order is None:
        raise _no_order(chain)
    return _result(chain, order)


def worst_order(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    overhead: npt.ArrayLike | None = None,
    progress: bool = False,
) -> Ordering:
    r"""Order the devices so that even the best cut of the chain is as slow as it can be.

    .. math:: \max_{\pi} \; T^*(v_{\pi(1)}, \dots, v_{\pi(m)})

    Parameters
    ----------
    costs, speeds, overhead, progress
        As for :func:`best_order`.

    Returns
    -------
    Ordering
        The worst to a relative 1e-12.

    Raises
    ------
    ValueError
        As for :func:`best_order`.

    Notes
    -----
    The same programme with the least reach of each set in place of the furthest: a
    target fails in some order iff the least reach of all devices is not the whole chain.

    Examples
    --------
    >>> from decentral.ordering import worst_order
    >>> worst_order([1, 5, 1, 1], [1, 2, 1]).partition.bottleneck
    3.5
    """
    flag("progress", progress)
    chain = bidding.build(costs, speeds, overhead=overhead)
    if _alike(costs):
        return _result(chain, range(chain.devices))
    return _result(chain, _Search(chain, _MOST_STATES, progress).worst())


def swap_search(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    restarts: int = 3,
    seed: int = 0,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
    progress: bool = False,
) -> Ordering:
    """Search for a good order by exchanging pairs of devices: a heuristic.

    Each restart begins with a random order and makes the exchange that helps most,
    until none helps by more than a relative 1e-12.

    Parameters
    ----------
    restarts : int, optional
        Random orders to begin with, at least 1.
    seed : int, optional
        Of the random orders.
    costs, speeds, memory, capacity, overhead, nonempty, progress
        As for :func:`best_order`.

    Returns
    -------
    Ordering
        The best order found. It may not be the best there is.

    Raises
    ------
    ValueError
        If an argument is malformed.
    InfeasibleError
        If no order that was tried allows a cut; another order may.

    Examples
    --------
    >>> from decentral.ordering import swap_search
    >>> swap_search([1, 5, 1, 1], [1, 2, 1]).partition.bottleneck
    2.5
    """
    chain = bidding.build(costs, speeds, memory, capacity, overhead, nonempty)
    if _hopeless(chain):
        raise _no_order(chain)
    starts = int(integers("restarts", scalar("restarts", restarts), least=1))
    rng = np.random.default_rng(int(integers("seed", scalar("seed", seed))))
    found = [
        _descend(chain, rng.permutation(chain.devices).tolist())
        for _ in _watched(range(starts), flag("progress", progress), "restarts")
    ]
    _, order = found[int(ties.first_least(np.array([time for time, _ in found])))]
    if all(time == math.inf for time, _ in found):
        raise InfeasibleError(
            f"none of the orders that {starts} restarts of a heuristic tried allows a cut; "
            "another order may, and best_order would tell"
        )
    return _result(chain, order)


def sort_order(speeds: npt.ArrayLike, kind: Kind) -> Ints:
    """Order devices by their speed alone, as people do.

    Parameters
    ----------
    speeds : array_like, shape (m,)
        Speed of each device, positive.
    kind : {"given", "fast-first", "slow-first", "valley"}
        ``"valley"`` puts the fast devices at both ends and the slow ones between.

    Returns
    -------
    ndarray of int, shape (m,)
        Positions in `speeds`; devices of equal speed keep their order.

    Raises
    ------
    ValueError
        If `speeds` is malformed or `kind` is none of the four.

    Examples
    --------
    >>> from decentral.ordering import sort_order
    >>> sort_order([1, 4, 2, 3], "valley")
    array([1, 2, 0, 3])
    """
    pace = vector("speeds", speeds, positive=True)
    fast_first = np.argsort(-pace, kind="stable")
    orders = {
        "given": np.arange(pace.size),
        "fast-first": fast_first,
        "slow-first": np.argsort(pace, kind="stable"),
        "valley": np.concatenate((fast_first[::2], fast_first[1::2][::-1])),
    }
    return orders[choice("kind", kind, tuple(orders))].astype(np.int64)


def _alike(*amounts: npt.ArrayLike | None) -> bool:
    """Whether all layers are alike, so that only the number on each device counts."""
    return all(x is None or np.ptp(x) == 0 for x in amounts)


def _permuted(chain: bidding.Chain, order: Iterable[int]) -> bidding.Chain:
    """Return the same chain with the devices in another order."""
    places = list(order)
    return replace(
        chain,
        speeds=[chain.speeds[d] for d in places],
        overhead=[chain.overhead[d] for d in places],
        capacity=[chain.capacity[d] for d in places] if chain.capacity else [],
        room=[chain.room[d] for d in places] if chain.room else [],
    )


def _bottleneck(chain: bidding.Chain, order: Iterable[int]) -> float:
    solution = bidding.optimum(_permuted(chain, order))
    return math.inf if solution is None else solution[0]


def _result(chain: bidding.Chain, order: Iterable[int]) -> Ordering:
    places = np.array(list(order), dtype=np.int64)
    places.flags.writeable = False
    return Ordering(places, solved(_permuted(chain, places.tolist())))


def _hopeless(chain: bidding.Chain) -> bool:
    """Whether there are too few layers for every device to get one."""
    return chain.nonempty and chain.layers < chain.devices


def _no_order(chain: bidding.Chain) -> InfeasibleError:
    given = bidding.infeasible(chain)
    return InfeasibleError(
        f"no order of the devices allows a cut; in the given one {given}",
        device=given.device,
        layer=given.layer,
        shortfall=given.shortfall,
    )


def _watched(items: Collection[Item], progress: bool, label: str) -> Iterable[Item]:
    """Return the items, with a bar that shows how many are done if asked for."""
    if not progress:
        return items
    try:
        from tqdm import tqdm
    except ImportError as missing:
        raise ImportError("progress=True needs the package tqdm: pip install tqdm") from missing
    bar: Iterable[Item] = tqdm(items, desc=label, leave=False)
    return bar


def _descend(chain: bidding.Chain, order: list[int]) -> tuple[float, list[int]]:
    """Exchange the pair that helps most until none helps.

    While no cut fits, an exchange helps if the devices, filled in order, hold more layers.
    """
    time = _bottleneck(chain, order)
    held = _held(_permuted(chain, order))
    while True:
        better = None
        for a, b in combinations(range(chain.devices), 2):
            trial = order.copy()
            trial[a], trial[b] = trial[b], trial[a]
            swapped = _permuted(chain, trial)
            if time < math.inf:
                helps = time > 0 and bidding.probe_once(swapped, bidding.just_below(time)).fits
            else:
                helps = _held(swapped) > held
            if helps:
                time, held, better = _bottleneck(chain, trial), _held(swapped), trial
        if better is None:
            return time, order
        order = better


def _held(chain: bidding.Chain) -> int:
    """Count the layers that the devices hold if time does not matter."""
    return bidding.probe_once(replace(chain, nonempty=False), math.inf).ends[-1]


def _sorted_orders(chain: bidding.Chain) -> list[list[int]]:
    return [sort_order(chain.speeds, kind).tolist() for kind in get_args(Kind)]


class _Search:
    """Bidding, as for a fixed order, with the subset programme as the probe."""

    def __init__(self, chain: bidding.Chain, most: int, progress: bool) -> None:
        self.chain = chain
        self.pool = Pool.build(chain, most)
        self.steps, self.reach = self.pool.steps(), Reach(self.pool)
        self.progress = progress

    def probe(self, target: float, *, worst: bool = False) -> Sweep:
        steps = _watched(self.steps, self.progress, f"target {target:g}")
        return sweep(self.pool, steps, self.reach, target, worst=worst)

    def best(self) -> list[int] | None:
        """Find an order of the least bottleneck, or None if no order allows a cut."""
        chain = self.chain
        if chain.held is not None and self.probe(math.inf).reach[-1] < chain.layers:
            return None
        usual = [(_bottleneck(chain, order), order) for order in _sorted_orders(chain)]
        interval = bidding.Interval(chain, upper=min(usual)[0])
        while (target := interval.aim()) is not None:
            found = self.probe(target)
            reached = int(found.reach[-1])
            if reached == chain.layers:
                interval.success(_bottleneck(chain, trace(self.pool, found)))
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
            steps = _watched(self.steps, self.progress, f"target {target:g}")
            return sweep_nonempty(self.pool, steps, self.reach, target)

        usual = [(_bottleneck(chain, order), order) for order in [*_sorted_orders(chain), relaxed]]
        upper = min(usual)[0]
        if upper == math.inf:
            found, _ = test(math.inf)
            if found is None:
                return None
            upper = _bottleneck(chain, found)
        lower = _bottleneck(self.chain, relaxed)
        interval = bidding.Interval(chain, lower=lower, upper=upper)
        while (target := interval.aim()) is not None:
            found, bid = test(target)
            if found is not None:
                interval.success(_bottleneck(chain, found))
            else:
                interval.failure(bid, 0.0)
        for time, order in usual:
            if ties.met(time, interval.upper):
                return order
        return test(bidding.just_above(interval.upper))[0]

    def worst(self) -> list[int]:
        """Find an order of the largest bottleneck."""
        chain = self.chain
        slowest = max(_bottleneck(chain, order) for order in _sorted_orders(chain))
        interval = bidding.Interval(chain, lower=slowest)
        while (target := interval.aim()) is not None:
            found = self.probe(target, worst=True)
            reached = int(found.reach[-1])
            if reached == chain.layers:
                interval.success(found.slowest)
            else:
                interval.failure(found.bid, interval.work - chain.starts[reached])
        return trace(self.pool, self.probe(bidding.just_below(interval.upper), worst=True))
