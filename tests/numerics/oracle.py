"""Races of exponential times, over all sets of workers or by quadrature.

n workers, numbered from 0, finish at independent times, and a race ends when the k-th is in.
Written from the definitions, without looking at the library; exact rationals or 50+ digits.
Floats are taken at their exact binary value everywhere. Functions that return an ``mpmath.mpf``
compute at 60 digits or more, whatever the caller's precision.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np
from mpmath import libmp
from numpy.typing import NDArray
from tests.numerics.precision import DIGITS, Number, Real, as_mpf, positive, total_of, whole_quorum


# With unequal full-precision floats the rationals grow long: seconds for n = 12 and k > 6 or so,
# where the 50-digit (`..._mp`) and quadrature forms take their place. Small rationals stay short.
def levels(rates: Sequence[Number], k: int) -> Iterator[dict[int, tuple[Number, Number]]]:
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
        level = {s: total_of(several) for s, several in terms.items()}


def members(mask: int) -> list[int]:
    """List the workers of a bitmask."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


@lru_cache(maxsize=32)
def chances(rates: tuple[Fraction, ...], k: int) -> dict[int, Fraction]:
    """Return bitmask -> exact probability that it is the set of the first k finishers."""
    *_, last = levels(rates, k)
    return {s: p for s, (p, _) in last.items()}


def _race_mp(rates: Sequence[Real], k: int) -> dict[int, mpmath.mpf]:
    """Return the same probabilities at the current mpmath precision, by positive operations."""
    exact = positive(rates)
    *_, last = levels([as_mpf(rate) for rate in exact], whole_quorum(len(exact), k))
    return {s: p for s, (p, _) in last.items()}


def race(rates: Sequence[Real], k: int) -> dict[frozenset[int], Fraction]:
    """Return the exact probability of every set of first k finishers."""
    exact = positive(rates)
    law = chances(exact, whole_quorum(len(exact), k))
    return {frozenset(members(s)): p for s, p in law.items()}


def race_mean_mp(rates: Sequence[Real], k: int, shift: Real) -> mpmath.mpf:
    """Return the same mean to 50 digits, for rates whose exact sums grow too long."""
    exact = positive(rates)
    with mpmath.workdps(DIGITS + 10):
        *waits, _ = levels([as_mpf(rate) for rate in exact], whole_quorum(len(exact), k))
        return as_mpf(shift) + total_of([p / left for level in waits for p, left in level.values()])


def shared_denominator(law: dict[int, Fraction]) -> tuple[dict[int, int], int]:
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
    exact = positive(rates)
    counts, shared = shared_denominator(chances(exact, whole_quorum(len(exact), k)))
    return [
        Fraction(sum(count for s, count in counts.items() if s >> i & 1), shared)
        for i in range(len(exact))
    ]


def joint_inclusion(rates: Sequence[Real], k: int) -> list[list[Fraction]]:
    """Return the exact probability that each pair of workers is among the first k."""
    exact = positive(rates)
    n = len(exact)
    counts, shared = shared_denominator(chances(exact, whole_quorum(n, k)))
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
            for i in members(s):
                for j in members(s):
                    joint[i][j] += p
        return joint


def inclusion_by_quadrature(rates: Sequence[Real], k: int, digits: int = 30) -> list[mpmath.mpf]:
    """Return P(X_i is among the k smallest), integrating over X_i the law of the others' count.

    The trapezoidal rule in s, where t = exp(s - e^(-s)) / (sum of rates), converges like e^(-c/h);
    the Poisson-binomial law at each t is convolved in fixed point from prefixes and suffixes.
    """
    exact = positive(rates)
    k = whole_quorum(len(exact), k)
    everyone, slowest = sum(exact), min(exact)
    spread = math.log10(everyone / slowest)
    work = digits + math.ceil(spread) + 20  # the inclusion of i is at least rate_i / all rates
    with mpmath.workdps(work):
        start = -math.log(work * math.log(10)) - 0.5
        end = math.log(work * math.log(10)) + spread * math.log(10) + 0.5
        units = [as_mpf(rate / everyone) for rate in exact]
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
