"""How much the server's iterate varies once it has settled, and what that loses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, broadcast


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
        for :math:`r \ge 2`, and for r within a relative 1e-12 of it. A NumPy float for one
        mode and fleet.

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
    bend, size = quadratic.setting(curvature, step)
    columns = {
        "noise": quadratic.scale("noise", noise),
        "outer_step": quadratic.scale("outer_step", outer_step),
    }
    steps, shares = _fleets(inner_steps, weights, curvature=bend, step=size, **columns)
    return np.asarray(_settled(bend, size, steps, shares, **columns))[()]


def _settled(
    bend: Floats,
    size: Floats,
    steps: npt.NDArray[np.int64],
    shares: Floats,
    noise: Floats,
    outer_step: Floats,
) -> Floats:
    """Return the stationary variance; workers along the last axis of `steps` and `shares`."""
    bend, size, noise, outer_step = (x[..., None] for x in (bend, size, noise, outer_step))
    rate = bend * size
    most = shares.max(axis=-1, keepdims=True)
    relative = shares / most
    reach = (relative * quadratic.contraction(rate, steps)).sum(axis=-1)
    shaken = (relative**2 * quadratic.variance(bend, size, steps, noise)).sum(axis=-1)
    with np.errstate(over="ignore", divide="ignore"):
        outer = (outer_step * most)[..., 0]
        pace = outer * reach
        room = np.where(ties.below(pace, 2), 2 - pace, 0)  # none where the server is unstable
        return np.asarray(shaken / reach * (outer / room))


def _fleets(
    inner_steps: npt.ArrayLike, weights: npt.ArrayLike, **columns: Floats
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Validate workers and weights; their leading axes must broadcast with the columns."""
    steps, shares = quadratic.fleet(inner_steps, weights)
    broadcast(**columns, inner_steps=steps[..., 0], weights=shares[..., 0])
    return steps, shares


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
        In units of the loss; infinite where some mode is unstable, as for
        :func:`stationary_variance`. A NumPy float for
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
    bends, size = quadratic.modes(curvatures, step)
    columns = {
        "noise": quadratic.scale("noise", noise),
        "outer_step": quadratic.scale("outer_step", outer_step),
    }
    steps, shares = _fleets(
        inner_steps, weights, curvatures=bends[..., 0], step=size[..., 0], **columns
    )
    variance = _settled(
        bends,
        size,
        steps[..., None, :],
        shares[..., None, :],
        **{name: column[..., None] for name, column in columns.items()},
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
    bend, size = quadratic.setting(curvature, step)
    steps, shares = _fleets(inner_steps, weights, curvature=bend, step=size)
    rate = (bend * size)[..., None]
    shares = shares / shares.max(axis=-1, keepdims=True)
    spread = quadratic.spread(rate, steps)
    reach = quadratic.contraction(rate, steps)
    pull = (shares * reach).sum(axis=-1)
    known = (reach**2 / spread).sum(axis=-1)
    return np.asarray((shares**2 * spread).sum(axis=-1) / pull * known / pull)[()]
