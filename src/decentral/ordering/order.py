"""The best and the worst order of devices, and a good one for less work."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import ties
from decentral.numerics.validation import Ints, flag, integers, scalar
from decentral.ordering.search import ExactSearch, best_time, descend, permuted, watched
from decentral.partition import bidding
from decentral.partition.chain import Chain, build
from decentral.partition.cut import Partition, solved

# A state costs four bytes for each device that can still join it: half a gigabyte at most.
_MOST_STATES = 4_000_000
# Where no device may stay empty, a state keeps a byte for each boundary of the chain.
_MOST_BOUNDARIES = 50_000_000


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
    chain = build(costs, speeds, memory, capacity, overhead, nonempty)
    given = range(chain.devices)
    if _hopeless(chain):
        raise _no_order(chain)
    if _alike(costs, memory):
        if best_time(chain, given) == math.inf:
            raise _no_order(chain)
        return _result(chain, given)
    most = _MOST_BOUNDARIES // (chain.layers + 1) if chain.nonempty else _MOST_STATES
    search = ExactSearch(replace(chain, nonempty=False), most, progress)
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
    chain = build(costs, speeds, overhead=overhead)
    if _alike(costs):
        return _result(chain, range(chain.devices))
    return _result(chain, ExactSearch(chain, _MOST_STATES, progress).worst())


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
    chain = build(costs, speeds, memory, capacity, overhead, nonempty)
    if _hopeless(chain):
        raise _no_order(chain)
    starts = int(integers("restarts", scalar("restarts", restarts), least=1))
    rng = np.random.default_rng(int(integers("seed", scalar("seed", seed))))
    found = [
        descend(chain, rng.permutation(chain.devices).tolist())
        for _ in watched(range(starts), flag("progress", progress), "restarts")
    ]
    _, order = found[int(ties.first_least(np.array([time for time, _ in found])))]
    if all(time == math.inf for time, _ in found):
        raise InfeasibleError(
            f"none of the orders that {starts} restarts of a heuristic tried allows a cut; "
            "another order may, and best_order would tell"
        )
    return _result(chain, order)


def _alike(*amounts: npt.ArrayLike | None) -> bool:
    """Whether all layers are alike, so that only the number on each device counts."""
    return all(x is None or np.ptp(x) == 0 for x in amounts)


def _result(chain: Chain, order: Iterable[int]) -> Ordering:
    places = np.array(list(order), dtype=np.int64)
    places.flags.writeable = False
    return Ordering(places, solved(permuted(chain, places.tolist())))


def _hopeless(chain: Chain) -> bool:
    """Whether there are too few layers for every device to get one."""
    return chain.nonempty and chain.layers < chain.devices


def _no_order(chain: Chain) -> InfeasibleError:
    given = bidding.infeasible(chain)
    return InfeasibleError(
        f"no order of the devices allows a cut; in the given one {given}",
        device=given.device,
        layer=given.layer,
        shortfall=given.shortfall,
    )
