"""Estimates of the mean from the workers that are heard, and their errors."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from decentral.numerics import races
from decentral.numerics.validation import (
    Floats,
    Ints,
    broadcast,
    choice,
    integers,
    probabilities,
    reals,
)

Estimator = Literal["plain", "horvitz-thompson", "hajek"]

# Squares and quotients of these must stay within the range of a double.
_LARGEST = 1e60
_RAREST = 1e-60


def selection_bias(inclusion: npt.ArrayLike, optima: npt.ArrayLike) -> Floats:
    r"""Bias of the plain mean of the first k workers.

    .. math:: \sum_i \Bigl(\frac{\pi_i}{k} - \frac1n\Bigr)\, \theta_i, \qquad
        k = \sum_i \pi_i

    Parameters
    ----------
    inclusion : array_like, shape (..., n)
        :math:`\pi_i` of each worker, as of :func:`inclusion_probabilities`; from 0 to 1, not
        all 0.
    optima : array_like, shape (..., n)
        :math:`\theta_i`, the mean of what each worker returns.

    Returns
    -------
    ndarray, shape (...)
        In units of `optima`; a NumPy float for one fleet.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.sampling import inclusion_probabilities, selection_bias
    >>> inclusion = inclusion_probabilities([2, 2, 1], 2)
    >>> round(float(selection_bias(inclusion, [0, 0, 3])), 6)  # the mean is 1
    -0.3
    """
    chance, goal = probabilities("inclusion", inclusion), _signed("optima", optima)
    _along(inclusion=chance, optima=goal)
    first = chance.sum(axis=-1, keepdims=True)
    if not np.all(first > 0):
        raise ValueError("inclusion must not be 0 for all workers")
    from_mean = goal - goal.mean(axis=-1, keepdims=True)
    return np.asarray((chance / first * from_mean).sum(axis=-1))[()]


def plain_mean(values: npt.ArrayLike) -> Floats:
    r"""Mean of what the selected workers returned.

    .. math:: \frac1k \sum_{i \in S} y_i

    Parameters
    ----------
    values : array_like, shape (..., k)
        :math:`y_i` of the workers that were selected.

    Returns
    -------
    ndarray, shape (...)
        In units of `values`; a NumPy float for one sample.

    Raises
    ------
    ValueError
        If the argument is malformed.

    Notes
    -----
    Biased by :func:`selection_bias`; see the paper "What does it cost to skip the slowest
    workers?".

    Examples
    --------
    >>> from decentral.sampling import plain_mean
    >>> float(plain_mean([0, 3]))
    1.5
    """
    sample = _signed("values", values)
    return _weighted(sample, np.ones(sample.shape[-1]))


def horvitz_thompson(
    values: npt.ArrayLike, inclusion: npt.ArrayLike, workers: npt.ArrayLike
) -> Floats:
    r"""Unbiased estimate of the mean over all workers, from those that were selected.

    .. math:: \frac1n \sum_{i \in S} \frac{y_i}{\pi_i}

    Parameters
    ----------
    values : array_like, shape (..., k)
        :math:`y_i` of the workers that were selected.
    inclusion : array_like, shape (..., k)
        :math:`\pi_i` of the same workers, positive.
    workers : array_like of int, shape (...)
        n, the number of all workers; at least k.

    Returns
    -------
    ndarray, shape (...)
        In units of `values`, and not always within their range; a NumPy float for one sample.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Horvitz and Thompson (1952); derived in the paper "What does it cost to skip the slowest
    workers?".

    Examples
    --------
    >>> from decentral.sampling import horvitz_thompson
    >>> round(float(horvitz_thompson([0, 3], [23 / 30, 7 / 15], 3)), 4)
    2.1429
    """
    sample, chance = _selected(values, inclusion)
    number = integers("workers", workers, least=1)
    broadcast(values=sample[..., 0], inclusion=chance[..., 0], workers=number)
    if number.min() < sample.shape[-1]:
        raise ValueError(
            f"workers must be at least the {sample.shape[-1]} that were selected, but it is "
            f"{number.min()}"
        )
    return np.asarray((sample / chance).sum(axis=-1) / number)[()]


def hajek(values: npt.ArrayLike, inclusion: npt.ArrayLike) -> Floats:
    r"""Nearly unbiased weighted mean of what the selected workers returned.

    .. math:: \sum_{i \in S} \frac{y_i}{\pi_i} \Big/ \sum_{i \in S} \frac1{\pi_i}

    Parameters
    ----------
    values : array_like, shape (..., k)
        :math:`y_i` of the workers that were selected.
    inclusion : array_like, shape (..., k)
        :math:`\pi_i` of the same workers, positive.

    Returns
    -------
    ndarray, shape (...)
        In units of `values`, and within their range; a NumPy float for one sample.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Hájek (1971); compared in the paper "What does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.sampling import hajek
    >>> round(float(hajek([0, 3], [23 / 30, 7 / 15])), 4)
    1.8649
    """
    sample, chance = _selected(values, inclusion)
    return _weighted(sample, 1 / chance)


def mean_squared_error(
    estimator: Estimator,
    rates: npt.ArrayLike,
    quorum: npt.ArrayLike,
    optima: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
) -> Floats:
    r"""Mean squared error of an estimate of the mean optimum from the first k workers.

    With :math:`\bar\theta` the mean over all workers and :math:`d_i = \theta_i - \bar\theta`,

    .. math::
        \text{plain:}\quad & \frac{1}{k^2} \sum_{ij} \pi_{ij} d_i d_j + \frac{\sigma^2}{k} \\
        \text{Horvitz-Thompson:}\quad & \frac{1}{n^2} \sum_{ij}
            \Bigl(\frac{\pi_{ij}}{\pi_i \pi_j} - 1\Bigr) \theta_i \theta_j
            + \frac{\sigma^2}{n^2} \sum_i \frac{1}{\pi_i} \\
        \text{Hájek:}\quad & \frac{1}{n^2} \sum_{ij} \frac{\pi_{ij}}{\pi_i \pi_j} d_i d_j
            + \frac{\sigma^2}{n^2} \sum_i \frac{1}{\pi_i} \quad\text{(linearised)}

    Parameters
    ----------
    estimator : {"plain", "horvitz-thompson", "hajek"}
        Exact for the first two. The third is the error of Hájek's quotient to first order.
    rates : array_like, shape (..., n)
        :math:`\mu_i` of each worker, positive.
    quorum : array_like of int, shape (...)
        k, from 1 to n.
    optima : array_like, shape (..., n)
        :math:`\theta_i`, the mean of what each worker returns.
    noise : array_like, shape (...), optional
        :math:`\sigma^2`, the variance of what a worker returns around its optimum; not
        negative. For gradients it is their variance over the square of the curvature.

    Returns
    -------
    ndarray, shape (...)
        In squared units of `optima`; a NumPy float for one fleet. The error of rounding is of
        the order of 1e-15 times the largest squared difference of :math:`\theta_i/\pi_i` (of
        :math:`\theta_i`, for the plain mean).

    Raises
    ------
    ValueError
        If an argument is malformed, the quorum exceeds the workers, or there are so many
        workers that it would take minutes.

    Notes
    -----
    Horvitz and Thompson (1952), Särndal, Swensson and Wretman (1992) for the linearisation;
    computed in the form of Yates and Grundy (1953). Derived in the paper "What does it cost to
    skip the slowest workers?".

    Examples
    --------
    >>> import numpy as np
    >>> from decentral.sampling import mean_squared_error
    >>> z = np.linspace(-1.5, 1.5, 16)
    >>> for name in ("plain", "horvitz-thompson", "hajek"):
    ...     print(name, round(float(mean_squared_error(name, np.exp(0.7 * z), 8, 1 - z)), 4))
    plain 0.3117
    horvitz-thompson 0.3343
    hajek 0.2421
    """
    choice("estimator", estimator, get_args(Estimator))
    speeds, first = races.fleets(rates, quorum, pairs=True)
    goal, spread = _signed("optima", optima), reals("noise", noise)
    if spread.max() > _LARGEST:
        raise ValueError(f"noise must be at most {_LARGEST:g}, but it is {spread.max():g}")
    _along(rates=speeds, optima=goal)
    broadcast(rates=speeds[..., 0], quorum=first, optima=goal[..., 0], noise=spread)
    joint = races.each(races.joint_inclusion, speeds, first, 2 * speeds.shape[-1:])
    least = float(np.diagonal(joint, axis1=-2, axis2=-1).min())
    if least < _RAREST:
        raise ValueError(
            f"rates must include every worker with a probability of at least {_RAREST:g}, but for "
            f"one it is {least:g}"
        )
    if estimator == "plain":
        return _plain_error(joint, first, goal, spread)[()]
    if estimator == "hajek":
        goal = goal - goal.mean(axis=-1, keepdims=True)
    return _horvitz_thompson_error(joint, goal, spread)[()]


def _plain_error(joint: Floats, first: Ints, goal: Floats, noise: Floats) -> Floats:
    bias = selection_bias(np.diagonal(joint, axis1=-2, axis2=-1), goal)
    return np.asarray((_spread(joint, goal) / first + noise) / first + bias**2)


def _horvitz_thompson_error(joint: Floats, goal: Floats, noise: Floats) -> Floats:
    chance = np.diagonal(joint, axis1=-2, axis2=-1)
    noisy = noise * (1 / chance).sum(axis=-1)
    return np.asarray((_spread(joint, goal / chance) + noisy) / goal.shape[-1] ** 2)


def _spread(joint: Floats, values: Floats) -> Floats:
    """Return the variance of the sum of the values of the first k.

    It is the form of Yates and Grundy (1953), which holds since k is fixed, and in which values
    that are alike drop out. Rounding must not make it negative.
    """
    chance = np.diagonal(joint, axis1=-2, axis2=-1)
    short = chance[..., :, None] * chance[..., None, :] - joint
    apart = values[..., :, None] - values[..., None, :]
    return np.asarray(np.maximum((short * apart**2).sum(axis=(-2, -1)) / 2, 0))


def _signed(name: str, value: npt.ArrayLike) -> Floats:
    """Validate numbers of either sign, with workers along the last axis."""
    array = reals(name, value, signed=True)
    if not array.ndim:
        raise ValueError(f"{name} must have one entry for each worker, got a single number")
    if not np.abs(array).max() <= _LARGEST:
        raise ValueError(
            f"{name} must be at most {_LARGEST:g} in size, but it is {np.abs(array).max():g}; "
            "rescale the units"
        )
    return array


def _along(**arrays: Floats) -> None:
    """Refuse arrays that differ in the number of workers, or do not broadcast."""
    (name, first), *others = arrays.items()
    for other, array in others:
        if not array.ndim or not first.ndim or array.shape[-1] != first.shape[-1]:
            raise ValueError(
                f"{other} must have one entry for each worker of {name} along the last axis, "
                f"but the shapes are {array.shape} and {first.shape}"
            )
    broadcast(**arrays)


def _selected(values: npt.ArrayLike, inclusion: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Validate what the selected workers returned, and their chances of being selected."""
    sample, chance = _signed("values", values), probabilities("inclusion", inclusion)
    _along(values=sample, inclusion=chance)
    if chance.min() < _RAREST:
        raise ValueError(
            f"inclusion must be at least {_RAREST:g} for workers that were selected, but it is "
            f"{chance.min():g}"
        )
    return sample, chance


def _weighted(sample: Floats, weights: Floats) -> Floats:
    """Return the weighted mean along the last axis; rounding must not leave the range."""
    mean = (weights * sample).sum(axis=-1) / weights.sum(axis=-1)
    return np.asarray(np.clip(mean, sample.min(axis=-1), sample.max(axis=-1)))[()]
