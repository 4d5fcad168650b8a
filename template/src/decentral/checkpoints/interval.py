"""The time that an interval of work takes, and the best interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import lambertw

from decentral.numerics.validation import Floats, broadcast, reals


def expected_time(
    interval: npt.ArrayLike, save_time: npt.ArrayLike, time_between_failures: npt.ArrayLike
) -> Floats:
    r"""Mean time until an interval of work is done and saved.

    .. math:: E(\tau) = M \bigl(e^{(\tau + C)/M} - 1\bigr)

    Parameters
    ----------
    interval : array_like
        :math:`\tau`, the work between two saves, positive.
    save_time : array_like
        C, positive.
    time_between_failures : array_like
        M, the mean time between failures, positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In their unit, infinite beyond the doubles; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "How often should a run save its state?".

    Examples
    --------
    >>> from decentral.checkpoints import expected_time
    >>> expected_time(30, 2, [240, 1e9]).round(2)
    array([34.23, 32.  ])
    """
    work, save, mean = broadcast(
        interval=reals("interval", interval, positive=True),
        save_time=reals("save_time", save_time, positive=True),
        time_between_failures=reals("time_between_failures", time_between_failures, positive=True),
    )
    with np.errstate(over="ignore"):
        return np.asarray(mean * np.expm1((work + save) / mean))[()]


def best_interval(save_time: npt.ArrayLike, time_between_failures: npt.ArrayLike) -> Floats:
    r"""Work between two saves that gets most work done per time.

    .. math:: \tau^* = M \bigl(1 + W_0(-e^{-1 - C/M})\bigr)

    Parameters
    ----------
    save_time, time_between_failures : array_like
        C and M, positive.

    Returns
    -------
    ndarray, of the common shape of the arguments
        In their unit; a NumPy float if all are scalars.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    :math:`W_0` is Lambert's function. Derived in the paper "How often should a run save its
    state?".

    Examples
    --------
    >>> from decentral.checkpoints import best_interval
    >>> best_interval(2, [60, 240]).round(2)
    array([14.19, 29.67])
    """
    save, mean = broadcast(
        save_time=reals("save_time", save_time, positive=True),
        time_between_failures=reals("time_between_failures", time_between_failures, positive=True),
    )
    quick = save / mean < 1e-8  # where the function of Lambert has lost its digits
    root = np.sqrt(-2 * np.expm1(-save / mean))
    branch = 1 + lambertw(-np.exp(-1 - save / mean)).real
    return np.asarray(mean * np.where(quick, root - root**2 / 3, branch))[()]
