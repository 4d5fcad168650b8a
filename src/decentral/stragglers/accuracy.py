"""How accurate a number of rounds with the first k workers is, and how many an accuracy takes."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, Infeasible, Ints, choice, flag, reals
from decentral.stragglers import descent

_MOST_ROUNDS = 1e60


def squared_error(
    rounds: npt.ArrayLike,
    quorum: npt.ArrayLike,
    *,
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
) -> Floats:
    r"""Mean squared distance from the optimum after a number of rounds.

    .. math:: E\,x_t^2 = \rho^{2t} x_0^2 + \frac{\varphi}{k} \left(1 - \rho^{2t}\right),
        \qquad \rho = 1 - \eta a, \quad \varphi = \frac{\eta^2 \sigma^2}{1 - \rho^2}

    Parameters
    ----------
    rounds : array_like
        t, not negative; whole numbers, or between them the continued law.
    quorum : array_like
        k, the number of gradients in the mean of a round, positive.
    curvature : array_like
        a, positive.
    step : array_like
        :math:`\eta`, positive and below 2/a.
    noise : array_like
        :math:`\sigma^2`, the variance of one stochastic gradient, positive.
    start : array_like
        :math:`x_0^2`, positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In units of `start`; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed or the step is unstable.

    Notes
    -----
    Derived in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import squared_error
    >>> squared_error([0, 1, 10, 100], 4, curvature=1, step=0.2, noise=2, start=1).round(4)
    array([1.    , 0.66  , 0.0664, 0.0556])
    """
    count = reals("rounds", rounds)
    if count.max() > _MOST_ROUNDS:
        raise ValueError(f"rounds must be at most {_MOST_ROUNDS:g}, but it is {count.max():g}")
    columns = descent.columns_of(
        rounds=count,
        quorum=quadratic.scale("quorum", quorum),
        **descent.stable(curvature, step),
        **descent.scales(noise=noise, start=start),
    )
    rate = columns["curvature"] * columns["step"]
    floor = descent.spread(rate, columns) / columns["quorum"]
    return np.asarray(descent.error(columns["rounds"], rate, floor, columns["start"]))[()]


def min_quorum(
    *,
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    noise: npt.ArrayLike,
    accuracy: npt.ArrayLike,
) -> int | Ints:
    r"""Least number of workers per round with which an accuracy is reached at all.

    .. math:: k_{\min} = \min\{k : \varphi / k < \varepsilon\}
        = \lfloor \varphi / \varepsilon \rfloor + 1

    For :math:`\eta = 1/a` the error need not fall below :math:`\varphi/k`, and
    :math:`k_{\min} = \lceil \varphi / \varepsilon \rceil`. Numbers within a relative 1e-12 of
    each other count as equal, here :math:`\varphi/k` and :math:`\varepsilon`, and
    :math:`\eta a` and 1.

    Parameters
    ----------
    curvature : array_like
        a, positive.
    step : array_like
        :math:`\eta`, positive and below 2/a.
    noise : array_like
        :math:`\sigma^2`, the variance of one stochastic gradient, positive.
    accuracy : array_like
        :math:`\varepsilon`, the mean squared distance wanted, positive.

    Returns
    -------
    int, or ndarray of the common shape of the arguments

    Raises
    ------
    ValueError
        If an argument is malformed or the step is unstable.
    InfeasibleError
        If it takes 2**53 workers or more.

    Notes
    -----
    The pole of :func:`rounds_to_accuracy`; derived in the paper "What does it cost to skip
    the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import min_quorum
    >>> min_quorum(curvature=1, step=0.2, noise=2, accuracy=0.05)
    5
    """
    columns = descent.columns_of(
        **descent.stable(curvature, step),
        **descent.scales(noise=noise, accuracy=accuracy),
    )
    rate = columns["curvature"] * columns["step"]
    spread = descent.spread(rate, columns)
    share = spread / columns["accuracy"]
    needed = np.where(
        ties.equal(rate, 1.0),
        np.maximum(np.ceil(share / (1 + ties.TOLERANCE)), 1),
        np.floor(share / (1 - ties.TOLERANCE)) + 1,
    )
    if needed.max() >= 2**53:
        raise InfeasibleError(
            f"accuracy must be within reach of 2**53 workers, but it takes {needed.max():g}"
        )
    result: Ints = needed.astype(np.int64)
    return result if result.ndim else int(result)


def rounds_to_accuracy(
    quorum: npt.ArrayLike,
    *,
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
    accuracy: npt.ArrayLike,
    whole: bool = True,
    infeasible: Infeasible = "raise",
) -> Floats:
    r"""Count the rounds until the mean squared distance is at most an accuracy.

    .. math:: t = \left\lceil
        \ln \frac{x_0^2 - \varphi/k}{\varepsilon - \varphi/k} \Big/ \ln \frac{1}{\rho^2}
        \right\rceil

    Parameters
    ----------
    quorum : array_like
        k, the number of gradients in the mean of a round, positive.
    curvature : array_like
        a, positive.
    step : array_like
        :math:`\eta`, positive and below 2/a.
    noise : array_like
        :math:`\sigma^2`, the variance of one stochastic gradient, positive.
    start : array_like
        :math:`x_0^2`, positive.
    accuracy : array_like
        :math:`\varepsilon`, positive.
    whole : bool, optional
        Whether rounds are whole, as they are; else the logarithm is not rounded up.
    infeasible : {"raise", "inf"}, optional
        What to do where no number of rounds will do: raise an error, or return infinity.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars; 0 where the start is accurate enough, and 1 where the
        step is 1/a, which forgets the start at once. The whole number is the least at which
        :func:`squared_error` is at most `accuracy`. Within a relative 1e-12 numbers count as
        equal: an accuracy that is missed by so little is reached, one so little above what
        the error settles at is not, and a step so near to 1/a is 1/a.

    Raises
    ------
    ValueError
        If an argument is malformed or the step is unstable.
    InfeasibleError
        If the error never falls to `accuracy`, and `infeasible` is "raise".

    Notes
    -----
    Derived in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import rounds_to_accuracy
    >>> goal = dict(curvature=1, step=0.2, noise=2, start=1, accuracy=0.05)
    >>> rounds_to_accuracy([5, 10, 20, 64], **goal)
    array([12.,  8.,  8.,  7.])
    >>> rounds_to_accuracy([4, 5], **goal, infeasible="inf")
    array([inf, 12.])
    """
    rounded = flag("whole", whole)
    choice("infeasible", infeasible, get_args(Infeasible))
    columns = descent.columns_of(
        quorum=quadratic.scale("quorum", quorum),
        **descent.stable(curvature, step),
        **descent.scales(noise=noise, start=start, accuracy=accuracy),
    )
    rounds = descent.rounds_needed(columns, rounded)
    if infeasible == "raise" and np.isinf(rounds).any():
        descent.refuse(columns, np.isinf(rounds))
    return np.asarray(rounds)[()]


def gradients_needed(
    *,
    curvature: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
    accuracy: npt.ArrayLike,
) -> Floats:
    r"""Stochastic gradients without which no schedule of steps and quorums is accurate enough.

    .. math:: \sum_t k_t \ge \frac{\sigma^2}{a^2}
        \left(\frac1\varepsilon - \frac1{x_0^2}\right)

    Parameters
    ----------
    curvature : array_like
        a, positive.
    noise : array_like
        :math:`\sigma^2`, the variance of one stochastic gradient, positive.
    start : array_like
        :math:`x_0^2`, positive.
    accuracy : array_like
        :math:`\varepsilon`, positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        A NumPy float if all are scalars; 0 where the start is accurate enough. The best
        schedule of steps needs no more, up to whole gradients.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import gradients_needed
    >>> float(gradients_needed(curvature=1, noise=2, start=1, accuracy=0.05).round(9))
    38.0
    """
    columns = descent.columns_of(
        curvature=quadratic.scale("curvature", curvature),
        **descent.scales(noise=noise, start=start, accuracy=accuracy),
    )
    return np.asarray(descent.gradients(columns))[()]
