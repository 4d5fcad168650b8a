"""Reference values for quorum rounds, exponential races, their estimators and noisy descent.

Written from the definitions, without looking at the library; exact rationals or 50+ digits.

n workers finish at independent times and a round ends at X_(k), the k-th smallest of them.
Workers are numbered from 0. Floats are taken at their exact binary value everywhere. Functions
that return an ``mpmath.mpf`` compute at 60 digits or more, whatever the caller's precision.
"""

import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import mpmath
import numpy as np
from mpmath import libmp
from numpy.typing import NDArray

Real: TypeAlias = int | float | Fraction | mpmath.mpf
Number: TypeAlias = Any  # a Fraction or an mpf: the enumerations below run in either
Floats: TypeAlias = NDArray[np.float64]

DIGITS = 60


# Conversions


def _exact(value: Real) -> Fraction:
    """Return the exact rational value of a finite number."""
    if isinstance(value, mpmath.mpf):
        return Fraction(*map(int, libmp.to_rational(value._mpf_)))
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def _mp(value: Real) -> mpmath.mpf:
    """Round a number to the current mpmath precision."""
    fraction = _exact(value)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def _positive(rates: Sequence[Real]) -> tuple[Fraction, ...]:
    """Return the rates as exact rationals, refusing any that is not positive."""
    exact = tuple(_exact(rate) for rate in rates)
    if not exact or min(exact) <= 0:
        raise ValueError("rates must be positive")
    return exact


def _quorum(n: int, k: Real) -> Fraction:
    """Return the quorum as an exact rational, refusing any outside (0, n]."""
    exact = _exact(k)
    if not 0 < exact <= n:
        raise ValueError("the quorum must lie in (0, n]")
    return exact


def _whole_quorum(n: int, k: int) -> int:
    """Return the quorum as an int, refusing anything but 1, ..., n."""
    exact = _quorum(n, k)
    if exact.denominator != 1:
        raise ValueError("the quorum must be a whole number")
    return int(exact)


def _total(terms: Sequence[Number]) -> Number:
    """Sum in a balanced tree, which keeps the denominators of most additions small."""
    level = list(terms) or [Fraction(0)]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + odd
    return level[0]


# 1. Order statistics of the exponential law


def _spacings(n: int, k: Real, power: int) -> mpmath.mpf:
    """Sum 1/j^power over the k spacings j = n-k+1, ..., n; polygammas if k is not whole."""
    quorum = _quorum(n, k)
    if quorum.denominator == 1:
        unit = 10 ** (DIGITS + 20)
        total = sum(unit // j**power for j in range(n - int(quorum) + 1, n + 1))
        return mpmath.mpf(total) / unit
    low, high = _mp(n - quorum + 1), mpmath.mpf(n + 1)
    sign = 1 if power == 1 else -1
    return sign * (mpmath.psi(power - 1, high) - mpmath.psi(power - 1, low))


def exponential_mean(n: int, k: Real, shift: Real, rate: Real) -> mpmath.mpf:
    """Return E X_(k) for shift + Exp(rate), from the spacings."""
    with mpmath.workdps(DIGITS + 10):
        return _mp(shift) + _spacings(n, k, 1) / _mp(rate)


def exponential_variance(n: int, k: Real, rate: Real) -> mpmath.mpf:
    """Return Var X_(k) for Exp(rate), from the spacings."""
    with mpmath.workdps(DIGITS + 10):
        return _spacings(n, k, 2) / _mp(rate) ** 2


def _against_density(
    weight: Callable[[mpmath.mpf], mpmath.mpf], n: int, k: Real, growth: Fraction = Fraction(0)
) -> mpmath.mpf:
    """Integrate a weight, 0 at 0 and about e^(growth x), against the density for Exp(1)."""
    quorum = _quorum(n, k)
    below, beyond = _mp(quorum - 1), _mp(n - quorum)
    constant = mpmath.gamma(n + 1) / (mpmath.gamma(below + 1) * mpmath.gamma(beyond + 1))
    decay = _mp(n - quorum + 1 - growth)
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
        return _mp(shift) + _against_density(lambda x: x, n, k) / _mp(rate)


def exponential_variance_by_density(n: int, k: Real, rate: Real) -> mpmath.mpf:
    """Return Var X_(k) for Exp(rate) and n <= 40, by quadrature of two moments of the density."""
    with mpmath.workdps(45):
        mean = _against_density(lambda x: x, n, k)
        return (_against_density(lambda x: x**2, n, k) - mean**2) / _mp(rate) ** 2


# 2. Order statistics of the Pareto law


def _pareto_mean_exists(n: int, k: Real, tail: Real) -> bool:
    """Tell whether E X_(k) is finite: P(X_(k) > x) ~ x^(-tail (n-k+1)) must be integrable."""
    return _exact(tail) * (n - _quorum(n, k) + 1) > 1


def pareto_mean(n: int, k: Real, tail: Real, scale: Real) -> mpmath.mpf | float:
    """Return E X_(k) for P(X > x) = (scale/x)^tail: a ratio of beta integrals of v^(-1/tail)."""
    if not _pareto_mean_exists(n, k, tail):
        return math.inf
    left = n - _quorum(n, k) + 1
    inverse = 1 / _exact(tail)
    with mpmath.workdps(DIGITS + 20):
        logarithm = (
            mpmath.loggamma(n + 1)
            - mpmath.loggamma(_mp(n + 1 - inverse))
            + mpmath.loggamma(_mp(left - inverse))
            - mpmath.loggamma(_mp(left))
        )
        return _mp(scale) * mpmath.exp(logarithm)


def pareto_mean_by_spacings(n: int, k: int, tail: Real, scale: Real) -> mpmath.mpf | float:
    """Return the same mean for whole k <= 10^5: log X_(k) is a sum of spacings Exp(tail j)."""
    whole = _whole_quorum(n, k)
    if not _pareto_mean_exists(n, k, tail):
        return math.inf
    alpha = _exact(tail)
    with mpmath.workdps(DIGITS + 20):
        product = _mp(scale)
        for j in range(n - whole + 1, n + 1):
            product *= mpmath.mpf(j * alpha.numerator)  # E exp(Exp(m)) = m / (m - 1), m = tail j
            product /= j * alpha.numerator - alpha.denominator
        return product


def pareto_mean_by_density(n: int, k: Real, tail: Real, scale: Real) -> mpmath.mpf | float:
    """Return the same mean for n <= 40, by quadrature of the density of tail log(X_(k)/scale)."""
    if not _pareto_mean_exists(n, k, tail):
        return math.inf
    inverse = 1 / _exact(tail)
    with mpmath.workdps(45):
        power = _mp(inverse)
        excess = _against_density(lambda x: mpmath.expm1(power * x), n, k, inverse)
        return _mp(scale) * (1 + excess)


# 3. Order statistics of any law


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
    quorum = _quorum(n, k)
    with mpmath.workdps(digits + 16):
        above, below = _mp(n - quorum + 1), _mp(quorum)
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

        knots = [mpmath.log((1 - _mp(v)) / _mp(v)) for v in breaks]
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


# 4. Exponential races with unequal rates
# With unequal full-precision floats the rationals grow long: seconds for n = 12 and k > 6 or so,
# where the 50-digit (_mp) and quadrature forms take their place. Small rationals stay short.


def _levels(rates: Sequence[Number], k: int) -> Iterator[dict[int, tuple[Number, Number]]]:
    """Yield, for j = 0..k, bitmask of the first j finishers -> (probability, rate left)."""
    n = len(rates)
    zero = rates[0] * 0
    level = {0: zero + 1}
    for finished in range(k + 1):
        left = {s: sum((r for i, r in enumerate(rates) if not s >> i & 1), zero) for s in level}
        yield {s: (p, left[s]) for s, p in level.items()}
        if finished == k:
            return
        terms: dict[int, list[Number]] = {}
        for s, p in level.items():
            share = p / left[s]
            for i in range(n):
                if not s >> i & 1:  # i is next with probability rate_i / rate left
                    terms.setdefault(s | 1 << i, []).append(share * rates[i])
        level = {s: _total(several) for s, several in terms.items()}


def _members(mask: int) -> list[int]:
    """List the workers of a bitmask."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


@lru_cache(maxsize=32)
def _race(rates: tuple[Fraction, ...], k: int) -> dict[int, Fraction]:
    """Return bitmask -> exact probability that it is the set of the first k finishers."""
    *_, last = _levels(rates, k)
    return {s: p for s, (p, _) in last.items()}


def _race_mp(rates: Sequence[Real], k: int) -> dict[int, mpmath.mpf]:
    """Return the same probabilities at the current mpmath precision, by positive operations."""
    exact = _positive(rates)
    *_, last = _levels([_mp(rate) for rate in exact], _whole_quorum(len(exact), k))
    return {s: p for s, (p, _) in last.items()}


def race(rates: Sequence[Real], k: int) -> dict[frozenset[int], Fraction]:
    """Return the exact probability of every set of first k finishers."""
    exact = _positive(rates)
    law = _race(exact, _whole_quorum(len(exact), k))
    return {frozenset(_members(s)): p for s, p in law.items()}


def race_by_exclusion(rates: Sequence[Real], chosen: frozenset[int]) -> Fraction:
    """Return P(the chosen finish before the others), by inclusion-exclusion over the chosen.

    The first of the others comes at Exp(L), and E prod(1 - e^(-rate_i T)) expands into
    sum over subsets A of the chosen of (-1)^|A| L / (L + rate of A).
    """
    exact = _positive(rates)
    others = sum((r for i, r in enumerate(exact) if i not in chosen), Fraction(0))
    if not others:
        return Fraction(1)
    signed = [(others, 1)]
    for i in chosen:
        signed += [(total + exact[i], -sign) for total, sign in signed]
    return Fraction(_total([sign * others / total for total, sign in signed]))


def race_float(rates: Sequence[float], k: int) -> Floats:
    """Return bitmask -> probability of the first k finishers, in float64 without subtraction."""
    speeds = np.array([float(rate) for rate in _positive(rates)])
    n, k = len(speeds), _whole_quorum(len(speeds), k)
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


def race_mean(rates: Sequence[Real], k: int, shift: Real) -> Fraction:
    """Return E X_(k) for shift + Exp(rate_i), exactly: each wait is 1 / (rate left) on average."""
    exact = _positive(rates)
    *waits, _ = _levels(exact, _whole_quorum(len(exact), k))
    terms = [p / left for level in waits for p, left in level.values()]
    return _exact(shift) + Fraction(_total(terms))


def race_mean_mp(rates: Sequence[Real], k: int, shift: Real) -> mpmath.mpf:
    """Return the same mean to 50 digits, for rates whose exact sums grow too long."""
    exact = _positive(rates)
    with mpmath.workdps(DIGITS + 10):
        *waits, _ = _levels([_mp(rate) for rate in exact], _whole_quorum(len(exact), k))
        return _mp(shift) + _total([p / left for level in waits for p, left in level.values()])


def race_mean_float(rates: Sequence[float], k: int, shift: float) -> float:
    """Return the same mean in float64 for n <= 16."""
    speeds = np.array([float(rate) for rate in _positive(rates)])
    law, left = _race_float_level(speeds, _whole_quorum(len(speeds), k))
    waiting = np.bitwise_count(np.arange(len(law))) < k
    return float(shift) + math.fsum(law[waiting] / left[waiting])


def _shared_denominator(law: dict[int, Fraction]) -> tuple[dict[int, int], int]:
    """Write the probabilities over one denominator, so that their sums are integer sums."""
    denominators = [p.denominator for p in law.values()]
    while len(denominators) > 1:
        odd = denominators[-1:] if len(denominators) % 2 else []
        pairs = zip(denominators[::2], denominators[1::2], strict=False)
        denominators = [math.lcm(a, b) for a, b in pairs] + odd
    shared = denominators[0]
    return {s: p.numerator * (shared // p.denominator) for s, p in law.items()}, shared


def inclusion(rates: Sequence[Real], k: int) -> list[Fraction]:
    """Return the exact probability that each worker is among the first k."""
    exact = _positive(rates)
    counts, shared = _shared_denominator(_race(exact, _whole_quorum(len(exact), k)))
    return [
        Fraction(sum(count for s, count in counts.items() if s >> i & 1), shared)
        for i in range(len(exact))
    ]


def joint_inclusion(rates: Sequence[Real], k: int) -> list[list[Fraction]]:
    """Return the exact probability that each pair of workers is among the first k."""
    exact = _positive(rates)
    n = len(exact)
    counts, shared = _shared_denominator(_race(exact, _whole_quorum(n, k)))
    joint = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            both = 1 << i | 1 << j
            total = sum(count for s, count in counts.items() if s & both == both)
            joint[i][j] = joint[j][i] = Fraction(total, shared)
    return joint


def joint_inclusion_mp(rates: Sequence[Real], k: int) -> list[list[mpmath.mpf]]:
    """Return the same to 50 digits (diagonal: inclusion), for exact values that grow too long."""
    n = len(rates)
    with mpmath.workdps(DIGITS + 10):
        joint = [[mpmath.mpf(0)] * n for _ in range(n)]
        for s, p in _race_mp(rates, k).items():
            for i in _members(s):
                for j in _members(s):
                    joint[i][j] += p
        return joint


def _members_float(n: int, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Return the masks of k workers and their 0/1 membership rows."""
    masks = np.flatnonzero(np.bitwise_count(np.arange(1 << n)) == k)
    return masks, (masks[:, None] >> np.arange(n) & 1).astype(np.float64)


def inclusion_float(rates: Sequence[float], k: int) -> Floats:
    """Return the inclusion probabilities in float64 for n <= 16."""
    masks, member = _members_float(len(rates), k)
    return np.asarray(race_float(rates, k)[masks] @ member)


def joint_inclusion_float(rates: Sequence[float], k: int) -> Floats:
    """Return the joint inclusion probabilities in float64 for n <= 16."""
    masks, member = _members_float(len(rates), k)
    return np.asarray((member.T * race_float(rates, k)[masks]) @ member)


def inclusion_by_quadrature(rates: Sequence[Real], k: int, digits: int = 30) -> list[mpmath.mpf]:
    """Return P(X_i is among the k smallest), integrating over X_i the law of the others' count.

    The trapezoidal rule in s, where t = exp(s - e^(-s)) / (sum of rates), converges like e^(-c/h);
    the Poisson-binomial law at each t is convolved in fixed point from prefixes and suffixes.
    """
    exact = _positive(rates)
    k = _whole_quorum(len(exact), k)
    everyone, slowest = sum(exact), min(exact)
    spread = math.log10(everyone / slowest)
    work = digits + math.ceil(spread) + 20  # the inclusion of i is at least rate_i / all rates
    with mpmath.workdps(work):
        start = -math.log(work * math.log(10)) - 0.5
        end = math.log(work * math.log(10)) + spread * math.log(10) + 0.5
        units = [_mp(rate / everyone) for rate in exact]
        h = 0.125
        count = math.ceil((end - start) / h)
        nodes = [mpmath.mpf(start) + h * j for j in range(count + 1)]
        sums = _inclusion_sums(units, k, nodes)
        values = [h * total for total in sums]
        for _ in range(5):
            middles = [node + mpmath.mpf(h) / 2 for node in nodes]
            sums = [a + b for a, b in zip(sums, _inclusion_sums(units, k, middles), strict=True)]
            nodes, h = sorted(nodes + middles), h / 2
            finer = [h * total for total in sums]
            # Halving the step squares the error, so half of the digits certify them all.
            change = max(abs(a / b - 1) for a, b in zip(values, finer, strict=True))
            excess = abs(mpmath.fsum(finer) - k)
            values = finer
            if change < mpmath.mpf(10) ** -(digits // 2 + 4) and (
                excess < mpmath.mpf(10) ** -(digits + 2)
            ):
                return values
        raise ValueError("the quadrature did not converge")


def _inclusion_sums(
    rates: Sequence[mpmath.mpf], k: int, nodes: Sequence[mpmath.mpf]
) -> list[mpmath.mpf]:
    """Sum over the nodes the integrand of each inclusion probability; the rates add up to 1."""
    n, bits = len(rates), mpmath.mp.prec
    one = 1 << bits
    by_finished = k <= n - k
    size = k if by_finished else n - k  # count the finished, or the unfinished, below this
    totals = [0] * n
    for first in range(0, len(nodes), 128):
        some = nodes[first : first + 128]
        done = np.empty((n, len(some)), dtype=object)
        density = np.empty((n, len(some)), dtype=object)
        for column, s in enumerate(some):
            shrink = mpmath.exp(-s)
            t, slope = mpmath.exp(s - shrink), 1 + shrink
            for i, rate in enumerate(rates):
                product = rate * t
                survival = mpmath.exp(-product)
                done[i, column] = one - libmp.to_fixed(survival._mpf_, bits)
                density[i, column] = libmp.to_fixed((product * slope * survival)._mpf_, bits)
        if not size:
            for i in range(n):
                totals[i] += sum(density[i])
            continue
        yes, no = (done, one - done) if by_finished else (one - done, done)
        after = [_counts(size, one, len(some))]
        for i in range(n - 1, 0, -1):
            after.append(_convolved(after[-1], yes[i], no[i], bits))
        before = _counts(size, one, len(some))
        for i in range(n):
            upto = np.cumsum(after.pop(), axis=0)  # P(count after i <= 0, 1, ..., size-1)
            few = (before * upto[::-1]).sum(axis=0) >> bits
            among = few if by_finished else one - few
            totals[i] += sum((density[i] * among) >> bits)
            before = _convolved(before, yes[i], no[i], bits)
    return [mpmath.mpf(total) / one for total in totals]


def _counts(size: int, one: int, columns: int) -> NDArray[np.object_]:
    """Return the fixed-point law of an empty count, one column per node."""
    law = np.full((size, columns), 0, dtype=object)
    law[0] = one
    return law


def _convolved(
    law: NDArray[np.object_], yes: NDArray[np.object_], no: NDArray[np.object_], bits: int
) -> NDArray[np.object_]:
    """Add one independent Bernoulli variable to the law of a count."""
    more = law * no
    more[1:] += law[:-1] * yes
    return np.asarray(more >> bits)


# 5. Estimators of the mean of theta from the first k

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
        chosen = _members(s)
        weights = _weights(name, chosen, pi, n)
        error = sum(w * theta[i] for w, i in zip(weights, chosen, strict=True)) - target
        errors.append(p * error)
        squares.append(p * (error**2 + noise * sum(w**2 for w in weights)))
    return _total(errors), _total(squares)


def _exact_moments(
    name: str, rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> tuple[Fraction, Fraction]:
    """Return the exact mean error and mean squared error."""
    exact = _positive(rates)
    if len(theta) != len(exact):
        raise ValueError("theta and rates must have one entry per worker")
    law = _race(exact, _whole_quorum(len(exact), k))
    return _moments(
        name, law, inclusion(exact, k), [_exact(value) for value in theta], _exact(noise)
    )


def estimator_mse(
    name: str, rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> Fraction:
    """Return the exact mean squared error of an estimator, over every set of first k."""
    return _exact_moments(name, rates, k, theta, noise)[1]


def estimator_mean(name: str, rates: Sequence[Real], k: int, theta: Sequence[Real]) -> Fraction:
    """Return the exact mean of an estimator."""
    target = sum((_exact(value) for value in theta), Fraction(0)) / len(theta)
    return _exact_moments(name, rates, k, theta, 0)[0] + target


def selection_bias(rates: Sequence[Real], k: int, theta: Sequence[Real]) -> Fraction:
    """Return the exact mean of the plain average of the first k, less the mean of theta."""
    return _exact_moments("plain", rates, k, theta, 0)[0]


def hajek_linearised_mse(
    rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> Fraction:
    """Return the exact mean squared error of the Hajek estimator, linearised at the target."""
    values = [_exact(value) for value in theta]
    target = sum(values, Fraction(0)) / len(values)
    # The Horvitz-Thompson estimate of the mean of theta - target, whose target is 0.
    centred = [value - target for value in values]
    return estimator_mse("horvitz-thompson", rates, k, centred, noise)


def estimator_mse_mp(
    name: str, rates: Sequence[Real], k: int, theta: Sequence[Real], noise: Real
) -> mpmath.mpf:
    """Return the mean squared error to 50 digits, for exact values that grow too long."""
    with mpmath.workdps(DIGITS + 10):
        law = _race_mp(rates, k)
        pi = [mpmath.fsum(p for s, p in law.items() if s >> i & 1) for i in range(len(rates))]
        return _moments(name, law, pi, [_mp(value) for value in theta], _mp(noise))[1]


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


# 6. Noisy descent on a quadratic


def _step_map(k: Real, curvature: Real, step: Real, noise: Real) -> tuple[Fraction, Fraction]:
    """Return (r, c) with E x_(t+1)^2 = r E x_t^2 + c: the noise is independent and centred."""
    eta = _exact(step)
    return (1 - eta * _exact(curvature)) ** 2, eta**2 * _exact(noise) / _exact(k)


def error_path(
    rounds: int, k: Real, curvature: Real, step: Real, noise: Real, start: Real
) -> list[mpmath.mpf]:
    """Return E x_t^2 for t = 0..rounds, by iterating the recursion at 60 digits."""
    r, c = _step_map(k, curvature, step, noise)
    with mpmath.workdps(DIGITS + 10):
        factor, term = _mp(r), _mp(c)
        path = [_mp(start)]
        for _ in range(rounds):
            path.append(factor * path[-1] + term)
        return path


def error_path_exact(
    rounds: int, k: Real, curvature: Real, step: Real, noise: Real, start: Real
) -> list[Fraction]:
    """Return E x_t^2 for t = 0..rounds, by iterating the recursion in rationals."""
    r, c = _step_map(k, curvature, step, noise)
    path = [_exact(start)]
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
    goal = _exact(accuracy)
    offset = r * goal + c - goal  # the recursion of the gap E x_t^2 - accuracy; ties stay exact
    with mpmath.workdps(DIGITS + 10):
        factor, term, gap = _mp(r), _mp(offset), _mp(_exact(start) - goal)
        tie = abs(_mp(goal)) * mpmath.mpf(10) ** -45
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
        if t is not None and (best is None or t * _exact(duration) < best[0]):
            best = t * _exact(duration), k, t
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
        spread = _mp(_exact(noise) / (k * _exact(curvature) ** 2))
        origin = _mp(start)

        def value(u: mpmath.mpf) -> mpmath.mpf:
            r, c = _iterated((1 - u) ** 2, u**2 * spread, t)
            return r * origin + c

        low, middle, high = (_mp(edge) for edge in bracket)
        best = _golden(value, low, high, 140, (mpmath.sqrt(5) - 1) / 2)
        least, u = min(best, (value(middle), middle))
        return least, u / _mp(curvature)


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
            return bool(least <= _mp(accuracy) * (1 + mpmath.mpf(10) ** -25))

    if _exact(start) <= _exact(accuracy):
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
        time = _exact(duration)
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
    a, spread = _exact(curvature), _exact(noise) / _exact(k)
    error, goal = _exact(start), _exact(accuracy)
    for t in range(most + 1):
        if error <= goal:
            return t
        # (1 - step a)^2 error + step^2 spread is a parabola in the step, with this vertex.
        step = a * error / (a**2 * error + spread)
        error = (1 - step * a) ** 2 * error + step**2 * spread
    return None


# 7. Simulation


def simulate_round_times(
    sampler: Callable[[np.random.Generator, tuple[int, int]], Floats],
    n: int,
    k: int,
    copies: int,
    seed: int,
) -> tuple[float, float]:
    """Return the Monte Carlo mean of X_(k) and its standard error; sampler(rng, (copies, n))."""
    rng = np.random.default_rng(seed)
    index = _whole_quorum(n, k) - 1
    times = np.empty(copies)
    chunk = max(1, 4_000_000 // n)
    for first in range(0, copies, chunk):
        size = min(chunk, copies - first)
        draws = np.asarray(sampler(rng, (size, n)), dtype=np.float64)
        times[first : first + size] = np.partition(draws, index, axis=1)[:, index]
    return float(times.mean()), float(times.std(ddof=1) / math.sqrt(copies))
