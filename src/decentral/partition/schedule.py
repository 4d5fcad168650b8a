"""How long a pipeline takes to fill, run and drain."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from decentral.numerics.validation import Floats, integers, vector


def makespan(stage_times: npt.ArrayLike, microbatches: npt.ArrayLike) -> Floats:
    r"""Time for M microbatches to pass through a pipeline, from first in to last out.

    .. math:: \sum_j t_j + (M - 1) \max_j t_j

    A stage works on one microbatch at a time, in order, and starts as soon as
    both the microbatch and the stage are free.

    Parameters
    ----------
    stage_times : array_like, shape (m,)
        Time of each stage on one microbatch, non-negative.
    microbatches : int or array_like of int, any shape
        M, at least 1.

    Returns
    -------
    ndarray, of the shape of the microbatches
        In the unit of the stage times; a NumPy float for one M.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Derived in the paper "How should a model be cut across devices of unequal speed?".
    This is the permutation flow shop whose jobs are all alike: its longest path
    crosses every stage once and dwells M - 1 more times on the slowest.

    Examples
    --------
    >>> from decentral.partition import makespan
    >>> makespan([2, 4, 8, 8], [1, 10])
    array([22., 94.])
    """
    times = vector("stage_times", stage_times)
    rounds = integers("microbatches", microbatches, least=1)
    longest = float(times.max())
    with np.errstate(over="ignore"):
        total = _sum(times) + (rounds - 1) * longest
    if not np.all(total < math.inf):
        raise ValueError(
            f"stage_times and microbatches must give a finite total, but the longest stage is "
            f"{longest:g} and there are up to {rounds.max()} microbatches; rescale the unit"
        )
    return np.asarray(total)[()]


def _sum(times: Floats) -> float:
    try:
        return math.fsum(times.tolist())
    except OverflowError:
        return math.inf


def bubble_fraction(stage_times: npt.ArrayLike, microbatches: npt.ArrayLike) -> Floats:
    r"""Share of the devices' time that a pipeline leaves idle over M microbatches.

    .. math:: 1 - \frac{M \sum_j t_j}{m\,(\sum_j t_j + (M - 1) \max_j t_j)}

    For equal stages this is the familiar :math:`(m - 1)/(M + m - 1)`.

    Parameters
    ----------
    stage_times, microbatches
        As for :func:`makespan`; at least one stage time must be positive.

    Returns
    -------
    ndarray, of the shape of the microbatches
        Between 0 and 1.

    Raises
    ------
    ValueError
        If an argument is malformed, or all stage times are 0.

    Notes
    -----
    From the time of :func:`makespan`, of which each device works :math:`M t_j`. As M
    grows the share tends to :math:`1 - \bar t / \max_j t_j`, which is 0 for equal stages
    only. Derived in the paper "How should a model be cut across devices of unequal
    speed?".

    Examples
    --------
    >>> from decentral.partition import bubble_fraction
    >>> float(bubble_fraction([1, 1, 1, 1], 12))  # 3/15
    0.2
    """
    times = vector("stage_times", stage_times)
    if not times.max() > 0:
        raise ValueError("stage_times must not all be 0")
    rounds = integers("microbatches", microbatches, least=1)
    times = times / times.max()
    total, slack = math.fsum(times.tolist()), math.fsum((1 - times).tolist())
    idle = slack * (rounds - 1) + (times.size - 1) * total
    return np.asarray(idle / (times.size * (total + (rounds - 1))))[()]
