"""Each paper explains its symbols in its own table; the page of notation is made from these."""

import pytest

from papers.pages import papers, read
from papers.site.notation import Row, letter, mathematics, order, rows, symbols, unexplained

HEAD = "| Symbol | Meaning | Unit |\n|:--|:--|:--|\n"


@pytest.mark.parametrize("paper", papers())
def test_every_symbol_of_two_sections_is_explained(paper):
    missing = unexplained(read(paper).text)
    assert missing == set(), f"give these a row in the table of symbols of book/{paper}.md"


@pytest.mark.parametrize("paper", papers())
def test_every_row_stands_by_itself(paper):
    """The page of notation shows it without those above it."""
    for row in rows(read(paper).text):
        assert row.symbol.count("$") == 2, row
        assert not row.meaning.startswith(("its ", "their ", "the same ")), row


def test_a_row_may_explain_several_symbols():
    assert rows(HEAD + "| $a$, $b_i$ | one; the other | s, byte |\n| $c$ | a; b | – |") == [
        Row("$a$", "one", "s"),
        Row("$b_i$", "the other", "byte"),
        Row("$c$", "a; b", "–"),
    ]
    assert [row.unit for row in rows(HEAD + "| $f(x, y)$, $b$ | one; other | s |")] == ["s", "s"]


@pytest.mark.parametrize("row", ["| $a$, $b$ | one | s |", "| $a$ | one | s, byte |"])
def test_a_row_with_a_meaning_or_a_unit_too_few_is_refused(row):
    with pytest.raises(ValueError, match="a meaning and a unit for each symbol"):
        rows(HEAD + row)


def test_rows_are_in_the_order_of_their_letters():
    names = ["$a_j$", "$b$", r"$B$", r"$v$", r"$\bar v$", r"$\alpha$", r"$\sigma^2$", r"$\omega$"]
    listed = [Row(name, "", "") for name in reversed(names)]
    found = [row.symbol for row in sorted(listed, key=order)]
    assert sorted(found[:5]) == sorted(names[:5])
    assert [x.strip("$\\")[0].lower() for x in found[:3]] == ["a", "b", "b"]
    assert found[5:] == names[5:]


def test_a_row_explains_its_first_letter():
    assert letter(Row(r"$\bar v = V/m$", "", "")) == r"\bar v"
    assert letter(Row(r"$N_\tau$", "", "")) == "N"


def test_letters_of_one_section_or_of_proofs_need_no_row():
    proof = "````{prf:proof}\n$q$\n````\n"
    page = f"# Title\n\n$e$\n\n## One\n\n$a$ $b$\n\n{proof}\n## Two\n\n$b$ $q$ $e$\n"
    assert unexplained(page) == {"b"}
    assert unexplained(page + HEAD + "| $b$ | a thing | – |\n") == set()


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
