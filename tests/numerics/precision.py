"""Conversions without rounding, and doubles against numbers of any precision."""

import numbers
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
from mpmath import libmp

Number: TypeAlias = Any  # a Fraction or an mpf: the enumerations run in either
Real: TypeAlias = int | float | Fraction | mpmath.mpf
DIGITS = 60


def as_fraction(value: Real) -> Fraction:
    """Return the exact rational value of a finite number."""
    if isinstance(value, mpmath.mpf):
        return Fraction(*map(int, libmp.to_rational(value._mpf_)))
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def as_mpf(value: Real) -> mpmath.mpf:
    """Round a number to the current mpmath precision."""
    fraction = as_fraction(value)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def positive(rates: Sequence[Real]) -> tuple[Fraction, ...]:
    """Return the rates as exact rationals, refusing any that is not positive."""
    exact = tuple(as_fraction(rate) for rate in rates)
    if not exact or min(exact) <= 0:
        raise ValueError("rates must be positive")
    return exact


def checked_quorum(n: int, k: Real) -> Fraction:
    """Return the quorum as an exact rational, refusing any outside (0, n]."""
    exact = as_fraction(k)
    if not 0 < exact <= n:
        raise ValueError("the quorum must lie in (0, n]")
    return exact


def whole_quorum(n: int, k: int) -> int:
    """Return the quorum as an int, refusing anything but 1, ..., n."""
    exact = checked_quorum(n, k)
    if exact.denominator != 1:
        raise ValueError("the quorum must be a whole number")
    return int(exact)


def total_of(terms: Sequence[Number]) -> Number:
    """Sum in a balanced tree, which keeps the denominators of most additions small."""
    level = list(terms) or [Fraction(0)]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + odd
    return level[0]


def close(value, exact, rtol=1e-12):
    """Whether a float lies within a relative distance of a number of any precision."""
    with mpmath.workdps(60):
        if isinstance(exact, Fraction):
            exact = mpmath.mpf(exact.numerator) / exact.denominator
        exact = mpmath.mpf(exact)
        return abs(mpmath.mpf(float(value)) - exact) <= rtol * abs(exact)
