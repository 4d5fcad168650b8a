"""How many workers to wait for when the goal is an accuracy, reached as soon as possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, Ints, flag, reals
from decentral.stragglers import descent

_LEAST_TIME = 1e-60
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Quorum:
    """How many workers to wait for.

    Attributes
    ----------
    quorum : int or ndarray of int
        k.
    rounds : float or ndarray
        Rounds until the accuracy is reached.
    time : float or ndarray
        Their mean time.
    """

    quorum: int | Ints
    rounds: float | Floats
    time: float | Floats


@dataclass(frozen=True, eq=False)
class TunedQuorum(Quorum):
    """How many workers to wait for, and the step to take.

    Attributes
    ----------
    quorum : int or ndarray of int
        k.
    rounds : float or ndarray
        Rounds until the accuracy is reached.
    time : float or ndarray
        Their mean time.
    step : float or ndarray
        The step that is most accurate after so many rounds.
    """

    step: float | Floats


@dataclass(frozen=True, eq=False)
class TunedStep:
    """The step that reaches an accuracy in the fewest rounds.

    Attributes
    ----------
    step : float or ndarray
        The step that is most accurate after `rounds` rounds (after one, if none is needed).
    rounds : float or ndarray
        The fewest rounds, whole.
    """

    step: float | Floats
    rounds: float | Floats


def best_quorum(
    round_times: npt.ArrayLike,
    *,
    curvature: npt.ArrayLike,
    step: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
    accuracy: npt.ArrayLike,
    whole: bool = True,
) -> Quorum:
    r"""Find the quorum that reaches an accuracy soonest, at a given step.

    .. math:: \min_k \; t(k) \; E\,X_{(k)}

    Parameters
    ----------
    round_times : array_like, shape (..., n)
        :math:`E\,X_{(k)}` for k = 1, ..., n; positive, not falling, infinite where the mean
        does not exist.
    curvature, step, noise, start, accuracy : array_like, shape (...)
        As for :func:`rounds_to_accuracy`.
    whole : bool, optional
        Whether rounds are whole.

    Returns
    -------
    Quorum
        The smallest k of the least mean time, to a relative 1e-12. Its fields are numbers
        for one fleet, else arrays of shape (...).

    Raises
    ------
    ValueError
        If an argument is malformed or the step is unstable.
    InfeasibleError
        If not even all workers reach the accuracy, or only quorums whose mean time is
        infinite do.

    Notes
    -----
    The number of rounds does not depend on how long they take, so the mean of the whole time
    is the product (Wald). All k are compared. See the paper "What does it cost to skip the
    slowest workers?".

    Examples
    --------
    >>> import numpy as np
    >>> from decentral.stragglers import best_quorum, exponential_round_time
    >>> times = exponential_round_time(64, np.arange(1, 65), shift=2)
    >>> best = best_quorum(times, curvature=1, step=0.2, noise=2, start=1, accuracy=0.05)
    >>> best.quorum, best.rounds, round(best.time, 3)
    (10, 8.0, 17.348)
    """
    rounded = flag("whole", whole)
    times = _round_times(round_times)
    columns = descent.columns_of(
        round_times=times[..., 0],
        **descent.stable(curvature, step),
        **descent.scales(noise=noise, start=start, accuracy=accuracy),
    )
    rounds = descent.rounds_needed(_with_quorums(columns, times), rounded)
    hopeless = np.asarray(np.isinf(rounds).all(axis=-1))
    if hopeless.any():
        descent.refuse({**columns, "quorum": np.full(hopeless.shape, times.shape[-1])}, hopeless)
    return Quorum(*_soonest(times, rounds))


def best_step(
    quorum: npt.ArrayLike,
    *,
    curvature: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
    accuracy: npt.ArrayLike,
) -> TunedStep:
    r"""Find the constant step that reaches an accuracy in the fewest rounds.

    .. math:: \min \{t : \min_\eta E\,x_t^2 \le \varepsilon\}

    Parameters
    ----------
    quorum : array_like
        k, the number of gradients in the mean of a round, positive.
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
    TunedStep
        Its fields are numbers if all arguments are scalars, else arrays of their common shape.
        An accuracy that is missed by a relative 1e-12 or less counts as reached.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    For a whole number of rounds the error has one minimum over the step; see the paper "What
    does it cost to skip the slowest workers?".

    Examples
    --------
    >>> from decentral.stragglers import best_step
    >>> best = best_step([4, 20, 38], curvature=1, noise=2, start=1, accuracy=0.05)
    >>> best.rounds, best.step.round(3)
    (array([15.,  3.,  1.]), array([0.147, 0.559, 0.95 ]))
    """
    columns = descent.columns_of(
        quorum=quadratic.scale("quorum", quorum),
        curvature=quadratic.scale("curvature", curvature),
        **descent.scales(noise=noise, start=start, accuracy=accuracy),
    )
    step, rounds = _tuned(columns)
    return TunedStep(descent.plain(step), descent.plain(rounds))


def best_quorum_and_step(
    round_times: npt.ArrayLike,
    *,
    curvature: npt.ArrayLike,
    noise: npt.ArrayLike,
    start: npt.ArrayLike,
    accuracy: npt.ArrayLike,
) -> TunedQuorum:
    r"""Find the quorum and the constant step that reach an accuracy soonest together.

    .. math:: \min_{k, \eta} \; t(k, \eta) \; E\,X_{(k)}

    Parameters
    ----------
    round_times : array_like, shape (..., n)
        :math:`E\,X_{(k)}` for k = 1, ..., n; positive, not falling, infinite where the mean
        does not exist.
    curvature, noise, start, accuracy : array_like, shape (...)
        As for :func:`best_step`; rounds are whole.

    Returns
    -------
    TunedQuorum
        The smallest k of the least mean time, to a relative 1e-12. Its fields are numbers
        for one fleet, else arrays of shape (...).

    Raises
    ------
    ValueError
        If an argument is malformed.
    InfeasibleError
        If the mean time of every quorum is infinite.

    Notes
    -----
    All k are compared, each with its best step. See the paper "What does it cost to skip the
    slowest workers?".

    Examples
    --------
    >>> import numpy as np
    >>> from decentral.stragglers import best_quorum_and_step, exponential_round_time
    >>> times = exponential_round_time(64, np.arange(1, 65), shift=2)
    >>> best = best_quorum_and_step(times, curvature=1, noise=2, start=1, accuracy=0.05)
    >>> best.quorum, best.rounds, round(best.step, 3), round(best.time, 3)
    (38, 1.0, 0.95, 2.889)
    """
    times = _round_times(round_times)
    columns = descent.columns_of(
        round_times=times[..., 0],
        curvature=quadratic.scale("curvature", curvature),
        **descent.scales(noise=noise, start=start, accuracy=accuracy),
    )
    steps, rounds = _tuned(_with_quorums(columns, times))
    quorum, fewest, time = _soonest(times, rounds)
    at = np.asarray(quorum)[..., None] - 1
    step = np.take_along_axis(steps, at, axis=-1)[..., 0]
    return TunedQuorum(quorum, fewest, time, descent.plain(step))


def _round_times(value: npt.ArrayLike) -> Floats:
    times = reals("round_times", value, positive=True, infinite=True)
    if not times.ndim:
        raise ValueError("round_times must have one entry for each quorum, got a single number")
    finite = times[np.isfinite(times)]
    for extreme in (finite.min(initial=1.0), finite.max(initial=1.0)):
        if not _LEAST_TIME <= extreme <= 1 / _LEAST_TIME:
            raise ValueError(
                f"round_times must be between {_LEAST_TIME:g} and {1 / _LEAST_TIME:g}, or "
                f"infinite, but one is {extreme:g}; rescale the units"
            )
    later, earlier = times[..., 1:], np.maximum.accumulate(times, axis=-1)[..., :-1]
    if np.any(falls := later < earlier * (1 - 1e-9)):  # what rounding may do is let pass
        at = tuple(int(i) for i in np.argwhere(falls)[0])
        raise ValueError(
            f"round_times must not fall with the quorum, but fall from {earlier[at]} to {later[at]}"
        )
    return times


def _with_quorums(columns: dict[str, Floats], times: Floats) -> dict[str, Floats]:
    """Return the columns with an axis for the quorums 1, ..., n at the end."""
    lifted = {name: column[..., None] for name, column in columns.items()}
    return descent.columns_of(**lifted, quorum=np.arange(1.0, times.shape[-1] + 1))


def _soonest(times: Floats, rounds: Floats) -> tuple[int | Ints, float | Floats, float | Floats]:
    """Return the first quorum of the least mean time, its rounds and the time."""
    with np.errstate(invalid="ignore"):
        whole = np.where(rounds > 0, rounds * times, 0.0)
    best = ties.first_least(whole)
    pick = best[..., None]
    time = np.take_along_axis(whole, pick, axis=-1)[..., 0]
    if np.isinf(time).any():
        raise InfeasibleError(
            "round_times must be finite for some quorum that reaches the accuracy; those that do "
            "take an infinite mean time"
        )
    fewest = np.take_along_axis(np.broadcast_to(rounds, whole.shape), pick, axis=-1)[..., 0]
    quorum = best + 1
    return (quorum if best.ndim else int(quorum)), descent.plain(fewest), descent.plain(time)


def _tuned(columns: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return the best constant steps and their whole rounds."""
    start, accuracy = columns["start"], ties.widened(columns["accuracy"])
    columns = {**columns, "accuracy": accuracy}
    shaken = columns["noise"] / columns["curvature"] ** 2 / columns["quorum"]
    share = descent.gradients(columns) / columns["quorum"]  # rounds, were every step the best
    several = share > 1
    rounds = np.ones(share.shape)
    if several.any():
        rounds[several] = np.ceil(
            _fewest_rounds(start[several], accuracy[several], shaken[several])
        )

    def late(rounds: Floats) -> npt.NDArray[np.bool_]:
        rate = _sharpest(rounds, start, shaken)
        error = descent.error(rounds, rate, rate / (2 - rate) * shaken, start)
        return np.asarray(error > accuracy)

    # The rounds above are rounded; what decides is the error itself.
    rounds = rounds + (several & late(rounds))
    fewer = np.maximum(rounds - 1, 1)
    rounds = np.where(several & ~late(fewer), fewer, rounds)
    rate = _sharpest(rounds, start, shaken)
    return rate / columns["curvature"], np.where(share > 0, rounds, 0)


def _fewest_rounds(start: Floats, accuracy: Floats, shaken: Floats) -> Floats:
    """Return the least real number of rounds over all constant steps, where it exceeds 1.

    The step is a share y of the largest whose error settles at the accuracy; the number of
    rounds falls and then rises with it, so that golden sections find the least.
    """
    widest = 2 * accuracy / (shaken + accuracy)

    def rounds(share: Floats) -> Floats:
        rest = 1 - share
        room = accuracy * rest * (shaken + accuracy) / (shaken + accuracy * rest)
        return np.asarray(np.log1p((start - accuracy) / room) / (-2 * np.log1p(-widest * share)))

    low, high = np.zeros(start.shape), np.ones(start.shape)
    for _ in range(60):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        falls = rounds(first) > rounds(second)
        low, high = np.where(falls, first, low), np.where(falls, high, second)
    return rounds((low + high) / 2)


def _sharpest(rounds: Floats, start: Floats, shaken: Floats) -> Floats:
    r"""Return the eta a of least error after so many rounds.

    It solves :math:`\frac{\rho\,(\rho^{-2t} - 1)}{(1 + \rho)^2 t} + \frac{1-\rho}{1+\rho}
    = x_0^2 k a^2/\sigma^2`, of which the left side rises with :math:`\eta a = 1 - \rho`.
    """
    goal = start / shaken
    low = np.log(np.minimum(goal, 1 / rounds) / 6)
    high = np.zeros(low.shape)
    for _ in range(64):
        middle = (low + high) / 2
        rate = np.exp(middle)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            grown = np.expm1(-2 * rounds * np.log1p(-rate))
            side = (1 - rate) * grown / (2 - rate) ** 2 / rounds + rate / (2 - rate)
        beyond = ~(side < goal)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(np.exp((low + high) / 2))
