"""An independent oracle for pipelines that survive dead stages by replicas and by skipping.

A microbatch crosses L stages. Each has r replicas, each live with probability a, and a failure
domain that takes them all down with probability rho; everything else is independent. Up to s dead
stages are skipped, each multiplying the microbatch's usefulness by 1-kappa; more drop it. Floats
are read as the exact binary numbers they are. Nothing here comes from the library under test.
"""

import math
from fractions import Fraction
from itertools import combinations, count, product

from mpmath import mp

DIGITS = 50  # of the answers
WORK = 100  # of the arithmetic: L log q may cost a dozen digits
TIE = mp.mpf(10) ** -60  # relative gap below which rationals decide


# --- arithmetic ---------------------------------------------------------------------------------


def _mp(x):
    """Read a number exactly (a Fraction: to the digits at work)."""
    if isinstance(x, Fraction):
        return mp.mpf(x.numerator) / x.denominator
    return mp.mpf(x)


def _rational(x):
    """Read a number exactly, an mpf included."""
    if isinstance(x, mp.mpf):
        sign, mantissa, exponent, _ = x._mpf_
        return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent
    return Fraction(x)


def _rounded(x):
    with mp.workdps(DIGITS):
        return +x


def _choose(n, j):
    if n <= 3000:
        return mp.mpf(math.comb(n, j))
    return mp.exp(mp.loggamma(n + 1) - mp.loggamma(j + 1) - mp.loggamma(n - j + 1))


def _terms(n, x, y, low, high):
    """Sum C(n,j) x^j y^(n-j) over low <= j <= high, from the largest term outward.

    The terms are log-concave in j, so past the largest they fall at least geometrically at the
    last ratio seen, which bounds what a truncated sum leaves out.
    """
    low, high = max(low, 0), min(high, n)
    if low > high:
        return mp.zero
    if x == 0:
        return y**n if low == 0 else mp.zero
    if y == 0:
        return x**n if high == n else mp.zero
    top = min(max(int(mp.floor((n + 1) * x / (x + y))), low), high)
    total = mp.one
    up, down = x / y, y / x
    negligible = mp.mpf(10) ** (10 - WORK)
    for factor, steps, stride in (
        (up, range(top, high), lambda j: (n - j, j + 1)),
        (down, range(top, low, -1), lambda j: (j, n - j + 1)),
    ):
        term = mp.one
        for j in steps:
            above, below = stride(j)
            ratio = factor * above / below
            term *= ratio
            total += term
            if ratio < 1 and term * ratio < negligible * (1 - ratio):
                break
    return total * _choose(n, top) * x**top * y ** (n - top)


def _tails(n, q, s):
    """P(Bin(n,q) <= s) and P(Bin(n,q) > s), both to full relative precision.

    The tail that does not hold the mode is summed; it is bounded away from one, so the other
    is its complement without cancellation.
    """
    if s >= n:
        return mp.one, mp.zero
    if s + 1 > mp.floor((n + 1) * q):
        upper = _terms(n, q, 1 - q, s + 1, n)
        return 1 - upper, upper
    lower = _terms(n, q, 1 - q, 0, s)
    return lower, 1 - lower


def _outage(a, r, rho):
    a, rho = _mp(a), _mp(rho)
    return rho + (1 - rho) * (1 - a) ** r


def _exact_outage(a, r, rho):
    a, rho = _rational(a), _rational(rho)
    return rho + (1 - rho) * (1 - a) ** r


# --- closed forms from their definitions --------------------------------------------------------


def outage(a, r, rho):
    """Give the probability that a stage has no live replica."""
    with mp.workdps(WORK):
        value = _outage(a, r, rho)
    return _rounded(value)


def drop(L, q, s):
    """P(Bin(L,q) > s)."""
    with mp.workdps(WORK):
        value = _tails(L, _mp(q), s)[1]
    return _rounded(value)


def log_drop(L, q, s):
    """Log P(Bin(L,q) > s), also where the probability is all but one."""
    with mp.workdps(WORK):
        lower, upper = _tails(L, _mp(q), s)
        value = mp.log1p(-lower) if lower < upper else mp.log(upper) if upper else -mp.inf
    return _rounded(value)


def drop_by_beta(L, q, s):
    """P(Bin(L,q) > s) again, by mpmath's incomplete beta: for L in the thousands at most."""
    if s >= L:
        return mp.zero
    with mp.workdps(WORK):
        value = mp.betainc(s + 1, L - s, 0, _mp(q), regularized=True)
    return _rounded(value)


def drop_by_fraction(L, q, s):
    """P(Bin(L,q) > s) again, as the exact rational: for L in the hundreds at most."""
    q = _rational(q)
    dead, whole = q.numerator, q.denominator
    live = whole - dead
    counts = sum(math.comb(L, j) * dead**j * live ** (L - j) for j in range(s + 1, L + 1))
    return Fraction(counts, whole**L)


def useful_yield(L, q, kappa, s=None):
    """E[(1-kappa)^D; D <= s] for D ~ Bin(L,q); with no s, over every D."""
    with mp.workdps(WORK):
        q, kept = _mp(q), 1 - _mp(kappa)
        value = _terms(L, q * kept, 1 - q, 0, L if s is None else s)
    return _rounded(value)


def yield_by_fraction(L, q, kappa, s=None):
    """E[(1-kappa)^D; D <= s] again, as the exact rational: for L in the hundreds at most."""
    q, kept = _rational(q), 1 - _rational(kappa)
    last = L if s is None else min(s, L)
    return sum(
        (math.comb(L, j) * (q * kept) ** j * (1 - q) ** (L - j) for j in range(last + 1)),
        Fraction(0),
    )


# --- literal enumeration ------------------------------------------------------------------------


def _patterns(L, r, a, rho):
    """Yield the probability and the number of dead stages of each pattern of domains, replicas."""
    a, rho = _rational(a), _rational(rho)
    for fallen in product((False, True), repeat=L):
        chance = math.prod((rho if f else 1 - rho for f in fallen), start=Fraction(1))
        for live in product((False, True), repeat=L * r):
            odds = math.prod((a if up else 1 - a for up in live), start=Fraction(1))
            dead = sum(fallen[i] or not any(live[i * r : (i + 1) * r]) for i in range(L))
            yield chance * odds, dead


def drop_by_patterns(L, r, a, rho, s):
    """P(more than s dead stages), over all 2^(L + Lr) patterns."""
    return sum((p for p, dead in _patterns(L, r, a, rho) if dead > s), Fraction(0))


def yield_by_patterns(L, r, a, rho, s, kappa):
    """E[(1-kappa)^D; D <= s], over all 2^(L + Lr) patterns; with s None, over every D."""
    kept, last = 1 - _rational(kappa), L if s is None else s
    return sum((p * kept**dead for p, dead in _patterns(L, r, a, rho) if dead <= last), Fraction(0))


def simulate_drop(L, r, a, rho, s, rounds, rng, batch=2**20):
    """Simulate every replica and domain with a numpy generator: the drop and its standard error.

    The error is that of the rate with one success and one failure added, so that it is never 0.
    """
    hits, left = 0, rounds
    while left:
        size = min(left, max(1, batch // (L * r)))
        live = rng.random((size, L, r)) < a
        fallen = rng.random((size, L)) < rho
        dead = (fallen | ~live.any(axis=2)).sum(axis=1)
        hits += int((dead > s).sum())
        left -= size
    rate = (hits + 1) / (rounds + 2)
    return hits / rounds, math.sqrt(rate * (1 - rate) / rounds)


# --- design -------------------------------------------------------------------------------------


def _meets(L, a, r, rho, s, target):
    """Whether drop <= target with r replicas (None: infinitely many); rationals settle ties."""
    with mp.workdps(WORK):
        q = _mp(rho) if r is None else _outage(a, r, rho)
        value, goal = _tails(L, q, s)[1], _mp(target)
        if abs(value - goal) > TIE * goal:
            return bool(value < goal)
    if L * (r or 1) > 20_000:
        raise ArithmeticError("a tie too long to settle exactly")
    q = _rational(rho) if r is None else _exact_outage(a, r, rho)
    return drop_by_fraction(L, q, s) <= _rational(target)


def _attains(L, s, rho, target):
    """Whether the drop of infinitely many replicas, never reached, lies strictly below target."""
    with mp.workdps(WORK):
        limit, goal = _tails(L, _mp(rho), s)[1], _mp(target)
        if abs(limit - goal) > TIE * goal:
            return bool(limit < goal)
    return drop_by_fraction(L, rho, s) < _rational(target)


def least_replicas(L, a, target, s, rho):
    """Give the least r >= 1 with drop <= target, by linear search; None if there is none.

    If r = 1 fails and 0 < a < 1, rho < 1, s < L, then the drop falls strictly in r towards its
    limit: some r meets the target if and only if the limit lies strictly below it. If a is 0
    or 1, rho is 1 or s >= L, the drop does not depend on r and r = 1 decides.
    """
    if _meets(L, a, 1, rho, s, target):
        return 1
    if a in (0, 1) or rho == 1 or s >= L or not _attains(L, s, rho, target):
        return None
    return next(r for r in count(2) if _meets(L, a, r, rho, s, target))


def best_design(L, a, kappa, rho, cap=None):
    """Give the r >= 1, least on ties, and its cost L*r/yield that no other r undercuts.

    The yield is E[f(D)] with f falling in D, and D falls stochastically in q, so the yield never
    exceeds the one at q = rho: every r' >= r costs at least L*r / that limit, and the search may
    stop once this reaches the best cost. With no yield at all: None and an infinite cost.
    """
    best, cost, value = None, mp.inf, None
    with mp.workdps(WORK):
        kept, last = 1 - _mp(kappa), L if cap is None else cap
        limit = _terms(L, _mp(rho) * kept, 1 - _mp(rho), 0, last)
        if a == 1:  # then r = 1 already has the limiting outage
            return (1, _rounded(L / limit)) if limit else (None, mp.inf)
        if a == 0 or limit == 0:
            limit = _terms(L, kept, mp.zero, 0, last)  # q is 1 for ever
            return (1, _rounded(L / limit)) if limit else (None, mp.inf)
        for r in count(1):
            if best is not None and L * r / limit > cost * (1 + TIE):
                return best, _rounded(cost)
            q = _outage(a, r, rho)
            value = L * r / _terms(L, q * kept, 1 - q, 0, last)
            if best is None or _undercuts(L, a, kappa, rho, cap, (r, value), (best, cost)):
                best, cost = r, value
    return None


def _undercuts(L, a, kappa, rho, cap, new, old):
    """Whether the new (r, cost) is strictly cheaper; rationals settle ties."""
    if abs(new[1] - old[1]) > TIE * old[1]:
        return new[1] < old[1]
    if L * new[0] > 20_000:
        raise ArithmeticError("a tie too long to settle exactly")
    yields = [yield_by_fraction(L, _exact_outage(a, r, rho), kappa, cap) for r, _ in (new, old)]
    return new[0] * yields[1] < old[0] * yields[0]


def best_rigid_design(L, a, rho):
    """Give the best design that skips nothing; kappa then plays no part."""
    return best_design(L, a, 0, rho, 0)


# --- unlike stages ------------------------------------------------------------------------------


def _add_event(law, q):
    """Give the law of a count after one more independent event of probability q."""
    live = [p * (1 - q) for p in law] + [0]
    dead = [0] + [p * q for p in law]
    return [x + y for x, y in zip(live, dead, strict=True)]


def count_law(qs):
    """Give P(D = 0), P(D = 1), ... by multiplying the polynomials (1-q) + qz, in qs' arithmetic."""
    law = [1]
    for q in qs:
        law = _add_event(law, q)
    return law


def poisson_binomial_drop(qs, s):
    """P(more than s of the independent events), over every subset of at most a dozen."""
    qs = [_rational(q) for q in qs]
    if len(qs) > 12:
        raise ValueError("too many subsets")
    total = Fraction(0)
    for size in range(s + 1, len(qs) + 1):
        for dead in combinations(range(len(qs)), size):
            total += math.prod(
                (q if i in dead else 1 - q for i, q in enumerate(qs)), start=Fraction(1)
            )
    return total


def poisson_binomial_drop_mp(qs, s):
    """P(more than s of the independent events), by polynomial product: all terms positive."""
    with mp.workdps(WORK):
        value = mp.fsum(count_law([_mp(q) for q in qs])[s + 1 :])
    return _rounded(value)


def _compositions(total, parts):
    """Yield every tuple of so many positive integers with that sum."""
    for cuts in combinations(range(1, total), parts - 1):
        edges = (0, *cuts, total)
        yield tuple(edges[i + 1] - edges[i] for i in range(parts))


def allocation_drop(avail, replicas, s):
    """P(more than s dead stages) as the exact rational."""
    qs = [(1 - _rational(a)) ** r for a, r in zip(avail, replicas, strict=True)]
    return sum(count_law(qs)[s + 1 :], Fraction(0))


def best_allocation_by_enumeration(avail, workers, s):
    """Give the least drop over all r_i >= 1 with sum r_i <= workers, and where it is attained.

    Only sums equal to the workers are searched and listed. That suffices: one more replica never
    raises its stage's q_i, and P(D > s) does not fall in any q_i (it is P(D' > s) + q_i P(D' = s)
    with D' the number of other dead stages), so any spare worker can be added to any stage.
    """
    if workers < len(avail):
        raise ValueError("fewer workers than stages")
    drops = {r: allocation_drop(avail, r, s) for r in _compositions(workers, len(avail))}
    least = min(drops.values())
    return least, sorted(r for r, value in drops.items() if value == least)


def shared_pool_drop(avail_list, replicas_list, pool_outages, pool_of_stage, s):
    """P(more than s dead stages) when a pool that is down takes all its stages down.

    Enumerates every state of the pools and of the stages; pool_of_stage gives an index per stage,
    None for a stage in no pool.
    """
    outs = [(1 - _rational(a)) ** r for a, r in zip(avail_list, replicas_list, strict=True)]
    downs = [_rational(p) for p in pool_outages]
    total = Fraction(0)
    for fallen in product((False, True), repeat=len(downs)):
        chance = math.prod(
            (p if f else 1 - p for p, f in zip(downs, fallen, strict=True)), start=Fraction(1)
        )
        for out in product((False, True), repeat=len(outs)):
            odds = math.prod(
                (q if o else 1 - q for q, o in zip(outs, out, strict=True)), start=Fraction(1)
            )
            dead = sum(
                o or (pool is not None and fallen[pool])
                for o, pool in zip(out, pool_of_stage, strict=True)
            )
            if dead > s:
                total += chance * odds
    return total
