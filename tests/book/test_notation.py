"""Each paper explains its symbols in its own table; the page of notation is made from these."""

import pytest

from papers.pages import papers, read
from papers.site.notation import Row, letter, mathematics, order, rows, symbols, unexplained, used

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
    ("page", "formulas"),
    [
        ("no formula", []),
        ("$a$ and $b + c$", ["a", "b + c"]),
        ("$$a\n+ b$$ and $c$", ["a\n+ b", "c"]),
        ("$a$\n\n```{math}\n:label: eq-b\nb\n```\n", ["\nb\n", "a"]),
        ("```{math}\n:label: eq-b\n:nowrap:\nb\n:c\n```\n", ["\n\nb\n\n"]),
        ("```{math}\na\n```\n$b$\n```{math}\nc : d\n```\n", ["a\n", "c : d\n", "b"]),
        ("$a$\n```{code-cell}\n'$b$'\n\n'$c$'\n```\n$d$", ["a", "d"]),
        ("$a$\n````{code-cell}\n'$b$'\n```\n'$c$'\n````\n$d$", ["a", "d"]),
        ("$a$\n```python\n'$b$'\n\n'$c$'\n```\n$d$", ["a", "d"]),
        ("$a$\n```bash\n'$b$'\n```\n```text\n'$c$'\n```\n$d$", ["a", "d"]),
        ("$a$ `$b$` {eq}`$c$` {prf:ref}`$d$` $e$", ["a", "e"]),
    ],
)
def test_the_formulas_of_a_page(page, formulas):
    assert mathematics(page) == formulas


@pytest.mark.parametrize(
    ("page", "formula"),
    [
        ("$a\n```{code-cell}\n1\n```\nb$", "a\n\nb"),
        ("$a\n```python\n1\n```\nb$", "a\n\nb"),
        ("$a {eq}`c` b$", "a   b"),
    ],
)
def test_nothing_is_put_where_code_or_a_role_stood(page, formula):
    assert mathematics(page) == [formula]


def test_only_a_blank_is_put_where_a_block_stood():
    assert mathematics("$a\n```{math}\nc\n```\nb$") == ["c\n", "a\n \nb"]


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        ("", set()),
        ("1 + 2", set()),
        (r"a_b^C", {"a", "b", "C"}),
        (r"\alpha + \varepsilon \cdot \Omega", {r"\alpha", r"\varepsilon", r"\Omega"}),
        (r"\frac{\max x}{\left(y\right)}", {"x", "y"}),
        (r"\bar v + \bar{w} + \hat\mu", {r"\bar v", r"\bar w", r"\hat \mu"}),
        (r"a\text{ x }b\mathrm{d}c", {"a", "b", "c"}),
        (r"\barely x", {"x"}),
        (r"\frac{\tilde{q}}{L_r}", {r"\tilde q", "L", "r"}),
        (r"\mathrm du \, \operatorname{Var} x", {"u", "x"}),
    ],
)
def test_the_symbols_of_a_formula(tex, found):
    assert symbols(tex) == found


def test_a_page_uses_the_symbols_of_all_its_formulas():
    assert used("no formula") == set()
    assert used("$a + b$ then\n\n```{math}\n:label: x\n\\bar c\n```\n") == {"a", "b", r"\bar c"}
