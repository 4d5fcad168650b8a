"""Checks that can fail: elementwise, against independent sources, with the worst point named."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp

Points = Mapping[str, npt.ArrayLike]
Source: TypeAlias = sp.Expr | Callable[..., Any] | npt.ArrayLike


@dataclass(frozen=True)
class Agreement:
    """What was compared, at how many points, and to which relative tolerance."""

    sources: tuple[str, ...]
    points: int
    rtol: float

    def __repr__(self) -> str:
        """Say it in words; deviations themselves depend on the machine and stay out."""
        how = "bit for bit" if self.rtol == 0 else f"to a relative {self.rtol:.0e}"
        unit = "point" if self.points == 1 else "points"
        return f"{' = '.join(self.sources)} at {self.points:,} {unit}, {how}"


def grid(**axes: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
    """Return all combinations of the axes' values, one column for each axis.

    Examples
    --------
    >>> from papers.checks import grid
    >>> {name: column.tolist() for name, column in grid(m=[2, 3], s=[0.5, 1.0]).items()}
    {'m': [2, 2, 3, 3], 's': [0.5, 1.0, 0.5, 1.0]}
    """
    rows = list(product(*(np.asarray(axis).tolist() for axis in axes.values())))
    return dict(zip(axes, map(np.array, zip(*rows, strict=True)), strict=True))


def _values(source: Source, points: dict[str, npt.NDArray[Any]], size: int) -> Any:
    if isinstance(source, sp.Expr):
        missing = {str(s) for s in source.free_symbols} - set(points)
        if missing:
            raise ValueError(f"points must give a value for every symbol, not for {missing}")
        source = sp.lambdify([sp.Symbol(name) for name in points], _plain(source), "scipy")
    if callable(source):
        rows = zip(*(column.tolist() for column in points.values()), strict=True)
        source = [source(**dict(zip(points, row, strict=True))) for row in rows]
    values = np.asarray(source, dtype=float)
    if values.shape != (size,):
        raise ValueError(f"a source must give {size} values, got shape {values.shape}")
    return values


def _plain(expression: sp.Expr) -> sp.Expr:
    """Replace symbols with assumptions by plain ones of the same name."""
    return expression.subs({s: sp.Symbol(str(s)) for s in expression.free_symbols})


def agree(points: Points, *, rtol: float, **sources: Source) -> Agreement:
    """Assert that all sources give the same value at every point.

    Parameters
    ----------
    points : mapping of str to array_like, each of shape (n,)
        One column for each argument, as :func:`grid` makes them.
    rtol : float
        Allowed difference relative to the larger of two values; 0 asks for
        equality of every bit. There is no absolute tolerance.
    **sources : Expr, callable or array_like
        At least two: a SymPy expression in symbols named like the columns, a
        function that takes the columns' names as keywords, or the n values.

    Returns
    -------
    Agreement
        Prints as the sources, the number of points and the tolerance.

    Raises
    ------
    AssertionError
        If two sources differ anywhere; names the worst point. NaN equals nothing.

    Examples
    --------
    >>> import sympy as sp
    >>> from papers.checks import agree
    >>> x = sp.Symbol("x")
    >>> agree({"x": [0.1, 0.2]}, rtol=1e-12, derived=sp.expand((x + 1) ** 2),
    ...       library=lambda x: (x + 1) ** 2)
    derived = library at 2 points, to a relative 1e-12
    """
    columns = {name: np.asarray(column) for name, column in points.items()}
    sizes = {column.shape for column in columns.values()}
    if len(sizes) != 1 or len(next(iter(sizes))) != 1 or next(iter(sizes))[0] == 0:
        raise ValueError(f"points must be columns of one positive length, got shapes {sizes}")
    if len(sources) < 2:
        raise ValueError(f"sources must be at least two, got {list(sources)}")
    size = next(iter(sizes))[0]
    values = {name: _values(source, columns, size) for name, source in sources.items()}
    (first, reference), *others = values.items()
    for name, value in others:
        with np.errstate(invalid="ignore"):
            gap = np.abs(value - reference) / np.maximum(np.abs(value), np.abs(reference))
        gap = np.where(value == reference, 0.0, np.where(np.isnan(gap), np.inf, gap))
        worst = int(np.argmax(gap))
        if gap[worst] > rtol:
            place = ", ".join(f"{key} = {column[worst]}" for key, column in columns.items())
            raise AssertionError(
                f"{first} and {name} differ by a relative {gap[worst]:.1e} at {place}: "
                f"{reference[worst]!r} against {value[worst]!r}, allowed {rtol:.0e}"
            )
    return Agreement(tuple(values), size, rtol)


def z_score(
    estimate: float, standard_error: float, exact: float, *, exact_error: float = 0.0
) -> float:
    """Assert that an estimate lies within four standard errors of the exact value.

    Parameters
    ----------
    estimate, standard_error : float
        Of the simulation; the standard error must be positive.
    exact : float
    exact_error : float, optional
        Standard error of `exact`, if it is an estimate itself.

    Returns
    -------
    float
        The number of standard errors between the two, signed.

    Raises
    ------
    AssertionError
        If it is 4 or more in size.

    Examples
    --------
    >>> from papers.checks import z_score
    >>> round(z_score(2.40, 0.055, 2.3729), 2)
    0.49
    """
    spread = math.hypot(standard_error, exact_error)
    if not (0 < spread < math.inf):
        raise ValueError(f"standard_error must be positive and finite, got {standard_error}")
    z = (estimate - exact) / spread
    if not abs(z) < 4:
        raise AssertionError(
            f"estimate {estimate:g} lies {z:+.1f} standard errors from {exact:g}; allowed are 4"
        )
    return z


@contextmanager
def must_fail() -> Iterator[None]:
    """Assert that the body's check fails, and print how it fails.

    Raises
    ------
    AssertionError
        If the body raises no AssertionError: a check that cannot fail.

    Examples
    --------
    >>> from papers.checks import agree, must_fail
    >>> with must_fail():
    ...     _ = agree({"x": [1.0]}, rtol=1e-12, ours=[1.0], theirs=[1.01])
    the broken check fails, as it must:
    ours and theirs differ by a relative 9.9e-03, ...
    """
    try:
        yield
    except AssertionError as failure:
        print("the broken check fails, as it must:")
        print(str(failure).split(" at ")[0] + ", ...")
    else:
        raise AssertionError("the check passed although the formula was broken")
