r"""Races of exponential clocks of unequal rates: who is among the first k.

With :math:`p_j = 1 - e^{-\mu_j t}` the number of workers that have finished at time t has a
Poisson-binomial law. All that is wanted here are integrals over t of such laws, of all workers
or of all but one. The laws are built from products and sums of positive terms only, so that even
the chances of workers that hardly ever finish keep their relative precision.

The functions trust their input, save :func:`fleets`, which checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from decentral.numerics.quadratic import scale
from decentral.numerics.quadrature import integrate
from decentral.numerics.validation import Floats, Ints, broadcast, check_quorum, integers

# What the window of integration may leave out, as a share of each integral.
_NEGLECTED = 1e-18
# Integrands are analytic: halves that agree to this are right to about its square.
_RTOL = 1e-10
# How often the ends of the window are bisected, which need not be precise.
_HALVINGS = 14
# Probabilities below this are taken for zero, far below what the window leaves out; else the
# processor would slow down on denormal numbers. Flushing every few events prevents them.
_ZERO = 1e-30
_FLUSH_EVERY = 8
# Laws of all workers but one are held for so many bytes of times at once.
_BYTES = 2**26
# Fleets beyond these are refused: so many workers, singly or in pairs; laws that would take so
# long on a slow machine; and so many pairs times panels, which have to be held at once.
_MOST_WORKERS = {False: 20_000, True: 500}
_MOST_SECONDS = 30.0
_MOST_PAIRS = 10**6
# Panels of at most this width, in logarithms of time, are begun with.
_WIDTH = 4.0


def fleets(rates: object, quorum: object, *, pairs: bool = False) -> tuple[Floats, Ints]:
    """Validate rates, with workers along the last axis, and quorums; they must broadcast.

    Fleets are refused whose laws, of single workers or else of pairs, would take minutes.
    """
    speeds, first = scale("rates", rates), integers("quorum", quorum, least=1)
    if not speeds.ndim:
        raise ValueError("rates must have one entry for each worker, got a single number")
    number = speeds.shape[-1]
    broadcast(rates=speeds[..., 0], quorum=first)
    check_quorum(np.array(number), first)
    if number > _MOST_WORKERS[pairs]:
        raise ValueError(
            f"rates must be of at most {_MOST_WORKERS[pairs]:,} workers{' for pairs' * pairs}, "
            f"else it would take minutes, but there are {number:,}"
        )
    return speeds, first


def each(
    law: Callable[[Floats, int], Floats | float],
    rates: Floats,
    quorum: Ints,
    shape: tuple[int, ...],
) -> Floats:
    """Return a law of every fleet and quorum; `shape` is that of one result."""
    outer = np.broadcast_shapes(rates.shape[:-1], quorum.shape)
    speeds = np.broadcast_to(rates, (*outer, rates.shape[-1]))
    first = np.broadcast_to(quorum, outer)
    result = np.empty((*outer, *shape))
    for index in np.ndindex(outer):
        result[index] = law(speeds[index], int(first[index]))
    return result


def round_time(rates: Floats, quorum: int) -> float:
    """Return the mean of the k-th finishing time."""
    mean, rates = _unit(rates)
    window = _window(rates, quorum)
    _check_time(rates.size, quorum, window)

    def survival(log_time: Floats) -> Floats:
        finished, running = _chances(rates, np.exp(log_time))
        if quorum <= rates.size - quorum:
            law = _law(finished, running, quorum - 1)[:-1].sum(axis=0)
        else:
            law = _law(running, finished, rates.size - quorum)[-1]
        return np.asarray(np.exp(log_time) * law)

    head = math.exp(window[0])
    return float(integrate(survival, window, rtol=_RTOL, base=head)) / mean


def inclusion(rates: Floats, quorum: int) -> Floats:
    """Return the probability of each worker to be among the first k."""
    if quorum == rates.size:
        return np.ones(rates.size)
    _, rates = _unit(rates)
    window = _window(rates, quorum)
    _check_time(rates.size, quorum, window)

    def density(log_time: Floats) -> Floats:
        time = np.exp(log_time)
        finished, running = _chances(rates, time)
        in_time = _fewer_of_others(finished, running, quorum)
        return np.asarray(rates[:, None] * time * running * in_time)

    head = -np.expm1(-rates * math.exp(window[0]))
    chances = integrate(density, window, rtol=_RTOL, base=head)
    return np.minimum(chances, 1)  # rounding must not exceed what a probability can be


def joint_inclusion(rates: Floats, quorum: int) -> Floats:
    """Return the probability of each pair to be among the first k; on the diagonal, of each."""
    number = rates.size
    if quorum == number:
        return np.ones((number, number))
    if quorum == 1:
        return np.diag(inclusion(rates, 1))
    scaled = _unit(rates)[1]
    window = _window(scaled, quorum, others=2)
    _check_time(number, quorum, window, pairs=True)

    def density(log_time: Floats) -> Floats:
        """Return the density of the later of the two, with fewer than k - 1 others done."""
        time = np.exp(log_time)
        finished, running = _chances(scaled, time)
        done = -np.expm1(-scaled[:, None] * time)  # `finished` lacks the least of these
        last = scaled[:, None] * time * running
        values = np.zeros((number, number, time.size))
        for i in range(number - 1):
            rest = np.delete(np.arange(number), i)
            in_time = _fewer_of_others(finished[rest], running[rest], quorum - 1)[i:]
            later = last[i] * done[i + 1 :] + done[i] * last[i + 1 :]
            values[i, i + 1 :] = later * in_time
        return values

    done = -np.expm1(-scaled * math.exp(window[0]))
    head = np.triu(np.outer(done, done), 1)
    upper = np.minimum(integrate(density, window, rtol=_RTOL, base=head), 1)
    joint = upper + upper.T
    np.fill_diagonal(joint, inclusion(rates, quorum))
    return joint


def _check_time(number: int, quorum: int, window: Floats, *, pairs: bool = False) -> None:
    """Refuse laws that would take minutes or too much memory; the times are rough."""
    panels = window.size - 1
    work = panels * number ** (2 if pairs else 1) * min(quorum, number - quorum)
    if work * (5e-7 + 2e-10 * number) > _MOST_SECONDS or (
        pairs and panels * number**2 > _MOST_PAIRS
    ):
        raise ValueError(
            f"rates and quorum must not need minutes or gigabytes, but {number:,} workers of these "
            f"rates with a quorum of {quorum:,} do"
        )


def _unit(rates: Floats) -> tuple[float, Floats]:
    """Return the geometric mean of the rates, and the rates in units of it."""
    mean = math.exp(float(np.log(rates).mean()))
    return mean, rates / mean


def _chances(rates: Floats, time: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities that a worker has finished, and that it has not."""
    passed = -rates[:, None] * time
    with np.errstate(under="ignore"):
        return _flushed(-np.expm1(passed)), _flushed(np.exp(passed))


def _flushed(chance: Floats) -> Floats:
    """Set negligible probabilities to zero, in place."""
    chance[chance < _ZERO] = 0
    return chance


def _law(chance: Floats, rest: Floats, most: int) -> Floats:
    """Return P(N = 0), ..., P(N = most), P(N > most), shape (most + 2, times)."""
    law = np.zeros((most + 2, chance.shape[1]))
    law[0] = 1
    for i, (p, q) in enumerate(zip(chance, rest, strict=True)):
        moved = law[:-1] * p
        law[:-1] *= q
        law[1:] += moved
        if i % _FLUSH_EVERY == 0:
            _flushed(law)
    return law


def _fewer_of_others(finished: Floats, running: Floats, quorum: int) -> Floats:
    """Return for each worker the probability that fewer than k of the others have finished.

    Fewer than k of n - 1 have finished if and only if more than n - 1 - k have not; the
    smaller count needs the shorter laws.
    """
    number, times = finished.shape
    spare = number - 1 - quorum
    if spare < 0:
        return np.ones((number, times))
    few = quorum - 1 <= spare
    most = quorum - 1 if few else spare
    chance, rest = (finished, running) if few else (running, finished)
    result = np.empty((number, times))
    width = max(1, _BYTES // (8 * number * (most + 1)))
    for start in range(0, times, width):
        part = slice(start, start + width)
        result[:, part] = _without_each(chance[:, part], rest[:, part], most, at_most=few)
    return result


def _without_each(chance: Floats, rest: Floats, most: int, *, at_most: bool) -> Floats:
    """Return P(N <= most), or else P(N > most), for the number N of all events but each.

    The events before each are counted by their law, those after it by the tail of theirs, and
    the two joined.
    """
    number, times = chance.shape
    edge = 0.0 if at_most else 1.0  # the tail at minus one event
    tails = np.empty((number, most + 1, times))
    tails[-1] = 1 - edge
    moved = np.empty((most, times))
    for i in range(number - 1, 0, -1):
        np.multiply(tails[i], rest[i], out=tails[i - 1])
        np.multiply(tails[i, :-1], chance[i], out=moved)
        tails[i - 1, 1:] += moved
        tails[i - 1, 0] += edge * chance[i]
        if i % _FLUSH_EVERY == 0:
            _flushed(tails[i - 1])
    law, beyond = np.zeros((most + 1, times)), np.zeros(times)
    law[0] = 1
    result = np.empty((number, times))
    for i in range(number):
        result[i] = np.einsum("at,at->t", law, tails[i, ::-1])
        if not at_most:
            result[i] += beyond
            beyond = beyond + law[-1] * chance[i]
        np.multiply(law[:-1], chance[i], out=moved)
        law *= rest[i]
        law[1:] += moved
        if i % _FLUSH_EVERY == 0:
            _flushed(law)
    return result


def _window(rates: Floats, quorum: int, others: int = 1) -> Floats:
    """Return edges, in logarithms of time, between which it is decided who is among the first.

    Before the first edge P(N > k - others), and beyond the last P(N <= k), are negligible by
    Chernoff's bound; `others` is 1 for single workers and 2 for pairs. The k-th finishing time
    has an increasing hazard rate on average (Birnbaum, Esary and Marshall, 1966), so what its
    survival function has left beyond a time is also its share of the integral of the survival
    function.
    """
    number = rates.size
    slack = -math.log(_NEGLECTED)
    low = -slack - math.log(float(rates.sum()))  # by then hardly anyone has finished
    high = math.log((slack + math.log(number)) / float(rates.min()))  # and by then everyone has
    if number == 1:
        return _spaced(low, high)
    count = min(quorum, number - 1)  # for k = n the upper end is this one's, the lower earlier
    first = count + 1 - others
    early = _last(lambda x: _log_chernoff(rates, x, first, above=True) < -slack, low, high)
    late = _last(lambda x: _log_chernoff(rates, x, count, above=False) >= -slack, early, high)
    return _spaced(early, late + (high - low) * 2.0**-_HALVINGS)


def _spaced(low: float, high: float) -> Floats:
    return np.linspace(low, high, 1 + math.ceil((high - low) / _WIDTH))


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return nearly the last point at which something holds that holds up to a point."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _log_chernoff(rates: Floats, log_time: float, count: int, *, above: bool) -> float:
    """Bound log P(N >= count), or else log P(N <= count); any tilt gives a bound."""
    with np.errstate(under="ignore"):
        passed = -rates * math.exp(log_time)
        p, q = -np.expm1(passed), np.exp(passed)
        a, b = (0.0, 100.0) if above else (-100.0, 0.0)
        for _ in range(40):
            tilt = (a + b) / 2
            lifted = p * math.exp(tilt)
            if float((lifted / (lifted + q)).sum()) < count:
                a = tilt
            else:
                b = tilt
        return float(np.log(p * math.exp(tilt) + q).sum()) - tilt * count
