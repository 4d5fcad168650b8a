"""What cutting a chain well can reach, and what ignoring the speeds costs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from decentral._validation import Floats, integers, reals, vector


def water_level(work: float, speeds: Floats, onsets: Floats) -> float:
    r"""Solve :math:`\sum_j v_j (T - c_j)^+ = w` for T.

    Devices whose onset :math:`c_j` lies above the level do nothing. For any set S
    of devices, filling just those gives :math:`T_S = (w + \sum_S v_j c_j) / \sum_S v_j`;
    the level is the least of them, attained by the first few devices by onset.
    """
    order = np.argsort(onsets, kind="stable")
    speed, onset = speeds[order], onsets[order]
    return float(np.min((work + np.cumsum(speed * onset)) / np.cumsum(speed)))


def _instance(
    costs: npt.ArrayLike, speeds: npt.ArrayLike, overhead: npt.ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    work, pace = vector("costs", costs), vector("speeds", speeds, positive=True)
    if overhead is None:
        return work, pace, np.zeros(pace.size)
    return work, pace, vector("overhead", overhead, length=pace.size)


def lower_bound(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    overhead: npt.ArrayLike | None = None,
    nonempty: bool = False,
) -> float:
    r"""Return the time that no cut of the chain can beat, in any order of the devices.

    .. math:: T^* \ge W / V, \qquad W = \sum_i w_i, \quad V = \sum_j v_j

    With overhead, the level T of :math:`\sum_j v_j (T - c_j)^+ = W`; if every
    device must be used, :math:`\max\{(W + \sum_j v_j c_j)/V, \; \max_j c_j\}`.

    Parameters
    ----------
    costs : array_like, shape (L,)
        Cost of each layer, non-negative.
    speeds : array_like, shape (m,)
        Speed of each device, positive.
    overhead : array_like, shape (m,), optional
        Time that a device pays if its block is not empty.
    nonempty : bool, optional
        Whether every device gets at least one layer.

    Returns
    -------
    float
        In the unit of costs over speeds.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    A device that meets T takes work of at most :math:`v_j (T - c_j)^+`; sum over
    the devices. Derived in the paper "How should a model be cut across devices of
    unequal speed?".

    Examples
    --------
    >>> from decentral.partition import lower_bound
    >>> lower_bound([1] * 10, [3, 1, 1])
    2.0
    >>> lower_bound([1] * 10, [3, 1, 1], overhead=[0, 0, 9])  # the last is not worth it
    2.5
    """
    work, pace, onset = _instance(costs, speeds, overhead)
    if nonempty:
        return max(float((work.sum() + pace @ onset) / pace.sum()), float(onset.max()))
    return water_level(float(work.sum()), pace, onset)


def upper_bound(
    costs: npt.ArrayLike,
    speeds: npt.ArrayLike,
    *,
    overhead: npt.ArrayLike | None = None,
    leave_idle: bool = False,
) -> float:
    r"""Return a time that the best cut never exceeds, in any order of the devices.

    .. math:: T^* \le \frac{W + \sum_j v_j c_j + (m - 1)\,w_{\max}}{V}

    No smaller multiple of :math:`w_{\max}/V` holds for all chains: equal layers on
    equal devices attain it when L = 1 (mod m). Empty blocks must be allowed.

    Parameters
    ----------
    costs, speeds, overhead
        As for :func:`lower_bound`.
    leave_idle : bool, optional
        Also consider leaving devices empty, and return the least bound over all
        sets of used devices. A device so slow that it is not worth its share of
        the term :math:`(m - 1)\,w_{\max}` then no longer loosens the bound.

    Returns
    -------
    float
        In the unit of costs over speeds.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    If the greedy walk fails at T, every device but the last stopped at a layer
    that did not fit, so its block costs more than :math:`v_j (T - c_j) - w_{\max}`,
    and the remainder exceeds the last device's budget. Summed:
    :math:`W > \sum_j v_j (T - c_j) - (m - 1) w_{\max}`. The least bound over sets of
    devices is the level of :math:`\sum_j (v_j (T - c_j) - w_{\max})^+ = W - w_{\max}`.

    Examples
    --------
    >>> from decentral.partition import bottleneck, upper_bound
    >>> upper_bound([1] * 5, [1] * 4), bottleneck([1] * 5, [1] * 4)
    (2.0, 2.0)
    >>> upper_bound([1] * 5, [9, 1]), upper_bound([1] * 5, [9, 1], leave_idle=True)
    (0.6, 0.5555555555555556)
    """
    work, pace, onset = _instance(costs, speeds, overhead)
    total, widest = float(work.sum()), float(work.max())
    if leave_idle:
        return water_level(total - widest, pace, onset + widest / pace)
    return float((total + pace @ onset + (pace.size - 1) * widest) / pace.sum())


def _conditional_moment(rate: float) -> Callable[[float], float]:
    """Log of E[exp(rate (Z - u)) | Z > u] times P(Z > u) for a standard normal Z."""
    return lambda u: float(rate * (rate / 2 - u) + log_ndtr(rate - u))


def _over_minimum(devices: int, *log_factors: Callable[[float], float]) -> float:
    """Integrate a product of conditional moments over the law of the least of m normals.

    Each factor takes the place of one of the m - 1 survival factors.
    """
    spare = devices - 1 - len(log_factors)

    def log_integrand(u: float) -> float:
        density = math.log(devices) - u * u / 2 - math.log(2 * math.pi) / 2
        return density + spare * float(log_ndtr(-u)) + sum(factor(u) for factor in log_factors)

    # The log integrand is concave with curvature below -1: it has one peak, and beyond
    # nine units from it less than 1e-17 of the integral.
    peak = minimize_scalar(lambda u: -log_integrand(u), bracket=(-1.0, 0.0))
    centre, height = float(peak.x), -float(peak.fun)
    area = sum(
        quad(lambda u: math.exp(log_integrand(u) - height), *half, epsabs=0, epsrel=1e-13)[0]
        for half in ((centre - 9, centre), (centre, centre + 9))
    )
    return math.exp(height + math.log(area))


def _mean_price(devices: int, sigma: float) -> float:
    others = devices - 1
    if others == 0 or sigma == 0:
        return 1.0
    return (1 + others * _over_minimum(devices, _conditional_moment(sigma))) / devices


def _mean_square_price(devices: int, sigma: float) -> float:
    others, single = devices - 1, _conditional_moment(sigma)
    if others == 0 or sigma == 0:
        return 1.0
    ratio = _over_minimum(devices, single)
    square = _over_minimum(devices, _conditional_moment(2 * sigma))
    product = _over_minimum(devices, single, single) if others > 1 else 0.0
    return (1 + others * (2 * ratio + square + (others - 1) * product)) / devices**2


def expected_blind_price(devices: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    r"""Return what a speed-blind equal split costs on average, relative to W/V.

    .. math:: \mathbb{E}\,\frac{\bar v}{v_{\min}}
        = \frac{1}{m}\Bigl(1 + (m - 1)\,
        \mathbb{E}\Bigl[\frac{v_j}{v_{\min}} \Bigm| v_j \ne v_{\min}\Bigr]\Bigr)

    for m devices with independent log-normal speeds :math:`v_j = e^{\sigma Z_j}`,
    in the limit of many equal layers. The median speed cancels.

    Parameters
    ----------
    devices : int or array_like of int
        m, at least 1.
    sigma : float or array_like
        Standard deviation of the log-speeds, non-negative. Broadcasts with
        `devices`.

    Returns
    -------
    ndarray, broadcast shape
        At least 1; exactly 1 for one device or sigma = 0. A NumPy float if both
        arguments are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed, or sigma is so large that the result
        overflows double precision.

    Notes
    -----
    Given that the least of the m normals is u, the others are independent normals
    conditioned to exceed u, which leaves one integral over u; it is computed to
    a relative error near 1e-13.

    Examples
    --------
    >>> from decentral.partition import expected_blind_price
    >>> expected_blind_price(8, [0.25, 0.5, 0.75, 1.0]).round(4)
    array([1.4808, 2.3729, 4.1442, 7.9288])
    """
    return _broadcast(_mean_price, devices, sigma)


def blind_price_std(devices: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    r"""Return the standard deviation of :math:`\bar v / v_{\min}`, exactly.

    Divided by :math:`\sqrt{N}` it is the standard error of the mean over N pools.

    Parameters
    ----------
    devices, sigma
        As for :func:`expected_blind_price`.

    Returns
    -------
    ndarray, broadcast shape

    Raises
    ------
    ValueError
        As for :func:`expected_blind_price`.

    Notes
    -----
    The second moment follows like the first: the m - 1 faster devices are
    conditionally independent given the slowest.

    Examples
    --------
    >>> from decentral.partition import blind_price_std
    >>> float(blind_price_std(8, 0.5).round(4))
    0.7767
    """

    def deviation(m: int, s: float) -> float:
        return math.sqrt(max(_mean_square_price(m, s) - _mean_price(m, s) ** 2, 0.0))

    return _broadcast(deviation, devices, sigma)


def _broadcast(
    function: Callable[[int, float], float], devices: npt.ArrayLike, sigma: npt.ArrayLike
) -> Floats:
    pools, spread = np.broadcast_arrays(
        integers("devices", devices, least=1), reals("sigma", sigma)
    )
    try:
        values = [function(int(m), float(s)) for m, s in zip(pools.flat, spread.flat, strict=True)]
    except OverflowError:
        raise ValueError(
            "sigma must be small enough for the result to be finite in double precision, "
            f"but it is up to {spread.max():g}"
        ) from None
    return np.array(values).reshape(pools.shape)[()]
