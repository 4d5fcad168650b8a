r"""Weight workers that ran different numbers of inner steps.

One quadratic mode of curvature a, inner step :math:`\eta`, :math:`p = 1 - \eta a`. Worker i
runs :math:`H_i` noisy steps from x and returns its displacement :math:`s_i x - n_i`, with
:math:`s_i = 1 - p^{H_i}` and :math:`V_i = \operatorname{Var} n_i`; the server takes

.. math:: x \leftarrow x - \alpha \sum_i w_i (s_i x - n_i), \qquad r = \alpha \sum_i w_i s_i

Modes are independent and share the weights. Throughout, `noise` is the variance
:math:`\sigma^2` of one stochastic gradient. Where workers or modes are summed over, workers
stand along the last axis of `inner_steps` and `weights`, and modes along the last axis of
`curvatures`; all axes before them broadcast.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral import _quadratic
from decentral._validation import Floats, broadcast, reals
from decentral.inner_work import (
    best_inner_steps,
    contraction,
    displacement_variance,
    information,
    information_limit,
)
from decentral.local_sgd import Simulation, simulate
from decentral.weighting import (
    Weighting,
    best_weights,
    equal_weights,
    information_weights,
    matched_outer_step,
    step_weights,
)

__all__ = [
    "Simulation",
    "Weighting",
    "best_inner_steps",
    "best_weights",
    "contraction",
    "displacement_variance",
    "equal_weights",
    "information",
    "information_limit",
    "information_weights",
    "loss_floor",
    "matched_outer_step",
    "simulate",
    "stationary_variance",
    "step_weights",
    "weight_penalty",
]


def stationary_variance(
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    outer_step: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Variance around the optimum in which the server's iterate settles.

    .. math:: \operatorname{Var} x = \frac{\alpha^2 \sum_i w_i^2 V_i}{r\,(2 - r)}, \qquad
        r = \alpha \sum_i w_i s_i

    Parameters
    ----------
    curvature : array_like, shape (...)
        a, positive.
    step : array_like, shape (...)
        :math:`\eta`, positive and below 2/a.
    inner_steps : array_like of int, shape (..., n)
        :math:`H_i` of each worker, at least 1.
    weights : array_like, shape (..., n)
        :math:`w_i`, non-negative and not all zero; they need not add up to 1.
    noise : array_like, shape (...), optional
        :math:`\sigma^2`, positive.
    outer_step : array_like, shape (...), optional
        :math:`\alpha`, positive.

    Returns
    -------
    ndarray, shape (...)
        In squared units of the position; infinite where the server is unstable, which is
        for :math:`r \ge 2`. A NumPy float for one mode and fleet.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    The fixed point of :math:`v = (1 - r)^2 v + \alpha^2 \sum_i w_i^2 V_i`; derived in the
    paper "How should a server weight workers that ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import stationary_variance
    >>> round(float(stationary_variance(0.25, 0.2, [1, 64], [0.5, 0.5])), 4)
    0.1487
    """
    bend, size = _quadratic.setting(curvature, step)
    steps, shares = _quadratic.fleet(inner_steps, weights)
    return np.asarray(_settled(bend, size, steps, shares, noise, outer_step))[()]


def _settled(
    bend: Floats,
    size: Floats,
    steps: npt.NDArray[np.int64],
    shares: Floats,
    noise: npt.ArrayLike,
    outer_step: npt.ArrayLike,
) -> Floats:
    """Return the stationary variance; workers along the last axis of `steps` and `shares`."""
    variance = reals("noise", noise, positive=True)
    outer = reals("outer_step", outer_step, positive=True)
    columns = {"curvature": bend, "step": size, "noise": variance, "outer_step": outer}
    bend, size, variance, outer, steps, shares = broadcast(
        **{name: column[..., None] for name, column in columns.items()},
        inner_steps=steps,
        weights=shares,
    )
    moved = outer * shares
    with np.errstate(over="ignore", divide="ignore"):
        pull = (moved * _quadratic.contraction(bend * size, steps)).sum(axis=-1)
        shaken = (moved**2 * _quadratic.variance(bend, size, steps, variance)).sum(axis=-1)
        return np.where(pull < 2, shaken / (pull * np.maximum(2 - pull, 0)), np.inf)


def loss_floor(
    curvatures: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    outer_step: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Mean loss above the optimum at which training stalls.

    .. math:: \sum_j \frac{a_j}{2} \operatorname{Var} x_j

    Parameters
    ----------
    curvatures : array_like, shape (..., m)
        :math:`a_j` of each mode, positive.
    step : array_like, shape (...)
        :math:`\eta`, positive and below 2/a for every mode.
    inner_steps : array_like of int, shape (..., n)
        :math:`H_i` of each worker, at least 1.
    weights : array_like, shape (..., n)
        :math:`w_i`, non-negative and not all zero; the same for all modes.
    noise : array_like, shape (...), optional
        :math:`\sigma^2`, positive; the same for all modes.
    outer_step : array_like, shape (...), optional
        :math:`\alpha`, positive.

    Returns
    -------
    ndarray, shape (...)
        In units of the loss; infinite where some mode is unstable. A NumPy float for
        one fleet.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    The sum over independent modes of :func:`stationary_variance`. Derived in the paper
    "How should a server weight workers that ran different numbers of inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import loss_floor, step_weights
    >>> fleet = [1] * 7 + [256]
    >>> ratio = loss_floor([1, 0.25, 0.05], 0.2, fleet, step_weights(fleet)) / loss_floor(
    ...     [1, 0.25, 0.05], 0.2, fleet, [1 / 8] * 8
    ... )
    >>> round(float(ratio), 1)  # which is no fair comparison, see the paper
    10.5
    """
    bends = reals("curvatures", curvatures, positive=True)
    if not bends.ndim:
        raise ValueError("curvatures must have one entry for each mode, got a single number")
    size = reals("step", step, positive=True)[..., None]
    bends, size = _quadratic.setting(bends, size, "curvatures")
    steps, shares = _quadratic.fleet(inner_steps, weights)
    variance = _settled(
        bends,
        size,
        steps[..., None, :],
        shares[..., None, :],
        reals("noise", noise, positive=True)[..., None],
        reals("outer_step", outer_step, positive=True)[..., None],
    )
    return np.asarray((bends / 2 * variance).sum(axis=-1))[()]


def weight_penalty(
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    weights: npt.ArrayLike,
) -> Floats:
    r"""Variance under some weights over the least at the same contraction, in one mode.

    .. math:: \frac{\sum_i w_i^2 V_i \; \sum_i s_i^2/V_i}{\bigl(\sum_i w_i s_i\bigr)^2}

    Parameters
    ----------
    curvature, step, inner_steps, weights
        As for :func:`stationary_variance`.

    Returns
    -------
    ndarray, shape (...)
        At least 1, and 1 for :func:`information_weights`; a NumPy float for one mode and
        fleet. It depends neither on the outer step nor on the noise.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    At a given r the least variance is :math:`r / \bigl((2 - r) \sum_i s_i^2/V_i\bigr)`.
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import step_weights, weight_penalty
    >>> fleet = [1] * 7 + [256]
    >>> round(float(weight_penalty(1.0, 0.2, fleet, step_weights(fleet))), 2)
    1.76
    """
    bend, size = _quadratic.setting(curvature, step)
    steps, shares = _quadratic.fleet(inner_steps, weights)
    bend, size, steps, shares = broadcast(
        curvature=bend[..., None], step=size[..., None], inner_steps=steps, weights=shares
    )
    shares = shares / shares.max(axis=-1, keepdims=True)
    one = np.ones(())
    shaken = (shares**2 * _quadratic.variance(bend, size, steps, one)).sum(axis=-1)
    known = _quadratic.information(bend, size, steps, one).sum(axis=-1)
    pull = (shares * _quadratic.contraction(bend * size, steps)).sum(axis=-1)
    return np.asarray(shaken / pull * known / pull)[()]
