"""The subset programme behind :mod:`decentral.ordering`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from decentral.numerics.validation import Floats, Ints
from decentral.partition.chain import Chain, memory_array

Step = list[tuple[int, npt.NDArray[np.int32]]]
Steps = list[Step]


@dataclass(frozen=True)
class Pool:
    """A chain and its devices by type; a state says how many of each type are placed."""

    chain: Chain
    members: list[list[int]]  # the devices of each type
    strides: list[int]  # of each type in the number of a state
    size: int

    @classmethod
    def build(cls, chain: Chain, most: int) -> Pool:
        """Sort the devices of a chain by type; refuse more than so many states."""
        kinds: dict[tuple[Any, ...], list[int]] = {}
        rooms = chain.room or [0] * chain.devices
        for device, kind in enumerate(zip(chain.speeds, chain.overhead, rooms, strict=True)):
            kinds.setdefault(kind, []).append(device)
        members = list(kinds.values())
        *strides, size = accumulate((len(m) + 1 for m in members), mul, initial=1)
        if size > most:
            raise ValueError(
                f"speeds must give at most {most:,} states for an exact order, but these "
                f"{chain.devices} devices of {len(members)} types give {size:,}; "
                "swap_search finds a good order without them"
            )
        return cls(chain, members, strides, size)

    def steps(self) -> Steps:
        """For each number of devices placed: the states that each type can still join."""
        states = np.arange(self.size, dtype=np.int32)
        counts = [len(m) for m in self.members]
        digits = [
            states // stride % (count + 1)
            for stride, count in zip(self.strides, counts, strict=True)
        ]
        placed = np.sum(digits, axis=0, dtype=np.int32)
        order = np.argsort(placed, kind="stable").astype(np.int32)
        levels = np.split(order, np.cumsum(np.bincount(placed))[:-1])
        return [
            [(kind, level[digits[kind][level] < count]) for kind, count in enumerate(counts)]
            for level in levels[:-1]
        ]

    def order(self, kinds: Iterable[int]) -> list[int]:
        """Name the devices of a sequence of types, each type in the given order."""
        left = [iter(m) for m in self.members]
        return [next(left[kind]) for kind in kinds]

    def removals(self, state: int) -> list[tuple[int, int]]:
        """Return the types in a state, each with the state without one device of it."""
        return [
            (kind, state - stride)
            for kind, (stride, m) in enumerate(zip(self.strides, self.members, strict=True))
            if state // stride % (len(m) + 1)
        ]


class Reach:
    """Where each type of device gets to from each layer, tabulated once for a target.

    All tables have a row for each type and a column for each boundary of the chain.
    """

    def __init__(self, pool: Pool) -> None:
        chain, devices = pool.chain, [m[0] for m in pool.members]
        self.layers = chain.layers
        self.starts, self.held = np.asarray(chain.starts), memory_array(chain)
        self.speeds = np.array([[chain.speeds[d]] for d in devices])
        self.overhead = np.array([[chain.overhead[d]] for d in devices])
        self.rooms = [chain.room[d] for d in devices] if chain.room else []
        self.begins = np.broadcast_to(np.arange(chain.layers + 1), (len(devices), chain.layers + 1))
        self.roofs = np.full_like(self.begins, chain.layers)
        if self.held is not None:
            for kind, room in enumerate(self.rooms):
                self.roofs[kind] = np.searchsorted(self.held, self.held + room, "right") - 1

    def times(self, start: Ints, end: Ints) -> Floats:
        """Time blocks from `start` to `end`, both of the shape of the tables."""
        times = (self.starts[end] - self.starts[start]) / self.speeds + self.overhead
        return np.where(end > start, times, 0.0)

    def block_times(self, kind: int, nearest: Ints) -> Floats:
        """Time the blocks from the nearest boundaries; NaN where there is no block."""
        end, start = np.arange(nearest.shape[1]), np.maximum(nearest, 0)
        times: Floats = (self.starts[end] - self.starts[start]) / self.speeds[kind]
        times += self.overhead[kind]
        forbidden = nearest < 0
        if self.held is not None:
            forbidden |= self.held[end] - self.held[start] > self.rooms[kind]
        times[forbidden] = math.nan
        return times

    def tabulate(self, target: float) -> tuple[Ints, Floats]:
        """Return the furthest ends from all boundaries, and the times of one layer more."""
        begins, roofs = self.begins, self.roofs
        # Guess by inverting the stage time; where the stage time itself disagrees, bisect on it.
        with np.errstate(over="ignore"):
            budget = self.starts + (target - self.overhead) * self.speeds
        guess = np.searchsorted(self.starts, budget.ravel(), "right").reshape(budget.shape) - 1
        end = np.clip(guess, begins, roofs)
        longer = self._longer(end)
        wrong = (self.times(begins, end) > target) | (longer <= target)
        if np.any(wrong):
            low, high = np.where(wrong, begins, end), np.where(wrong, roofs, end)
            while np.any(low < high):
                middle = (low + high + 1) // 2
                fits = self.times(begins, middle) <= target
                low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
            end = low
            longer = self._longer(end)
        return end, longer

    def _longer(self, end: Ints) -> Floats:
        times = self.times(self.begins, np.minimum(end + 1, self.layers))
        return np.where(end < self.roofs, times, math.inf)


@dataclass(frozen=True)
class Sweep:
    """The reach of every state, and the least larger time at which any of them would change."""

    reach: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    bid: float
    slowest: float


def sweep(pool: Pool, steps: Iterable[Step], reach: Reach, target: float, *, worst: bool) -> Sweep:
    """Run the subset programme for one target, over the best or the worst internal orders."""
    table, longer = reach.tabulate(target)
    ends = table.astype(np.int32)
    better = np.minimum if worst else np.maximum
    best = np.full(pool.size, pool.chain.layers if worst else 0, dtype=np.int32)
    best[0] = 0
    for level in steps:
        for kind, states in level:
            joined = states + pool.strides[kind]
            best[joined] = better(best[joined], ends[kind][best[states]])
    seen = np.zeros(pool.chain.layers + 1, dtype=bool)
    seen[best] = True
    times = reach.times(reach.begins, table)
    return Sweep(best, ends, float(longer[:, seen].min()), float(times[:, seen].max()))


def trace(pool: Pool, found: Sweep) -> list[int]:
    """Read off an order that attains the reach of all devices."""
    kinds, state = [], pool.size - 1
    while state:
        for kind, before in pool.removals(state):
            if found.ends[kind, found.reach[before]] == found.reach[state]:
                kinds.append(kind)
                state = before
                break
    return pool.order(reversed(kinds))


def sweep_nonempty(
    pool: Pool, steps: Iterable[Step], reach: Reach, target: float
) -> tuple[list[int] | None, float]:
    """Test a target where every device must get a layer; return an order, or None and a bid.

    All boundaries that a state can reach are kept, as in :func:`decentral.partition.bidding.sweep`.
    """
    layers, devices = pool.chain.layers, pool.chain.devices
    reachable = np.zeros((pool.size, layers + 1), dtype=bool)
    reachable[0, 0] = True
    bid = math.inf
    for placed, level in enumerate(steps):
        last = layers - (devices - placed - 1)  # each device to come needs a layer
        for kind, states in level:
            nearest = _nearest(reachable[states, : last + 1])
            times = reach.block_times(kind, nearest)
            late = times > target
            bid = min(bid, float(times[late].min(initial=math.inf)))
            reachable[states + pool.strides[kind], : last + 1] |= times <= target
    if not reachable[-1, layers]:
        return None, bid
    kinds, state, end = [], pool.size - 1, layers
    while state:
        for kind, before in pool.removals(state):
            nearest = _nearest(reachable[before : before + 1])
            if reach.block_times(kind, nearest)[0, end] <= target:
                kinds.append(kind)
                state, end = before, int(nearest[0, end])
                break
    return pool.order(reversed(kinds)), bid


def _nearest(reachable: npt.NDArray[np.bool_]) -> Ints:
    """For each row and boundary: the nearest reachable boundary before it, or -1."""
    marks = np.where(reachable, np.arange(reachable.shape[1]), -1)
    nearest = np.full_like(marks, -1)
    np.maximum.accumulate(marks[:, :-1], axis=1, out=nearest[:, 1:])
    return nearest
