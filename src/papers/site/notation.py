r"""Read the symbols of a page, and those that the page of notation explains.

A symbol is a letter, Latin or Greek, with its accent if it has one: :math:`\bar v` is
another symbol than :math:`v`, while :math:`v_j` is not. Only mathematics is read; names
set upright, such as those of functions, are words and not symbols.
"""

from __future__ import annotations

import re

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
_INLINE = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$]+)\$", re.DOTALL)


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
    found = set()
    for accent, letter in _LETTER.findall(_UPRIGHT.sub(" ", tex)):
        if len(letter) == 1 or _COMMANDS.fullmatch(letter):
            found.add(f"\\{accent} {letter}" if accent else letter)
    return found


def used(text: str) -> set[str]:
    """Return all symbols of a page."""
    return set().union(*map(symbols, mathematics(text)))


def explained(text: str) -> list[tuple[set[str], set[str]]]:
    """Return the symbols and the pages of each row of the tables of notation.

    Parameters
    ----------
    text : str
        The page of notation: tables whose first column holds symbols and whose last
        column links to the papers that use them.

    Returns
    -------
    list of (set of str, set of str)
        In the order of the page. The names of the pages are without their ending.
    """
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))]
        pages = set(re.findall(r"\]\((\w+)\.md", cells[-1]))
        if line.startswith("|") and pages:
            rows.append((used(cells[0]), pages))
    return rows
