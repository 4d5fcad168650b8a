"""Weights for workers that did different amounts of work: the schemes, and the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from decentral.inner_steps.programme import Programme
from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, broadcast, scalar, vector


def equal_weights(inner_steps: npt.ArrayLike) -> Floats:
    """Weight all workers alike.

    .. math:: w_i = 1/n

    Parameters
    ----------
    inner_steps : array_like of int, shape (..., n)
        Inner steps of each worker, at least 1.

    Returns
    -------
    ndarray, shape (..., n)
        Adding up to 1.

    Raises
    ------
    ValueError
        If the argument is malformed.

    Notes
    -----
    Compared with the other schemes in the paper "How should a server weight workers that
    ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import equal_weights
    >>> equal_weights([1, 8, 8, 8])
    array([0.25, 0.25, 0.25, 0.25])
    """
    steps = quadratic.workers(inner_steps)
    return np.full(steps.shape, 1 / steps.shape[-1])


def step_weights(inner_steps: npt.ArrayLike) -> Floats:
    r"""Weight workers by the inner steps they ran.

    .. math:: w_i = H_i \Big/ \sum_k H_k

    Parameters
    ----------
    inner_steps : array_like of int, shape (..., n)
        :math:`H_i` of each worker, at least 1.

    Returns
    -------
    ndarray, shape (..., n)
        Adding up to 1.

    Raises
    ------
    ValueError
        If the argument is malformed.

    Notes
    -----
    Compared with the other schemes in the paper "How should a server weight workers that
    ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import step_weights
    >>> step_weights([100, 25])
    array([0.8, 0.2])
    """
    steps = quadratic.workers(inner_steps)
    return np.asarray(steps / steps.sum(axis=-1, keepdims=True, dtype=float))


def information_weights(
    inner_steps: npt.ArrayLike, curvature: npt.ArrayLike, step: npt.ArrayLike
) -> Floats:
    r"""Weight workers for the least variance of one mode at a given contraction.

    .. math:: w_i \propto \frac{s_i}{V_i} \propto \frac{1}{1 + p^{H_i}}, \qquad p = 1 - \eta a

    Parameters
    ----------
    inner_steps : array_like of int, shape (..., n)
        :math:`H_i` of each worker, at least 1.
    curvature : array_like, shape (...)
        a of the mode, positive.
    step : array_like, shape (...)
        :math:`\eta`, positive and below 2/a.

    Returns
    -------
    ndarray, shape (..., n)
        Adding up to 1. For :math:`\eta a \le \sqrt 2` no weight is more than twice another.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Derived from Lagrange's conditions in the paper "How should a server weight workers
    that ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import information_weights
    >>> information_weights([1, 1000], 1.0, 0.2).round(4)
    array([0.3571, 0.6429])
    """
    bend, size = quadratic.setting(curvature, step)
    steps = quadratic.workers(inner_steps)
    broadcast(curvature=bend, step=size, inner_steps=steps[..., 0])
    raw = 1 / (2 - quadratic.contraction((bend * size)[..., None], steps))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


def matched_outer_step(
    curvatures: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    target: npt.ArrayLike,
) -> Floats:
    r"""Outer step at which the slowest mode contracts by a given share per round.

    .. math:: \alpha = r^* \Big/ \min_j \sum_i w_i s_{ij}

    Parameters
    ----------
    curvatures : array_like, shape (..., m)
        :math:`a_j` of each mode, positive.
    step : array_like, shape (...)
        :math:`\eta`, positive and below 2/a for every mode.
    inner_steps : array_like of int, shape (..., n)
        :math:`H_i` of each worker, at least 1.
    weights : array_like, shape (..., n)
        :math:`w_i`, non-negative and not all zero.
    target : array_like, shape (...)
        :math:`r^*`, positive and below 2 by more than a relative 1e-12.

    Returns
    -------
    ndarray, shape (...)
        A NumPy float for one fleet. Faster modes contract more, and may be unstable; then
        :func:`decentral.inner_steps.loss_floor` is infinite.

    Raises
    ------
    ValueError
        If an argument is malformed, the inner step is unstable, or the weights are so small
        that the outer step overflows.

    Notes
    -----
    It makes the schemes comparable, see the paper "How should a server weight workers that
    ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import matched_outer_step
    >>> round(float(matched_outer_step([1, 0.25], 0.2, [8, 8], [0.5, 0.5], target=0.1)), 4)
    0.2971
    """
    bends, size = quadratic.modes(curvatures, step)
    steps, shares = quadratic.fleet(inner_steps, weights)
    goal = _target(target)
    broadcast(
        curvatures=bends[..., 0],
        step=size[..., 0],
        inner_steps=steps[..., 0],
        weights=shares[..., 0],
        target=goal,
    )
    most = shares.max(axis=-1)
    relative = shares / most[..., None]
    shrink = quadratic.contraction((bends * size)[..., None], steps[..., None, :])
    slowest = (relative[..., None, :] * shrink).sum(axis=-1).min(axis=-1)
    with np.errstate(over="ignore"):
        matched = np.asarray(goal / slowest / most)
    if not np.all(np.isfinite(matched)):
        raise ValueError(
            f"weights must be large enough for a finite outer step, but the largest is "
            f"{float(most.min()):g}; rescale them"
        )
    return matched[()]


def _target(target: npt.ArrayLike) -> Floats:
    goal = quadratic.scale("target", target)
    if not ties.below(goal.max(), 2):
        raise ValueError(f"target must be below 2, but it is {float(goal.max())}")
    return goal


@dataclass(frozen=True, eq=False)
class Weighting:
    """The weights of a fleet of workers, and the outer step that goes with them.

    Attributes
    ----------
    weights : ndarray, shape (n,)
        Of the workers, adding up to 1.
    outer_step : float
        The outer step.
    floor : float
        The loss floor that they reach.
    """

    weights: Floats
    outer_step: float
    floor: float


def best_weights(
    curvatures: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    *,
    target: npt.ArrayLike,
    noise: npt.ArrayLike = 1.0,
) -> Weighting:
    r"""Find the weights of the least loss floor at a given pace of the slowest mode.

    .. math:: \min_{u \ge 0} \sum_j \frac{a_j}{2} \frac{\sum_i u_i^2 V_{ij}}{r_j (2 - r_j)}
        \quad\text{subject to}\quad r_j = \sum_i u_i s_{ij} \ge r^*, \qquad u = \alpha w

    Parameters
    ----------
    curvatures : array_like, shape (m,)
        :math:`a_j` of each mode, positive.
    step : float
        :math:`\eta`, positive and below 2/a for every mode.
    inner_steps : array_like of int, shape (n,)
        :math:`H_i` of each worker, at least 1.
    target : float
        :math:`r^*`, the least contraction of any mode per round; positive and below 2 by
        more than a relative 1e-12.
    noise : float, optional
        :math:`\sigma^2`, positive; the same for all modes.

    Returns
    -------
    Weighting
        The floor is the least possible to a relative :math:`10^{-10}/(2 - r^*)`.

    Raises
    ------
    InfeasibleError
        If under all weights that make the slowest mode contract so fast, another contracts
        by 2 or more and is unstable, or by less than a relative 1e-5 below 2; the
        `shortfall` is what its contraction exceeds 2 by.
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Each term is a square over a concave function, so the problem is convex, and a point
    that meets the conditions of optimality is the best. Newton's method with a logarithmic
    barrier. From the paper "How should a server weight workers that ran different numbers
    of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import best_weights
    >>> best = best_weights([1, 0.25, 0.05], 0.2, [1] * 7 + [256], target=0.1)
    >>> best.weights[[0, -1]].round(3), round(best.outer_step, 3)
    (array([0.093, 0.35 ]), 0.303)
    """
    bends = vector("curvatures", curvatures, positive=True)
    bends, size = quadratic.setting(bends, scalar("step", step, positive=True), "curvatures")
    steps = quadratic.workers(inner_steps)
    if steps.ndim != 1:
        raise ValueError(f"inner_steps must be one-dimensional, got shape {steps.shape}")
    variance = float(quadratic.scale("noise", scalar("noise", noise)))
    goal = float(_target(scalar("target", target, positive=True)))
    kinds, kind, members = np.unique(steps, return_inverse=True, return_counts=True)
    rate = (bends * size)[:, None]
    pull, shake = quadratic.contraction(rate, kinds), rate * quadratic.spread(rate, kinds)
    programme = Programme(pull / pull.max(), shake / members, goal)
    moved = programme.solve() * goal / pull.max()  # of each kind as a whole
    outer = float(moved.sum())
    pace, noise_sum = pull @ moved, (shake / members) @ moved**2
    floor = variance * float(size) / 2 * float(np.sum(noise_sum / (pace * (2 - pace))))
    return Weighting((moved / members / outer)[kind], outer, floor)
