"""Means of order statistics from a quantile function."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from decentral.numerics.quadrature import integrate
from decentral.numerics.validation import Floats, reals

# Quadrature over a quantile function, in x = ln(u/(1 - u)): where it ends (1 - u is 1e-300
# there, or the least that a double u can tell from 1 with a few bits to spare), over how many
# units before that the index of the tail is watched, from where on 1 - u is exp(-x) in a double,
# what counts as an even index, and as equal to the border of convergence; how small the weight
# may be where the integral begins; what changes a panel may bring; and how much of the mean may
# be doubtful.
_LAST = 690.0
_LAST_BELOW = 33.0
_TAIL = 8
_FAR = 40.0
_EVEN = 1e-6
_SAME_INDEX = 1e-9
_DEEP = 60.0
_RTOL, _ROUGH = 1e-13, 1e-2
_DOUBT = 1e-9
# Infinite times that follow upon lesser ones than this are no overflow that a law may hide.
_HUGE = 1e150

_BELOW_ONE = float(np.nextafter(1, 0))


def mean(
    quantile: Callable[[Floats], npt.ArrayLike], number: int, first: int, upper_tail: bool
) -> float:
    """Integrate in x = ln(u/(1 - u)); the weight is known up to a factor, which is divided out."""
    rest = number - first

    def log_weight(x: Floats) -> Floats:
        """Return the logarithm of u^k (1 - u)^(n - k + 1), relative to its size near u = k/n."""
        u, v = expit(x), expit(-x)
        excess = np.where(u < 0.5, first - number * u, number * v - rest)
        part = first * _log_ratio(number * u, first, -excess) - np.logaddexp(0, x)
        return part + rest * _log_ratio(number * v, rest, excess) if rest else np.asarray(part)

    def integrand(x: Floats) -> Floats:
        weights = np.exp(log_weight(x))
        return np.stack([weights * _times(quantile, x, upper_tail), weights])

    end = _last_finite(quantile, upper_tail)
    places = end - np.arange(_TAIL, -1.0, -1.0)
    tail = _times(quantile, places, upper_tail)
    if tail[-1] < _HUGE and _never(quantile, end, upper_tail):
        return math.inf
    indices, spans = _indices(tail, _probability(places, upper_tail), upper_tail)
    even = np.ptp(indices) <= _EVEN * (1 + indices.max())
    index = float(np.average(indices, weights=spans) if even else indices[-1])
    if rest + 1 - indices.min() < _SAME_INDEX and indices[-1] >= indices[0] * (1 - _EVEN):
        return math.inf  # all along the tail, and not less and less
    with np.errstate(over="ignore", invalid="ignore"):  # a mean that overflows is refused
        late, left, far_off = _beyond(log_weight, end, tail[-1], index, first, rest)
    if late and (even or end >= _LAST_BELOW):
        doubtful = far_off * _error(indices, spans, math.log(tail[-1]))
    else:  # so short a piece of a tail that is not even does not tell how it goes on
        doubtful = late or far_off
    odds = first / (rest + 1)
    mode, width = min(math.log(odds), end - 1), (1 + odds) / math.sqrt((number + 1) * odds)
    steps = width * np.exp2(np.arange(64))
    deep = log_weight(mode - steps[steps < 700]) < float(log_weight(np.array(mode))) - _DEEP
    edges = _edges(mode, width, mode - steps[int(np.argmax(deep))], end)
    # Where a double cannot tell the probabilities apart, the precise integral takes long.
    for rtol in (_RTOL,) if upper_tail else (_ROUGH, _RTOL):
        whole, norm = integrate(
            integrand, edges, rtol=rtol, base=np.array([late, left]), jumps=True
        )
        if not doubtful <= _DOUBT * whole < math.inf:
            raise _doubt(float(tail[-1]), upper_tail)
    return float(whole / norm)


def _beyond(
    log_weight: Callable[[Floats], Floats],
    end: float,
    last: float,
    index: float,
    first: int,
    rest: int,
) -> Floats:
    """Integrate from the end on, where the times grow from the last as a power of 1/(1 - u).

    Returns the integrals of the times, of the weight alone, and of the times by how far off
    they are, which is what an error of the index does to the first.
    """
    start, room = float(np.logaddexp(0, end)), rest + 1 - index

    def integrand(x: Floats) -> Floats:
        off, weights = np.logaddexp(0, x) - start, log_weight(x)
        times = last * np.exp(weights + index * off)
        return np.stack([times, np.exp(weights), times * off])

    if room < _SAME_INDEX:
        weight = float(np.exp(log_weight(np.array(end))))
        doubt = weight * last if end >= _LAST_BELOW else math.inf
        return np.array([0.0, weight / (rest + 1), doubt])
    far = max(end, _FAR)
    time, weight, _ = integrand(np.array(far))
    off = float(np.logaddexp(0, far)) - start
    base = np.array([time / room, weight / (rest + 1), time * (off + 1 / room) / room])
    if far == end:
        return base
    odds = first / room
    width = (1 + odds) / math.sqrt((first + room) * odds)
    return integrate(integrand, _edges(math.log(odds), width, end, far), rtol=_RTOL, base=base)


def _indices(tail: Floats, probabilities: Floats, upper_tail: bool) -> tuple[Floats, Floats]:
    """Return how ln Q grows with -ln(1 - u) from place to place, and by how much the latter does.

    The probabilities are taken as they are rounded.
    """
    spans = np.diff(-np.log(probabilities) if upper_tail else -np.log1p(-probabilities))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.diff(np.log(tail)) / spans, posinf=np.inf), spans


def _error(indices: Floats, spans: Floats, log_time: float) -> float:
    """Return how uncertain the index at the end is: by its last change, and by rounding."""
    rounding = float(np.finfo(float).eps) * abs(log_time)
    drift = abs(indices[-1] - indices[-2])
    return float(max(rounding / spans.sum(), drift if drift > 4 * rounding / spans[-1] else 0.0))


def _doubt(time: float, upper_tail: bool) -> ValueError:
    return ValueError(
        "quantile must have a tail whose mean double precision can hold, but too much of it lies "
        f"beyond the time {time:g}"
        + ("" if upper_tail else "; try its upper tail, with upper_tail=True")
    )


def _last_finite(quantile: Callable[[Floats], npt.ArrayLike], upper_tail: bool) -> float:
    """Return where the integral ends: earlier, if times there are infinite in a double."""
    low, high = -_LAST, _LAST if upper_tail else _LAST_BELOW
    if math.isfinite(_raw_times(quantile, np.array([high]), upper_tail)[0]):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if math.isfinite(_raw_times(quantile, np.array([middle]), upper_tail)[0]):
            low = middle
        else:
            high = middle
    return low - 1e-12 * (1 + abs(low))  # no node of a panel is rounded beyond it


def _never(quantile: Callable[[Floats], npt.ArrayLike], end: float, upper_tail: bool) -> bool:
    """Return whether the times beyond the end are infinite without an overflow."""
    last = _LAST if upper_tail else _LAST_BELOW
    if end == last:
        return False
    try:
        with np.errstate(over="raise"):
            quantile(_probability(np.array([last]), upper_tail))
    except FloatingPointError:
        return False
    return True


def _log_ratio(value: Floats, base: int, difference: Floats) -> Floats:
    """Return ln(value/base), where the difference of the two is known more precisely."""
    share = difference / base
    with np.errstate(divide="ignore"):
        return np.where(np.abs(share) < 0.5, np.log1p(share), np.log(value / base))


def _edges(mode: float, width: float, low: float, high: float) -> Floats:
    """Return edges from `low` to `high` whose distances from the mode double, from the width on."""
    steps = width * np.exp2(np.arange(64))
    mode = min(max(mode, low), high)
    inner = np.concatenate([[mode], mode - steps, mode + steps])
    return np.unique(np.concatenate([[low, high], inner[(inner > low) & (inner < high)]]))


def _probability(x: Floats, upper_tail: bool) -> Floats:
    """Return what the quantile takes, at u = 1/(1 + exp(-x)) or at 1 - u."""
    return np.asarray(np.minimum(expit(-x if upper_tail else x), _BELOW_ONE))


def _raw_times(quantile: Callable[[Floats], npt.ArrayLike], x: Floats, upper_tail: bool) -> Floats:
    """Return the quantiles at u = 1/(1 + exp(-x)), which may be infinite."""
    with np.errstate(over="ignore"):
        times = quantile(_probability(x, upper_tail))
    times = reals("quantile(probabilities)", times, infinite=True)
    if times.shape != x.shape:
        raise ValueError(
            f"quantile must return one time for each probability, got shape {times.shape} for "
            f"{x.shape}"
        )
    return times


def _times(quantile: Callable[[Floats], npt.ArrayLike], x: Floats, upper_tail: bool) -> Floats:
    """Return the quantiles, finite and in order; the nodes may come in any."""
    times = reals("quantile(probabilities)", _raw_times(quantile, x, upper_tail))
    ordered = times[np.argsort(x)]
    if np.any(ordered[1:] < ordered[:-1] * (1 - 1e-9)):
        raise ValueError(
            "quantile must not fall when the probability rises"
            + (" (with upper_tail: must not rise with it)" if upper_tail else "")
        )
    return times
