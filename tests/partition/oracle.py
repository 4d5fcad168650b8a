"""Slow, independent oracles for cuts, pipelines and prices; nothing here imports the library.

A block of layers ``a..b-1`` on device ``j`` takes, as a float and by definition,
``(P[b] - P[a]) / v_j + c_j`` if ``b > a`` and ``0.0`` if ``b == a``, with ``P`` the float64 prefix
sums of the costs. It is allowed iff ``Q[b] - Q[a] <= M_j``, with ``Q`` the prefix sums of memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, combinations, combinations_with_replacement, pairwise
from typing import Any

import mpmath
import numpy as np


def _devices(
    speeds: Sequence[float], capacity: Sequence[float] | None, overhead: Sequence[float] | None
) -> list[tuple[float, float | None, float]]:
    """One (speed, capacity or None, overhead) per device, as Python numbers."""
    m = len(speeds)
    if m == 0:
        raise ValueError("at least one device is needed")
    caps: list[Any] = [None] * m if capacity is None else [_plain(x) for x in capacity]
    over = [0.0] * m if overhead is None else [float(x) for x in overhead]
    return list(zip([float(v) for v in speeds], caps, over, strict=True))


def _plain(x: Any) -> Any:
    """Python's own number for a numpy scalar; an int stays an exact int."""
    return int(x) if isinstance(x, (int, np.integer)) else float(x)


def _memory_sums(
    layers: int, memory: Sequence[float] | None, capacity: Sequence[float] | None
) -> list[Any]:
    """Prefix sums of memory: exact Python ints if every entry is an int, else float64."""
    if memory is None:
        if capacity is not None:
            raise ValueError("capacity without memory")
        return [0] * (layers + 1)
    if len(memory) != layers:
        raise ValueError("one memory per layer is needed")
    sizes = [_plain(x) for x in memory]
    if all(isinstance(x, int) for x in sizes):
        return [0, *accumulate(sizes)]
    return [0.0, *np.cumsum(np.array(sizes, dtype=np.float64)).tolist()]


def dynamic_programme(
    costs: Sequence[float],
    speeds: Sequence[float],
    *,
    memory: Sequence[float] | None = None,
    capacity: Sequence[float] | None = None,
    overhead: Sequence[float] | None = None,
    nonempty: bool = False,
) -> float:
    """Least bottleneck, bit for bit, by the O(m L^2) recurrence; ``inf`` if infeasible.

    ``D[j][b] = min over a <= b of max(D[j-1][a], time_j(a, b))``.
    """
    layers = len(costs)
    prefix = np.concatenate(([0.0], np.cumsum(np.asarray(costs, dtype=np.float64))))
    work = prefix[None, :] - prefix[:, None]  # work[a, b]
    index = np.arange(layers + 1)
    forward = index[:, None] < index[None, :] if nonempty else index[:, None] <= index[None, :]
    # Objects, so that comparisons of ints beyond 2**53 with float capacities stay exact.
    sums = np.array(_memory_sums(layers, memory, capacity), dtype=object)
    held = None if capacity is None else sums[None, :] - sums[:, None]

    best = np.full(layers + 1, np.inf)
    best[0] = 0.0
    for speed, cap, over in _devices(speeds, capacity, overhead):
        with np.errstate(over="ignore"):
            time = work / speed + over
        np.fill_diagonal(time, 0.0)
        allowed = forward if held is None else forward & (held <= cap).astype(bool)
        time = np.where(allowed, time, np.inf)
        best = np.maximum(best[:, None], time).min(axis=0)
    return float(best[layers])


def enumerate_cuts(
    costs: Sequence[float],
    speeds: Sequence[float],
    *,
    memory: Sequence[float] | None = None,
    capacity: Sequence[float] | None = None,
    overhead: Sequence[float] | None = None,
    nonempty: bool = False,
) -> tuple[float, list[tuple[int, ...]]]:
    """Least bottleneck and every tuple of block sizes that attains it to 1e-12, by trying all.

    The tuples come in lexicographic order; ``(inf, [])`` if no cut is allowed.
    """
    layers = len(costs)
    prefix = [0.0, *accumulate(float(w) for w in costs)]
    held = _memory_sums(layers, memory, capacity)
    devices = _devices(speeds, capacity, overhead)
    inner = len(devices) - 1
    if nonempty and layers < len(devices):
        return math.inf, []
    cuts = (
        combinations(range(1, layers), inner)
        if nonempty
        else combinations_with_replacement(range(layers + 1), inner)
    )
    times = dict[tuple[int, ...], float]()
    for cut in cuts:
        blocks = list(zip((0, *cut), (*cut, layers), strict=True))
        bottleneck = 0.0
        for (a, b), (speed, cap, over) in zip(blocks, devices, strict=True):
            if cap is not None and not held[b] - held[a] <= cap:
                break
            if b > a:
                bottleneck = max(bottleneck, (prefix[b] - prefix[a]) / speed + over)
        else:
            times[tuple(b - a for a, b in blocks)] = bottleneck
    best = min(times.values(), default=math.inf)
    return best, [counts for counts, time in times.items() if time <= best * (1 + 1e-12)]


def all_bottlenecks(costs, speeds, memory=None, capacity=None, overhead=None):
    """The longest stage of each cut that the capacities allow, in the order given."""
    for inner in combinations_with_replacement(range(len(costs) + 1), len(speeds) - 1):
        cut = (0, *inner, len(costs))
        blocks = list(pairwise(cut))
        if capacity is None or all(
            sum(memory[a:b]) <= room for (a, b), room in zip(blocks, capacity, strict=True)
        ):
            yield max(
                (sum(costs[a:b]) / speeds[j] + (overhead[j] if overhead is not None else 0))
                if a < b
                else 0
                for j, (a, b) in enumerate(blocks)
            )


def flow_shop(stage_times: Sequence[float], microbatches: int) -> float:
    """Last completion time of a pipeline, simulated microbatch by microbatch.

    Stage ``j`` starts microbatch ``k`` when it is done with ``k - 1`` and stage ``j - 1`` is done
    with ``k``.
    """
    free = [0.0] * len(stage_times)  # when each stage is done with the previous microbatch
    last = 0.0
    for _ in range(microbatches):
        arrived = 0.0
        for j, duration in enumerate(stage_times):
            arrived = max(free[j], arrived) + float(duration)
            free[j] = arrived
        last = max(last, arrived)
    return last


def _tilted_inverse_power(power: int, sigma: Any, shifted: Sequence[int], plain: int) -> Any:
    """Mean of ``min(v) ** -power`` when some of the Z's have a mean other than 0.

    ``shifted`` lists those means in units of sigma; ``plain`` further Z's have mean 0. As
    ``min(v) ** -power > exp(-power sigma z)`` unless every Z is at least z, the layer-cake formula
    gives ``int (1 - G(z)) s exp(-s z) dz`` with ``s = power sigma`` and G(z) the chance that all
    exceed z. Over z > 0 the 1 integrates to 1, which leaves only Gaussian tails.
    """
    rate = power * sigma
    means = [k * sigma for k in shifted]

    def log_all_exceed(z: Any) -> Any:
        logs = [mpmath.log1p(-mpmath.ncdf(z - mean)) for mean in means if z < mean]
        logs += [mpmath.log(mpmath.ncdf(mean - z)) for mean in means if z >= mean]
        tail = mpmath.log1p(-mpmath.ncdf(z)) if z < 0 else mpmath.log(mpmath.ncdf(-z))
        return mpmath.fsum(logs) + plain * tail

    def below(z: Any) -> Any:
        return -mpmath.expm1(log_all_exceed(z)) * rate * mpmath.exp(-rate * z)

    def above(z: Any) -> Any:
        return mpmath.exp(log_all_exceed(z) - rate * z) * rate

    # Beyond these ends the Gaussian factors are below exp(-18**2 / 2), about 1e-70.
    left, right = mpmath.ceil(rate) + 18, mpmath.ceil(max(means)) + 18
    lower, upper = [*mpmath.arange(-left, 0, 2), 0], [*mpmath.arange(0, right, 2), right]
    integrate = mpmath.mp.quadgl  # Gauss-Legendre, panel by panel: smooth and several times faster
    return 1 + integrate(below, lower) - integrate(above, upper)


def blind_price_mpmath(devices: int, sigma: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and standard deviation of mean(v) / min(v), v = exp(sigma Z) iid, to 40 digits.

    By symmetry the moments need only v_1 / min, v_1^2 / min^2 and v_1 v_2 / min^2. A factor v_j^k
    is absorbed by a change of measure: ``E[v_j^k f(Z)] = exp(k^2 sigma^2 / 2) E[f(Z)]`` with Z_j
    moved to mean ``k sigma``. What is left are moments of 1 / min(v), from its distribution.
    The result carries its 40 digits, but arithmetic on it rounds to the caller's mpmath precision.
    """
    if devices < 1:
        raise ValueError("at least one device is needed")
    if devices == 1 or sigma == 0:
        return mpmath.mpf(1), mpmath.mpf(0)
    with mpmath.workdps(60):
        s, m = mpmath.mpf(sigma), devices
        tilt = mpmath.exp(s * s / 2)
        mean = tilt * _tilted_inverse_power(1, s, [1], m - 1)
        square = tilt**4 * _tilted_inverse_power(2, s, [2], m - 1)
        cross = tilt**2 * _tilted_inverse_power(2, s, [1, 1], m - 2)
        deviation = mpmath.sqrt((square + (m - 1) * cross) / m - mean**2)
    with mpmath.workdps(40):
        return +mean, +deviation
