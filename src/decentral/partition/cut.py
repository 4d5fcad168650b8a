"""The best cut of a chain, and cuts made by hand or by custom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import ties
from decentral.numerics.validation import Floats, Ints, integers, scalar, vector
from decentral.partition import bidding
from decentral.partition.chain import Chain, build


@dataclass(frozen=True, eq=False)
class Partition:
    """A chain cut into one block for each device.

    Attributes
    ----------
    boundaries : ndarray of int, shape (m + 1,)
        Device j holds layers ``boundaries[j]`` up to, not including,
        ``boundaries[j + 1]``.
    counts : ndarray of int, shape (m,)
        Layers on each device.
    stage_costs : ndarray, shape (m,)
        Cost of each block, in the unit of the costs.
    stage_times : ndarray, shape (m,)
        Cost over speed, plus the overhead where the block is not empty.
    bottleneck : float
        The largest stage time: the time between two microbatches leaving a full
        pipeline.
    latency : float
        The sum of the stage times: the time one microbatch takes through an
        empty pipeline.
    """

    boundaries: Ints
    counts: Ints
    stage_costs: Floats
    stage_times: Floats
    bottleneck: float
    latency: float


def _result(chain: Chain, ends: list[int]) -> Partition:
    boundaries = np.array([0, *ends], dtype=np.int64)
    cuts = boundaries.tolist()
    blocks = list(pairwise(cuts))
    costs = np.array([chain.starts[end] - chain.starts[start] for start, end in blocks])
    times = np.array([chain.time(device, *block) for device, block in enumerate(blocks)])
    counts = np.diff(boundaries)
    for array in (boundaries, counts, costs, times):
        array.flags.writeable = False
    return Partition(
        boundaries=boundaries,
        counts=counts,
        stage_costs=costs,
        stage_times=times,
        bottleneck=float(times.max()),
        latency=math.fsum(times.tolist()),
    )


def solved(chain: Chain) -> Partition:
    """Return the best cut of a chain, or raise the error that says why there is none."""
    solution = bidding.solve(chain)
    if solution is None:
        raise bidding.infeasible(chain)
    return _result(chain, solution[1])


def partition(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
) -> Partition:
    r"""Cut a chain so that the slowest stage is as fast as it can be.

    .. math:: T^* = \min_{0 = b_0 \le b_1 \le \dots \le b_m = L} \; \max_j t_j

    Parameters
    ----------
    costs : array_like, shape (L,)
        Cost of each layer, non-negative.
    speeds : array_like, shape (m,)
        Speed of each device in pipeline order, positive.
    memory : array_like, shape (L,), optional
        Memory of each layer. It is added and compared exactly if it is whole, such as
        bytes are; a capacity that is not, or that is filled with what is not, may be
        exceeded by a relative 1e-12, since 1.6 is rounded where it is typed.
    capacity : array_like, shape (m,), optional
        Memory of each device; ``inf`` for no limit. Given together with `memory`.
    overhead : array_like, shape (m,), optional
        Time that a device pays once if its block is not empty, such as the time
        to pass one activation on.
    nonempty : bool, optional
        Require at least one layer on every device.

    Returns
    -------
    Partition
        An optimal cut. Of all cuts that are optimal to a relative 1e-12 it is the one
        in which every boundary lies as far along the chain as it does in any of them:
        devices early in the pipeline take as much as the optimum lets them.

    Raises
    ------
    ValueError
        If an argument is malformed; the message names the argument, the rule and
        the value.
    InfeasibleError
        If no cut respects `capacity` and `nonempty`; the message names the layer
        or the device that cannot be served, and the shortfall.

    Notes
    -----
    The optimum is one of the finitely many stage times, and it is found exactly:
    a probe of a target either fits or names the smallest larger stage time that
    could [1]_. Stage times are differences of the prefix sums of the costs in
    double precision, so integer costs that sum to less than :math:`2^{53}` are
    cut without any rounding before the division by the speed. Last, stage times that
    differ by a relative 1e-12 or less count as equal, so that costs of .1 are cut as
    costs of 1 are (up to some thousand layers; then the sums are rounded by more).
    With `nonempty` a probe takes O(mL) instead of O(m log L) operations.

    References
    ----------
    .. [1] A. Pınar and C. Aykanat, "Fast optimal load balancing algorithms for
       1D partitioning", J. Parallel Distrib. Comput. 64, 974-996, 2004.

    Examples
    --------
    Forty equal layers on two devices:

    >>> from decentral.partition import partition
    >>> cut = partition([1.0] * 40, [0.36, 0.64])
    >>> cut.counts
    array([14, 26])
    >>> cut.bottleneck
    40.625

    Memory can bind before speed does:

    >>> partition([1] * 10, [1, 1, 1], memory=[1] * 10, capacity=[10, 0, 10]).counts
    array([5, 0, 5])
    """
    return solved(build(costs, speeds, memory, capacity, overhead, nonempty))


def bottleneck(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
) -> float:
    """Return T*, the bottleneck of :func:`partition`, or ``inf`` if there is no cut.

    Parameters
    ----------
    costs, speeds, memory, capacity, overhead, nonempty
        As for :func:`partition`.

    Returns
    -------
    float
        In the unit of costs over speeds.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Examples
    --------
    >>> from decentral.partition import bottleneck
    >>> bottleneck([1] * 5, [1] * 4)
    2.0
    >>> bottleneck([1] * 3, [1] * 4, nonempty=True)
    inf
    """
    solution = bidding.solve(build(costs, speeds, memory, capacity, overhead, nonempty))
    return math.inf if solution is None else solution[0]


def fits(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    target: float,
    *,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
) -> bool:
    """Tell whether some cut has no stage slower than `target`.

    Each device in turn takes the furthest layer it can reach within `target`; this
    greedy walk fails only if every cut fails. With `nonempty` being further along can be
    worse, so there all reachable boundaries are kept.

    Parameters
    ----------
    target : float
        A time, non-negative; ``inf`` asks whether there is a cut at all. A target that is
        missed by a relative 1e-12 or less, as computed, counts as met.
    costs, speeds, memory, capacity, overhead, nonempty
        As for :func:`partition`.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If an argument is malformed.

    Examples
    --------
    >>> from decentral.partition import fits
    >>> fits([1] * 5, [1] * 4, 2.0), fits([1] * 5, [1] * 4, 1.99)
    (True, False)
    """
    goal = scalar("target", target, infinite=True)
    chain = build(costs, speeds, memory, capacity, overhead, nonempty)
    return bidding.probe_once(chain, ties.widened(goal)).fits


def evaluate(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    memory: npt.ArrayLike | None = None,
    capacity: npt.ArrayLike | None = None,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
) -> Partition:
    """Validate a cut made by hand and time its stages.

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Layers on each device; they must sum to the number of layers.
    costs, speeds, memory, capacity, overhead, nonempty
        As for :func:`partition`.

    Returns
    -------
    Partition

    Raises
    ------
    ValueError
        If an argument is malformed, or `counts` does not sum to L.
    InfeasibleError
        If the cut overfills a device, or leaves one empty under `nonempty`.

    Examples
    --------
    >>> from decentral.partition import evaluate
    >>> evaluate([1] * 10, [3, 2, 1, 1], [5, 3, 1, 1]).stage_times
    array([1.66666667, 1.5       , 1.        , 1.        ])
    """
    chain = build(costs, speeds, memory, capacity, overhead, nonempty)
    split = integers("counts", vector("counts", counts, length=chain.devices))
    total = sum(split.tolist())
    if total != chain.layers:
        raise ValueError(
            f"counts must sum to the number of layers, but they sum to {total} "
            f"and the number of layers is {chain.layers}"
        )
    ends = np.cumsum(split).tolist()
    for device, (start, end) in enumerate(pairwise([0, *ends])):
        if nonempty and start == end:
            raise InfeasibleError(
                f"counts[{device}] is 0, but nonempty asks for a layer on every device",
                device=device,
                shortfall=1,
            )
        excess = chain.excess(device, start, end)
        if excess > 0:
            raise InfeasibleError(
                f"device {device} has {chain.amount(excess)} less capacity than its "
                f"counts[{device}] = {end - start} layers need",
                device=device,
                shortfall=chain.amount(excess),
            )
    return _result(chain, ends)


def equal_split(costs: npt.ArrayLike, speeds: npt.ArrayLike) -> Partition:
    """Give every device the same number of layers, whatever its speed.

    If m does not divide L, the first L mod m devices take one layer more.

    Parameters
    ----------
    costs, speeds
        As for :func:`partition`.

    Returns
    -------
    Partition

    Raises
    ------
    ValueError
        If an argument is malformed.

    Examples
    --------
    >>> from decentral.partition import equal_split
    >>> cut = equal_split([1] * 10, [4, 2, 1, 1])
    >>> cut.counts, cut.bottleneck
    (array([3, 3, 2, 2]), 2.0)
    """
    layers, devices = vector("costs", costs).size, vector("speeds", speeds, positive=True).size
    share, more = divmod(layers, devices)
    return evaluate(costs, speeds, [share + (device < more) for device in range(devices)])


def proportional_split(costs: npt.ArrayLike, speeds: npt.ArrayLike) -> Partition:
    """Give every device layers in proportion to its speed, by largest remainder.

    Each device gets the whole part of its share :math:`L v_j / V`; the layers
    left over go one each to the largest fractional parts, earlier devices first
    among equals (to a relative 1e-12 of L). This is common practice, not the
    optimum: it neither looks at the costs nor at the time a rounded-up layer takes on a
    slow device. The method is that of Hamilton for apportioning seats [1]_.

    Parameters
    ----------
    costs, speeds
        As for :func:`partition`.

    Returns
    -------
    Partition

    Raises
    ------
    ValueError
        If an argument is malformed.

    References
    ----------
    .. [1] M. L. Balinski and H. P. Young, "Fair Representation", Yale University
       Press, 1982.

    Examples
    --------
    Six layers, one device nine times as fast as the other. The slow one rounds up
    to a layer that takes it longer than all six take the fast one:

    >>> from decentral.partition import partition, proportional_split
    >>> proportional_split([1] * 6, [9, 1]).bottleneck, partition([1] * 6, [9, 1]).bottleneck
    (1.0, 0.6666666666666666)
    """
    layers, speed = vector("costs", costs).size, vector("speeds", speeds, positive=True)
    pace = [Fraction(v) for v in speed.tolist()]
    whole = sum(pace)
    shares = [layers * v / whole for v in pace]
    split = [math.floor(share) for share in shares]
    parts = [share - part for share, part in zip(shares, split, strict=True)]
    for device in ties.largest(parts, layers - sum(split), layers * ties.TOLERANCE):
        split[device] += 1
    return evaluate(costs, speeds, split)
