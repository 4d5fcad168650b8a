"""Estimators and their errors, over all sets of workers.

Written from the definitions, without looking at the library; exact rationals or 50+ digits.
Floats are taken at their exact binary value everywhere. Functions that return an ``mpmath.mpf``
compute at 60 digits or more, whatever the caller's precision.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tests.numerics.oracle import chances, inclusion, members
from tests.numerics.precision import Number, Real, as_fraction, positive, total_of, whole_quorum

Floats: TypeAlias = NDArray[np.float64]


def race_float(rates: Sequence[float], k: int) -> Floats:
    """Return bitmask -> probability of the first k finishers, in float64 without subtraction."""
    speeds = np.array([float(rate) for rate in positive(rates)])
    n, k = len(speeds), whole_quorum(len(speeds), k)
    law, _ = _race_float_level(speeds, k)
    law[np.bitwise_count(np.arange(1 << n)) != k] = 0.0
    return law


def _race_float_level(speeds: Floats, k: int) -> tuple[Floats, Floats]:
    """Return P(the mask is the set of the first |mask|) up to level k, and the rates left."""
    n = len(speeds)
    left = np.zeros(1)
    for rate in speeds:  # the rate of the complement, by doubling
        left = np.concatenate([left + rate, left])
    sizes = np.bitwise_count(np.arange(1 << n))
    law = np.zeros(1 << n)
    law[0] = 1.0
    for size in range(1, k + 1):
        masks = np.flatnonzero(sizes == size)
        for i in range(n):
            ours = masks[(masks >> i & 1) == 1]
            before = ours ^ (1 << i)
            law[ours] += law[before] * (speeds[i] / left[before])
    return law, left


def _members_float(n: int, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Return the masks of k workers and their 0/1 membership rows."""
    masks = np.flatnonzero(np.bitwise_count(np.arange(1 << n)) == k)
    return masks, (masks[:, None] >> np.arange(n) & 1).astype(np.float64)


ESTIMATORS = ("plain", "horvitz-thompson", "hajek")


def _weights(name: str, chosen: list[int], pi: Sequence[Number], n: int) -> list[Number]:
    """Return the weight of each returned value in the estimate."""
    if name == "plain":
        return [(pi[0] * 0 + 1) / len(chosen)] * len(chosen)
    inverse = [1 / pi[i] for i in chosen]
    if name == "horvitz-thompson":
        return [value / n for value in inverse]
    if name == "hajek":
        total = sum(inverse)
        return [value / total for value in inverse]
    raise ValueError(f"unknown estimator {name!r}")


def _moments(
    name: str,
    law: dict[int, Number],
    pi: Sequence[Number],
    theta: Sequence[Number],
    noise: Number,
) -> tuple[Number, Number]:
    """Return the mean error and the mean squared error over all sets, target mean theta."""
    n = len(theta)
    target = sum(theta) / n
    errors, squares = [], []
    for s, p in law.items():
        chosen = members(s)
        weights = _weights(name, chosen, pi, n)
        error = sum(w * theta[i] for w, i in zip(weights, chosen, strict=True)) - target
        errors.append(p * error)
        squares.append(p * (error**2 + noise * sum(w**2 for w in weights)))
    return total_of(errors), total_of(squares)


def _exact_moments(
    name: str, rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> tuple[Fraction, Fraction]:
    """Return the exact mean error and mean squared error."""
    exact = positive(rates)
    if len(theta) != len(exact):
        raise ValueError("theta and rates must have one entry per worker")
    law = chances(exact, whole_quorum(len(exact), k))
    return _moments(
        name, law, inclusion(exact, k), [as_fraction(value) for value in theta], as_fraction(noise)
    )


def estimator_mse(
    name: str, rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> Fraction:
    """Return the exact mean squared error of an estimator, over every set of first k."""
    return _exact_moments(name, rates, k, theta, noise)[1]


def selection_bias(rates: Sequence[Real], k: int, theta: Sequence[Real]) -> Fraction:
    """Return the exact mean of the plain average of the first k, less the mean of theta."""
    return _exact_moments("plain", rates, k, theta, 0)[0]


def hajek_linearised_mse(
    rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> Fraction:
    """Return the exact mean squared error of the Hajek estimator, linearised at the target."""
    values = [as_fraction(value) for value in theta]
    target = sum(values, Fraction(0)) / len(values)
    # The Horvitz-Thompson estimate of the mean of theta - target, whose target is 0.
    centred = [value - target for value in values]
    return estimator_mse("horvitz-thompson", rates, k, centred, noise)


def estimator_mse_float(
    name: str, rates: Sequence[float], k: int, theta: Sequence[float], noise: float
) -> float:
    """Return the mean squared error in float64 for n <= 16, over every set of first k."""
    n = len(rates)
    masks, member = _members_float(n, k)
    law = race_float(rates, k)[masks]
    inverse = 1 / (law @ member)
    values = np.array([float(value) for value in theta])
    if name == "plain":
        weights = member / k
    elif name == "horvitz-thompson":
        weights = member * inverse / n
    elif name == "hajek":
        weights = member * inverse
        weights /= weights.sum(axis=1, keepdims=True)
    else:
        raise ValueError(f"unknown estimator {name!r}")
    errors = weights @ values - values.mean()
    return math.fsum(law * (errors**2 + float(noise) * (weights**2).sum(axis=1)))


def hajek_linearised_mse_float(
    rates: Sequence[float], k: int, theta: Sequence[float], noise: float
) -> float:
    """Return the linearised mean squared error in float64 for n <= 16."""
    values = np.array([float(value) for value in theta])
    return estimator_mse_float(
        "horvitz-thompson", rates, k, (values - values.mean()).tolist(), noise
    )
