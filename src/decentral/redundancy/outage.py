"""Outages, what they drop, and the least replicas for a target."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import binomial, ties
from decentral.numerics.validation import (
    Floats,
    Infeasible,
    Ints,
    broadcast,
    choice,
    integers,
    probabilities,
)


def stage_outage(
    availability: npt.ArrayLike, replicas: npt.ArrayLike, *, domain_outage: npt.ArrayLike = 0.0
) -> Floats:
    r"""Probability that a stage has no live replica.

    .. math:: q = \rho + (1 - \rho)(1 - a)^r

    Parameters
    ----------
    availability : array_like
        a, the probability that a replica is live while its domain is up.
    replicas : array_like of int
        r, at least 1.
    domain_outage : array_like, optional
        :math:`\rho`, the probability that the stage's failure domain is down.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars. Never less than :math:`\rho`.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "Should a pipeline replicate stages or skip them?": the stage is
    out if its domain is down, or else if all its replicas are.

    Examples
    --------
    >>> from decentral.redundancy import stage_outage
    >>> stage_outage(0.95, [1, 2, 3], domain_outage=0.01).round(8)
    array([0.0595    , 0.012475  , 0.01012375])
    """
    live, count, down = broadcast(
        availability=probabilities("availability", availability),
        replicas=integers("replicas", replicas, least=1),
        domain_outage=probabilities("domain_outage", domain_outage),
    )
    return np.asarray(binomial.outage(live, count, down))[()]


def _failures(
    stages: npt.ArrayLike, outage: npt.ArrayLike, skips: npt.ArrayLike, name: str = "outage"
) -> tuple[Ints, Floats, Ints]:
    """Validate L, q and s."""
    layers, out, budget = broadcast(
        stages=binomial.stages(stages),
        **{name: probabilities(name, outage)},
        skips=integers("skips", skips),
    )
    return layers, out, budget


def drop_probability(
    stages: npt.ArrayLike, outage: npt.ArrayLike, *, skips: npt.ArrayLike = 0
) -> Floats:
    r"""Probability that a microbatch is dropped: more than s of L stages are out.

    .. math:: P(\mathrm{Bin}(L, q) > s) = I_q(s + 1, L - s)

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    outage : array_like
        q, the probability that a stage is out, as of :func:`stage_outage`.
    skips : array_like of int, optional
        s, how many dead stages a microbatch may skip; from L on nothing is dropped.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars. The relative error is below 1e-10 for values
        down to 1e-300; further down use :func:`log_drop_probability`.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    :math:`I` is the regularised incomplete beta function. Derived in the paper "Should a
    pipeline replicate stages or skip them?" by differentiating the sum in q.

    Examples
    --------
    >>> from decentral.redundancy import drop_probability
    >>> drop_probability(48, 0.1, skips=[0, 4, 48]).round(4)
    array([0.9936, 0.5314, 0.    ])
    """
    return binomial.tail(*_failures(stages, outage, skips))[()]


def log_drop_probability(
    stages: npt.ArrayLike, outage: npt.ArrayLike, *, skips: npt.ArrayLike = 0
) -> Floats:
    r"""Natural logarithm of :func:`drop_probability`, also where that underflows.

    .. math:: \ln P(\mathrm{Bin}(L, q) > s)

    Parameters
    ----------
    stages, outage, skips
        As for :func:`drop_probability`.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars; minus infinity where nothing can be dropped.
        The relative error of the logarithm is below 1e-10.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Deep tails are the term at s + 1, by the saddle-point expansion of Loader (2000),
    times the series of the ratios of the terms beyond it.

    Examples
    --------
    >>> from decentral.redundancy import log_drop_probability
    >>> float(log_drop_probability(2, 1e-300, skips=1).round(6))  # 2 log(1e-300)
    -1381.551056
    """
    return binomial.log_tail(*_failures(stages, outage, skips))[()]


def success_floor(
    stages: npt.ArrayLike, domain_outage: npt.ArrayLike, *, skips: npt.ArrayLike = 0
) -> Floats:
    r"""Success at the floor of the outage: what no number of replicas can exceed.

    .. math:: \lim_{r \to \infty} P(\mathrm{Bin}(L, q_r) \le s) = 1 - I_\rho(s + 1, L - s)

    Without skips this is :math:`(1 - \rho)^L`.

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    domain_outage : array_like
        :math:`\rho`, the probability that a stage's failure domain is down.
    skips : array_like of int, optional
        s, how many dead stages a microbatch may skip.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "Should a pipeline replicate stages or skip them?".

    Examples
    --------
    >>> from decentral.redundancy import success_floor
    >>> success_floor(48, 1e-3, skips=[0, 1]).round(4)
    array([0.9531, 0.9989])
    """
    layers, down, budget = _failures(stages, domain_outage, skips, "domain_outage")
    return binomial.body(layers, down, budget)[()]


def min_replicas(
    stages: npt.ArrayLike,
    availability: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    skips: npt.ArrayLike = 0,
    domain_outage: npt.ArrayLike = 0.0,
    infeasible: Infeasible = "raise",
) -> int | Ints | Floats:
    r"""Least number of replicas for which at most a share `target` is dropped.

    .. math:: r = \max\left\{1, \left\lceil
        \frac{\ln((q^* - \rho) / (1 - \rho))}{\ln(1 - a)} \right\rceil\right\},
        \qquad I_{q^*}(s + 1, L - s) = \varepsilon

    Parameters
    ----------
    stages : array_like of int
        L, from 1 to 10**8.
    availability : array_like
        a, the probability that a replica is live while its domain is up.
    target : array_like
        :math:`\varepsilon`, the drop rate allowed: 0, or from 1e-300 to 1.
    skips : array_like of int, optional
        s, how many dead stages a microbatch may skip.
    domain_outage : array_like, optional
        :math:`\rho`, the probability that a stage's failure domain is down.
    infeasible : {"raise", "inf"}, optional
        What to do where no number of replicas will do: raise an error, or return
        infinity there (then the result is of floats).

    Returns
    -------
    int, or ndarray of the common shape of the arguments
        The least r of at least 1 for which :func:`drop_probability` of
        :func:`stage_outage` is at most `target`. A target that is missed by a relative
        1e-12 or less counts as met, and one that is missed by what the rounding of
        `availability` may do; so ties come out right also in decimals, which no double
        holds.

    Raises
    ------
    InfeasibleError
        If no number of replicas meets the target, because the floor that the failure
        domains set is not below it (by more than a relative 1e-12); the error carries the
        `floor` and the `shortfall`.
    ValueError
        If an argument is malformed, or 2**52 replicas or more would be needed.

    Notes
    -----
    Derived in the paper "Should a pipeline replicate stages or skip them?". The closed
    form is where the search starts; what is returned is settled by the drop probabilities
    of r - 1 and r.

    Examples
    --------
    >>> from decentral.redundancy import min_replicas
    >>> min_replicas(48, 0.9, 1e-3), min_replicas(48, 0.9, 1e-3, skips=4)
    (5, 2)
    >>> min_replicas(1, 0.7, 0.09)  # 0.3**2
    2
    >>> min_replicas(48, 0.9, 1e-2, skips=[0, 1, 2], domain_outage=1e-3, infeasible="inf")
    array([inf,  3.,  3.])
    """
    allowed = probabilities("target", target)
    if np.any(tiny := (allowed > 0) & (allowed < binomial.TINY)):
        raise ValueError(
            f"target must be 0 or at least {binomial.TINY:g}, but it is {allowed[tiny].max():g}"
        )
    choice("infeasible", infeasible, get_args(Infeasible))
    layers, live, allowed, budget, down = broadcast(
        stages=binomial.stages(stages),
        availability=probabilities("availability", availability),
        target=allowed,
        skips=integers("skips", skips),
        domain_outage=probabilities("domain_outage", domain_outage),
    )
    result = np.ones(layers.shape)
    alone = binomial.outage(live, 1, down)
    one_fails = ~_meets(layers, live, np.ones(layers.shape), allowed, budget, down)
    one_fails |= (allowed == 0) & (alone > 0) & (budget < layers)  # even if it underflows
    floor = binomial.tail(layers, np.where(live > 0, down, 1.0), budget)
    hopeless = one_fails & ~ties.below(floor, allowed)
    if hopeless.any() and infeasible == "raise":
        raise _unattainable(hopeless, floor, allowed, live)
    open_ = one_fails & ~hopeless
    if open_.any():
        result[open_] = _least(
            layers[open_], live[open_], allowed[open_], budget[open_], down[open_]
        )
    if infeasible == "inf":
        return np.where(hopeless, np.inf, result)[()]
    whole = result.astype(np.int64)
    return whole if whole.shape else int(whole)


def _unattainable(
    hopeless: npt.NDArray[np.bool_],
    floor: Floats,
    allowed: Floats,
    live: Floats,
) -> InfeasibleError:
    first = tuple(np.argwhere(hopeless)[0].tolist())
    where = f" at index {list(first)}" if first else ""
    cause = "the failure domains" if live[first] > 0 else "an availability of 0"
    reached = " and not reached" if ties.met(floor[first], allowed[first]) else ""
    return InfeasibleError(
        f"no number of replicas meets target {allowed[first]:g}{where}: the share dropped has a "
        f"floor of {floor[first]:.6g}, set by {cause}{reached}",
        shortfall=max(float(floor[first] - allowed[first]), 0.0),
        floor=float(floor[first]),
    )


def _meets(
    layers: Ints, live: Floats, replicas: Floats, allowed: Floats, budget: Ints, down: Floats
) -> npt.NDArray[np.bool_]:
    """Return where no more than is allowed is dropped, up to what rounding may do.

    The rounding of a, by a 2**-53 at most, changes 1 - a by a share. It changes what of q is not
    the domain's by r times that share, and the drop rate by s + 1 times what it changes q, at most.
    """
    outage = binomial.outage(live, replicas, down)
    dropped = binomial.tail(layers, outage, budget)
    dead = np.where(live < 1, 1 - live, np.inf)  # a replica that never dies is meant exactly
    own = (outage - down) / np.maximum(outage, binomial.TINY)
    doubt = (budget + 1) * own * replicas * live / dead * 2.0**-53
    return np.asarray(dropped <= ties.widened(allowed) * (1 + doubt))


def _least(layers: Ints, live: Floats, allowed: Floats, budget: Ints, down: Floats) -> Floats:
    """Return the least r where r = 1 is too few and some r is enough: start at the closed form."""

    def meets(replicas: Floats) -> npt.NDArray[np.bool_]:
        return _meets(layers, live, replicas, allowed, budget, down)

    bearable = binomial.inverse_tail(layers, allowed, budget)
    # Nearer to the floor than rounding can tell, the outage itself rounds to the floor.
    apart = np.maximum(bearable - down, np.finfo(float).eps * down)
    with np.errstate(over="ignore"):
        high = np.ceil(np.log(apart / (1 - down)) / np.log1p(-live))
    if not high.max() < 2**52:
        raise ValueError(
            f"availability must be large enough for fewer than 2**52 replicas to meet the target, "
            f"but it is {live[np.argmax(high)]:g}"
        )
    high = np.maximum(high, 2)
    step = 1.0
    while not (enough := meets(high)).all():
        high = np.where(enough, high, high + step)
        step *= 2
    low, step = np.maximum(high - 1, 1), 1.0
    while (still := meets(low) & (low > 1)).any():
        high, low = np.where(still, low, high), np.where(still, np.maximum(low - step, 1), low)
        step *= 2
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        enough = meets(middle)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high
