"""Means of order statistics from a quantile function."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from decentral._quadrature import integrate
from decentral._validation import Floats, reals

# Quadrature over a quantile function, in x = ln(u/(1 - u)): where it ends (1 - u is 1e-300
# there, or the least that a double u can tell from 1 with a few bits to spare), over how many
# units before that the index of the tail is watched, what counts there as even, and as equal to
# the border of convergence; how small the weight may be where the integral begins; what changes
# a panel may bring; and how much of the mean may be doubtful.
_LAST = 690.0
_LAST_BELOW = 33.0
_TAIL = 8
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

    def weight(x: Floats) -> Floats:
        """Return u^k (1 - u)^(n - k + 1), relative to its size near u = k/n."""
        u, v = expit(x), expit(-x)
        excess = np.where(u < 0.5, first - number * u, number * v - rest)
        log_weight = first * _log_ratio(number * u, first, -excess)
        if rest:
            log_weight += rest * _log_ratio(number * v, rest, excess)
        return np.asarray(np.exp(log_weight) * v)

    def integrand(x: Floats) -> Floats:
        weights = weight(x)
        return np.stack([weights * _times(quantile, x, upper_tail), weights])

    mode = math.log(first / (rest + 1))
    end = _last_finite(quantile, upper_tail)
    tail = _times(quantile, end - np.arange(_TAIL, -1.0, -1.0), upper_tail)
    if tail[-1] < _HUGE and _never(quantile, end, upper_tail):
        return math.inf
    indices = _indices(tail)
    even = np.ptp(indices) <= _EVEN * (1 + indices.max())
    room = rest + 1 - (indices.mean() if even else indices[-1])
    if rest + 1 - indices.min() < _SAME_INDEX and indices[-1] >= indices[0] * (1 - _EVEN):
        return math.inf  # all along the tail, and not less and less
    left = float(weight(np.array(end)))
    late = left * tail[-1]
    converges = room >= _SAME_INDEX
    beyond = np.array([late / room if converges else 0.0, left / (rest + 1)])
    edges = _edges(mode, number, first, end, weight)
    doubtful = late * abs(indices[-1] - indices[-2]) / room**2 if converges else late
    # Where a double cannot tell the probabilities apart, the precise integral takes long.
    for rtol in (_RTOL,) if upper_tail else (_ROUGH, _RTOL):
        whole, norm = integrate(integrand, edges, rtol=rtol, base=beyond, jumps=True)
        if doubtful > _DOUBT * whole:
            raise _doubt(float(tail[-1]), upper_tail)
    return float(whole / norm)


def _indices(tail: Floats) -> Floats:
    """Return the growth of the logarithm of the times over each unit of x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.diff(np.log(tail)), posinf=np.inf)


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
    return low


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


def _edges(
    mode: float, number: int, first: int, last: float, weight: Callable[[Floats], Floats]
) -> Floats:
    """Return edges that double their distance from the mode of the weight."""
    odds = first / (number - first + 1)
    mode = min(mode, last - 1)
    width = (1 + odds) / math.sqrt((number + 1) * odds)
    steps: Floats = width * np.exp2(np.arange(64))
    least = float(weight(np.array(mode))) * math.exp(-_DEEP)
    below = mode - steps[: 1 + int(np.argmax(weight(mode - steps[steps < 700]) < least))]
    above = mode + steps[mode + steps < last]
    return np.array([*below[::-1], mode, *above, last])


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
