r"""Read the symbols of a page, and its own table of them.

A symbol is a letter, Latin or Greek, with its accent if it has one: :math:`\bar v` is
another symbol than :math:`v`, while :math:`v_j` is not. Only mathematics is read; names
set upright, such as those of functions, are words and not symbols.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

_COMMANDS = re.compile(
    r"\\(?:alpha|beta|gamma|delta|(?:var)?epsilon|zeta|ell|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi"
    r"|pi|(?:var)?rho|sigma|tau|upsilon|(?:var)?phi|chi|psi|omega"
    r"|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)"
)
_ACCENTS = "bar|hat|tilde|dot|overline|mathbb|mathcal"
_UPRIGHT = re.compile(
    r"\\(?:text|textrm|mathrm|operatorname\*?|begin|end|label)\s*(?:\{[^{}]*\}|[a-zA-Z]\b|[a-zA-Z])"
)
_LETTER = re.compile(rf"(?:\\({_ACCENTS})(?![a-zA-Z])\s*\{{?\s*)?(\\[a-zA-Z]+|[a-zA-Z])")
_CELL = re.compile(r"^(?P<marks>`{3,})\{code-cell\}.*?^(?P=marks)\s*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^```(?:python|bash|text)\n.*?^```\s*$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"```\{math\}\n(?P<tex>.*?)```", re.DOTALL)
_ROLE = re.compile(r"(?:\{[\w:.-]+\})?`[^`]*`")
_PROOF = re.compile(r"^(?P<marks>`{3,})\{prf:proof\}.*?^(?P=marks)\s*$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$]+)\$", re.DOTALL)

GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "ell",
]  # fmt: skip
# Indices, Euler's number, expectation, probability, the sign of a differential.
STANDARD = {"i", "j", "k", "e", "E", "P", "d"}


def mathematics(text: str) -> list[str]:
    """Return the formulas of a page, without its code.

    Parameters
    ----------
    text : str
        A page in MyST Markdown.

    Returns
    -------
    list of str
        TeX.
    """
    text = _CODE.sub("", _CELL.sub("", text))
    blocks = [re.sub(r"^:.*$", "", x["tex"], flags=re.MULTILINE) for x in _BLOCK.finditer(text)]
    rest = _ROLE.sub(" ", _BLOCK.sub(" ", text))
    return blocks + [x["block"] or x["inline"] for x in _INLINE.finditer(rest)]


def symbols(tex: str) -> set[str]:
    r"""Return the symbols of a formula.

    Examples
    --------
    >>> from papers.site.notation import symbols
    >>> sorted(symbols(r"T^* \ge \frac{W}{m\,\bar v} + \max_j c_j + \mathrm{Bin}(L, q)"))
    ['L', 'T', 'W', '\\bar v', 'c', 'j', 'm', 'q']
    """
    return set(_symbols(tex))


def _symbols(tex: str) -> list[str]:
    return [
        f"\\{accent} {name}" if accent else name
        for accent, name in _LETTER.findall(_UPRIGHT.sub(" ", tex))
        if len(name) == 1 or _COMMANDS.fullmatch(name)
    ]


def used(text: str) -> set[str]:
    """Return all symbols of a page."""
    return set().union(*map(symbols, mathematics(text)))


@dataclass(frozen=True)
class Row:
    """A symbol that a paper explains: TeX between dollars, its meaning, its unit."""

    symbol: str
    meaning: str
    unit: str


def rows(text: str) -> list[Row]:
    r"""Return the rows of the table of symbols in a paper, one for each symbol.

    A row of the table may explain several symbols: then it has as many meanings, between
    semicolons, and one unit for each or one for all, between commas.

    Parameters
    ----------
    text : str
        A page in MyST Markdown. Its table begins ``| Symbol | Meaning | Unit |``.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If a row has another number of meanings or units than of symbols.

    Examples
    --------
    >>> from papers.site.notation import rows
    >>> head = "| Symbol | Meaning | Unit |\n|:--|:--|:--|\n"
    >>> for row in rows(head + "| $L$, $t$ | layers; time | –, s |"):
    ...     print(row.symbol, row.meaning, row.unit)
    $L$ layers –
    $t$ time s
    """
    found = []
    for line in _table(text):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))]
        names = _split(cells[0], ",")
        meanings = _split(cells[1], ";") if len(names) > 1 else cells[1:2]
        units = _split(cells[2], ",")
        units = units * len(names) if len(units) == 1 else units
        if not len(names) == len(meanings) == len(units):
            raise ValueError(f"a row must give a meaning and a unit for each symbol: {line}")
        found += [Row(*each) for each in zip(names, meanings, units, strict=True)]
    return found


def _table(text: str) -> list[str]:
    _, _, rest = text.partition("| Symbol | Meaning | Unit |\n")
    return [*takewhile(lambda line: line.startswith("|"), rest.splitlines())][1:]


def _split(cell: str, mark: str) -> list[str]:
    """Split a cell at a mark outside of mathematics."""
    return [part.strip() for part in re.split(rf"{mark}(?=(?:[^$]*\$[^$]*\$)*[^$]*$)", cell)]


def letter(row: Row) -> str:
    """Return the symbol that a row explains, as :func:`symbols` names it: its first."""
    return _symbols(row.symbol)[0]


def order(row: Row) -> tuple[int, str, str, str]:
    """Return what a row is sorted by: its letter, Latin ones first, then the whole symbol."""
    name = letter(row).split(" ")[-1]
    greek = GREEK.index(name[1:].lower().removeprefix("var")) if name.startswith("\\") else -1
    return greek, name.lower(), name.swapcase(), row.symbol


def unexplained(text: str) -> set[str]:
    """Return the symbols that a paper should explain in its table, and does not.

    That is each letter that stands in two sections or more: a letter of a single section, or
    of a single proof, is defined there. Indices and the signs of mathematics at large, which
    the page of notation names, need no row.
    """
    text = _PROOF.sub("", text)
    parts = [used(part) for part in re.split(r"^## ", text, flags=re.MULTILINE)]
    often = {x for part in parts for x in part if sum(x in other for other in parts) > 1}
    return often - {letter(row) for row in rows(text)} - STANDARD
