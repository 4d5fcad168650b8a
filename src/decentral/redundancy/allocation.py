"""How to share out workers over stages that differ."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import binomial, ties
from decentral.numerics.validation import Floats, Ints, integer
from decentral.redundancy.unequal import all_dead, by_stage

# Partial allocations that the exact search keeps, and that its first, inexact sweep keeps.
_MOST_STATES = 1_000_000
_BEAM = 100
# Multiplications for its bounds, or for one kind of stages, and numbers in one batch.
_MOST_WORK = 2 * 10**9
_BATCH = 2_000_000


def best_allocation(
    availabilities: npt.ArrayLike, workers: npt.ArrayLike, *, skips: npt.ArrayLike = 0
) -> Ints:
    r"""Share out workers over unequal stages so that the least is dropped.

    .. math:: \min_{r_i \ge 1,\; \sum_i r_i = N} P\Bigl(\sum_i B_i > s\Bigr), \qquad
        B_i \sim \mathrm{Bernoulli}\bigl((1 - a_i)^{r_i}\bigr)

    Parameters
    ----------
    availabilities : array_like, shape (L,)
        :math:`a_i`, the probability that a replica of stage i is live.
    workers : int
        N, at least L.
    skips : int, optional
        s, how many dead stages a microbatch may skip.

    Returns
    -------
    ndarray of int, shape (L,)
        Replicas of each stage; they sum to N. Stages of equal availability differ by at
        most one. Which of several allocations it is whose odds of dropping are equal to a
        relative 1e-12 does not depend on rounding.

    Raises
    ------
    InfeasibleError
        If there are fewer workers than stages.
    ValueError
        If an argument is malformed; or if the search with skips would keep more than a
        million states or take minutes (many workers, many kinds of stages, many skips), or
        the drop rate, or that of the rest, falls below 1e-300.

    Notes
    -----
    Without skips, giving each worker to the stage that gains most from it is exact, up to
    rounding. With skips it is not. Then stages of equal availability still have equal
    replicas, give or take one; over the kinds of stages, the search extends partial
    allocations, and drops those that could not beat the best known one even if the rest
    were allocated with knowledge of how many stages are out so far. From the paper
    "Should a pipeline replicate stages or skip them?".

    Examples
    --------
    >>> from decentral.redundancy import best_allocation
    >>> best_allocation([0.9, 0.5], 6)
    array([2, 4])
    >>> best_allocation([0.9, 0.5], 6, skips=1)  # it is enough that one is live
    array([5, 1])
    """
    live = by_stage("availabilities", availabilities)
    if live.ndim != 1:
        raise ValueError(f"availabilities must be one-dimensional, got shape {live.shape}")
    total, budget = integer("workers", workers, least=1), integer("skips", skips)
    if total < live.size:
        raise InfeasibleError(
            f"workers must be at least one for each of {live.size} stages, but it is {total}",
            shortfall=live.size - total,
        )
    kinds, kind, members = np.unique(live, return_inverse=True, return_counts=True)
    if kinds.size == 1 or budget >= np.sum(live < 1):  # then stages are alike, or nothing is lost
        return np.asarray(_even(np.array([total]), live.size)[0])
    if budget == 0 or np.sum(live == 0) > budget:  # then nothing gets through
        return _by_gain(live, total)
    shares = _Search(kinds, members, total, budget).best()
    replicas = np.empty(live.size, dtype=np.int64)
    for number, (share, size) in enumerate(zip(shares, members, strict=True)):
        replicas[kind == number] = _even(np.array([share]), int(size))[0]
    return replicas


def _by_gain(live: Floats, total: int) -> Ints:
    """Give each further worker to the stage whose log-success gains most.

    The gain of stage i is log(1 - b^(r+1)) - log(1 - b^r) with b = 1 - a; it falls as r grows.
    """
    with np.errstate(divide="ignore"):
        log_live, decay = np.log(live), -np.log1p(-live)

    def log_gain(stage: int, replicas: int) -> float:
        """Return the logarithm of exp(gain) - 1 = a b^r / (1 - b^r), which grows with the gain."""
        if not live[stage]:
            return -math.inf  # no replica makes a difference
        log_dead = -replicas * float(decay[stage])
        return math.log(live[stage]) + log_dead - math.log(-math.expm1(log_dead))

    def wanted(level: float) -> Ints:
        """Return how many workers each stage takes at a log-gain of at least `level`."""
        log_alive = np.logaddexp(0, log_live - level)  # -log(b^r) of the last replica taken
        more = np.minimum(log_alive, total * decay)[live > 0] / decay[live > 0]
        counts = np.ones(live.size, dtype=np.int64)
        counts[live > 0] += more.astype(np.int64)
        return counts

    # Start just below the level at which the workers run out; little is left to do then.
    low, high = -40.0 * total, 0.0
    for _ in range(100):
        level = (low + high) / 2
        low, high = (low, level) if wanted(level).sum() <= total else (level, high)
    replicas = np.maximum(wanted(high) - 1, 1)
    left = total - int(replicas.sum())
    heap = [(-log_gain(i, int(r)), int(r), i) for i, r in enumerate(replicas)]
    heapq.heapify(heap)
    taken: list[tuple[float, int, int]] = []
    while len(taken) < left or (taken and _tie(heap[0], taken[left - 1])):
        lost, count, stage = heap[0]
        taken.append((lost, count, stage))
        heapq.heapreplace(heap, (-log_gain(stage, count + 1), count + 1, stage))
    sure = [turn for turn in taken if not _tie(turn, taken[left - 1])]
    tied = sorted(taken[len(sure) :], key=lambda turn: turn[1:])  # fewest replicas, first stage
    for _, _, stage in sure + tied[: left - len(sure)]:
        replicas[stage] += 1
    return replicas


def _tie(turn: tuple[float, int, int], last: tuple[float, int, int]) -> bool:
    """Return whether two gains, whose logarithms come first, count as equal."""
    return abs(turn[0] - last[0]) <= ties.TOLERANCE


def _even(workers: Ints, size: int) -> Ints:
    """Spread each number of workers evenly over stages, one row for each."""
    return (workers[:, None] + size - 1 - np.arange(size)) // size


@dataclass
class _Search:
    """The exact allocation over kinds of stages, with skips."""

    kinds: Floats
    members: Ints
    total: int
    skips: int

    def __post_init__(self) -> None:
        """Tabulate the law of each kind for each number of workers, and what the rest can do."""
        spare = self.total - int(self.members.sum())
        work = self.kinds.size * (spare + 1) ** 2 * (self.skips + 1) ** 2
        if work > _MOST_WORK:
            raise ValueError(
                f"workers must be fewer for {self.kinds.size} kinds of stages and {self.skips} "
                f"skips, but it is {self.total}: the exact search would take {work:.0e} steps"
            )
        self.extra = np.arange(spare + 1)  # workers beyond one for each stage
        self.laws = [
            binomial.counts(all_dead(kind, _even(size + self.extra, int(size))), self.skips)
            for kind, size in zip(self.kinds, self.members, strict=True)
        ]
        # fear[t][w, k]: the least chance that kinds t, t + 1, ... with w workers to spare lose
        # more than k stages, if each kind is allocated after the losses of those before it.
        # hope[t][w, k]: one less that, precise where it is small.
        fear, hope = ([np.full((spare + 1, self.skips + 1), x)] for x in (0.0, 1.0))
        for law in reversed(self.laws):
            beyond = binomial.exceeding(law)
            least, most = np.empty_like(fear[0]), np.empty_like(hope[0])
            for spent in range(spare + 1):
                # What is left for later kinds, by workers used here.
                lost, kept = fear[0][spent::-1], hope[0][spent::-1]
                for k in range(self.skips + 1):
                    here = law[: spent + 1, : k + 1]
                    least[spent, k] = (
                        (here * lost[:, k::-1]).sum(axis=1) + beyond[: spent + 1, k]
                    ).min()
                    most[spent, k] = (here * kept[:, k::-1]).sum(axis=1).max()
            fear.insert(0, least)
            hope.insert(0, most)
        self.fear, self.hope = fear, hope

    def best(self) -> Ints:
        """Return the workers of each kind."""
        known, _, _ = self._sweep(math.inf, _BEAM)
        if not binomial.TINY <= known < 1 / binomial.TINY:
            few, share = ("few", "dropped") if known < 1 else ("many", "not dropped")
            raise ValueError(
                f"workers must be so {few} that more than {binomial.TINY:g} is {share}, for the "
                f"search with skips, but it is {self.total}"
            )
        most = min(_MOST_STATES, _MOST_WORK // (self.extra.size * (self.skips + 2) ** 2))
        _, found, complete = self._sweep(known, most)
        if not complete:
            raise ValueError(
                f"availabilities must be of fewer kinds for {self.total} workers and "
                f"{self.skips} skips: there are {self.kinds.size}, and the exact search "
                f"would keep more than {most:,} states"
            )
        return found

    def _sweep(self, known: float, most: int) -> tuple[float, Ints, bool]:
        """Extend allocations kind by kind; return the best, and whether none was left out.

        They are compared by the odds of being dropped, which are as precise where almost all is
        dropped as where hardly anything is.
        """
        laws, shares = np.eye(1, self.skips + 2), np.empty((1, 0), dtype=np.int64)
        complete = True
        for kind in range(self.kinds.size):
            batch = max(1, _BATCH // (self.extra.size * (self.skips + 2)))
            parts = [
                self._extend(kind, laws[i : i + batch], shares[i : i + batch], known, most)
                for i in range(0, len(laws), batch)
            ]
            laws, shares, bound = (np.concatenate(x) for x in zip(*parts, strict=True))
            if len(laws) > most:
                keep, complete = np.argsort(bound, kind="stable")[:most], False
                laws, shares = laws[keep], shares[keep]
            if not len(laws) or (known < math.inf and not complete):
                return math.inf, shares, complete
        odds = laws[:, -1] / np.maximum(laws[:, :-1].sum(axis=1), binomial.TINY)
        first = int(ties.first_least(odds))
        return float(odds[first]), shares[first], complete

    def _extend(
        self, kind: int, laws: Floats, shares: Ints, known: float, most: int
    ) -> tuple[Floats, Ints, Floats]:
        """Give the next kind its workers in all ways; return what may be as good as the best known.

        Of what may, one more than `most` is kept, so that the caller notices.
        """
        spare = self.extra.size - 1 - (shares - self.members[:kind]).sum(axis=1)
        owner, used = np.nonzero(self.extra <= spare[:, None])
        if kind == self.kinds.size - 1:  # the last takes what is left
            owner, used = np.arange(spare.size), spare
        joined = binomial.join(laws[owner], self.laws[kind][used])
        lost, kept = (x[kind + 1][spare[owner] - used][:, ::-1] for x in (self.fear, self.hope))
        through = (joined[:, :-1] * kept).sum(axis=1)
        bound = joined[:, -1] + (joined[:, :-1] * lost).sum(axis=1)
        bound /= np.maximum(through, binomial.TINY)
        keep = np.flatnonzero(ties.met(bound, known))
        if keep.size > most:
            keep = keep[np.argsort(bound[keep], kind="stable")[: most + 1]]
        longer = np.column_stack((shares[owner[keep]], self.members[kind] + used[keep]))
        return joined[keep], longer, bound[keep]
