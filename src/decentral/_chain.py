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
That float is monotone in ``i`` and ``j``, which is all the argument needs.

.. [PinarAykanat2004] A. Pınar and C. Aykanat, "Fast optimal load balancing
   algorithms for 1D partitioning", J. Parallel Distrib. Comput. 64 (2004).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from decentral._validation import vector
from decentral.errors import InfeasibleError

# Below this many layers a list of floats is faster to search than a view of the array.
_LIST_IS_FASTER = 4096


@dataclass(frozen=True, slots=True)
class Chain:
    """A validated instance: layers with prefix sums, devices in pipeline order.

    `starts` are the prefix sums of the costs, `held` those of the layers'
    memory; `room` holds the devices' capacities. Memory stays in integers if it
    is given in integers.
    """

    starts: Sequence[float]
    speeds: list[float]
    overhead: list[float]
    held: Sequence[Any] | None
    room: list[Any]
    nonempty: bool

    @property
    def layers(self) -> int:
        return len(self.starts) - 1

    @property
    def devices(self) -> int:
        return len(self.speeds)

    def time(self, device: int, start: int, end: int) -> float:
        """Stage time of `device` on layers start..end-1; an empty block takes none."""
        if start == end:
            return 0.0
        block = self.starts[end] - self.starts[start]
        return block / self.speeds[device] + self.overhead[device]

    def excess(self, device: int, start: int, end: int) -> Any:
        """Memory of layers start..end-1 beyond what `device` has; never positive if it fits."""
        if self.held is None:
            return 0
        return self.held[end] - self.held[start] - self.room[device]


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe found: the block ends, and the slowest stage (if it fits) or the bid."""

    ends: list[int]
    fits: bool
    slowest: float
    bid: float


def build(
    costs: object,
    speeds: object,
    memory: object = None,
    capacity: object = None,
    overhead: object = None,
    nonempty: bool = False,
) -> Chain:
    """Validate the arguments of the public functions."""
    cost = vector("costs", costs)
    speed = vector("speeds", speeds, positive=True)
    prefix = np.empty(cost.size + 1)
    prefix[0] = 0.0
    with np.errstate(over="ignore"):
        np.cumsum(cost, out=prefix[1:])
    pace = speed.tolist()
    extra = [0.0] * len(pace)
    if overhead is not None:
        extra = vector("overhead", overhead, length=len(pace)).tolist()
    total, slow = float(prefix[-1]), min(pace)
    if not (total < math.inf and total / slow + sum(extra) < math.inf and sum(pace) < math.inf):
        raise ValueError(
            "costs, speeds and overhead must give finite stage times, but the costs sum to "
            f"{total:g} and the slowest speed is {slow:g}; rescale the units"
        )
    held, room = _memory(memory, capacity, cost.size, len(pace))
    return Chain(
        starts=_sequence(prefix),
        speeds=pace,
        overhead=extra,
        held=held,
        room=room,
        nonempty=bool(nonempty),
    )


def _sequence(prefix: npt.NDArray[Any]) -> Sequence[Any]:
    """Return the form of an array that is fastest to search one entry at a time."""
    return prefix.tolist() if prefix.size < _LIST_IS_FASTER else memoryview(prefix.data)


def _memory(
    memory: object, capacity: object, layers: int, devices: int
) -> tuple[Sequence[Any] | None, list[Any]]:
    """Prefix sums of memory and the capacities, in integers if memory is in integers."""
    if (memory is None) != (capacity is None):
        given = "memory" if capacity is None else "capacity"
        raise ValueError(f"memory and capacity must be given together, got {given} alone")
    if memory is None:
        return None, []
    sizes = vector("memory", memory, length=layers)
    caps = vector("capacity", capacity, infinite=True, length=devices)
    exact = np.asarray(memory)
    if exact.dtype.kind in "iu" or all(isinstance(size, int) for size in exact.flat):
        held = list(accumulate(map(int, exact.tolist()), initial=0))
        whole = [
            held[-1] if cap == math.inf else math.floor(cap)
            for cap in np.asarray(capacity).tolist()
        ]
        return held, whole
    with np.errstate(over="ignore"):
        prefix = np.concatenate(([0.0], np.cumsum(sizes)))
    if prefix[-1] == math.inf:
        raise ValueError("memory must have a finite sum; rescale the units")
    return _sequence(prefix), caps.tolist()


def probe(chain: Chain, target: float, low: Sequence[int], high: Sequence[int]) -> Probe:
    """Test `target` by furthest reach; earlier probes bracket each block end.

    Block ends only grow with the target, so the ends of a failed probe below
    `target` bound them from below and those of a success above it from above.
    """
    if chain.nonempty:
        return sweep(chain, target)[0]
    starts, last = chain.starts, chain.devices - 1
    start, slow, bid, roof = 0, 0.0, math.inf, chain.layers
    ends: list[int] = []
    for device, (speed, extra) in enumerate(zip(chain.speeds, chain.overhead, strict=True)):
        base = starts[start]
        if chain.held is not None:
            roof = _roof(chain, device, start)
        # Guess the reach by inverting the stage time; trust only the stage time itself.
        budget = base + (target - extra) * speed
        end = min(bisect_right(starts, budget, low[device], high[device] + 1) - 1, roof)
        if (
            end < start
            or (end > start and (starts[end] - base) / speed + extra > target)
            or (end < roof and (starts[end + 1] - base) / speed + extra <= target)
        ):
            end = _reach(chain, device, start, roof, target)
        if end > start:
            slow = max(slow, (starts[end] - base) / speed + extra)
        wanted = chain.layers if device == last else end + 1
        if end < wanted <= roof:
            bid = min(bid, (starts[wanted] - base) / speed + extra)
        ends.append(end)
        start = end
    return Probe(ends, start == chain.layers, slow, bid)


def _reach(chain: Chain, device: int, start: int, roof: int, target: float) -> int:
    """Return the furthest end up to `roof` within `target`, by the stage time alone."""
    ends = range(start, roof + 1)
    return start + bisect_right(ends, target, key=lambda end: chain.time(device, start, end)) - 1


def _roof(chain: Chain, device: int, start: int) -> int:
    """Return the furthest end within the device's memory."""
    ends = range(start, chain.layers + 1)
    return start + bisect_right(ends, 0, key=lambda end: chain.excess(device, start, end)) - 1


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
    held = None if chain.held is None else np.asarray(chain.held)
    layers, devices = chain.layers, chain.devices
    reachable = [np.array([0])]
    bid = math.inf
    for device, (speed, extra) in enumerate(zip(chain.speeds, chain.overhead, strict=True)):
        before, left = reachable[-1], devices - 1 - device
        candidates = np.arange(before[0] + 1 if left else layers, layers - left + 1)
        nearest = before[np.searchsorted(before, candidates) - 1]
        times = (starts[candidates] - starts[nearest]) / speed + extra
        if held is not None:
            roomy = np.array(held[candidates] - held[nearest] <= chain.room[device], dtype=bool)
            times[~roomy] = math.nan
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


def test(chain: Chain, target: float) -> Probe:
    """Probe once; an infinite target asks what memory and `nonempty` alone allow."""
    return probe(chain, target, [0] * chain.devices, [chain.layers] * chain.devices)


def solve(chain: Chain) -> tuple[float, list[int]] | None:
    """Find the least bottleneck and the block ends that attain it, or None if nothing fits.

    Of all optimal partitions the one returned has every boundary as far along
    the chain as it is in any of them.
    """
    low, high = [0] * chain.devices, [chain.layers] * chain.devices
    lower, upper, best = 0.0, math.inf, high
    if chain.nonempty or chain.held is not None:
        anything = test(chain, math.inf)
        if not anything.fits:
            return None
        upper, best = anything.slowest, anything.ends
    work, pace, stride = chain.starts[-1], sum(chain.speeds), 1.0
    step, target = 0.0, work / pace
    while lower < upper:
        # Where to look next is free, as long as it lies in [lower, upper). Below the first
        # success: on by the time all devices need for the layers left over, in growing strides.
        target = min(max(target + step, lower), lower + (upper - lower) / 2)
        if target >= upper:
            target = lower
        found = probe(chain, target, low, high)
        if found.fits:
            upper, best = found.slowest, found.ends
            high = high if chain.nonempty else best
        else:
            lower = found.bid
            low = low if chain.nonempty else found.ends
            step = stride * (work - chain.starts[low[-1]]) / pace
            stride *= 2
    return upper, best


def infeasible(chain: Chain) -> InfeasibleError:
    """Say which layer or device cannot be served, for a chain that has no partition."""
    if chain.held is not None:
        largest = max(range(chain.devices), key=chain.room.__getitem__)
        for layer in range(chain.layers):
            excess = chain.excess(largest, layer, layer + 1)
            if excess > 0:
                return InfeasibleError(
                    f"layer {layer} fits on no device: it needs {excess} more memory than the "
                    f"largest capacity, {chain.room[largest]} on device {largest}",
                    layer=layer,
                    device=largest,
                    shortfall=excess,
                )
    if not chain.nonempty:
        last, start = chain.devices - 1, [0, *test(chain, math.inf).ends][-2]
        excess = chain.excess(last, start, chain.layers)
        left = _roof(chain, last, start)
        return InfeasibleError(
            f"layer {left} does not fit once every device before it is filled in order: "
            f"device {last} would need {excess} more than its capacity, {chain.room[last]}, "
            f"to hold layers {start} to {chain.layers - 1}",
            layer=left,
            device=last,
            shortfall=excess,
        )
    if chain.layers < chain.devices:
        return InfeasibleError(
            f"nonempty asks for a layer on each of {chain.devices} devices, "
            f"but there are only {chain.layers} layers",
            device=chain.layers,
            shortfall=chain.devices - chain.layers,
        )
    before = sweep(chain, math.inf)[1]
    device = len(before) - 1
    least = chain.layers if device == chain.devices - 1 else None
    excess = min(chain.excess(device, start, least or start + 1) for start in before[-1].tolist())
    return InfeasibleError(
        f"nonempty asks for a layer on device {device}, but with capacity "
        f"{chain.room[device]} it is {excess} short of the least it would have to take",
        device=device,
        shortfall=excess,
    )
