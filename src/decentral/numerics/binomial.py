"""Tails of the binomial and the Poisson-binomial law to full relative precision.

The functions of this module trust their input: arrays of one shape.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincc, betaincinv, betaln, gammaln

from decentral.numerics.validation import Floats, Ints, integers

# Above this the tail itself is computed, below it its logarithm.
TINY = 1e-300
# How far the accuracy of the incomplete beta function was checked.
MOST_STAGES = 10**8


def stages(value: object) -> Ints:
    """Validate numbers of stages."""
    return integers("stages", value, least=1, most=MOST_STAGES)


def outage(availability: Floats, replicas: Floats | Ints | int, domain_outage: Floats) -> Floats:
    """Return the probability that a stage's domain is down, or else all its replicas."""
    with np.errstate(divide="ignore"):
        all_dead = np.where(
            availability < 0.5,  # there 1 - a is rounded, and its error would grow with r
            np.exp(replicas * np.log1p(-availability)),
            (1 - availability) ** replicas,
        )
    return np.asarray(domain_outage + (1 - domain_outage) * all_dead)


def alive(availability: Floats, replicas: Floats | Ints | int, domain_outage: Floats) -> Floats:
    """Return the complement of the outage, precise where a replica is hardly ever live."""
    with np.errstate(divide="ignore"):
        some = -np.expm1(replicas * np.log1p(-availability))
    return np.asarray((1 - domain_outage) * some)


def tail(trials: Ints, probability: Floats, threshold: Ints) -> Floats:
    """Return P(D > s) for binomial D; the arrays have one shape.

    Where s reaches the number of trials, SciPy's functions are NaN, and are not used.
    """
    beyond = _smaller(betainc, betaincc, threshold + 1, trials - threshold, probability)
    return np.where(threshold >= trials, 0.0, beyond)


def body(trials: Ints, probability: Floats, threshold: Ints) -> Floats:
    """Return P(D <= s)."""
    inside = _smaller(betaincc, betainc, threshold + 1, trials - threshold, probability)
    return np.where(threshold >= trials, 1.0, inside)


def body_upright(trials: Ints, complement: Floats, threshold: Ints) -> Floats:
    """Return P(D <= s) from the complement of the probability."""
    inside = _smaller(betainc, betaincc, trials - threshold, threshold + 1, complement)
    return np.where(threshold >= trials, 1.0, inside)


def _smaller(
    law: np.ufunc, rest: np.ufunc, a: Floats | Ints, b: Floats | Ints, x: Floats
) -> Floats:
    """Return `law`, from `rest` where that is smaller: there SciPy is more precise."""
    value: Floats = law(a, b, x)
    return np.where(value > 0.5, 1 - rest(a, b, x), value)


def log_tail(trials: Ints, probability: Floats, threshold: Ints) -> Floats:
    """Return the logarithm of P(D > s), also where the tail underflows."""
    plain = tail(trials, probability, threshold)
    below = body(trials, probability, threshold)
    with np.errstate(divide="ignore"):
        result = np.where(plain > 0.5, np.log1p(-below), np.log(plain))
    deep = (plain < TINY) & (threshold < trials) & (probability > 0)
    if deep.any():
        result[deep] = _log_deep_tail(trials[deep], probability[deep], threshold[deep] + 1)
    return result + 0.0  # not minus zero


def _log_deep_tail(trials: Ints, probability: Floats, first: Ints) -> Floats:
    """Return log P(D >= k) far above the mean: the term at k, and the series of ratios."""
    total, term, odds = (
        np.ones(trials.shape),
        np.ones(trials.shape),
        probability / (1 - probability),
    )
    last = first.copy()
    while np.any(total + term > total):
        term = term * odds * (trials - last) / (last + 1)
        total += term
        last += 1
    return _log_term(trials, probability, first) + np.log(total)


def _log_term(trials: Ints, probability: Floats, count: Ints) -> Floats:
    """Return log P(D = k) by the saddle-point expansion, which cancels nothing large."""
    n, k, rest = trials, count, trials - count
    excess = k - n * probability
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        deviance = k * np.where(
            n * probability > 0.1 * k,
            np.log1p(excess / (n * probability)),
            np.log(k) - np.log(n) - np.log(probability),
        ) + rest * np.log1p(-excess / (n * (1 - probability)))
        inside = _stirling(n) - _stirling(k) - _stirling(rest)
        inside += 0.5 * np.log(n / (2 * np.pi * k * rest)) - deviance
    return np.where(rest == 0, n * np.log(probability), inside)


def _stirling(n: Ints) -> Floats:
    """Return the error of Stirling's formula, log n! - log(sqrt(2 pi n) (n/e)^n)."""
    small = gammaln(n + 1) - ((n + 0.5) * np.log(n) - n + 0.5 * math.log(2 * math.pi))
    return np.where(n < 1000, small, 1 / (12 * n))


def inverse_tail(trials: Ints, value: Floats, threshold: Ints) -> Floats:
    """Return the q at which P(D > s) is near `value`, for s < n."""
    a, b = threshold + 1, trials - threshold
    leading = np.exp((np.log(value) + np.log(a) + betaln(a, b)) / a)
    return np.where(value < 1e-100, leading, betaincinv(a, b, value))


def counts(outages: Floats, most: int) -> Floats:
    """Return P(D = 0), ..., P(D = most), P(D > most) for independent events.

    Parameters
    ----------
    outages : ndarray, shape (..., n)
        Probabilities of the events.
    most : int

    Returns
    -------
    ndarray, shape (..., most + 2)
        All terms are positive, so each entry keeps its relative precision.
    """
    law = np.zeros((*outages.shape[:-1], most + 2))
    law[..., 0] = 1
    for event in range(outages.shape[-1]):
        q = outages[..., event, None]
        step = law[..., :-1] * q
        law[..., :-1] *= 1 - q
        law[..., 1:] += step
    return law


def join(first: Floats, second: Floats) -> Floats:
    """Return the law, as :func:`counts` does, of the sum of two independent counts.

    The shape is that of the second law; the first broadcasts to it.
    """
    most = first.shape[-1] - 2
    law = np.zeros_like(second)
    beyond = exceeding(second)
    for count in range(most + 1):
        law[..., count : most + 1] += first[..., count, None] * second[..., : most + 1 - count]
        law[..., -1] += first[..., count] * beyond[..., most - count]
    law[..., -1] += first[..., -1]
    return law


def exceeding(law: npt.NDArray[np.float64]) -> Floats:
    """Return P(D > k) for k = 0, ..., most, from a law as of :func:`counts`."""
    return np.cumsum(law[..., ::-1], axis=-1)[..., -2::-1]
