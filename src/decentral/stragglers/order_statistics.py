"""How long a server waits for the fastest k of n workers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from decentral.numerics import races, ties
from decentral.numerics.quadratic import scale as sizes
from decentral.numerics.validation import (
    Floats,
    Ints,
    broadcast,
    check_quorum,
    flag,
    integers,
    reals,
)
from decentral.stragglers import means

# From this argument on the asymptotic series of the digamma function and its like are used.
_FAR = 16
# Bernoulli numbers B_2, B_4, ...: the coefficients of these series.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
# Tail indices 1/alpha beyond this are refused.
_MOST_INDEX = 1e6


def _counts(workers: npt.ArrayLike, quorum: npt.ArrayLike) -> tuple[Ints, Floats]:
    """Validate n and k, which need not be whole; they must broadcast."""
    number = integers("workers", workers, least=1)
    first = sizes("quorum", quorum)
    check_quorum(number, first)
    return number, first


def exponential_round_time(
    workers: npt.ArrayLike,
    quorum: npt.ArrayLike,
    *,
    shift: npt.ArrayLike = 0.0,
    rate: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Mean time until k of n workers have finished, for shifted exponential times.

    .. math:: E\,X_{(k)} = s + \frac{H_n - H_{n-k}}{\mu}

    Parameters
    ----------
    workers : array_like of int
        n, at least 1.
    quorum : array_like
        k, positive and at most n. Between whole numbers the law is continued by
        :math:`H_x = \psi(x + 1) + \gamma`.
    shift : array_like, optional
        s, the least time of a worker, not negative.
    rate : array_like, optional
        :math:`\mu`, positive; one over the mean of the rest of the time.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In units of `shift`; a NumPy float if all are scalars. The relative error is
        below 1e-14 for every n.

    Raises
    ------
    ValueError
        If an argument is malformed or the quorum exceeds the workers.

    Notes
    -----
    By Rényi's representation; derived in the paper "What does it cost to skip the slowest
    workers?". The difference of harmonic numbers is taken in positive terms.

    Examples
    --------
    >>> from decentral.stragglers import exponential_round_time
    >>> exponential_round_time(64, [32, 60, 64]).round(4)
    array([0.6854, 2.6606, 4.7439])
    """
    number, first = _counts(workers, quorum)
    least, speed = reals("shift", shift), sizes("rate", rate)
    number, first, least, speed = broadcast(workers=number, quorum=first, shift=least, rate=speed)
    return np.asarray(least + _harmonic_gap(number, first) / speed)[()]


def exponential_round_variance(
    workers: npt.ArrayLike, quorum: npt.ArrayLike, *, rate: npt.ArrayLike = 1.0
) -> Floats:
    r"""Variance of the time until k of n workers have finished, for exponential times.

    .. math:: \operatorname{Var} X_{(k)} = \sum_{j=1}^k \frac{1}{\mu^2 (n - j + 1)^2}

    Parameters
    ----------
    workers, quorum, rate
        As for :func:`exponential_round_time`; a shift does not matter.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In squared units of time; a NumPy float if all are scalars. The relative error is
        below 1e-14 for every n.

    Raises
    ------
    ValueError
        If an argument is malformed or the quorum exceeds the workers.

    Notes
    -----
    By Rényi's representation; derived in the paper "What does it cost to skip the slowest
    workers?".

    Examples
    --------
    >>> from decentral.stragglers import exponential_round_variance
    >>> exponential_round_variance(64, [32, 64]).round(4)
    array([0.0153, 1.6294])
    """
    number, first = _counts(workers, quorum)
    speed = sizes("rate", rate)
    number, first, speed = broadcast(workers=number, quorum=first, rate=speed)
    return np.asarray(_square_gap(number, first) / speed**2)[()]


def pareto_round_time(
    workers: npt.ArrayLike,
    quorum: npt.ArrayLike,
    *,
    tail: npt.ArrayLike,
    scale: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Mean time until k of n workers have finished, for Pareto times.

    .. math:: E\,X_{(k)} = x_m \prod_{j=n-k+1}^n \frac{j}{j - 1/\alpha}
        = x_m\, \frac{\Gamma(n + 1)}{\Gamma(n + 1 - 1/\alpha)}
          \frac{\Gamma(n - k + 1 - 1/\alpha)}{\Gamma(n - k + 1)}

    Parameters
    ----------
    workers : array_like of int
        n, at least 1.
    quorum : array_like
        k, positive and at most n. Between whole numbers the law is continued by the
        gamma function.
    tail : array_like
        :math:`\alpha` in :math:`P(X > x) = (x_m / x)^\alpha`, at least 1e-6.
    scale : array_like, optional
        :math:`x_m`, the least time, positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In units of `scale`; a NumPy float if all are scalars. Infinite where the mean does
        not exist, which is for :math:`\alpha\,(n - k + 1) \le 1` (to 1e-12), and where it
        exceeds what a double holds. The relative error is below
        :math:`3 \cdot 10^{-14} (1 + \ln(n)/\alpha)`.

    Raises
    ------
    ValueError
        If an argument is malformed or the quorum exceeds the workers.

    Notes
    -----
    The exponential of an exponential time; derived in the paper "What does it cost to skip
    the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import pareto_round_time
    >>> pareto_round_time(64, [32, 63, 64], tail=1.0)
    array([ 2., 64., inf])
    """
    number, first = _counts(workers, quorum)
    index, least = sizes("tail", tail), sizes("scale", scale)
    if index.min() < 1 / _MOST_INDEX:
        raise ValueError(f"tail must be at least {1 / _MOST_INDEX:g}, but it is {index.min():g}")
    number, first, index, least = broadcast(workers=number, quorum=first, tail=index, scale=least)
    spare = _surplus(number, first, index)
    all_spare, power = _surplus(number, np.zeros(number.shape), index), 1 / index
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # where it is infinite
        growth = _log_gamma_gap(number, power, all_spare)
        growth = growth - _log_gamma_gap(number - first, power, spare)
        exists = spare * index > ties.TOLERANCE
        return np.where(exists, least * np.exp(growth / 2) * np.exp(growth / 2), np.inf)[()]


def round_time(
    quantile: Callable[[Floats], npt.ArrayLike],
    workers: npt.ArrayLike,
    quorum: npt.ArrayLike,
    *,
    upper_tail: bool = False,
) -> Floats:
    r"""Mean time until k of n workers have finished, for any law of their times.

    .. math:: E\,X_{(k)} = \int_0^1 Q(u)\, \frac{n!}{(k - 1)!\,(n - k)!}\,
        u^{k-1} (1 - u)^{n-k} \, du

    Parameters
    ----------
    quantile : callable
        Q, which takes an array of shape (m,) of probabilities inside (0, 1) and returns the
        times, not negative, that are not exceeded with these probabilities; they are
        infinite where a worker never finishes.
    workers : array_like of int
        n, at least 1.
    quorum : array_like of int
        k, from 1 to n.
    upper_tail : bool, optional
        Whether `quantile` takes the probability to exceed the time instead (SciPy's ``isf``
        in place of ``ppf``). Heavy tails need it: a double cannot tell probabilities close
        to 1 apart.

    Returns
    -------
    ndarray, of the common shape of the two counts
        In units of the quantile; a NumPy float if both are scalars. Infinite where some
        workers never finish, and where the mean does not exist otherwise, judged by the index
        b of the tail, where Q grows as :math:`(1 - u)^{-b}`, at the last time that double
        precision can hold (beyond, the index is taken to be constant). For smooth Q and up to
        a million workers the relative error is below 1e-11; it is below 1e-9 where b is
        within one per cent of n - k + 1, at which the mean ceases to exist, and without
        `upper_tail`, and that for light tails. A jump of Q adds up to 1e-10.

    Raises
    ------
    ValueError
        If an argument is malformed, the quorum exceeds the workers, `quantile` does not
        return times that rise with the probability, or too much of the mean lies beyond the
        times that a double can hold.

    Notes
    -----
    The density of an order statistic, see David and Nagaraja (2003); adaptive
    Gauss-Legendre quadrature in :math:`\ln(u/(1 - u))`.

    Examples
    --------
    >>> import numpy as np
    >>> from decentral.stragglers import round_time
    >>> weibull = lambda exceeded: (-np.log(exceeded)) ** 0.5
    >>> round_time(weibull, 64, [32, 60, 64], upper_tail=True).round(4)
    array([0.8245, 1.6253, 2.1598])
    """
    if not callable(quantile):
        raise ValueError(f"quantile must be a function, got {type(quantile).__name__}")
    upper = flag("upper_tail", upper_tail)
    number, first = integers("workers", workers, least=1), integers("quorum", quorum, least=1)
    check_quorum(number, first)
    number, first = broadcast(workers=number, quorum=first)
    times = [
        means.mean(quantile, n, k, upper)
        for n, k in zip(number.ravel().tolist(), first.ravel().tolist(), strict=True)
    ]
    return np.array(times).reshape(number.shape)[()]


def unequal_round_time(
    rates: npt.ArrayLike, quorum: npt.ArrayLike, *, shift: npt.ArrayLike = 0.0
) -> Floats:
    r"""Mean time until k workers have finished, for exponential times of unequal rates.

    .. math:: E\,X_{(k)} = s + \int_0^\infty P(N_t < k)\, dt, \qquad
        N_t = \sum_i \mathrm{Bernoulli}(1 - e^{-\mu_i t})

    Parameters
    ----------
    rates : array_like, shape (..., n)
        :math:`\mu_i` of each worker, positive.
    quorum : array_like of int, shape (...)
        k, from 1 to n.
    shift : array_like, shape (...), optional
        s, the least time of a worker, the same for all; not negative.

    Returns
    -------
    ndarray, shape (...)
        In units of `shift`; a NumPy float for one fleet. The relative error is below 1e-12
        for up to a thousand workers.

    Raises
    ------
    ValueError
        If an argument is malformed, the quorum exceeds the workers, or there are so many
        workers that it would take minutes.

    Notes
    -----
    Derived in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import unequal_round_time
    >>> unequal_round_time([2, 2, 1], [1, 2, 3]).round(4)
    array([0.2   , 0.5167, 1.2833])
    """
    speeds, first = races.fleets(rates, quorum)
    least = reals("shift", shift)
    broadcast(rates=speeds[..., 0], quorum=first, shift=least)
    return np.asarray(least + races.each(races.round_time, speeds, first, ()))[()]


def _harmonic_gap(number: Ints, first: Floats) -> Floats:
    """Return H_n - H_(n-k) from terms that do not cancel, at a cost that does not grow with n."""
    upper, lower = number, number - first
    gap = np.zeros(upper.shape)
    for j in range(1, _FAR + 1):
        gap += first / (lower + j) / (upper + j)
    upper, lower = upper + _FAR, lower + _FAR
    u, v = 1 / upper, 1 / lower
    gap += np.log1p(first / lower) - first * u * v / 2
    power = spread = first * u * v * (u + v)  # v^2 - u^2, and below v^(2p) - u^(2p)
    for p, number_ in enumerate(_BERNOULLI, start=1):
        gap += number_ / (2 * p) * power
        power = v**2 * power + u ** (2 * p) * spread
    return gap


def _square_gap(number: Ints, first: Floats) -> Floats:
    """Return the same difference of the sums of 1/j^2."""
    upper, lower = number.astype(float), number - first
    gap = np.zeros(upper.shape)
    for j in range(1, _FAR + 1):
        gap += first / (lower + j) * (upper + lower + 2 * j) / (lower + j) / (upper + j) ** 2
    upper, lower = upper + _FAR, lower + _FAR
    u, v = 1 / upper, 1 / lower
    spread = first * u * v * (u + v)
    gap += first * u * v - spread / 2
    power = v * spread + u**2 * first * u * v  # v^3 - u^3, and below v^(2p+1) - u^(2p+1)
    for p, number_ in enumerate(_BERNOULLI, start=1):
        gap += number_ * power
        power = v**2 * power + u ** (2 * p + 1) * spread
    return gap


def _surplus(number: Ints, first: Floats, index: Floats) -> Floats:
    """Return n - k + 1 - 1/alpha, as if alpha (n - k + 1) - 1 were computed exactly."""
    rest, lost = _sum(number, -first)
    left, more = _sum(rest, np.ones(rest.shape))
    lost = lost + more
    product = left * index
    rounding = _rounding_of_product(left, index, product) + lost * index
    return np.asarray((product - 1 + rounding) / index)


def _sum(a: Floats | Ints, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b, rounded, and what the rounding took away (Knuth, 1969)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _rounding_of_product(a: Floats, b: Floats, product: Floats) -> Floats:
    """Return a b minus its rounded value (Dekker, 1971)."""
    halves = []
    for factor in (a, b):
        lifted = factor * (2.0**27 + 1)
        high = lifted - (lifted - factor)
        halves.append((high, factor - high))
    (a_high, a_low), (b_high, b_low) = halves
    return np.asarray(
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    )


def _log_gamma_gap(number: Floats | Ints, power: Floats, spare: Floats) -> Floats:
    """Return ln Gamma(x + 1) - ln Gamma(x + 1 - b) + b, without cancellation.

    Both b and x + 1 - b are given, since neither is known precisely from the other.
    """
    x = np.asarray(number, dtype=float)
    gap = np.zeros(x.shape)
    for j in range(_FAR):
        gap += _log_quotient(spare + j, x + 1 + j, power)
    upper, lower = x + 1 + _FAR, spare + _FAR
    gap += power * np.log(lower) - (upper - 0.5) * _log_quotient(lower, upper, power)
    for p, number_ in enumerate(_BERNOULLI, start=1):
        gap += number_ / (2 * p * (2 * p - 1)) * (upper ** (1 - 2 * p) - lower ** (1 - 2 * p))
    return gap


def _log_quotient(small: Floats, large: Floats, difference: Floats) -> Floats:
    """Return ln(small/large), from the difference of the two where that is small."""
    share = np.minimum(difference / large, 0.5)
    return np.where(share < 0.5, np.log1p(-share), np.log(small / large))
