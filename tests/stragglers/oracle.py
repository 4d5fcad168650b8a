"""Order statistics of the exponential, the Pareto and any other law, from their definitions.

n workers finish at independent times and a round ends at X_(k), the k-th smallest of them.
Written from the definitions, without looking at the library; exact rationals or 50+ digits.
Floats are taken at their exact binary value everywhere. Functions that return an ``mpmath.mpf``
compute at 60 digits or more, whatever the caller's precision.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray
from tests.numerics.precision import DIGITS, Real, as_fraction, as_mpf, checked_quorum, whole_quorum

Floats: TypeAlias = NDArray[np.float64]


def _spacings(n: int, k: Real, power: int) -> mpmath.mpf:
    """Sum 1/j^power over the k spacings j = n-k+1, ..., n; polygammas if k is not whole."""
    quorum = checked_quorum(n, k)
    if quorum.denominator == 1:
        unit = 10 ** (DIGITS + 20)
        total = sum(unit // j**power for j in range(n - int(quorum) + 1, n + 1))
        return mpmath.mpf(total) / unit
    low, high = as_mpf(n - quorum + 1), mpmath.mpf(n + 1)
    sign = 1 if power == 1 else -1
    return sign * (mpmath.psi(power - 1, high) - mpmath.psi(power - 1, low))


def exponential_mean(n: int, k: Real, shift: Real, rate: Real) -> mpmath.mpf:
    """Return E X_(k) for shift + Exp(rate), from the spacings."""
    with mpmath.workdps(DIGITS + 10):
        return as_mpf(shift) + _spacings(n, k, 1) / as_mpf(rate)


def exponential_variance(n: int, k: Real, rate: Real) -> mpmath.mpf:
    """Return Var X_(k) for Exp(rate), from the spacings."""
    with mpmath.workdps(DIGITS + 10):
        return _spacings(n, k, 2) / as_mpf(rate) ** 2


def _against_density(
    weight: Callable[[mpmath.mpf], mpmath.mpf], n: int, k: Real, growth: Fraction = Fraction(0)
) -> mpmath.mpf:
    """Integrate a weight, 0 at 0 and about e^(growth x), against the density for Exp(1)."""
    quorum = checked_quorum(n, k)
    below, beyond = as_mpf(quorum - 1), as_mpf(n - quorum)
    constant = mpmath.gamma(n + 1) / (mpmath.gamma(below + 1) * mpmath.gamma(beyond + 1))
    decay = as_mpf(n - quorum + 1 - growth)
    end = (mpmath.log(constant) + (mpmath.mp.dps + 15) * mpmath.log(10)) / decay
    points = [mpmath.mpf(0), mpmath.mpf(1) / 4]
    while points[-1] < end:
        points.append(2 * points[-1])

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        survival = mpmath.exp(-x)
        # n!/((k-1)!(n-k)!) F^(k-1) (1-F)^(n-k) f
        return weight(x) * (-mpmath.expm1(-x)) ** below * survival**beyond * survival

    return constant * mpmath.quad(integrand, points)


def exponential_mean_by_density(n: int, k: Real, shift: Real, rate: Real) -> mpmath.mpf:
    """Return E X_(k) for shift + Exp(rate) and n <= 40, by quadrature of x times the density."""
    with mpmath.workdps(45):
        return as_mpf(shift) + _against_density(lambda x: x, n, k) / as_mpf(rate)


def exponential_variance_by_density(n: int, k: Real, rate: Real) -> mpmath.mpf:
    """Return Var X_(k) for Exp(rate) and n <= 40, by quadrature of two moments of the density."""
    with mpmath.workdps(45):
        mean = _against_density(lambda x: x, n, k)
        return (_against_density(lambda x: x**2, n, k) - mean**2) / as_mpf(rate) ** 2


def _pareto_mean_exists(n: int, k: Real, tail: Real) -> bool:
    """Tell whether E X_(k) is finite: P(X_(k) > x) ~ x^(-tail (n-k+1)) must be integrable."""
    return as_fraction(tail) * (n - checked_quorum(n, k) + 1) > 1


def pareto_mean(n: int, k: Real, tail: Real, scale: Real) -> mpmath.mpf | float:
    """Return E X_(k) for P(X > x) = (scale/x)^tail: a ratio of beta integrals of v^(-1/tail)."""
    if not _pareto_mean_exists(n, k, tail):
        return math.inf
    left = n - checked_quorum(n, k) + 1
    inverse = 1 / as_fraction(tail)
    with mpmath.workdps(DIGITS + 20):
        logarithm = (
            mpmath.loggamma(n + 1)
            - mpmath.loggamma(as_mpf(n + 1 - inverse))
            + mpmath.loggamma(as_mpf(left - inverse))
            - mpmath.loggamma(as_mpf(left))
        )
        return as_mpf(scale) * mpmath.exp(logarithm)


def pareto_mean_by_density(n: int, k: Real, tail: Real, scale: Real) -> mpmath.mpf | float:
    """Return the same mean for n <= 40, by quadrature of the density of tail log(X_(k)/scale)."""
    if not _pareto_mean_exists(n, k, tail):
        return math.inf
    inverse = 1 / as_fraction(tail)
    with mpmath.workdps(45):
        power = as_mpf(inverse)
        excess = _against_density(lambda x: mpmath.expm1(power * x), n, k, inverse)
        return as_mpf(scale) * (1 + excess)


def order_statistic_mean(
    upper_quantile: Callable[[mpmath.mpf], mpmath.mpf],
    n: int,
    k: Real,
    digits: int = 30,
    breaks: Sequence[Real] = (),
) -> mpmath.mpf:
    """Return E X_(k) from the x exceeded with probability v (not smooth in v at the breaks).

    V, the probability of exceeding X_(k), is Beta(n-k+1, k); the quadrature is in log((1-V)/V).
    """
    quorum = checked_quorum(n, k)
    with mpmath.workdps(digits + 16):
        above, below = as_mpf(n - quorum + 1), as_mpf(quorum)
        logarithm = mpmath.loggamma(n + 1) - mpmath.loggamma(above) - mpmath.loggamma(below)
        negligible = mpmath.mpf(10) ** -(digits + 8)

        def integrand(z: mpmath.mpf) -> mpmath.mpf:
            softplus = mpmath.log1p(mpmath.exp(-abs(z))) + max(z, 0)
            log_v, log_rest = -softplus, z - softplus
            weight = mpmath.exp(logarithm + above * log_v + below * log_rest)
            v = mpmath.exp(log_v)
            if v >= 1:  # indistinguishable from the lower end, which has no mass
                return mpmath.mpf(0)
            x = upper_quantile(v)
            if mpmath.isinf(x):
                if weight > negligible:
                    raise ValueError("the quantile is infinite where the law has mass")
                return mpmath.mpf(0)
            return x * weight

        knots = [mpmath.log((1 - as_mpf(v)) / as_mpf(v)) for v in breaks]
        centre, width = mpmath.log(below / above), mpmath.sqrt(1 / below + 1 / above)
        total = size = mpmath.mpf(0)
        for side in (1, -1):
            near, length, calm = centre, 2 * width, 0
            for panel in range(40):
                far = near + side * length
                inside = [z for z in knots if min(near, far) < z < max(near, far)]
                piece, error = mpmath.quad(
                    integrand,
                    sorted([near, *inside, far]),
                    method="gauss-legendre",
                    error=True,
                )
                total += piece
                size += abs(piece)
                if error > size * mpmath.mpf(10) ** -digits:
                    raise ValueError("the quantile is not smooth between the breaks")
                calm = calm + 1 if abs(piece) <= negligible * size and panel else 0
                if calm == 2:
                    break
                near, length = far, 2 * length if panel else length
            else:
                raise ValueError("the mean does not exist")
        return total


def simulate_round_times(
    sampler: Callable[[np.random.Generator, tuple[int, int]], Floats],
    n: int,
    k: int,
    copies: int,
    seed: int,
) -> tuple[float, float]:
    """Return the Monte Carlo mean of X_(k) and its standard error; sampler(rng, (copies, n))."""
    rng = np.random.default_rng(seed)
    index = whole_quorum(n, k) - 1
    times = np.empty(copies)
    chunk = max(1, 4_000_000 // n)
    for first in range(0, copies, chunk):
        size = min(chunk, copies - first)
        draws = np.asarray(sampler(rng, (size, n)), dtype=np.float64)
        times[first : first + size] = np.partition(draws, index, axis=1)[:, index]
    return float(times.mean()), float(times.std(ddof=1) / math.sqrt(copies))
