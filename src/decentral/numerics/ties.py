"""Whole answers that do not hang on the last bit of a rounded number.

Where a count, an order, or whether something settles at all is decided by comparing numbers that
were rounded, they count as equal within a relative :data:`TOLERANCE`: far more than a few roundings
do, on any processor, and far less than anybody means by a number that they type. The numbers are
not negative; those of one call are scalars or arrays that broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from decentral.numerics.validation import Floats, Ints

# A target counts as met if it is missed by no more than this share of it.
TOLERANCE = 1e-12


def widened(target: Any) -> Any:
    """Return the largest number that counts as at most `target`."""
    return target * (1 + TOLERANCE)


def met(value: Any, target: Any) -> Any:
    """Return where a value is at most the target, or rounding may be all that it is beyond it."""
    return value <= widened(target)


def below(value: Any, bound: Any) -> Any:
    """Return where a value is less than the bound by more than rounding may do."""
    return value < bound * (1 - TOLERANCE)


def equal(value: Any, other: Any) -> Any:
    """Return where two values count as equal."""
    return met(value, other) & np.logical_not(below(value, other))


def first_least(values: Floats) -> Ints:
    """Return where along the last axis the first of the least values stands."""
    return np.asarray(np.argmax(met(values, values.min(axis=-1, keepdims=True)), axis=-1))


def largest(scores: Sequence[Fraction], count: int, tolerance: float) -> list[int]:
    """Return the places of the `count` largest scores; of those that tie for the last, the first.

    Scores tie if they differ by no more than the tolerance.
    """
    if not count:
        return []
    border = sorted(scores, reverse=True)[count - 1]
    sure = [i for i, score in enumerate(scores) if score > border + Fraction(tolerance)]
    tied = [i for i, score in enumerate(scores) if abs(score - border) <= Fraction(tolerance)]
    return sure + tied[: count - len(sure)]
