"""Find typed results in a page: decimals, percentages and factors that nobody computed.

Text is everything a reader sees that is not code, mathematics or the target of a
role: paragraphs, tables, footnotes, captions and alternative texts, the latter two
also where they stand in the options of a code cell. Whole numbers are allowed; they
count things. A result belongs into a ``{glue:text}`` role.
"""

from __future__ import annotations

import re
from pathlib import Path

_TYPED = re.compile(
    r"""
    \d[\d,]*\.\d+(?:\s*(?:%|×|times\b))?  # a decimal
    | \.\d+\b                # a decimal without its zero
    | \d[\d,]*\s*(?:%|‰|percent\b|per\ cent\b)
    | \d[\d,]*\**\s*(?:×|-?fold\b|x\b|times\b)
    | (?:×|±|≈|~)\s*\d
    | \d[eE][-+]?\d
    | \b(?:factor|ratio|speed-?up)\s+of\s+\**\d
    """,
    re.VERBOSE,
)
_NOT_PROSE = re.compile(
    r"""
    \{[\w:.-]+\}`[^`]*`      # a role
    | (?P<ticks>`+).*?(?P=ticks)
    | \$\$.*?\$\$ | \$[^$]+\$
    | <!--.*?-->
    | \]\([^)]*\)            # the target of a link
    | <?https?://\S+
    """,
    re.VERBOSE | re.DOTALL,
)
_FENCE = re.compile(r"^\s*(?P<marks>`{3,}|~{3,}|:{3,})\s*(?:\{(?P<name>[\w:-]+)\})?(?P<rest>.*)$")
_CODE = {"code", "code-block", "code-cell", "math", "bibliography", "eval-rst", "raw", None}


Lines = list[tuple[int, str]]


def _prose_lines(text: str) -> Lines:
    """Return the numbered lines that a reader sees as text."""
    lines = list(enumerate(text.splitlines(), start=1))
    options, rest = _split_options(lines)
    prose: Lines = []  # the page's own front matter is no text
    fences: list[str] = []
    while rest:
        number, line = rest.pop(0)
        fence = _FENCE.match(line)
        if not fence:
            prose.append((number, line))
        elif fences and not fence["name"] and fence["marks"].startswith(fences[-1]):
            fences.pop()
        elif fence["name"] in _CODE:
            body: Lines = []
            while rest and not rest[0][1].strip().startswith(fence["marks"]):
                body.append(rest.pop(0))
            del rest[:1]
            options, _ = _split_options(body)
            prose += options if fence["name"] == "code-cell" else []
        else:
            fences.append(fence["marks"])
            prose.append((number, fence["rest"]))
    return prose


def _split_options(lines: Lines) -> tuple[Lines, Lines]:
    """Split off the options that lead a page or a cell: between --- lines, or with colons."""
    end = 0
    if lines and lines[0][1].strip() == "---":
        end = 1 + next((i for i, (_, x) in enumerate(lines) if i and x.strip() == "---"), 0)
        return lines[1 : end - 1], lines[end:]
    while end < len(lines) and lines[end][1].startswith(":") and not _FENCE.match(lines[end][1]):
        end += 1
    return lines[:end], lines[end:]


def typed_results(text: str) -> list[tuple[int, str]]:
    """Return each typed result with the number of its line.

    Parameters
    ----------
    text : str
        A page in MyST Markdown.

    Returns
    -------
    list of (int, str)

    Examples
    --------
    >>> from papers.site.prose import typed_results
    >>> typed_results("It costs {glue:text}`price` at $x = 0.5$, which is 2.4× the bound.")
    [(1, '2.4×')]
    """
    numbered = _prose_lines(text)
    joined = "\n".join(line for _, line in numbered)
    blanked = _NOT_PROSE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), joined)
    return [
        (numbered[blanked.count("\n", 0, match.start())][0], " ".join(match[0].split()))
        for match in _TYPED.finditer(blanked)
    ]


def check(book: Path) -> list[str]:
    """Return a line for every typed result in the pages of a book."""
    return [
        f"{page.name}:{number}: {found}"
        for page in sorted(book.glob("*.md"))
        for number, found in typed_results(page.read_text("utf-8"))
    ]
