"""Numbers on their way into prose, and formulas beside it.

There is one formatter of numbers, which refuses to mislead. Formulas are set as the text sets
them, so that what SymPy derived looks like the theorem it proves.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import sympy as sp
from myst_nb import glue


def number(value: float, spec: str, *, error: float = 0.0) -> str:
    """Format a number for the reader, or refuse.

    Parameters
    ----------
    value : float
        A finite number; NumPy scalars are welcome.
    spec : str
        A format of type ``f``, ``e``, ``%`` or ``d``, such as ``".2f"`` or ``",d"``.
    error : float, optional
        Tolerance or standard error of `value`, in the same unit.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If `value` is not finite, if it is not zero but would print as zero, if
        ``d`` would drop a fraction, or if the last digit is finer than `error`.

    Examples
    --------
    >>> from papers.text import number
    >>> number(2.37290, ".2f", error=0.004), number(0.0137, ".1%")
    ('2.37', '1.4%')
    """
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"value must be finite, got {value}")
    kind = spec[-1:]
    if kind not in ("f", "e", "%", "d"):
        raise ValueError(f"spec must end in f, e, % or d, got {spec!r}")
    if kind == "d":
        if value != int(value):
            raise ValueError(f"value must be whole for {spec!r}, got {value}")
        text = format(int(value), spec)
    else:
        text = format(value, spec)
    if value and not re.search(r"[1-9]", text):
        raise ValueError(f"value {value} would print as {text}; use a finer spec than {spec!r}")
    unit = _last_digit(text)
    if unit < error * (1 - 1e-9):
        raise ValueError(f"{text} shows digits of size {unit:g}, finer than the error {error:g}")
    return text


def _last_digit(text: str) -> float:
    """Return the size of one unit in the last digit shown."""
    mantissa, _, exponent = text.rstrip("%").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals - 2 * text.endswith("%"))


def say(name: str, value: float | str, spec: str = "", *, error: float = 0.0) -> None:
    """Glue a number under `name` for use in prose, formatted by :func:`number`.

    Parameters
    ----------
    name : str
        The key that ``{glue:text}`` roles refer to.
    value : float or str
        A number to format, or text that the registry has formatted already.
    spec, error
        As for :func:`number`; not used for text.
    """
    glue(name, value if isinstance(value, str) else number(value, spec, error=error), display=False)


@dataclass(frozen=True)
class Formula:
    """An expression, and how the text sets it."""

    expression: sp.Basic
    latex: str

    def __repr__(self) -> str:
        """Return the expression as code, where nothing can set it."""
        return str(self.expression)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"


def typeset(expression: sp.Basic, *, order: str | None = None, **names: str) -> Formula:
    r"""Show an expression as the text sets it, with ln for logarithms and psi for polygammas.

    Parameters
    ----------
    expression : Basic
        What SymPy derived.
    order : str, optional
        The order of terms, as for :func:`sympy.latex`; ``"none"`` has constants first.
    **names : str
        What the text calls a symbol, in TeX, by the symbol's name. A symbol must keep a plain
        name where :func:`papers.checks.agree` compares the expression.

    Returns
    -------
    Formula
        Shown as mathematics.

    Raises
    ------
    ValueError
        If the expression has no symbol of such a name.

    Examples
    --------
    >>> import sympy as sp
    >>> from papers.text import typeset
    >>> w, q = sp.symbols("w_max q")
    >>> typeset(sp.log(1 - w * q), order="none", w_max=r"w_{\max}").latex
    '\\ln{\\left(1 - q w_{\\max} \\right)}'
    """
    symbols = {symbol.name: symbol for symbol in expression.atoms(sp.Symbol)}
    if not set(names) <= set(symbols):
        raise ValueError(f"names must be of symbols among {sorted(symbols)}, got {sorted(names)}")
    called = {symbols[name]: tex for name, tex in names.items()}
    shown = expression.replace(sp.polygamma, lambda n, x: sp.Function(r"\psi" + "'" * int(n))(x))
    latex = sp.latex(shown, ln_notation=True, order=order, symbol_names=called)
    return Formula(expression, latex)
