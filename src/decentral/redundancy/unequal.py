"""What is dropped by stages that differ, and by stages that share failure domains."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral.numerics import binomial
from decentral.numerics.validation import Floats, Ints, broadcast, integer, integers, probabilities


def by_stage(name: str, value: npt.ArrayLike) -> Floats:
    """Return probabilities with at least one axis."""
    array = probabilities(name, value)
    if not array.ndim:
        raise ValueError(f"{name} must have one entry for each stage, got a single number")
    return array


def all_dead(live: Floats, replicas: Ints) -> Floats:
    """Return the chance that all replicas of a stage are dead."""
    return binomial.outage(live, replicas, np.zeros(()))


def _beyond(law: Floats) -> Floats:
    """Return the last entries of a law; adding up may have rounded them above 1."""
    return np.asarray(np.minimum(law[..., -1], 1.0))[()]


def unequal_drop_probability(outages: npt.ArrayLike, *, skips: npt.ArrayLike = 0) -> Floats:
    r"""Probability that more than s stages of unequal outages are out at once.

    .. math:: P\Bigl(\sum_i B_i > s\Bigr), \qquad B_i \sim \mathrm{Bernoulli}(q_i)
        \text{ independent}

    Parameters
    ----------
    outages : array_like, shape (..., L)
        :math:`q_i`, one for each stage along the last axis.
    skips : int, optional
        s, how many dead stages a microbatch may skip.

    Returns
    -------
    ndarray, shape (...)
        A NumPy float for one pipeline. The law is built up stage by stage from positive
        terms, so small values are as precise as large ones.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    The Poisson-binomial law; O(L s) per pipeline. For equal outages it is
    :func:`decentral.redundancy.drop_probability`. From the paper "Should a pipeline
    replicate stages or skip them?".

    Examples
    --------
    >>> from decentral.redundancy import unequal_drop_probability
    >>> unequal_drop_probability([0.1, 0.2, 0.5], skips=1).round(3)  # .01 + .04 + .09 + .01
    np.float64(0.15)
    """
    rows = by_stage("outages", outages)
    budget = min(integer("skips", skips), rows.shape[-1])
    return _beyond(binomial.counts(rows, budget))


def shared_pool_drop_probability(
    stages: npt.ArrayLike,
    availability: npt.ArrayLike,
    replicas: npt.ArrayLike,
    *,
    pool_outages: npt.ArrayLike,
    pool_of_stage: npt.ArrayLike,
    skips: npt.ArrayLike = 0,
) -> Floats:
    r"""Probability that a microbatch is dropped if stages share failure domains.

    .. math:: P\Bigl(\sum_k X_k > s\Bigr), \qquad X_k = \begin{cases}
        n_k & \text{with probability } \rho_k \\
        \sum_{i \in k} B_i, \; B_i \sim \mathrm{Bernoulli}((1 - a_i)^{r_i})
        & \text{otherwise} \end{cases}

    A pool that is down takes all its :math:`n_k` stages with it. Pools are independent, and
    so are replicas while their pool is up.

    Parameters
    ----------
    stages : int
        L.
    availability : array_like, shape (..., L) or scalar
        :math:`a_i`, the probability that a replica is live while its pool is up.
    replicas : array_like of int, shape (..., L) or scalar
        :math:`r_i`, at least 1.
    pool_outages : array_like, shape (..., K)
        :math:`\rho_k`, the probability that a pool is down.
    pool_of_stage : array_like of int, shape (L,)
        The pool of each stage, from 0 to K - 1.
    skips : int, optional
        s, how many dead stages a microbatch may skip.

    Returns
    -------
    ndarray, shape (...)
        A NumPy float for one pipeline.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Conditioned on the pools; the sum over their states is done pool by pool, in
    O(L s + K s^2), not over all 2^K. With a pool for each stage this is the law of
    :func:`decentral.redundancy.drop_probability`. From the paper "Should a pipeline
    replicate stages or skip them?".

    Examples
    --------
    >>> from decentral.redundancy import shared_pool_drop_probability
    >>> shared_pool_drop_probability(
    ...     4, 0.9, 2, pool_outages=[0.01], pool_of_stage=[0] * 4, skips=1
    ... ).round(6)  # 0.01 + 0.99 P(Bin(4, 0.01) > 1)
    np.float64(0.010586)
    """
    length = integer("stages", stages, least=1)
    pools = integers("pool_of_stage", pool_of_stage)
    if pools.shape != (length,):
        raise ValueError(
            f"pool_of_stage must have one entry for each of {length} stages, got {pools.shape}"
        )
    down = probabilities("pool_outages", pool_outages)
    if not down.ndim:
        raise ValueError("pool_outages must have one entry for each pool, got a single number")
    if pools.max() >= down.shape[-1]:
        raise ValueError(
            f"pool_of_stage must name pools from 0 to {down.shape[-1] - 1}, "
            f"but it names {pools.max()}"
        )
    live = np.atleast_1d(probabilities("availability", availability))
    count = np.atleast_1d(integers("replicas", replicas, least=1))
    for name, array in {"availability": live, "replicas": count}.items():
        if array.shape[-1] not in (1, length):
            raise ValueError(
                f"{name} must have one entry for each of {length} stages, got {array.shape[-1]}"
            )
    broadcast(pool_outages=down[..., 0], availability=live[..., 0], replicas=count[..., 0])
    budget = min(integer("skips", skips), length)
    outages = all_dead(*np.broadcast_arrays(live, count, np.empty(length))[:2])
    law = np.zeros(budget + 2)
    law[0] = 1
    for pool in np.unique(pools):
        members = pools == pool
        size, risk = int(members.sum()), down[..., pool, None]
        together = np.zeros(budget + 2)
        together[min(size, budget + 1)] = 1
        alone = binomial.counts(outages[..., members], budget)
        law = binomial.join(law, risk * together + (1 - risk) * alone)
    return _beyond(law)
