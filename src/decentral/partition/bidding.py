"""The search behind :mod:`decentral.partition`: probing targets and bidding for the next one.

A *probe* asks whether a target time can be met. Each device in turn takes the
furthest layer it can reach; being further along is never worse, so the walk
fails only if every partition fails. A failed probe also *bids*: the smallest
stage time larger than the target at which any decision of the walk would have
changed. No target below the bid can be met, so the bid is a lower bound on the
optimum, and since it is itself a stage time the search ends on the exact
optimum, without a tolerance [PinarAykanat2004]_.

Exact here means exact for the numbers as stored: a stage time *is* the float
``(P[j] - P[i]) / speed + overhead``, with ``P`` the prefix sums of the costs.
That float is monotone in ``i`` and ``j``, which is all the argument needs. What the
public functions return is one step from there: the cut that a probe just above the
optimum finds, so that times that differ by rounding alone are ties.

.. [PinarAykanat2004] A. Pınar and C. Aykanat, "Fast optimal load balancing
   algorithms for 1D partitioning", J. Parallel Distrib. Comput. 64 (2004).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import ties
from decentral.partition.chain import Chain, memory_array


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe found: the block ends, and the slowest stage (if it fits) or the bid."""

    ends: list[int]
    fits: bool
    slowest: float
    bid: float


def probe(chain: Chain, target: float, low: Sequence[int], high: Sequence[int]) -> Probe:
    """Test `target` by furthest reach; earlier probes bracket each block end.

    Block ends only grow with the target, so the ends of a failed probe below
    `target` bound them from below and those of a success above it from above.
    """
    if chain.nonempty:
        return sweep(chain, target)[0]
    starts, held, layers, last = chain.starts, chain.held, chain.layers, chain.devices - 1
    start, slow, bid, roof = 0, 0.0, math.inf, layers
    ends: list[int] = []
    for device, (speed, extra) in enumerate(zip(chain.speeds, chain.overhead, strict=True)):
        base = starts[start]
        if held is not None:
            roof = bisect_right(held, held[start] + chain.room[device], start) - 1
        # Guess the reach by inverting the stage time; trust only the stage time itself.
        budget = base + (target - extra) * speed
        end = min(bisect_right(starts, budget, low[device], high[device] + 1) - 1, roof)
        time = (starts[end] - base) / speed + extra if end > start else 0.0
        longer = (starts[end + 1] - base) / speed + extra if end < roof else math.inf
        if end < start or time > target or longer <= target:
            end = _reach(chain, device, start, roof, target)
            time = chain.time(device, start, end)
            longer = chain.time(device, start, end + 1) if end < roof else math.inf
        if time > slow:
            slow = time
        if device == last and end < layers:
            longer = chain.time(device, start, layers) if roof == layers else math.inf
        if longer < bid:
            bid = longer
        ends.append(end)
        start = end
    return Probe(ends, start == layers, slow, bid)


def _reach(chain: Chain, device: int, start: int, roof: int, target: float) -> int:
    """Return the furthest end up to `roof` within `target`, by the stage time alone."""
    ends = range(start, roof + 1)
    return start + bisect_right(ends, target, key=lambda end: chain.time(device, start, end)) - 1


def sweep(chain: Chain, target: float) -> tuple[Probe, list[npt.NDArray[np.intp]]]:
    """Test `target` where every device must get a layer.

    Being further along can then be worse: a device that must take the next layer
    may be too slow for it. So all reachable boundaries are kept. A boundary can
    be reached iff it can from the nearest reachable one before it, since that
    block is the cheapest and the smallest.

    Also returns the boundaries reachable before each device, up to the first
    device that reaches none.
    """
    starts = np.asarray(chain.starts)
    held = memory_array(chain)
    layers, devices = chain.layers, chain.devices
    reachable = [np.array([0])]
    bid = math.inf
    for device, (speed, extra) in enumerate(zip(chain.speeds, chain.overhead, strict=True)):
        before, left = reachable[-1], devices - 1 - device
        candidates = np.arange(before[0] + 1 if left else layers, layers - left + 1)
        nearest = before[np.searchsorted(before, candidates) - 1]
        times = (starts[candidates] - starts[nearest]) / speed + extra
        if held is not None:
            times[held[candidates] - held[nearest] > chain.room[device]] = math.nan
        bid = min(bid, float(times[times > target].min(initial=math.inf)))
        after = candidates[times <= target]
        if not after.size:
            return Probe([], False, math.inf, bid), reachable
        reachable.append(after)
    ends = [layers]
    for before in reachable[-2:0:-1]:  # walk back through the nearest reachable boundaries
        ends.append(int(before[np.searchsorted(before, ends[-1]) - 1]))
    ends.reverse()
    return Probe(ends, True, slowest(chain, ends), bid), reachable


def slowest(chain: Chain, ends: list[int]) -> float:
    """Return the largest stage time of a partition."""
    return max(chain.time(d, i, j) for d, (i, j) in enumerate(zip([0, *ends], ends, strict=False)))


def probe_once(chain: Chain, target: float) -> Probe:
    """Probe once; an infinite target asks what memory and `nonempty` alone allow."""
    return probe(chain, target, [0] * chain.devices, [chain.layers] * chain.devices)


class Interval:
    """Where the optimum lies, narrowed by probes, and where to probe next.

    Where to look is free, as long as it lies in [lower, upper). Before the first
    success it is on from the last target by the time that all devices need for the
    layers left over, but at least to the bid, in growing strides: few probes if the
    optimum is near. After that it is halfway.
    """

    __slots__ = ("lower", "pace", "stride", "target", "upper", "work")

    def __init__(
        self, chain: Chain, *, lower: float | None = None, upper: float = math.inf
    ) -> None:
        self.work, self.pace = chain.starts[-1], math.fsum(chain.speeds)
        self.stride, self.target, self.upper = 1.0, self.work / self.pace, upper
        # A safe start: no rounding of differences and quotients reaches below it.
        self.lower = self.target * (1 - 2.0**-48) if self.target > 1e-290 else 0.0
        if lower is not None:
            self.lower = self.target = lower

    def aim(self) -> float | None:
        """Return the next target, or None if the optimum is found: it is `upper`."""
        if self.lower >= self.upper:
            return None
        if not self.lower <= self.target < self.upper:
            self.target = self._halfway()
        return self.target

    def success(self, slowest: float) -> None:
        """Note that the target can be met, with this largest stage time."""
        self.upper = slowest
        self.target = self._halfway()

    def failure(self, bid: float, left_over: float) -> None:
        """Note that no target below the bid can be met, and how much work was left over."""
        self.lower = bid
        step = max(left_over / self.pace, bid - self.target)
        self.target = min(self.target + self.stride * step, self._halfway())
        self.stride *= 2

    def _halfway(self) -> float:
        """Split [lower, upper) in halves; the strides have brought its ends near to each other."""
        if self.upper == math.inf:
            return 2 * self.lower
        middle = self.lower + (self.upper - self.lower) / 2
        return middle if middle < self.upper else self.lower


def solve(chain: Chain) -> tuple[float, list[int]] | None:
    """Find the least bottleneck and the block ends that attain it, or None if nothing fits.

    Of all partitions that are optimal to a relative 1e-12, the one returned has every
    boundary as far along the chain as it is in any of them.
    """
    found = optimum(chain)
    if found is None:
        return None
    settled = probe_once(chain, just_above(found[0]))
    return settled.slowest, settled.ends


def just_above(time: float) -> float:
    """Return the largest time that counts as this one; a finite one stays finite."""
    return min(float(ties.widened(time)), sys.float_info.max)


def just_below(time: float) -> float:
    """Return a time that counts as less than this one, also where rounding is coarse."""
    return min(time * (1 - ties.TOLERANCE), math.nextafter(time, 0))


def optimum(chain: Chain) -> tuple[float, list[int]] | None:
    """Find the least bottleneck, to the last bit, and the block ends that attain it."""
    low, high = [0] * chain.devices, [chain.layers] * chain.devices
    best, upper, lower = high, math.inf, None
    if chain.nonempty:
        relaxed = optimum(replace(chain, nonempty=False))
        if relaxed is None:
            return None
        lower = relaxed[0]
    if chain.nonempty or chain.held is not None:
        anything = probe_once(chain, math.inf)
        if not anything.fits:
            return None
        upper, best = anything.slowest, anything.ends
    search = Interval(chain, lower=lower, upper=upper)
    while (target := search.aim()) is not None:
        found = probe(chain, target, low, high)
        if found.fits:
            best = high = found.ends  # the brackets are not read where `nonempty`
            search.success(found.slowest)
        else:
            low = low if chain.nonempty else found.ends
            search.failure(found.bid, search.work - chain.starts[low[-1]])
    return search.upper, best


def infeasible(chain: Chain) -> InfeasibleError:
    """Say which layer or device cannot be served, for a chain that has no partition."""
    last = chain.devices - 1
    if chain.held is not None:
        largest = max(range(chain.devices), key=chain.room.__getitem__)
        for layer in range(chain.layers):
            excess = chain.excess(largest, layer, layer + 1)
            if excess > 0:
                return InfeasibleError(
                    f"layer {layer} fits on no device: it needs {chain.amount(excess)} more memory "
                    f"than device {largest} has, whose capacity is the largest",
                    layer=layer,
                    device=largest,
                    shortfall=chain.amount(excess),
                )
        ends = [0, *probe_once(replace(chain, nonempty=False), math.inf).ends]
        if ends[-1] < chain.layers:
            missing = chain.amount(chain.excess(last, ends[-2], chain.layers))
            return InfeasibleError(
                f"layer {ends[-1]} does not fit once every device is filled in order: device "
                f"{last} would need {missing} more capacity to hold all layers from {ends[-2]} on",
                layer=ends[-1],
                device=last,
                shortfall=missing,
            )
    if chain.layers < chain.devices:
        return InfeasibleError(
            f"nonempty asks for a layer on each of the devices, but there are {chain.devices} "
            f"of them and the number of layers is {chain.layers}",
            device=chain.layers,
            shortfall=chain.devices - chain.layers,
        )
    before = sweep(chain, math.inf)[1]
    device = len(before) - 1
    least = min(
        chain.excess(device, start, chain.layers if device == last else start + 1)
        for start in before[-1].tolist()
    )
    return InfeasibleError(
        f"nonempty asks for a layer on device {device}, but its capacity is "
        f"{chain.amount(least)} short of the least it would have to take",
        device=device,
        shortfall=chain.amount(least),
    )
