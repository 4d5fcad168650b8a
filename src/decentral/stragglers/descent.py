"""Gradient descent with the mean of k noisy gradients per round, to full relative precision.

The functions of this module trust their input, save :func:`scales` and :func:`stable`.
`columns` are the arguments of a law by name, all of one shape.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, broadcast


def scales(**arguments: npt.ArrayLike) -> dict[str, Floats]:
    """Validate positive quantities of a reasonable size, by name."""
    return {name: quadratic.scale(name, value) for name, value in arguments.items()}


def stable(curvature: npt.ArrayLike, step: npt.ArrayLike) -> dict[str, Floats]:
    """Validate curvatures and steps that are stable together."""
    bend, size = quadratic.setting(curvature, step)
    return {"curvature": bend, "step": size}


def columns_of(**arrays: Floats) -> dict[str, Floats]:
    """Return the arrays in their common shape, by name."""
    return dict(zip(arrays, broadcast(**arrays), strict=True))


def plain(value: Floats) -> float | Floats:
    """Return an array without axes as a float."""
    return value if np.ndim(value) else float(value)


def spread(rate: Floats, columns: dict[str, Floats]) -> Floats:
    """Return phi = eta^2 sigma^2/(1 - rho^2), the error at which one gradient a round settles."""
    return np.asarray(columns["step"] / columns["curvature"] * columns["noise"] / (2 - rate))


def error(rounds: Floats, rate: Floats, floor: Floats, start: Floats) -> Floats:
    """Return the mean squared error, on its way from `start` to `floor`."""
    with np.errstate(invalid="ignore"):
        power = np.where(rounds > 0, 2 * rounds * quadratic.log_size(rate), 0)
    return np.asarray(start * np.exp(power) - floor * np.expm1(power))


def rounds_needed(columns: dict[str, Floats], rounded: bool) -> Floats:
    """Return the rounds until the accuracy is reached, infinite where it is not."""
    rate = columns["curvature"] * columns["step"]
    floor = spread(rate, columns) / columns["quorum"]
    start, accuracy = columns["start"], columns["accuracy"]
    needed, settles = ~ties.met(start, accuracy), ties.below(floor, accuracy)
    at_once = ties.equal(rate, 1.0)  # a step of 1/a forgets the start
    goal = ties.widened(accuracy) if rounded else accuracy
    room = np.where(settles, goal - floor, 1)
    rounds = np.log1p(np.where(needed, start - goal, 0) / room)
    rounds = np.where(at_once & needed, 1.0, rounds / (-2 * quadratic.log_size(rate)))
    if rounded:
        rounds = np.maximum(np.ceil(rounds), needed)
    reachable = settles | (at_once & ties.met(floor, accuracy))
    return np.where(needed & ~reachable, np.inf, rounds)


def gradients(columns: dict[str, Floats]) -> Floats:
    """Return the gradients without which no schedule is accurate enough."""
    start, accuracy = columns["start"], columns["accuracy"]
    lacking = np.maximum(start - accuracy, 0) / start / accuracy
    return np.asarray(columns["noise"] / columns["curvature"] ** 2 * lacking)


def refuse(columns: dict[str, Floats], hopeless: npt.NDArray[np.bool_]) -> None:
    """Say what the error settles at where that is not accurate enough."""
    rate = columns["curvature"] * columns["step"]
    floors = spread(rate, columns) / columns["quorum"]
    at = np.unravel_index(int(np.argmax(hopeless)), hopeless.shape)
    floor, accuracy = float(floors[at]), float(columns["accuracy"][at])
    raise InfeasibleError(
        f"accuracy must be above {floor:g}, where the error settles with a quorum of "
        f"{columns['quorum'][at]:g} at this step, but it is {accuracy:g}",
        floor=floor,
        shortfall=floor - accuracy,
    )
