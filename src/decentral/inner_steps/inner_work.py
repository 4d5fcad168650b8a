"""What one worker learns from its inner steps, and how many it should run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, broadcast, integers, reals


def contraction(
    curvature: npt.ArrayLike, step: npt.ArrayLike, inner_steps: npt.ArrayLike
) -> Floats:
    r"""Share of the distance to the optimum that H inner steps remove on average.

    .. math:: s = 1 - p^H, \qquad p = 1 - \eta a

    Parameters
    ----------
    curvature : array_like
        a, positive; loss over the square of a length.
    step : array_like
        :math:`\eta`, positive and below 2/a.
    inner_steps : array_like of int
        H, at least 1.

    Returns
    -------
    ndarray, of the common shape of the arguments
        Between 0 and 2, and at most 1 if :math:`\eta a \le 1`; a NumPy float if all
        are scalars. Precise for the smallest :math:`\eta a` and the largest H; close to
        :math:`\eta a = 2` the rounding of that product costs a factor of
        :math:`1/(2 - \eta a)`, here and in all that follows from it. Within a relative 1e-12
        of 2 it counts as 2, which is unstable.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import contraction
    >>> contraction(0.25, 0.2, [1, 8, 64]).round(4)
    array([0.05  , 0.3366, 0.9625])
    """
    bend, size = quadratic.setting(curvature, step)
    bend, size, steps = broadcast(
        curvature=bend, step=size, inner_steps=integers("inner_steps", inner_steps, least=1)
    )
    return quadratic.contraction(bend * size, steps)[()]


# Small enough for six times the cost, in units of the slowest decay, to be finite.
_MOST_COST = 1e300


def _columns(
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    noise: npt.ArrayLike,
) -> list[npt.NDArray[np.float64]]:
    """Validate what describes one worker on one mode."""
    bend, size = quadratic.setting(curvature, step)
    return broadcast(
        curvature=bend,
        step=size,
        inner_steps=integers("inner_steps", inner_steps, least=1),
        noise=quadratic.scale("noise", noise),
    )


def displacement_variance(
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Variance of a worker's displacement after H inner steps.

    .. math:: V = \eta^2 \sigma^2 \, \frac{1 - p^{2H}}{1 - p^2}

    Parameters
    ----------
    curvature, step, inner_steps
        As for :func:`contraction`.
    noise : array_like, optional
        :math:`\sigma^2`, the variance of one stochastic gradient; positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In squared units of the position; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?" by adding up the noise of the steps, which later steps shrink.

    Examples
    --------
    >>> from decentral.inner_steps import displacement_variance
    >>> displacement_variance(0.25, 0.2, [1, 2]).round(4)
    array([0.04  , 0.0761])
    """
    bend, size, steps, variance = _columns(curvature, step, inner_steps, noise)
    return np.asarray(quadratic.variance(bend, size, steps, variance))[()]


def information(
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Information of one worker's displacement about the optimum.

    .. math:: \frac{s^2}{V} = I_\infty \tanh\frac{\lambda H}{2}, \qquad
        \lambda = -\ln p, \quad I_\infty = \frac{1 - p^2}{\eta^2 \sigma^2}

    Parameters
    ----------
    curvature, step, inner_steps, noise
        As for :func:`displacement_variance`.

    Returns
    -------
    ndarray, of the common shape of the arguments
        The inverse of a variance of the position; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?". For :math:`\eta a > 1`, where p is negative, the quotient
    :math:`(1 - p^H)/(1 + p^H)` stands for the hyperbolic tangent.

    Examples
    --------
    >>> from decentral.inner_steps import information, information_limit
    >>> (information(0.25, 0.2, [8, 64]) / information_limit(0.25, 0.2)).round(2)
    array([0.2 , 0.93])
    """
    bend, size, steps, variance = _columns(curvature, step, inner_steps, noise)
    return np.asarray(quadratic.information(bend, size, steps, variance))[()]


def information_limit(
    curvature: npt.ArrayLike, step: npt.ArrayLike, *, noise: npt.ArrayLike = 1.0
) -> Floats:
    r"""Information of a worker that runs forever; a ceiling if :math:`\eta a \le 1`.

    .. math:: I_\infty = \frac{1 - p^2}{\eta^2 \sigma^2} = \frac{a\,(2 - \eta a)}{\eta\,\sigma^2}

    Parameters
    ----------
    curvature, step, noise
        As for :func:`displacement_variance`.

    Returns
    -------
    ndarray, of the common shape of the arguments
        The inverse of a variance of the position; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is unstable.

    Notes
    -----
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?".

    Examples
    --------
    >>> from decentral.inner_steps import information_limit
    >>> round(float(information_limit(0.25, 0.2)), 4)
    2.4375
    """
    bend, size = quadratic.setting(curvature, step)
    bend, size, variance = broadcast(
        curvature=bend, step=size, noise=quadratic.scale("noise", noise)
    )
    return np.asarray(quadratic.limit(bend, size, variance))[()]


def best_inner_steps(
    curvature: npt.ArrayLike, step: npt.ArrayLike, sync_cost: npt.ArrayLike
) -> Floats:
    r"""Real number of inner steps that gathers information fastest if a sync costs C steps.

    .. math:: \max_H \frac{\tanh(\lambda H/2)}{C + H}
        \quad\Longleftrightarrow\quad \sinh(\lambda H) = \lambda\,(C + H)

    Parameters
    ----------
    curvature : array_like
        a, positive.
    step : array_like
        :math:`\eta`, positive and below 1/a by more than a relative 1e-12, so that
        :math:`\lambda = -\ln(1 - \eta a)` exists.
    sync_cost : array_like
        C, the time of a synchronisation over that of an inner step; non-negative.

    Returns
    -------
    ndarray, of the common shape of the arguments
        H, not rounded; 0 if C is 0. A NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed or the inner step is not below 1/a.

    Notes
    -----
    Derived in the paper "How should a server weight workers that ran different numbers of
    inner steps?". Newton's method on the convex function sinh y - y of :math:`y = \lambda H`,
    from above: each step turns a relative error e into at most
    :math:`e^2\,\tfrac{y}{2}\coth\tfrac{y}{2}`. The first is below 0.02 and below
    :math:`0.02\,e^{2 - y/2}`, so that after four steps only rounding is left. Near
    :math:`\eta a = 1` that is the rounding of :math:`1 - \eta a`, whose logarithm counts.

    Examples
    --------
    >>> from decentral.inner_steps import best_inner_steps
    >>> best_inner_steps(0.25, 0.2, [0, 1, 10, 100]).round(1)
    array([ 0. , 13.1, 27.4, 53.9])
    """
    bend, size = quadratic.setting(curvature, step)
    cost = reals("sync_cost", sync_cost)
    if cost.max() > _MOST_COST:
        raise ValueError(f"sync_cost must be at most {_MOST_COST:g}, but it is {cost.max():g}")
    bend, size, cost = broadcast(curvature=bend, step=size, sync_cost=cost)
    rate = bend * size
    if not np.all(ties.below(rate, 1)):
        raise ValueError(
            "step must be below 1/curvature, so that p is positive, but their product is "
            f"{float(rate.max())}"
        )
    decay = -np.log1p(-rate)
    goal = decay * cost
    cube = np.cbrt(6 * goal)  # sinh y - y is at least y^3/6
    cheap = np.cbrt(6 * cost) / np.cbrt(decay) ** 2 * (1 - cube**2 / 60)
    y = np.minimum(cube, np.arcsinh(goal + cube))
    for _ in range(4):
        slope = np.maximum(2 * np.sinh(y / 2) ** 2, np.finfo(float).tiny)
        y = y - (_sinh_excess(y) - goal) / slope
    return np.asarray(np.where(goal < 1e-12, cheap, y / decay))[()]


def _sinh_excess(y: Floats) -> Floats:
    """Return sinh y - y without cancellation."""
    square = y**2
    series = 1 + square / 72 * (1 + square / 110 * (1 + square / 156))
    series = 1 + square / 20 * (1 + square / 42 * series)
    return np.where(y < 0.5, y * square / 6 * series, np.sinh(y) - y)
