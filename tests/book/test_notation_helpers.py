"""Formulas of a page, symbols of a formula, rows of a table of notation."""

import pytest

from papers.site.notation import explained, mathematics, symbols, used


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
    ],
)
def test_the_symbols_of_a_formula(tex, found):
    assert symbols(tex) == found


def test_a_page_uses_the_symbols_of_all_its_formulas():
    assert used("no formula") == set()
    assert used("$a + b$ then\n\n```{math}\n:label: x\n\\bar c\n```\n") == {"a", "b", r"\bar c"}


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("| $a$ | size | [one](one.md) |", [({"a"}, {"one"})]),
        ("| $a, b$ | size | [1](one.md), [2](two.md) |", [({"a", "b"}, {"one", "two"})]),
        (r"| $a \| b$ | size | [one](one.md) |", [({"a", "b"}, {"one"})]),
        ("| $a$ | [x](other.md) $b$ | [one](one.md#part) |", [({"a"}, {"one"})]),
        ("| X | $a$ | [one](one.md) |", [(set(), {"one"})]),
        ("| $a$ | size | none |", []),
        ("| $a$ | [one](one.md) | none |", []),
        ("| Symbol | Meaning | Papers |", []),
        ("|:--|:--|:--|", []),
        ("$a$ | size | [one](one.md) |", []),
        ("See [one](one.md).", []),
        ("", []),
    ],
)
def test_the_rows_of_a_table_of_notation(line, rows):
    assert explained(line) == rows


def test_the_rows_keep_their_order():
    page = "# T\n\n| $b$ | [1](one.md) |\n\ntext\n| $a$ | [2](two.md) |\n"
    assert explained(page) == [({"b"}, {"one"}), ({"a"}, {"two"})]
