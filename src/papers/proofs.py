"""Theorems about partitions proved for all real inputs at small sizes, by an SMT solver.

Scale the target to 1. Then a stage meets it iff the cost of its block, plus the
work ``k = v c`` that the device could have done during its overhead, is at most
the device's speed. Every statement below is therefore a Boolean combination of
linear inequalities, and z3 decides it: ``unsat`` for the negation means that no
real chain and no real devices violate the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, pairwise, permutations

import z3


class _Instance:
    """Symbolic costs and speeds of L layers on m devices; memory and overhead on request."""

    def __init__(
        self, layers: int, devices: int, *, memory: bool = False, overhead: bool = False
    ) -> None:
        self.layers, self.devices, self.memory = layers, devices, memory
        self.costs = z3.RealVector("w", layers)
        self.speeds = z3.RealVector("v", devices)
        self.lost = z3.RealVector("k", devices) if overhead else [z3.RealVal(0)] * devices
        self.sizes = z3.RealVector("q", layers) if memory else []
        self.caps = z3.RealVector("M", devices) if memory else []
        self.domain = [x >= 0 for x in [*self.costs, *self.lost, *self.sizes, *self.caps]]
        self.domain += [v > 0 for v in self.speeds]

    def fits(self, device: int, start: int, end: int) -> z3.BoolRef:
        """Whether the device can hold layers start..end-1 within the target, 1."""
        if start == end:
            return z3.BoolVal(True)
        in_time = z3.Sum(self.costs[start:end]) + self.lost[device] <= self.speeds[device]
        if not self.memory:
            return in_time
        return z3.And(in_time, z3.Sum(self.sizes[start:end]) <= self.caps[device])

    def cuts(self) -> Iterator[tuple[int, ...]]:
        """All boundaries 0 = b_0 <= b_1 <= ... <= b_m = L."""
        for inner in combinations_with_replacement(range(self.layers + 1), self.devices - 1):
            yield (0, *inner, self.layers)

    def meets(self, boundaries: tuple[int, ...]) -> z3.BoolRef:
        """Whether every stage of a cut fits."""
        return z3.And(*(self.fits(j, a, b) for j, (a, b) in enumerate(pairwise(boundaries))))

    def greedy_fails(self) -> z3.BoolRef:
        """Whether the furthest-reach walk is left with layers, over all ways it may run."""

        def rest(device: int, start: int) -> z3.BoolRef:
            if device == self.devices:
                return z3.BoolVal(True)
            return z3.Or(
                *(
                    z3.And(
                        self.fits(device, start, end),
                        z3.Not(self.fits(device, start, end + 1)),
                        rest(device + 1, end),
                    )
                    for end in range(start, self.layers)
                )
            )

        return rest(0, 0)


def _holds_for_all(*negation: z3.BoolRef) -> bool:
    """Whether no real values satisfy the negation."""
    solver = z3.Solver()
    solver.add(*negation)
    answer = solver.check()
    if answer == z3.unknown:
        raise RuntimeError(f"z3 could not decide: {solver.reason_unknown()}")
    return bool(answer == z3.unsat)


def greedy_is_exact(
    layers: int, devices: int, *, memory: bool = False, overhead: bool = False
) -> bool:
    """Prove that the furthest-reach walk fails only if every cut misses the target.

    Parameters
    ----------
    layers, devices : int
    memory : bool, optional
        Give layers sizes and devices capacities as well.
    overhead : bool, optional
        Let devices lose time when their block is not empty.

    Returns
    -------
    bool
        True iff the theorem holds for all real inputs.
    """
    case = _Instance(layers, devices, memory=memory, overhead=overhead)
    some_cut = z3.Or(*(case.meets(cut) for cut in case.cuts()))
    return _holds_for_all(*case.domain, case.greedy_fails(), some_cut)


def bound_holds(
    layers: int,
    devices: int,
    *,
    multiple: Callable[[int], float] = lambda m: m - 1,
    overhead: bool = False,
) -> bool:
    """Prove that some cut takes at most (W + Σ v_j c_j + multiple(m) · w_max) / V.

    With V = 1 and the numerator 1 the bound is the target 1.

    Parameters
    ----------
    layers, devices : int
    multiple : callable, optional
        The multiple of w_max as a function of m; the theorem's is m - 1.
    overhead : bool, optional
        Let devices lose time when their block is not empty.

    Returns
    -------
    bool
        True iff the bound holds for all real inputs.
    """
    case = _Instance(layers, devices, overhead=overhead)
    widest = z3.Real("w_max")
    scale = [
        z3.Sum(case.speeds) == 1,
        z3.Sum(case.costs) + z3.Sum(case.lost) + multiple(devices) * widest == 1,
        *(cost <= widest for cost in case.costs),
    ]
    return _holds_for_all(*case.domain, *scale, *(z3.Not(case.meets(cut)) for cut in case.cuts()))


def subset_programme_is_exact(layers: int, devices: int, *, worst: bool = False) -> bool:
    """Prove that keeping only the extreme reach of each set of devices loses nothing.

    The programme keeps the furthest reach of each set over its internal orders and must
    reach the end iff some order of the devices has a cut that meets the target. With
    `worst` it keeps the least reach, and must reach the end iff every order has one.

    Parameters
    ----------
    layers, devices : int
    worst : bool, optional

    Returns
    -------
    bool
        True iff the theorem holds for all real costs, speeds, sizes and capacities.
    """
    case = _Instance(layers, devices, memory=True, overhead=True)
    everyone = frozenset(range(devices))
    # at_least[S][i]: the kept reach of S is at least i layers.
    at_least = {frozenset[int](): [z3.BoolVal(i == 0) for i in range(layers + 2)]}
    for size in range(1, devices + 1):
        for chosen in map(frozenset, combinations(range(devices), size)):
            rows = []
            for device in chosen:
                rest = at_least[chosen - {device}]
                exactly = [z3.And(rest[a], z3.Not(rest[a + 1])) for a in range(layers + 1)]
                rows.append(
                    [
                        z3.Or(
                            *(
                                z3.And(exactly[a], case.fits(device, a, max(a, i)))
                                for a in range(layers + 1)
                            )
                        )
                        for i in range(layers + 1)
                    ]
                )
            join = z3.And if worst else z3.Or
            reach = [join(*(row[i] for row in rows)) for i in range(layers + 1)]
            at_least[chosen] = [*reach, z3.BoolVal(False)]

    def order_has_a_cut(order: tuple[int, ...]) -> z3.BoolRef:
        return z3.Or(
            *(
                z3.And(
                    *(case.fits(d, a, b) for d, (a, b) in zip(order, pairwise(cut), strict=True))
                )
                for cut in case.cuts()
            )
        )

    orders = [order_has_a_cut(order) for order in permutations(range(devices))]
    truth = z3.And(*orders) if worst else z3.Or(*orders)
    return _holds_for_all(*case.domain, at_least[everyone][layers] != truth)
