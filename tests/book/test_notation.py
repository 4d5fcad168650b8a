"""The page of notation explains each symbol of the papers, and no other."""

from itertools import groupby
from pathlib import Path

import pytest

from papers.claims import PAPERS
from papers.site.notation import explained, mathematics, symbols, used

BOOK = Path(__file__).parents[2] / "book"
NOTATION = (BOOK / "notation.md").read_text("utf-8")
ROWS = explained(NOTATION)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_symbol_of_a_paper_is_explained_for_it(paper):
    listed = set().union(*(names for names, pages in ROWS if paper in pages))
    found = used((BOOK / f"{paper}.md").read_text("utf-8"))
    assert found - listed == set(), f"book/notation.md must explain these for {paper}.md"
    assert listed - found == set(), f"book/notation.md explains these for {paper}.md, in vain"


def test_every_row_has_symbols_and_real_papers():
    assert len(ROWS) > 60
    for names, pages in ROWS:
        assert names
        assert pages <= set(PAPERS)


def test_every_row_gives_a_meaning_and_a_unit():
    lines = [line for line in NOTATION.splitlines() if line.startswith("| $")]
    assert len(lines) == len(ROWS)
    for line in lines:
        assert all(cell.strip() for cell in line.strip("|").split(" | ")[:3]), line


def test_a_symbol_stands_in_one_place():
    """Its meanings in different papers follow each other."""
    firsts = [line.split("$")[1] for line in NOTATION.splitlines() if line.startswith("| $")]
    letters = [key for key, _ in groupby(min(symbols(tex), key=tex.find) for tex in firsts)]
    apart = {letter for letter in letters if letters.count(letter) > 1}
    assert apart == set(), "put all rows of each of these letters together"


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        (r"\bar v / v_{\min}", {r"\bar v", "v"}),
        (r"\mathrm du \, \operatorname{Var} x", {"u", "x"}),
        (r"\text{block } j \ge \sigma_y^2", {"j", r"\sigma", "y"}),
        (r"\frac{\tilde{q}}{L_r}", {r"\tilde q", "L", "r"}),
    ],
)
def test_symbols_of_a_formula(tex, found):
    assert symbols(tex) == found


def test_mathematics_is_not_looked_for_in_code():
    cell = "```{code-cell} ipython3\nd = '$d$'\n```\n"
    text = f"$a$ `$b$` {{eq}}`c`\n\n{cell}\n```{{math}}\n:label: x\ng\n```\n"
    assert set(mathematics(text)) == {"a", "\ng\n"}
