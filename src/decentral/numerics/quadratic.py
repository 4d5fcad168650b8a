"""Noisy gradient steps on a quadratic, to full relative precision.

The functions of this module trust their input, save :func:`setting`, which checks it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decentral.numerics import ties
from decentral.numerics.validation import Floats, Ints, broadcast, integers, reals

# Units may be chosen freely, but not so that squares and quotients leave the range of a double.
_LEAST, _MOST = 1e-60, 1e60


def scale(name: str, value: object) -> Floats:
    """Return `value` as positive numbers of a reasonable size, of any shape."""
    array = reals(name, value, positive=True)
    for extreme in (array.min(), array.max()):
        if not _LEAST <= extreme <= _MOST:
            raise ValueError(
                f"{name} must be between {_LEAST:g} and {_MOST:g}, but it is {extreme:g}; "
                "rescale the units"
            )
    return array


def setting(curvature: object, step: object, name: str = "curvature") -> tuple[Floats, Floats]:
    """Validate curvatures and inner steps that are stable together: eta a < 2.

    They must broadcast; the axes are the caller's.
    """
    bend, size = scale(name, curvature), scale("step", step)
    rate = np.multiply(*broadcast(**{name: bend, "step": size}))
    if not np.all(ties.below(rate, 2)):
        raise ValueError(
            f"step must be below 2/{name} for a stable inner step, but their product is "
            f"{float(rate.max())}"
        )
    return bend, size


def modes(curvatures: object, step: object) -> tuple[Floats, Floats]:
    """Validate modes along the last axis, and steps with an axis for them."""
    bends, size = scale("curvatures", curvatures), scale("step", step)
    if not bends.ndim:
        raise ValueError("curvatures must have one entry for each mode, got a single number")
    broadcast(curvatures=bends[..., 0], step=size)
    return setting(bends, size[..., None], "curvatures")


def fleet(inner_steps: object, weights: object) -> tuple[Ints, Floats]:
    """Validate workers along the last axis, with weights that are not all zero."""
    steps, shares = workers(inner_steps), reals("weights", weights)
    if not shares.ndim or shares.shape[-1] != steps.shape[-1]:
        raise ValueError(
            f"weights must have one entry for each of {steps.shape[-1]} workers along the last "
            f"axis, got shape {shares.shape}"
        )
    if not np.all(shares.max(axis=-1) > 0):
        raise ValueError("weights must not all be zero")
    return steps, shares


def workers(inner_steps: object) -> Ints:
    """Validate the inner steps of workers along the last axis."""
    steps = integers("inner_steps", inner_steps, least=1)
    if not steps.ndim:
        raise ValueError("inner_steps must have one entry for each worker, got a single number")
    return steps


def log_size(rate: Floats) -> Floats:
    """Return log |p| for p = 1 - rate; minus infinity at p = 0."""
    with np.errstate(divide="ignore"):
        return np.where(rate < 1, np.log1p(-np.minimum(rate, 1.0)), np.log(np.abs(rate - 1)))


def contraction(rate: Floats, steps: npt.NDArray[np.number]) -> Floats:
    """Return s = 1 - p^H."""
    power = steps * log_size(rate)
    odd = (rate > 1) & (steps % 2 == 1)
    return np.asarray(np.where(odd, 1 + np.exp(power), -np.expm1(power)))


def spread(rate: Floats, steps: npt.NDArray[np.number]) -> Floats:
    """Return V/(eta sigma)^2 = (1 - p^(2H))/(1 - p^2), where 1 - p^2 = eta a (2 - eta a)."""
    return np.asarray(-np.expm1(2 * steps * log_size(rate)) / rate / (2 - rate))


def variance(
    curvature: Floats, step: Floats, steps: npt.NDArray[np.number], noise: Floats
) -> Floats:
    """Return V."""
    return np.asarray(noise * step**2 * spread(curvature * step, steps))


def information(
    curvature: Floats, step: Floats, steps: npt.NDArray[np.number], noise: Floats
) -> Floats:
    """Return s^2/V = (1 - p^2)/(eta sigma)^2 (1 - p^H)/(1 + p^H)."""
    shrink = contraction(curvature * step, steps)
    return np.asarray(limit(curvature, step, noise) * shrink / (2 - shrink))


def limit(curvature: Floats, step: Floats, noise: Floats) -> Floats:
    """Return (1 - p^2)/(eta sigma)^2."""
    return np.asarray(curvature * (2 - curvature * step) / (step * noise))
