"""What a useful microbatch costs, and the replicas and skips that make it cheapest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import binomial, ties
from decentral.numerics.validation import Floats, Ints, broadcast, integers, probabilities

# Below this the replicas that might be best are too many to go through.
_LEAST_AVAILABILITY = 1e-6


def _yield(stages: Ints, outage: Floats, alive: Floats, loss: Floats, budget: Ints) -> Floats:
    """Return E[(1 - kappa)^D; D <= s]; a budget of L or more is none."""
    weight = alive + outage * (1 - loss)  # of a stage; 1 - kappa q would cancel
    with np.errstate(divide="ignore", invalid="ignore"):
        tilted, upright = outage * (1 - loss) / weight, alive / weight
        lost = loss * outage
        whole = np.exp(stages * np.where(lost < 0.5, np.log1p(-lost), np.log(weight)))
    inside = np.where(
        tilted < upright,
        binomial.body(stages, tilted, budget),
        binomial.body_upright(stages, np.nan_to_num(upright), budget),
    )
    return whole * inside


def _budget(skips: npt.ArrayLike | None, stages: Ints, name: str = "skips") -> Ints:
    return stages if skips is None else integers(name, skips)


def useful_yield(
    stages: npt.ArrayLike,
    outage: npt.ArrayLike,
    skip_loss: npt.ArrayLike,
    *,
    skips: npt.ArrayLike | None = None,
) -> Floats:
    r"""Mean usefulness of a microbatch that may skip dead stages.

    .. math:: E[(1 - \kappa)^D;\, D \le s]
        = (1 - \kappa q)^L \, P(\mathrm{Bin}(L, \tilde q) \le s), \qquad
        \tilde q = \frac{q (1 - \kappa)}{1 - \kappa q}

    D is the number of dead stages. Without a cap on skips the second factor is 1.

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    outage : array_like
        q, the probability that a stage is out, as of :func:`stage_outage`.
    skip_loss : array_like
        :math:`\kappa`, from 0 to 1: the share of its usefulness that a microbatch loses
        with each skip.
    skips : array_like of int, optional
        s, how many dead stages a microbatch may skip; by default there is no cap.

    Returns
    -------
    ndarray, of the common shape of the arguments
        From 0 to 1; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    By exponential tilting; derived in the paper "Should a pipeline replicate stages or skip
    them?".

    Examples
    --------
    >>> from decentral.redundancy import useful_yield
    >>> useful_yield(48, 0.1, 0.02, skips=[0, 4, 48]).round(4)
    array([0.0064, 0.4408, 0.9084])
    """
    layers = binomial.stages(stages)
    columns = broadcast(
        stages=layers,
        outage=probabilities("outage", outage),
        skip_loss=probabilities("skip_loss", skip_loss),
        skips=_budget(skips, layers),
    )
    layers, out, loss, budget = columns
    return _yield(layers, out, 1 - out, loss, budget)[()]


def _cost(
    stages: Ints, live: Floats, replicas: Ints, loss: Floats, budget: Ints, down: Floats
) -> Floats:
    with np.errstate(divide="ignore", over="ignore"):
        outage, alive = (law(live, replicas, down) for law in (binomial.outage, binomial.alive))
        return stages.astype(float) * replicas / _yield(stages, outage, alive, loss, budget)


def cost_per_yield(
    stages: npt.ArrayLike,
    availability: npt.ArrayLike,
    replicas: npt.ArrayLike,
    skip_loss: npt.ArrayLike,
    *,
    skips: npt.ArrayLike | None = None,
    domain_outage: npt.ArrayLike = 0.0,
) -> Floats:
    r"""Workers per useful microbatch.

    .. math:: \frac{L\,r}{E[(1 - \kappa)^D;\, D \le s]}

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    availability : array_like
        a, the probability that a replica is live while its domain is up.
    replicas : array_like of int
        r, at least 1.
    skip_loss : array_like
        :math:`\kappa`, from 0 to 1: the share of its usefulness that a microbatch loses
        with each skip.
    skips : array_like of int, optional
        s, how many dead stages a microbatch may skip; by default there is no cap.
    domain_outage : array_like, optional
        :math:`\rho`, the probability that a stage's failure domain is down.

    Returns
    -------
    ndarray, of the common shape of the arguments
        Workers; a NumPy float if all are scalars. Infinite where the yield is 0, or so
        small that the quotient exceeds what a double holds.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "Should a pipeline replicate stages or skip them?".

    Examples
    --------
    >>> from decentral.redundancy import cost_per_yield
    >>> cost_per_yield(48, 0.9, [1, 2, 3], 0.1).round(1)
    array([ 77.8, 100.7, 144.7])
    """
    layers = binomial.stages(stages)
    columns = broadcast(
        stages=layers,
        availability=probabilities("availability", availability),
        replicas=integers("replicas", replicas, least=1),
        skip_loss=probabilities("skip_loss", skip_loss),
        skips=_budget(skips, layers),
        domain_outage=probabilities("domain_outage", domain_outage),
    )
    return _cost(*columns)[()]


@dataclass(frozen=True, eq=False)
class Design:
    """The cheapest replication of a pipeline's stages.

    Attributes
    ----------
    replicas : int or ndarray of int
        r, of each stage.
    skips : int or ndarray of int
        s, the least budget at which dropping takes no more than a share :math:`2^{-54}` of
        the yield, which double precision does not see; or the cap if that is less.
    cost : float or ndarray
        Workers per useful microbatch.
    cost_without_skips : float or ndarray
        The same of the best design whose microbatches cross every stage; infinite if
        there is none.
    gain : float or ndarray
        The second cost over the first.
    """

    replicas: int | Ints
    skips: int | Ints
    cost: float | Floats
    cost_without_skips: float | Floats

    @property
    def gain(self) -> float | Floats:
        """How many times cheaper skipping makes a useful microbatch."""
        return self.cost_without_skips / self.cost


def best_design(
    stages: npt.ArrayLike,
    availability: npt.ArrayLike,
    skip_loss: npt.ArrayLike,
    *,
    domain_outage: npt.ArrayLike = 0.0,
    max_skips: npt.ArrayLike | None = None,
) -> Design:
    r"""Find the replicas and skips of the least cost per useful microbatch.

    .. math:: \min_{r \ge 1,\; s \le s_{\max}} \; \frac{L\,r}{E[(1 - \kappa)^D;\, D \le s]}

    A larger skip budget never costs anything, so s is the cap, or the least budget
    beyond which double precision sees no gain. The search leaves out no r.

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    availability : array_like
        a, the probability that a replica is live while its domain is up; 0, or at least
        1e-6.
    skip_loss : array_like
        :math:`\kappa`, from 0 to 1: the share of its usefulness that a microbatch loses
        with each skip.
    domain_outage : array_like, optional
        :math:`\rho`, the probability that a stage's failure domain is down.
    max_skips : array_like of int, optional
        The cap on s; by default there is none.

    Returns
    -------
    Design
        With arrays of the common shape of the arguments, or plain numbers. The least r
        if several cost the same, to a relative 1e-12.

    Raises
    ------
    InfeasibleError
        If with every number of replicas the cost exceeds what a double holds.
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "Should a pipeline replicate stages or skip them?". For all r
    between two values the cost is at least that of the larger one, scaled down to the
    smaller; intervals that this rules out are discarded, and the others halved.

    Examples
    --------
    >>> from decentral.redundancy import best_design
    >>> design = best_design(128, 0.9, 0.4)
    >>> design.replicas, round(design.cost, 1), round(design.gain, 3)
    (3, 404.2, 1.08)
    """
    layers = binomial.stages(stages)
    columns = broadcast(
        stages=layers,
        availability=probabilities("availability", availability),
        skip_loss=probabilities("skip_loss", skip_loss),
        max_skips=_budget(max_skips, layers, "max_skips"),
        domain_outage=probabilities("domain_outage", domain_outage),
    )
    live = columns[1]
    if np.any(rare := (live > 0) & (live < _LEAST_AVAILABILITY)):
        raise ValueError(
            f"availability must be 0 or at least {_LEAST_AVAILABILITY:g}, "
            f"but it is {live[rare].max():g}"
        )
    shape = live.shape
    problems = _Problems(*(column.ravel() for column in columns))
    replicas, cost = _cheapest(problems)
    if np.isinf(cost).any():
        at = problems.take(np.flatnonzero(np.isinf(cost)))
        raise InfeasibleError(
            f"no number of replicas makes a useful microbatch at a finite cost: with "
            f"{at.stages[0]} stages, availability {at.live[0]:g}, skip_loss {at.loss[0]:g}, "
            f"domain_outage {at.down[0]:g} and at most {at.skips[0]} skips it exceeds 1e308"
        )
    alone = _cheapest(replace(problems, skips=np.zeros_like(problems.skips)))[1]
    skips = problems.saturating_skips(replicas)
    if shape:
        found = replicas.reshape(shape), skips.reshape(shape)
        return Design(*found, cost.reshape(shape), alone.reshape(shape))
    return Design(int(replicas[0]), int(skips[0]), float(cost[0]), float(alone[0]))


@dataclass(frozen=True, eq=False)
class _Problems:
    """One design problem for each entry of the columns."""

    stages: Ints
    live: Floats
    loss: Floats
    skips: Ints
    down: Floats

    def take(self, index: Ints) -> _Problems:
        """Return some of the problems."""
        columns = (self.stages, self.live, self.loss, self.skips, self.down)
        return _Problems(*(column[index] for column in columns))  # type: ignore[arg-type]

    def cost(self, replicas: Ints) -> Floats:
        """Return the workers per useful microbatch."""
        return _cost(self.stages, self.live, replicas, self.loss, self.skips, self.down)

    def most_useful(self) -> Floats:
        """Return the yield in the limit of many replicas."""
        floor = np.maximum(self.down, self.live == 0)
        return _yield(self.stages, floor, 1 - floor, self.loss, self.skips)

    def saturating_skips(self, replicas: Ints) -> Ints:
        """Return the least s up to the cap for which 1 - P(D > s) rounds to 1, or the cap."""
        outage, alive = (
            law(self.live, replicas, self.down) for law in (binomial.outage, binomial.alive)
        )
        kept = outage * (1 - self.loss)
        tilted = kept / (alive + kept)  # 1 - kappa q would cancel
        high = np.minimum(self.skips, self.stages)
        low = np.full_like(high, -1)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            rest = binomial.tail(self.stages, tilted, np.maximum(middle, 0))
            enough = ties.met(rest, 2.0**-54)
            open_ = high - low > 1
            high = np.where(open_ & enough, middle, high)
            low = np.where(open_ & ~enough, middle, low)
        return high


def _cheapest(problems: _Problems) -> tuple[Ints, Floats]:
    """Return the best r of each problem and its cost; 1 and infinity if there is none."""
    everyone = np.arange(problems.stages.size)
    best_r = np.ones(everyone.size, dtype=np.int64)
    best = problems.cost(best_r)

    def improve(problem: Ints, replicas: Ints) -> Floats:
        """Evaluate designs; keep the least cost, and the fewest replicas that attain it."""
        value = problems.take(problem).cost(replicas)
        before = best.copy()
        np.minimum.at(best, problem, value)
        best_r[ties.below(best, before)] = np.iinfo(np.int64).max
        attains = ties.met(value, best[problem])
        np.minimum.at(best_r, problem[attains], replicas[attains])
        return value

    # A yield is at most its limit: from some r on, the workers alone cost more than the best.
    with np.errstate(divide="ignore", over="ignore"):
        dearest = problems.stages / problems.most_useful()
    problem, low, high, size = everyone[:0], best_r[:0], best_r[:0], 2
    while (active := everyone[dearest < best / size]).size:
        ends = np.full(active.size, 2 * size - 1)
        improve(active, ends)
        problem, low, high = (
            np.concatenate(pair) for pair in ((problem, active), (low, ends // 2 + 1), (high, ends))
        )
        size *= 2
    while problem.size:
        improve(problem, low)
        at_least = improve(problem, high) * (low / high)
        left = (at_least < np.inf) & ties.met(at_least, best[problem]) & (high - low > 1)
        problem, low, high = problem[left], low[left] + 1, high[left] - 1
        middle = (low + high) // 2
        split = middle < high
        problem = np.concatenate((problem, problem[split]))
        low = np.concatenate((low, middle[split] + 1))
        high = np.concatenate((middle, high[split]))
    return best_r, best
