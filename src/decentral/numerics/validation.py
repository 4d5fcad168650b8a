"""Checks at the library's boundary: each error names the argument, the rule and the value."""

from __future__ import annotations

import math
import reprlib
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Infeasible = Literal["raise", "inf"]  # what to do where there is no answer


def _breach(
    name: str, array: npt.NDArray[Any], bad: npt.NDArray[np.bool_], rule: str
) -> ValueError:
    """Name the first entry of `array` that breaks `rule`."""
    index = np.unravel_index(int(np.argmax(bad)), array.shape)
    where = f"{name}[{', '.join(map(str, index))}]" if index else "it"
    value = str(array[index]).removesuffix(".0")
    return ValueError(f"{name} must be {rule}, but {where} is {value}")


def _shown(value: object) -> str:
    """Return `value` in few words on one line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer too long for Python to print
        return f"an object of type {type(value).__name__}"


def reals(
    name: str,
    value: object,
    *,
    positive: bool = False,
    infinite: bool = False,
    signed: bool = False,
) -> Floats:
    """Return `value` as a non-empty array of non-negative floats, of any shape.

    With `positive`, zero is refused as well; with `infinite`, +inf is allowed; with `signed`,
    negative numbers are.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array; fill or drop what is masked")
    try:
        raw = np.asarray(value)
        if raw.dtype.kind == "O":
            if not all(isinstance(x, Real | Decimal) and not isinstance(x, bool) for x in raw.flat):
                raise TypeError
        elif raw.dtype.kind not in "iuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be real numbers in a regular shape, got {_shown(value)}"
        ) from None
    try:
        with np.errstate(over="ignore"):
            array = raw.astype(np.float64, copy=False)
    except (OverflowError, ValueError):  # the latter for a signalling NaN
        raise ValueError(
            f"{name} must be finite in double precision, got {_shown(value)}"
        ) from None
    if not array.size:
        raise ValueError(f"{name} must have at least one entry, got shape {array.shape}")
    least, most = array.min(), array.max()  # NaN is both
    if signed:
        if not least > -math.inf:
            raise _breach(name, array, ~np.isfinite(array), "finite")
    elif not (least > 0 if positive else least >= 0):
        good = array > 0 if positive else array >= 0
        raise _breach(name, array, ~good, "positive" if positive else "non-negative")
    if most == math.inf and not infinite:
        raise _breach(name, array, np.isinf(array), "finite")
    return array


def vector(
    name: str,
    value: object,
    *,
    length: int | None = None,
    positive: bool = False,
    infinite: bool = False,
) -> Floats:
    """Return `value` as :func:`reals` does, in one dimension, of `length` if given."""
    array = reals(name, value, positive=positive, infinite=infinite)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if length is not None and array.size != length:
        raise ValueError(f"{name} must have length {length}, got {array.size}")
    return array


def scalar(name: str, value: object, *, positive: bool = False, infinite: bool = False) -> float:
    """Return `value` as :func:`reals` does, as one number."""
    array = reals(name, value, positive=positive, infinite=infinite)
    if array.ndim:
        raise ValueError(f"{name} must be a single number, got shape {array.shape}")
    return float(array)


def probabilities(name: str, value: object) -> Floats:
    """Return `value` as numbers from 0 to 1, of any shape."""
    array = reals(name, value)
    if array.max() > 1:
        raise _breach(name, array, array > 1, "a probability of at most 1")
    return array


def integers(name: str, value: object, *, least: int = 0, most: int = 2**53) -> Ints:
    """Return `value` as integers within the bounds, of any shape (7.0 is 7; 7.5 is refused)."""
    array = reals(name, value, signed=True)
    for bad, rule in (
        (array != np.floor(array), "a whole number"),
        (array < least, f"at least {least}" if least else "non-negative"),
        (array > most, f"at most {'2**53' if most == 2**53 else format(most, ',')}"),
    ):
        if bad.any():
            raise _breach(name, array, bad, rule)
    return array.astype(np.int64)


def integer(name: str, value: object, *, least: int = 0) -> int:
    """Return `value` as :func:`integers` does, as one number."""
    array = integers(name, value, least=least)
    if array.ndim:
        raise ValueError(f"{name} must be a single number, got shape {array.shape}")
    return int(array)


def check_quorum(workers: Ints, quorum: npt.NDArray[np.number]) -> None:
    """Refuse quorums above the number of workers."""
    number, first = broadcast(workers=workers, quorum=quorum)
    if np.any(above := first > number):
        at = np.unravel_index(int(np.argmax(above)), above.shape)
        raise ValueError(
            f"quorum must be at most the number of workers, but quorum is {first[at]} and there "
            f"are {number[at]} workers"
        )


def broadcast(**arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Return the arrays in their common shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the arguments must broadcast, but the shapes are {shapes}") from None


def flag(name: str, value: object) -> bool:
    """Return `value` as a bool; nothing else will do."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {_shown(value)}")
    return bool(value)


def choice(name: str, value: object, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of the options."""
    if not isinstance(value, str) or value not in options:
        *most, last = map(repr, options)
        raise ValueError(f"{name} must be {', '.join(most)} or {last}, got {_shown(value)}")
    return value


def check_scale(work: float, speeds: list[float], overhead: list[float]) -> None:
    """Refuse chains whose stage times or whole speed overflow double precision."""
    pace, slowest = sum(speeds), min(speeds)
    if not (pace < math.inf and work / slowest + sum(overhead) < math.inf):
        raise ValueError(
            "costs, speeds and overhead must give finite stage times, but the costs sum to "
            f"{work:g}, the speeds to {pace:g}, and the slowest speed is {slowest:g}; "
            "rescale the units"
        )
