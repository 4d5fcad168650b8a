"""A chain of layers and its devices, validated, with memory that is added without rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from decentral.numerics import ties
from decentral.numerics.validation import Floats, check_scale, flag, vector

# Memory that is not whole may exceed a capacity by one part in so many.
_SLACK = round(1 / ties.TOLERANCE)
# Below this many layers a list of floats is faster to search than a view of the array.
_LIST_IS_FASTER = 4096


@dataclass(frozen=True, slots=True)
class Chain:
    """A validated instance: layers with prefix sums, devices in pipeline order.

    `starts` are the prefix sums of the costs. `held` are those of the layers'
    memory and `capacity` the devices', as whole numbers of 1/`unit`, so that
    memory is added without rounding. `room` is what a device may hold: its
    capacity, which numbers that are not whole may exceed by a relative 1e-12.
    """

    starts: Sequence[float]
    speeds: list[float]
    overhead: list[float]
    held: Sequence[int] | None
    capacity: list[int]
    room: list[int]
    unit: int
    nonempty: bool

    @property
    def layers(self) -> int:
        """Number of layers."""
        return len(self.starts) - 1

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.speeds)

    def time(self, device: int, start: int, end: int) -> float:
        """Stage time of `device` on layers start..end-1; an empty block takes none."""
        if start == end:
            return 0.0
        block = self.starts[end] - self.starts[start]
        return block / self.speeds[device] + self.overhead[device]

    def excess(self, device: int, start: int, end: int) -> int:
        """Memory of layers start..end-1 beyond what `device` has, in 1/unit; 0 if they fit."""
        if self.held is None:
            return 0
        needed = self.held[end] - self.held[start]
        return needed - self.capacity[device] if needed > self.room[device] else 0

    def amount(self, memory: int) -> int | float:
        """Memory in the caller's unit."""
        return memory // self.unit if memory % self.unit == 0 else memory / self.unit


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
    extra = np.zeros(speed.size)
    if overhead is not None:
        extra = vector("overhead", overhead, length=speed.size)
    pace, late = speed.tolist(), extra.tolist()
    check_scale(float(prefix[-1]), pace, late)
    held, limits, room, unit = _memory(memory, capacity, cost.size, speed.size)
    return Chain(
        starts=_sequence(prefix),
        speeds=pace,
        overhead=late,
        held=held,
        capacity=limits,
        room=room,
        unit=unit,
        nonempty=flag("nonempty", nonempty),
    )


def _sequence(prefix: npt.NDArray[Any]) -> Sequence[Any]:
    """Return the form of an array that is fastest to search one entry at a time."""
    return prefix.tolist() if prefix.size < _LIST_IS_FASTER else memoryview(prefix.data)


def _memory(
    memory: object, capacity: object, layers: int, devices: int
) -> tuple[Sequence[int] | None, list[int], list[int], int]:
    """Prefix sums of memory, the capacities, the rooms, and the unit that makes all whole."""
    if (memory is None) != (capacity is None):
        given = "memory" if capacity is None else "capacity"
        raise ValueError(f"memory and capacity must be given together, got {given} alone")
    if memory is None:
        return None, [], [], 1
    sizes = vector("memory", memory, length=layers)
    caps = _ratios(capacity, vector("capacity", capacity, infinite=True, length=devices))
    whole = np.all(sizes == np.floor(sizes)) and sizes.sum() < 2**53  # the common case
    parts = [] if whole else _ratios(memory, sizes)
    unit = math.lcm(*{d for _, d in parts}, *{d for _, d in caps if d})
    if whole:
        held = _sequence(np.cumsum(np.append(0, sizes.astype(np.int64))))
        held = [unit * amount for amount in held] if unit > 1 else held
    else:
        held = list(accumulate((n * (unit // d) for n, d in parts), initial=0))
    # No capacity matters beyond the whole memory; an infinite one has the denominator 0.
    limits = [min(n * (unit // d), held[-1]) if d else held[-1] for n, d in caps]
    # Whole numbers are meant exactly; what has decimals is rounded where it is typed.
    integral = all(d == 1 for _, d in parts)
    exact = [integral and d == 1 for _, d in caps]
    slack = [0 if e else x // _SLACK for x, e in zip(limits, exact, strict=True)]
    room = [min(x + more, held[-1]) for x, more in zip(limits, slack, strict=True)]
    return held, limits, room, unit


def _ratios(given: object, checked: Floats) -> list[tuple[int, int]]:
    """Return numbers as exact fractions; integers beyond 2**53 as they were given."""
    ratios = []
    for exact, rounded in zip(
        np.array(given, dtype=object).tolist(), checked.tolist(), strict=True
    ):
        if isinstance(exact, Integral):
            ratios.append((int(exact), 1))
        else:
            ratios.append((1, 0) if rounded == math.inf else rounded.as_integer_ratio())
    return ratios


def memory_array(chain: Chain) -> npt.NDArray[Any] | None:
    """Return the prefix sums of memory as an array; Python integers if a sum of two overflows."""
    if chain.held is None:
        return None
    return np.array(chain.held, dtype=np.int64 if chain.held[-1] < 2**62 else object)
