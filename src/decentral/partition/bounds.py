"""What cutting a chain well can reach, and what ignoring the speeds costs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from decentral.numerics.validation import Floats, check_scale, flag, integers, reals, vector


def _water_level(work: float, speeds: Floats, onsets: Floats) -> float:
    r"""Solve :math:`\sum_j v_j (T - c_j)^+ = w` for T.

    Devices whose onset :math:`c_j` lies above the level do nothing. For any set S
    of devices, filling just those gives :math:`T_S = (w + \sum_S v_j c_j) / \sum_S v_j`;
    the level is the least of them, attained by the first few devices by onset.
    """
    order = np.argsort(onsets, kind="stable")  # ties in one order, so one sum on all machines
    share = speeds[order] / speeds.sum()
    pooled = np.cumsum(share)
    with np.errstate(all="ignore"):  # a device too slow to count may give 0/0 or overflow
        levels = (work / speeds.sum() + np.cumsum(share * onsets[order])) / pooled
    return float(np.nanmin(levels))


def _instance(
    costs: npt.ArrayLike, speeds: npt.ArrayLike, overhead: npt.ArrayLike | None
) -> tuple[float, float, Floats, Floats]:
    """Validate a chain; return W, w_max, the speeds and the overheads."""
    cost, pace = vector("costs", costs), vector("speeds", speeds, positive=True)
    extra = np.zeros(pace.size)
    if overhead is not None:
        extra = vector("overhead", overhead, length=pace.size)
    with np.errstate(over="ignore"):
        work = float(cost.sum())
    check_scale(work, pace.tolist(), extra.tolist())
    return work, float(cost.max()), pace, extra


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
    A device that meets T takes work of at most :math:`v_j (T - c_j)^+`; sum over the
    devices. Derived in the paper "How should a model be cut across devices of
    unequal speed?". As computed, the last few bits are rounded.

    Examples
    --------
    >>> from decentral.partition import lower_bound
    >>> lower_bound([1] * 10, [3, 1, 1])
    2.0
    >>> lower_bound([1] * 10, [3, 1, 1], overhead=[0, 0, 9])  # the last is not worth it
    2.5
    """
    work, _, pace, onset = _instance(costs, speeds, overhead)
    if flag("nonempty", nonempty):
        return max(work / float(pace.sum()) + float(pace / pace.sum() @ onset), float(onset.max()))
    return _water_level(work, pace, onset)


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
    If the greedy walk fails at T, every device but the last stopped at a layer that
    did not fit, so its block costs more than :math:`v_j (T - c_j) - w_{\max}`, and
    the remainder exceeds the last device's budget. Summed:
    :math:`W > \sum_j v_j (T - c_j) - (m - 1) w_{\max}`. The least bound over sets of
    devices is the level of
    :math:`\sum_j (v_j (T - c_j) - w_{\max})^+ = W - w_{\max}`. As computed, the last few
    bits are rounded.

    Examples
    --------
    >>> from decentral.partition import bottleneck, upper_bound
    >>> upper_bound([1] * 5, [1] * 4), bottleneck([1] * 5, [1] * 4)
    (2.0, 2.0)
    >>> upper_bound([1] * 5, [9, 1]), upper_bound([1] * 5, [9, 1], leave_idle=True)
    (0.6, 0.5555555555555556)
    """
    work, widest, pace, onset = _instance(costs, speeds, overhead)
    if flag("leave_idle", leave_idle):
        return _water_level(work - widest, pace, onset + widest / pace)
    whole = float(pace.sum())
    return work / whole + float(pace / whole @ onset) + (pace.size - 1) * (widest / whole)


# Beyond this even the mean over two devices overflows: it grows like exp(sigma**2).
_LARGEST_SIGMA = 30.0

LogFactor = Callable[[float], float]


def _moment(rate: float) -> LogFactor:
    """Log of E[exp(rate (Z - u)); Z > u] for a standard normal Z, as a function of u."""
    # Imported here and below, since only the expectations need SciPy, which is slow to import.
    from scipy.special import log_ndtr

    return lambda u: float(rate * (rate / 2 - u) + log_ndtr(rate - u))


def _log_over_minimum(devices: int, *log_factors: LogFactor) -> float:
    """Log of the integral of the factors over the law of the least of m normals.

    Each factor takes the place of one of the m - 1 survival factors.
    """
    from scipy.integrate import quad
    from scipy.optimize import minimize_scalar
    from scipy.special import log_ndtr

    spare = devices - 1 - len(log_factors)

    def log_integrand(u: float) -> float:
        density = math.log(devices) - u * u / 2 - math.log(2 * math.pi) / 2
        return density + spare * float(log_ndtr(-u)) + sum(factor(u) for factor in log_factors)

    # The log integrand has one peak and curvature below -1: beyond nine units from the
    # peak lies less than 1e-17 of the integral.
    peak = minimize_scalar(lambda u: -log_integrand(u), bracket=(-1.0, 0.0))
    centre, height = float(peak.x), -float(peak.fun)
    area = sum(
        quad(lambda u: math.exp(log_integrand(u) - height), *half, epsabs=0, epsrel=1e-13)[0]
        for half in ((centre - 9, centre), (centre, centre + 9))
    )
    return height + math.log(area)


def _mean_price(devices: int, sigma: float) -> float:
    others = devices - 1
    if others == 0 or sigma == 0:
        return 1.0
    price = (1 + others * math.exp(_log_over_minimum(devices, _moment(sigma)))) / devices
    return max(price, 1.0)  # a mean is never below the minimum, whatever the last bit says


def _price_deviation(devices: int, sigma: float) -> float:
    others = devices - 1
    if others == 0 or sigma == 0:
        return 0.0
    if sigma < 1e-3:
        raise ValueError(
            f"sigma must be 0 or at least 0.001, where digits cancel less, but it is {sigma:g}"
        )
    single = _moment(sigma)
    first = np.logaddexp(0, math.log(others) + _log_over_minimum(devices, single))
    terms = [0.0, math.log(2 * others) + _log_over_minimum(devices, single)]
    terms.append(math.log(others) + _log_over_minimum(devices, _moment(2 * sigma)))
    if others > 1:
        pairs = math.log(others) + math.log(others - 1)
        terms.append(pairs + _log_over_minimum(devices, single, single))
    second = float(np.logaddexp.reduce(terms))
    log_variance = second + math.log(-math.expm1(2 * float(first) - second))
    return math.exp(log_variance / 2 - math.log(devices))


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
        If an argument is malformed, or sigma is so large that the result overflows
        double precision.

    Notes
    -----
    Given that the least of the m normals is u, the others are independent normals
    conditioned to exceed u, which leaves one integral over u; it is computed to
    a relative error below 2e-13.

    Examples
    --------
    >>> from decentral.partition import expected_blind_price
    >>> expected_blind_price(8, [0.25, 0.5, 0.75, 1.0]).round(4)
    array([1.4808, 2.3729, 4.1442, 7.9288])
    """
    return _broadcast(_mean_price, devices, sigma)


def blind_price_std(devices: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    r"""Return the standard deviation of :math:`\bar v / v_{\min}`, from its exact moments.

    .. math:: \sqrt{\mathbb{E}\,(\bar v / v_{\min})^2 - (\mathbb{E}\,\bar v / v_{\min})^2}

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
        As for :func:`expected_blind_price`, or if sigma lies between 0 and 0.001,
        where the difference of the moments would lose too many digits.

    Notes
    -----
    The second moment follows like the first: the m - 1 faster devices are
    conditionally independent given the slowest. The relative error is below
    :math:`10^{-12} (1 + 1/\sigma^2)`.

    Examples
    --------
    >>> from decentral.partition import blind_price_std
    >>> float(blind_price_std(8, 0.5).round(4))
    0.7767
    """
    return _broadcast(_price_deviation, devices, sigma)


def _broadcast(
    function: Callable[[int, float], float], devices: npt.ArrayLike, sigma: npt.ArrayLike
) -> Floats:
    pools, spread = integers("devices", devices, least=1), reals("sigma", sigma)
    try:
        pools, spread = np.broadcast_arrays(pools, spread)
    except ValueError:
        raise ValueError(
            f"devices and sigma must broadcast, got shapes {pools.shape} and {spread.shape}"
        ) from None
    values = []
    for m, s in zip(pools.flat, spread.flat, strict=True):
        try:
            value = function(int(m), float(s)) if s <= _LARGEST_SIGMA or m == 1 else math.inf
        except OverflowError:
            value = math.inf
        if value == math.inf:
            raise ValueError(
                "sigma must be small enough for the result to be finite in double precision, "
                f"but it is {s:g}"
            )
        values.append(value)
    return np.array(values).reshape(pools.shape)[()]
