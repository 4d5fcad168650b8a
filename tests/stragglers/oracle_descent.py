"""Noisy descent: its errors step by step, and searches over quorums, steps and schedules.

Written from the definitions, without looking at the library; exact rationals or 50+ digits.
Floats are taken at their exact binary value everywhere. Functions that return an ``mpmath.mpf``
compute at 60 digits or more, whatever the caller's precision.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray
from tests.numerics.precision import DIGITS, Real, as_fraction, as_mpf

Floats: TypeAlias = NDArray[np.float64]


def _step_map(k: Real, curvature: Real, step: Real, noise: Real) -> tuple[Fraction, Fraction]:
    """Return (r, c) with E x_(t+1)^2 = r E x_t^2 + c: the noise is independent and centred."""
    eta = as_fraction(step)
    return (1 - eta * as_fraction(curvature)) ** 2, eta**2 * as_fraction(noise) / as_fraction(k)


def error_path(
    rounds: int, k: Real, curvature: Real, step: Real, noise: Real, start: Real
) -> list[mpmath.mpf]:
    """Return E x_t^2 for t = 0..rounds, by iterating the recursion at 60 digits."""
    r, c = _step_map(k, curvature, step, noise)
    with mpmath.workdps(DIGITS + 10):
        factor, term = as_mpf(r), as_mpf(c)
        path = [as_mpf(start)]
        for _ in range(rounds):
            path.append(factor * path[-1] + term)
        return path


def error_path_exact(
    rounds: int, k: Real, curvature: Real, step: Real, noise: Real, start: Real
) -> list[Fraction]:
    """Return E x_t^2 for t = 0..rounds, by iterating the recursion in rationals."""
    r, c = _step_map(k, curvature, step, noise)
    path = [as_fraction(start)]
    for _ in range(rounds):
        path.append(r * path[-1] + c)
    return path


def rounds_needed(
    k: Real,
    curvature: Real,
    step: Real,
    noise: Real,
    start: Real,
    accuracy: Real,
    most: int,
) -> int | None:
    """Return the least t <= most with E x_t^2 <= accuracy, by iteration; None without one."""
    r, c = _step_map(k, curvature, step, noise)
    goal = as_fraction(accuracy)
    offset = r * goal + c - goal  # the recursion of the gap E x_t^2 - accuracy; ties stay exact
    with mpmath.workdps(DIGITS + 10):
        factor, term, gap = as_mpf(r), as_mpf(offset), as_mpf(as_fraction(start) - goal)
        tie = abs(as_mpf(goal)) * mpmath.mpf(10) ** -45
        for t in range(most + 1):
            if abs(gap) <= tie and offset:  # too close to call in floating point
                exact = error_path_exact(t, k, curvature, step, noise, start)[-1] <= goal
                if exact:
                    return t
            elif gap <= 0:
                return t
            gap = factor * gap + term
    return None


def best_quorum(
    round_times: Sequence[Real],
    curvature: Real,
    step: Real,
    noise: Real,
    start: Real,
    accuracy: Real,
    most: int,
) -> tuple[int, int, float] | None:
    """Return (k, rounds, time) of least time rounds * round_times[k-1], smallest k on a tie."""
    best: tuple[Fraction, int, int] | None = None
    for k, duration in enumerate(round_times, 1):
        if not math.isfinite(duration):
            continue
        t = rounds_needed(k, curvature, step, noise, start, accuracy, most)
        if t is not None and (best is None or t * as_fraction(duration) < best[0]):
            best = t * as_fraction(duration), k, t
    return None if best is None else (best[1], best[2], float(best[0]))


def _iterated(r: Any, c: Any, t: int) -> tuple[Any, Any]:
    """Compose x -> r x + c with itself t times, by repeated squaring."""
    factor, term = r * 0 + 1, c * 0
    while t:
        if t & 1:
            factor, term = r * factor, r * term + c
        r, c = r * r, r * c + c
        t >>= 1
    return factor, term


def _step_grid() -> Floats:
    """Return a dense grid of step * curvature in (0, 2), crowded towards 0, 1 and 2."""
    near_zero = np.geomspace(1e-9, 0.5, 2000)
    near_one = np.geomspace(1e-12, 0.5, 600)
    near_two = 2 - np.geomspace(1e-6, 0.5, 150)
    even = np.linspace(0, 2, 1001)[1:-1]
    parts = [near_zero, 1 - near_one, np.ones(1), 1 + near_one, near_two, even]
    return np.unique(np.concatenate(parts))


def _golden(
    value: Callable[[Any], Any], low: Any, high: Any, steps: int, ratio: Any
) -> tuple[Any, Any]:
    """Minimise over a bracket by golden section, and return (least value seen, where)."""
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = value(a), value(b)
    for _ in range(steps):
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = value(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = value(b)
    return (at_a, a) if at_a <= at_b else (at_b, b)


def _best_bracket(
    t: int, k: int, curvature: float, noise: float, start: float
) -> tuple[float, float, float, float]:
    """Return the least E x_t^2 in floats and the bracket (low, middle, high) it came from.

    A dense grid of step * curvature, then golden section around each of its local minima.
    """
    grid = _step_grid()
    spread = float(noise) / (k * float(curvature) ** 2)
    factor, term = _iterated((1 - grid) ** 2, grid**2 * spread, t)
    values = factor * float(start) + term

    def value(u: float) -> float:
        r, c = _iterated((1 - u) ** 2, u**2 * spread, t)
        return float(r * float(start) + c)

    padded = np.concatenate([[np.inf], values, [np.inf]])
    dips = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]))
    dips = dips[np.argsort(values[dips], kind="stable")][:20]
    edges = [0.0, *grid.tolist(), 2.0]
    ratio = (math.sqrt(5) - 1) / 2
    found = []
    for dip in dips.tolist():
        low, middle, high = edges[dip : dip + 3]
        least = min(_golden(value, low, high, 60, ratio)[0], value(middle))
        found.append((least, low, middle, high))
    return min(found)


def best_step_error(
    t: int, k: int, *, curvature: float, noise: float, start: float
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the least E x_t^2 over steps in (0, 2/curvature), and such a step, for t >= 1."""
    _, *bracket = _best_bracket(t, k, curvature, noise, start)
    with mpmath.workdps(DIGITS):
        spread = as_mpf(as_fraction(noise) / (k * as_fraction(curvature) ** 2))
        origin = as_mpf(start)

        def value(u: mpmath.mpf) -> mpmath.mpf:
            r, c = _iterated((1 - u) ** 2, u**2 * spread, t)
            return r * origin + c

        low, middle, high = (as_mpf(edge) for edge in bracket)
        best = _golden(value, low, high, 140, (mpmath.sqrt(5) - 1) / 2)
        least, u = min(best, (value(middle), middle))
        return least, u / as_mpf(curvature)


def _rounds_at_best_step(
    k: int, curvature: float, noise: float, start: float, accuracy: float, most: int
) -> int | None:
    """Return the least t <= most for which some step brings E x_t^2 to the accuracy."""

    def reached(t: int) -> bool:
        rough = _best_bracket(t, k, curvature, noise, start)[0] - float(accuracy)
        if abs(rough) > 1e-9 * float(accuracy):
            return rough < 0
        least, _ = best_step_error(t, k, curvature=curvature, noise=noise, start=start)
        with mpmath.workdps(DIGITS):
            return bool(least <= as_mpf(accuracy) * (1 + mpmath.mpf(10) ** -25))

    if as_fraction(start) <= as_fraction(accuracy):
        return 0
    grid = _step_grid()
    factor = (1 - grid) ** 2
    term = grid**2 * (float(noise) / (k * float(curvature) ** 2))
    errors = np.full_like(grid, float(start))
    t = 0
    while t < most and errors.min() > float(accuracy) * (1 + 1e-9):
        errors *= factor
        errors += term
        t += 1
    # The grid can only be late, and the least error never rises with t: a step whose error has
    # not passed its floor keeps improving, and one whose floor is above the start is worse than 0.
    if t == 0:
        return None
    while not reached(t):
        if t == most:
            return None
        t += 1
    while t > 1 and reached(t - 1):
        t -= 1
    return t


def best_quorum_and_step(
    round_times: Sequence[float],
    *,
    curvature: float,
    noise: float,
    start: float,
    accuracy: float,
    most: int,
) -> tuple[int, int, float] | None:
    """Return (k, rounds, time) of least time with the best constant step for each k."""
    best: tuple[Fraction, int, int] | None = None
    for k, duration in enumerate(round_times, 1):
        if not math.isfinite(duration):
            continue
        time = as_fraction(duration)
        cap = most
        if best is not None and time > 0:  # more rounds than this cannot be strictly faster
            cap = min(most, math.ceil(best[0] / time) - 1)
        t = _rounds_at_best_step(k, curvature, noise, start, accuracy, max(cap, 0))
        if t is not None and (best is None or t * time < best[0]):
            best = t * time, k, t
    return None if best is None else (best[1], best[2], float(best[0]))


def best_schedule_gradients(
    curvature: Real, noise: Real, start: Real, accuracy: Real, k: Real, most: int = 100_000
) -> int | None:
    """Return the least rounds (of k gradients) to the accuracy with the best step every round.

    Each round's error rises with the previous one, so the greedy step is best; in rationals.
    """
    a, spread = as_fraction(curvature), as_fraction(noise) / as_fraction(k)
    error, goal = as_fraction(start), as_fraction(accuracy)
    for t in range(most + 1):
        if error <= goal:
            return t
        # (1 - step a)^2 error + step^2 spread is a parabola in the step, with this vertex.
        step = a * error / (a**2 * error + spread)
        error = (1 - step * a) ** 2 * error + step**2 * spread
    return None
