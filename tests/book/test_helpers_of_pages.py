"""What the pages are helped with: formulas, prose, numbers, checks, figures and the ledger."""

import codecs
import math
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from papers import checks, claims, figures, text
from papers.checks import Agreement, agree, grid, must_fail, z_score
from papers.claims import Claim, Found, Judgement, Published, Verdict, judge, weigh
from papers.site.notation import explained, mathematics, symbols, used
from papers.site.prose import check, typed_results
from papers.text import number, say, typeset


def refusal(kind, function, *arguments, **options):
    """What a call says when it refuses."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert type(caught.value) is kind
    return str(caught.value)


# --- notation -------------------------------------------------------------------------------


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


# --- prose ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("1.5", "1.5"),
        ("1,234.5 %", "1,234.5 %"),
        ("1.5\n  times", "1.5 times"),
        (".5", ".5"),
        ("1,200 ‰", "1,200 ‰"),
        ("12 per cent", "12 per cent"),
        ("8fold", "8fold"),
        ("8x", "8x"),
        ("±3", "±3"),
        ("~ 3", "~ 3"),
        ("1e-5", "1e-5"),
        ("**8**×", "8**×"),
        ("a factor of 8", "factor of 8"),
        ("a speed-up\nof **8**", "speed-up of **8"),
    ],
)
def test_a_typed_result_is_found_whole(typed, found):
    assert typed_results(f"It is {typed}, they say.") == [(1, found)]


@pytest.mark.parametrize("allowed", ["", "\n", "12 layers", "8 xylophones", "v1", "in 2024, 3"])
def test_whole_numbers_count_things(allowed):
    assert typed_results(allowed) == []


@pytest.mark.parametrize(
    "hidden",
    [
        "{glue:text}`a\n1.5`",
        "`1.5`",
        "``1.5 ` 1.5``",
        "$x\n= 1.5$",
        "$$x = 1.5$$",
        "<!-- 1.5\n1.5 -->",
        "[x](a-1.5.md)",
        "<https://a.b/1.5>",
    ],
)
def test_what_is_no_prose_may_hold_decimals_and_does_not_shift_the_lines(hidden):
    assert typed_results(f"a\n{hidden} b 2.5\n3.5") == [
        (2 + hidden.count("\n"), "2.5"),
        (3 + hidden.count("\n"), "3.5"),
    ]


def test_what_is_no_prose_counts_as_a_blank():
    assert typed_results("3 $x$ × 2") == [(1, "3 ×")]


FENCED = {
    "front matter": ("---\ntitle: 1.5\n---\n2.5", [(4, "2.5")]),
    "indented front matter": (" --- \ntitle: 1.5\n --- \n2.5", [(4, "2.5")]),
    "front matter ends once": ("---\n1.5\n---\n2.5\n---\n3.5", [(4, "2.5"), (6, "3.5")]),
    "front matter without an end": ("---\n1.5", [(2, "1.5")]),
    "a rule later on": ("1.5\n---\n2.5\n---", [(1, "1.5"), (3, "2.5")]),
    "a page that opens with options": (":a: 1.5\n:b: 2.5\n3.5\n:4.5", [(3, "3.5"), (4, "4.5")]),
    "only options": (":a: 1.5", []),
    "a page that opens with a directive": (":::{note} 1.5\n:::\n2.5", [(1, "1.5"), (3, "2.5")]),
    "code": ("```python\n1.5\n```\n2.5", [(4, "2.5")]),
    "code that never ends": ("0.5\n```\n1.5", [(1, "0.5")]),
    "code with a longer end": ("```\n1.5\n````\n2.5", [(4, "2.5")]),
    "longer code": ("````\n```\n1.5\n```\n1.5\n````\n2.5", [(7, "2.5")]),
    "indented code": ("- a\n  ```\n  1.5\n  ```\n2.5", [(5, "2.5")]),
    "tilded code": ("~~~\n1.5\n```\n1.5\n~~~\n2.5", [(6, "2.5")]),
    "mathematics": ("```{math}\n:label: 1.5\n1.5\n```\n2.5", [(5, "2.5")]),
    "a caption of listed code": ("```{code-block}\n:caption: 1.5\nx\n```", []),
    "two blocks of code": ("```\n1.5\n```\n2.5\n```\n3.5\n```\n4.5", [(4, "2.5"), (8, "4.5")]),
    "options of a cell": (
        "0.5\n```{code-cell} python\n:alt: 1.5\n:b: 2.5\nx = 3.5\n:c: 4.5\n```\n5.5",
        [(1, "0.5"), (3, "1.5"), (4, "2.5"), (8, "5.5")],
    ),
    "options of a cell between rules": (
        "```{code-cell} python\n---\na: 0.5\nb:\n  1.5\n---\n:c: 2.5\n---\n```\n3.5",
        [(3, "0.5"), (5, "1.5"), (10, "3.5")],
    ),
    "a cell of options only": ("```{code-cell}\n:alt: 1.5\n```\n", [(2, "1.5")]),
    "an empty cell": ("```{code-cell}\n```\n1.5", [(3, "1.5")]),
    "a directive": (
        "0.5\n:::{note} 1.5\n:class: 2.5\n3.5\n:::\n4.5",
        [(1, "0.5"), (2, "1.5"), (3, "2.5"), (4, "3.5"), (6, "4.5")],
    ),
    "a directive that ended": ("```{note}\n1.5\n```\n```\n2.5\n```\n3.5", [(2, "1.5"), (7, "3.5")]),
    "a directive with a longer end": (
        ":::{note}\n1.5\n::::\n```\n2.5\n```\n3.5",
        [(2, "1.5"), (7, "3.5")],
    ),
    "directives within each other": (
        "::::{a}\n:::{b}\n1.5\n:::\n```\n2.5\n```\n3.5\n::::\n4.5\n:::\n5.5\n:::",
        [(3, "1.5"), (8, "3.5"), (10, "4.5")],
    ),
    "code in a directive": (":::{note}\n```\n1.5\n```\n2.5\n:::\n3.5", [(5, "2.5"), (7, "3.5")]),
    "a cell in a directive": (
        "````{a}\n```{code-cell}\n:alt: 1.5\n2.5\n```\n````\n3.5",
        [(3, "1.5"), (7, "3.5")],
    ),
    "a directive in code": ("````\n:::{note}\n1.5\n:::\n````\n2.5", [(6, "2.5")]),
    "equal directives within each other": (
        "```{a}\n```{b}\n1.5\n```\n2.5\n```\n3.5\n```\n4.5\n```\n",
        [(3, "1.5"), (5, "2.5"), (7, "3.5")],
    ),
}


@pytest.mark.parametrize("case", FENCED)
def test_the_lines_that_a_reader_sees(case):
    page, found = FENCED[case]
    assert typed_results(page) == found


def test_a_book_is_checked_page_by_page(tmp_path):
    (tmp_path / "b.md").write_text("1.5\n\n2.5", "utf-8")
    (tmp_path / "a.md").write_text("fine\nand 3 × as much", "utf-8")
    (tmp_path / "c.md").write_text("fine", "utf-8")
    (tmp_path / "d.txt").write_text("4.5", "utf-8")
    assert check(tmp_path) == ["a.md:2: 3 ×", "b.md:1: 1.5", "b.md:3: 2.5"]


def test_pages_are_read_in_their_order(tmp_path):
    """Whatever order the file system lists them in."""
    pages = [tmp_path / f"{name}.md" for name in "cab"]
    for page in pages:
        page.write_text("1.5", "utf-8")
    book = SimpleNamespace(glob=lambda pattern: [page for page in pages if page.match(pattern)])
    assert check(book) == ["a.md:1: 1.5", "b.md:1: 1.5", "c.md:1: 1.5"]


def test_pages_are_read_as_utf8(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("fine", "utf-8")
    read, seen = Path.read_text, []
    monkeypatch.setattr(
        Path, "read_text", lambda path, encoding=None: seen.append(encoding) or read(path, encoding)
    )
    assert check(tmp_path) == []
    assert [codecs.lookup(encoding).name for encoding in seen] == ["utf-8"]


# --- text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "spec", "shown"),
    [
        (2.375, ".2f", "2.38"),
        (-0.05, ".1f", "-0.1"),
        (0.0137, ".1%", "1.4%"),
        (1234567.0, ",d", "1,234,567"),
        (0, "d", "0"),
        (0, ".0%", "0%"),
        (1e-320, ".0e", "1e-320"),
        (10.0, ".0f", "10"),
        (0.09, ".1f", "0.1"),
    ],
)
def test_a_number_as_it_is_shown(value, spec, shown):
    assert number(value, spec) == shown


@pytest.mark.parametrize(
    ("value", "spec", "error", "message"),
    [
        (math.nan, "d", 0, "value must be finite, got nan"),
        (-math.inf, ".2f", 0, "value must be finite, got -inf"),
        (1, ".3g", 0, "spec must end in f, e, % or d, got '.3g'"),
        (1, "", 0, "spec must end in f, e, % or d, got ''"),
        (1, "f ", 0, "spec must end in f, e, % or d, got 'f '"),
        (1.5, ",d", 0, "value must be whole for ',d', got 1.5"),
        (0.04, ".1f", 0, "value 0.04 would print as 0.0; use a finer spec than '.1f'"),
        (-1e-9, ".1%", 0, "value -1e-09 would print as -0.0%; use a finer spec than '.1%'"),
        (2.3729, ".3f", 0.005, "2.373 shows digits of size 0.001, finer than the error 0.005"),
        (0.01372, ".2%", 0.001, "1.37% shows digits of size 0.0001, finer than the error 0.001"),
        (1234, "d", 2.5, "1234 shows digits of size 1, finer than the error 2.5"),
        (1234, ".1e", 200, "1.2e+03 shows digits of size 100, finer than the error 200"),
    ],
)
def test_what_a_number_is_refused_for(value, spec, error, message):
    assert refusal(ValueError, number, value, spec, error=error) == message


def test_an_error_may_be_one_unit_of_the_last_digit_up_to_rounding():
    assert number(2.37, ".2f", error=0.01) == "2.37"
    assert number(2.37, ".2f", error=0.01 * (1 + 5e-10)) == "2.37"
    refusal(ValueError, number, 2.37, ".2f", error=0.01 * (1 + 2e-9))


@pytest.mark.parametrize(
    ("shown", "exponent"),
    [
        ("2.37", -2),
        ("-1,234", 0),
        ("7", 0),
        ("14%", -2),
        ("1.4%", -3),
        ("1.0e-09", -10),
        ("1e+03", 3),
        ("1.25e+03", 1),
    ],
)
def test_the_size_of_the_last_digit(shown, exponent):
    assert text._last_digit(shown) == 10.0**exponent


def test_a_formula_is_shown_as_the_text_sets_it():
    w, x = sp.symbols("w_max x", positive=True)
    plain = sp.polygamma(1, x) + sp.log(1 - w)
    formula = typeset(plain, order="none", w_max=r"w_{\max}")
    assert formula._repr_latex_() == (
        r"$\displaystyle \psi'{\left(x \right)} + \ln{\left(1 - w_{\max} \right)}$"
    )
    assert repr(formula) == str(plain)
    with pytest.raises(ValueError, match=r"among \['w_max', 'x'\], got \['y'\]"):
        typeset(plain, y="z")


@pytest.fixture
def glued(monkeypatch):
    said = []
    monkeypatch.setattr(text, "glue", lambda *words, **options: said.append((words, options)))
    return said


def test_a_number_is_glued_as_it_is_shown_and_text_as_it_is(glued):
    say("a", 2.375, ".2f", error=0.01)
    say("b", "2.4", ".0f")
    say("c", 7, "d")
    say("d", "text")
    say("e", 0.25, ".2f")
    quiet = {"display": False}
    assert glued == [
        (("a", "2.38"), quiet),
        (("b", "2.4"), quiet),
        (("c", "7"), quiet),
        (("d", "text"), quiet),
        (("e", "0.25"), quiet),
    ]


def test_a_number_that_is_refused_is_not_glued(glued):
    message = "2.38 shows digits of size 0.01, finer than the error 0.1"
    assert refusal(ValueError, say, "a", 2.375, ".2f", error=0.1) == message
    message = "spec must end in f, e, % or d, got ''"
    assert refusal(ValueError, say, "a", 2.375) == message
    assert glued == []


# --- checks ---------------------------------------------------------------------------------

X, Y = sp.Symbol("x"), sp.Symbol("y", positive=True)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (Agreement(("a", "b"), 1, 0), "a = b at 1 point, bit for bit"),
        (Agreement(("a", "b", "c"), 2, 1), "a = b = c at 2 points, to a relative 1e+00"),
        (Agreement(("a", "b"), 1234, 2e-12), "a = b at 1,234 points, to a relative 2e-12"),
    ],
)
def test_an_agreement_in_words(report, words):
    assert repr(report) == words


def test_a_grid_holds_all_combinations():
    columns = grid(m=[2, 3], s=np.array([0.5, 1.0, 1.5]), z=(7,))
    assert {name: column.tolist() for name, column in columns.items()} == {
        "m": [2, 2, 2, 3, 3, 3],
        "s": [0.5, 1.0, 1.5, 0.5, 1.0, 1.5],
        "z": [7] * 6,
    }
    assert [column.dtype.kind for column in columns.values()] == ["i", "f", "i"]


def test_a_grid_without_points_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        grid(m=[1, 2], s=[])


def test_symbols_are_found_by_their_names_whatever_is_assumed_of_them():
    assert checks._plain(X + 2 * Y) == X + 2 * sp.Symbol("y")


def test_all_kinds_of_sources_are_compared():
    report = agree(
        {"x": [1.0, 2.0], "y": [3, 5]},
        rtol=0,
        law=X + 2 * Y,
        code=lambda y, x: x + 2 * y,
        table=[7, 12],
        array=np.array([7.0, 12.0]),
    )
    assert report == Agreement(("law", "code", "table", "array"), 2, 0)


def test_code_is_called_with_plain_numbers():
    kinds = []
    agree(
        {"x": np.array([0.5]), "n": np.array([2])},
        rtol=0,
        a=lambda x, n: kinds.append((type(x), type(n))) or x * n,
        b=[1],
    )
    assert kinds == [(float, int)]


def test_laws_may_hold_the_functions_of_scipy():
    law = sp.gamma(X) + sp.harmonic(3)
    assert agree({"x": [5.0]}, rtol=1e-14, law=law, table=[24 + 11 / 6]).points == 1


@pytest.mark.parametrize(
    ("points", "sources", "message"),
    [
        ({}, {"a": [], "b": []}, "points must be columns of one positive length, got shapes set()"),
        (
            {"x": []},
            {"a": [], "b": []},
            "points must be columns of one positive length, got shapes {(0,)}",
        ),
        (
            {"x": 1, "y": 2},
            {"a": [1], "b": [1]},
            "points must be columns of one positive length, got shapes {()}",
        ),
        (
            {"x": [[1, 2]]},
            {"a": [1], "b": [1]},
            "points must be columns of one positive length, got shapes {(1, 2)}",
        ),
        ({"x": [1]}, {}, "sources must be at least two, got []"),
        ({"x": [1]}, {"a": [1]}, "sources must be at least two, got ['a']"),
        ({"x": [1]}, {"a": [1, 2], "b": [1]}, "a source must give 1 values, got shape (2,)"),
        ({"x": [1, 2]}, {"a": [1, 2], "b": 1.0}, "a source must give 2 values, got shape ()"),
        (
            {"x": [1]},
            {"a": [1], "b": lambda x: [x, x]},
            "a source must give 1 values, got shape (1, 2)",
        ),
        (
            {"x": [1]},
            {"a": X + Y, "b": [1]},
            "points must give a value for every symbol, not for {'y'}",
        ),
    ],
)
def test_what_is_not_compared(points, sources, message):
    assert refusal(ValueError, agree, points, rtol=0, **sources) == message


def test_columns_of_two_lengths_are_not_compared():
    said = refusal(ValueError, agree, {"x": [1], "y": [1, 2]}, rtol=0, a=[1], b=[1])
    assert said.startswith("points must be columns of one positive length, got shapes {")


@pytest.mark.parametrize(
    ("ours", "theirs", "gap", "place"),
    [
        ([1, 2, 3], [1.05, 4, 3], "5.0e-01", "x = 2, y = 5"),
        ([1, 4, 3], [1.05, 2, 3], "5.0e-01", "x = 2, y = 5"),
        ([1, -2, 3], [1, 2, 3], "2.0e+00", "x = 2, y = 5"),
        ([1, 2, 3], [1, 2, math.nan], "inf", "x = 3, y = 6"),
        ([1, math.nan, 3], [1, math.nan, 4], "inf", "x = 2, y = 5"),
        ([math.inf, 2, 3], [-math.inf, 2, 3], "inf", "x = 1, y = 4"),
        ([0, 2, 3], [1e-300, 2, 3], "1.0e+00", "x = 1, y = 4"),
    ],
)
def test_the_worst_point_is_named(ours, theirs, gap, place):
    at = int(place[4]) - 1
    values = f"{np.float64(ours[at])!r} against {np.float64(theirs[at])!r}"
    message = f"a and b differ by a relative {gap} at {place}: {values}, allowed 1e-01"
    points = {"x": [1, 2, 3], "y": [4, 5, 6]}
    with np.errstate(all="raise"):
        assert refusal(AssertionError, agree, points, rtol=0.1, a=ours, b=theirs) == message


def test_every_source_is_compared_with_the_first():
    said = refusal(AssertionError, agree, {"x": [1]}, rtol=0.1, a=[1], b=[1.09], c=[1.18])
    assert said.startswith("a and c differ by a relative 1.5e-01 at x = 1: ")
    assert agree({"x": [1]}, rtol=0.1, a=[1], b=[1.09], c=[0.91]).sources == ("a", "b", "c")


def test_equal_values_agree_even_if_they_are_zero_or_infinite():
    values = [0.0, math.inf, -math.inf, 5e-324]
    with np.errstate(all="raise"):
        assert agree({"x": range(4)}, rtol=0, a=values, b=values).points == 4


def test_a_difference_of_just_the_tolerance_is_allowed():
    assert agree({"x": [0]}, rtol=0.5, a=[1], b=[2]).rtol == 0.5
    refusal(AssertionError, agree, {"x": [0]}, rtol=0.49, a=[1], b=[2])
    refusal(AssertionError, agree, {"x": [0]}, rtol=0.49, a=[2], b=[1])


def test_the_z_score_is_signed_and_counts_both_errors():
    assert z_score(3.0, 2.0, 1.0) == 1
    assert z_score(0.5, 0.5, 2.0) == -3
    assert z_score(11.0, 3.0, 1.0, exact_error=4.0) == 2
    assert z_score(1.0, 0.0, 0.0, exact_error=0.5) == 2


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((5, 1, 1), "estimate 5 lies +4.0 standard errors from 1; allowed are 4"),
        ((0.25, 0.125, 1), "estimate 0.25 lies -6.0 standard errors from 1; allowed are 4"),
        ((math.nan, 1, 1), "estimate nan lies +nan standard errors from 1; allowed are 4"),
    ],
)
def test_an_estimate_too_far_away(numbers, message):
    assert refusal(AssertionError, z_score, *numbers) == message


@pytest.mark.parametrize("error", [0, math.inf, math.nan])
def test_an_estimate_needs_a_standard_error(error):
    message = f"standard_error must be positive and finite, got {error}"
    assert refusal(ValueError, z_score, 1, error, 1) == message


def test_a_broken_check_says_how_it_fails(capsys):
    with must_fail():
        raise AssertionError("off by 1 at x = 2")
    assert capsys.readouterr().out == "the broken check fails, as it must:\noff by 1, ...\n"


def test_a_check_that_passes_is_no_broken_one(capsys):
    with pytest.raises(AssertionError) as caught, must_fail():
        pass
    assert str(caught.value) == "the check passed although the formula was broken"
    assert capsys.readouterr().out == ""


def test_another_error_is_no_broken_check():
    with pytest.raises(ValueError, match="typo"), must_fail():
        raise ValueError("typo")


# --- figures --------------------------------------------------------------------------------


def test_a_note_stands_at_a_shift_from_its_point():
    axes = Figure().subplots()
    figures.note(axes, "here", (1, 2), (3, -4), figures.BLUE, ha="right", fontsize=7)
    (label,) = axes.texts
    assert (label.get_text(), label.xy, label.xyann) == ("here", (1, 2), (3, -4))
    assert (label.xycoords, label.anncoords) == ("data", "offset points")
    assert (label.get_color(), label.get_ha(), label.get_fontsize()) == (figures.BLUE, "right", 7)


@pytest.mark.parametrize(("axis", "other"), ["xy", "yx"])
@pytest.mark.parametrize(
    ("labels", "shown"),
    [(None, ["0.1", "1", "1e+06"]), (["a", "b", "c"], ["a", "b", "c"])],
)
def test_just_the_given_ticks_are_marked(axis, other, labels, shown):
    axes = Figure().subplots()
    getattr(axes, f"set_{axis}scale")("log")
    before = getattr(axes, f"get_{other}ticks")().tolist()
    figures.ticks(axes, axis, [0.1, 1.0, 1e6], labels)
    line = getattr(axes, f"{axis}axis")
    assert line.get_majorticklocs().tolist() == [0.1, 1, 1e6]
    assert [label.get_text() for label in line.get_majorticklabels()] == shown
    assert line.get_minorticklocs().tolist() == []
    assert getattr(axes, f"get_{other}ticks")().tolist() == before


SCHEMES = (
    ":root{--figure-paper:#ffffff;--figure-ink:#23282e;--figure-muted:#5c6670;"
    "--figure-grid:#e3e7eb;--figure-blue:#0065a8;--figure-orange:#b84a00;"
    "--figure-green:#00735a;--figure-purple:#9a3c7c;}"
    "@media (prefers-color-scheme:dark){:root{--figure-paper:#121212;--figure-ink:#d8dde3;"
    "--figure-muted:#9aa5b1;--figure-grid:#2c3238;--figure-blue:#58b4f5;"
    "--figure-orange:#ff9a57;--figure-green:#3fd4ac;--figure-purple:#f094cf;}}"
)


def test_the_palette_in_both_schemes():
    assert figures._schemes() == SCHEMES


@pytest.mark.parametrize(
    ("path", "rounded"),
    [
        ("M 1.234567 -2.005 L 10.0 20", "M 1.23 -2 L 10 20"),
        ("L 100.004 0.5", "L 100 0.5"),
        ("L 0.501 120 3.999", "L 0.5 120 4"),
        ("z", "z"),
    ],
)
def test_coordinates_are_rounded_to_hundredths(path, rounded):
    assert figures._rounded(path) == rounded


@pytest.fixture
def small():
    canvas = Figure(figsize=(1, 2))
    canvas.add_artist(
        mpl.lines.Line2D([1 / 7, 2 / 3], [0.25, 0.75], color=figures.BLUE, marker="s")
    )
    canvas.text(0.5, 0.5, "a", color=figures.ORANGE)
    return canvas


def test_an_svg_from_its_first_tag_to_its_last(small):
    drawn = figures.svg(small)
    start = (
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="144pt" '
        'viewBox="0 0 72 144" xmlns="http://www.w3.org/2000/svg" version="1.1">\n'
        f" <defs>\n  <style>{SCHEMES}</style>\n"
        '  <style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>\n'
        " </defs>\n"
        ' <g id="figure_1">\n'
    )
    assert drawn[: len(start)] == start
    assert drawn.endswith("</svg>\n")
    assert drawn.count(SCHEMES) == 1
    assert drawn.count("<defs>") > 1


def test_paths_are_rounded_and_coloured_by_variables(small):
    drawn = figures.svg(small)
    assert re.findall(r'<path d="M 10.29 108 \nL 48 36 \n" [^>]*>', drawn) == [
        '<path d="M 10.29 108 \nL 48 36 \n" style="fill: none; '
        'stroke: var(--figure-blue, #0065a8); stroke-width: 1.5; stroke-linecap: square"/>'
    ]
    assert drawn.count("var(--figure-orange, #b84a00)") == 1
    for path in re.findall(r' d="([^"]*)"', drawn):
        assert figures._rounded(path) == path


def test_text_is_drawn_as_paths_under_names_that_do_not_change(small):
    first = figures.svg(small)
    assert "<text" not in first
    assert figures.svg(small) == first


def test_the_summary_tells_of_labelled_lines_and_bars():
    canvas = Figure()
    left, right = canvas.subplots(1, 2)
    left.plot([1, 2, 4], [0.123456, 123456, 3], label="a line")
    left.plot([1, 2], [5, 6])
    left.errorbar([1, 2], [3, 4], yerr=1, label="errors")
    right.plot([Fraction(1, 2), Fraction(3, 2)], [Fraction(1, 4), Fraction(1, 8)], label="shares")
    right.bar([1, 2, 3], [Fraction(1, 8), Fraction(7, 2), 2], label="bars")
    assert figures.summary(canvas) == (
        "[figure] a line: 3 points, x 1 to 4, y 0.1235 to 1.235e+05; "
        "shares: 2 points, x 0.5 to 1.5, y 0.125 to 0.25; bars: 3 bars, 0.125 to 3.5"
    )
    assert figures.summary(Figure()) == "[figure] "


def test_letters_are_of_matplotlibs_own_font_whatever_the_system_has():
    fonts = [Path(font.fname) for font in fontManager.ttflist]
    assert fonts
    assert all(font.is_relative_to(mpl.get_data_path()) for font in fonts)


def test_a_figure_is_shown_when_its_block_ends(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda *data, **options: shown.append((data, options)))
    with figures.figure(1, 2, size=(3, 2), sharey=True) as (left, right):
        left.plot([1, 2], [3, 4], label="a")
        assert right.get_shared_y_axes().joined(left, right)
        assert left.get_facecolor() == mpl.colors.to_rgba(figures.PAPER)
        assert shown == []
    canvas = left.figure
    assert canvas.get_size_inches().tolist() == [3, 2]
    data = {"image/svg+xml": figures.svg(canvas), "text/plain": figures.summary(canvas)}
    assert shown == [((data,), {"raw": True})]
    assert data["text/plain"] == "[figure] a: 2 points, x 1 to 2, y 3 to 4"


# --- the ledger -----------------------------------------------------------------------------


def test_the_words_of_the_verdicts():
    assert [str(verdict) for verdict in Verdict] == [
        "confirmed",
        "confirmed within its sampling error",
        "sharpened",
        "corrected",
    ]


@pytest.mark.parametrize(
    ("how", "draws", "message"),
    [
        ("guess", 0, "how must be exact, bound, lower bound or estimate, got 'guess'"),
        ("estimate", 0, "draws must be given for estimates and only there: x"),
        ("estimate", -1, "draws must be given for estimates and only there: x"),
        ("exact", 1, "draws must be given for estimates and only there: x"),
        ("bound", 1, "draws must be given for estimates and only there: x"),
        ("lower bound", 1, "draws must be given for estimates and only there: x"),
    ],
)
def test_a_published_number_that_could_not_be_judged(how, draws, message):
    assert refusal(ValueError, Published, "x", "1", how, draws) == message


@pytest.mark.parametrize(
    ("how", "draws"), [("exact", 0), ("bound", 0), ("lower bound", 0), ("estimate", 1)]
)
def test_a_published_number_that_can_be_judged(how, draws):
    assert Published("x", "1", how, draws).how == how


@pytest.mark.parametrize(
    ("digits", "value", "allowed"),
    [("2.40", 2.4, 0.005), ("14%", 0.14, 0.005), ("1.5e-7", 1.5e-7, 5e-9), ("120", 120, 0.5)],
)
def test_the_value_of_published_digits(digits, value, allowed):
    published = Published("x", digits)
    assert published.value == value
    assert published.allowed == pytest.approx(allowed, rel=1e-15)
    assert Published("x", digits, tolerance=0.0).allowed == 0


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Found(2.375, ".2f"), "2.38"),
        (Found(7, "d"), "7"),
        (Found(2.375, ".2f", error=0.004), "2.38 ± 0.01"),
        (Found(2.375, ".2f", error=0.01), "2.38 ± 0.01"),
        (Found(0.125, ".1%", error=0.0002), "12.5% ± 0.1%"),
        (Found(0.25, ".0%", error=0.01), "25% ± 1%"),
        (Found(1234.5, ",.1f", error=0.01), "1,234.5 ± 0.1"),
        (Found(12345, ",.0f", error=0.25), "12,345 ± 1"),
        (Found(0.12345, ".3f", error=0.001), "0.123 ± 0.001"),
        (Found(0.5, ".8f", error=1e-9), "0.50000000 ± 0.00000001"),
    ],
)
def test_our_number_with_its_error_rounded_up_to_a_unit_of_its_last_digit(found, shown):
    assert str(found) == shown


def test_our_number_is_not_finer_than_its_error():
    message = "2.38 shows digits of size 0.01, finer than the error 0.1"
    assert refusal(ValueError, str, Found(2.375, ".2f", error=0.1)) == message


@pytest.mark.parametrize("spec", ["d", ".1e"])
def test_an_error_needs_decimals(spec):
    message = f"spec must end in f or % for a value with an error, got {spec!r}"
    assert refusal(ValueError, str, Found(5, spec, error=0.05)) == message


def test_the_estimate_of_a_sample():
    found = claims.estimate(np.array([1.0, 3.0, 5.0, 7.0]), ".1f")
    assert (found.value, found.spec) == (4.0, ".1f")
    assert found.deviation == pytest.approx(math.sqrt(20 / 3), rel=1e-15)
    assert found.error == pytest.approx(math.sqrt(20 / 3) / 2, rel=1e-15)


def claim(name="X1", verdict=Verdict.CONFIRMED, **changes):
    """A claim of the paper "two_words" with one figure."""
    attributes = {
        "paper": "two_words",
        "place": "thm-a",
        "sentence": "It holds.",
        "parameters": "$n = 2$.",
        "published": (Published("a", "2.40"),),
        "compute": lambda: (Found(2.4, ".2f"),),
        "remark": "Well.",
        "correction": "Not so." if verdict == Verdict.CORRECTED else "",
    }
    return Claim(id=name, verdict=verdict, **attributes | changes)


@pytest.mark.parametrize(
    ("verdict", "correction"),
    [(Verdict.CORRECTED, ""), (Verdict.CONFIRMED, "Not so."), (Verdict.SHARPENED, "Not so.")],
)
def test_corrected_claims_and_no_others_have_a_correction(verdict, correction):
    message = "X1: a correction must be given for corrected claims only"
    assert refusal(ValueError, claim, "X1", verdict, correction=correction) == message


def test_an_estimate_is_judged_by_the_deviation_of_a_draw():
    published = Published("a", "1.0", "estimate", 4)
    for deviation in (0.0, -1.0, math.nan):
        said = refusal(ValueError, weigh, published, Found(1, ".1f", deviation=deviation))
        assert said == "a: the deviation of one draw must be positive"


@pytest.mark.parametrize(
    ("how", "digits", "value", "verdict"),
    [
        ("exact", "2", 2.5, Verdict.CONFIRMED),
        ("exact", "2", 2.5 + 4e-10, Verdict.CONFIRMED),
        ("exact", "2", 2.5 + 1e-9, Verdict.CORRECTED),
        ("exact", "2", 1.5 - 1e-9, Verdict.CORRECTED),
        ("bound", "2", 1.4, Verdict.SHARPENED),
        ("bound", "2", 2.6, Verdict.CORRECTED),
        ("bound", "2", 2.4, Verdict.CONFIRMED),
        ("lower bound", "2", 2.6, Verdict.SHARPENED),
        ("lower bound", "2", 1.4, Verdict.CORRECTED),
        ("lower bound", "2", 1.6, Verdict.CONFIRMED),
        ("exact", "2", math.nan, Verdict.CORRECTED),
        ("bound", "2", math.nan, Verdict.CORRECTED),
        ("lower bound", "2", math.nan, Verdict.CORRECTED),
    ],
)
def test_the_verdict_on_one_number(how, digits, value, verdict):
    assert weigh(Published("a", digits, how), Found(value, ".2f")) == (verdict, None)


def test_without_any_tolerance_equal_numbers_are_confirmed():
    published = Published("a", "2.40", tolerance=0.0)
    assert weigh(published, Found(2.4, ".2f")) == (Verdict.CONFIRMED, None)
    assert weigh(published, Found(2.4 + 1e-15, ".2f")) == (Verdict.CORRECTED, None)


@pytest.mark.parametrize(
    ("value", "z", "verdict"),
    [
        (2.25, 0.0, Verdict.WITHIN_SAMPLING_ERROR),
        (1.5, 0.0, Verdict.WITHIN_SAMPLING_ERROR),
        (1.0, 1.0, Verdict.WITHIN_SAMPLING_ERROR),
        (3.5, -2.0, Verdict.WITHIN_SAMPLING_ERROR),
        (-0.5, 4.0, Verdict.CORRECTED),
        (4.5, -4.0, Verdict.CORRECTED),
    ],
)
def test_the_verdict_on_an_estimate(value, z, verdict):
    """Four draws of deviation 1 give a standard error of 1/2."""
    published = Published("a", "2", "estimate", 4)
    assert weigh(published, Found(value, ".2f", deviation=1.0)) == (verdict, z)


def test_the_errors_of_both_estimates_add_up():
    published = Published("a", "2", "estimate", 4, tolerance=0.0)
    assert weigh(published, Found(-3.0, ".0f", error=2.0, deviation=3.0))[1] == 2


def test_a_claim_has_the_worst_verdict_of_its_figures():
    figures_ = (
        Published("a", "2"),
        Published("b", "2", "estimate", 4),
        Published("c", "2", "bound"),
    )
    found = (Found(2, "d"), Found(3.5, ".1f", deviation=1.0), Found(1, "d"))
    judged = judge(claim(published=figures_, compute=lambda: found))
    assert judged == Judgement(found, (None, -2.0, None), Verdict.SHARPENED)


@pytest.mark.parametrize("count", [0, 2])
def test_a_claim_computes_one_value_for_each_figure(count):
    wrong = claim(compute=lambda: (Found(2.4, ".2f"),) * count)
    assert refusal(ValueError, judge, wrong) == f"X1: 1 published, {count} computed"


@pytest.fixture
def ledger(monkeypatch):
    """A book of two papers, the first of which has three claims."""
    estimate = (Published("share", "14%", "estimate", 400), Published("least", "8", "lower bound"))
    found = (Found(0.16, ".1%", error=0.001, deviation=0.2), Found(9, "d"))
    book = [
        claim(),
        claim("X2", Verdict.SHARPENED, place="sec-b", published=estimate, compute=lambda: found),
        claim("X3", Verdict.CORRECTED, compute=lambda: (Found(2.5, ".2f"),), remark="Oh."),
        claim("Y1", Verdict.CORRECTED, paper="other", place="cor-c", correction="Nor so."),
        claim("Y2", paper="other"),
    ]  # fmt: skip
    monkeypatch.setattr(claims, "PAPERS", ("two_words", "other"))
    monkeypatch.setattr(claims, "registry", lambda: {one.id: one for one in book})
    monkeypatch.setattr(claims, "judgement", lambda name: judge(claims.registry()[name]))


def test_a_paper_must_be_known(ledger):
    message = "paper must be one of those in _toc.yml (two_words, other), got 'third'"
    assert refusal(ValueError, claims.table, "third") == message
    assert refusal(ValueError, claims.say_claims, "third") == message


def test_every_number_of_a_paper_is_said(ledger, glued):
    claims.say_claims("two_words")
    assert [words for words, _ in glued] == [
        ("X1.0.published", "2.40"),
        ("X1.0.ours", "2.40"),
        ("X2.0.published", "14%"),
        ("X2.0.ours", "16.0% ± 0.1%"),
        ("X2.0.z", "-1.5"),
        ("X2.1.published", "8"),
        ("X2.1.ours", "9"),
        ("X3.0.published", "2.40"),
        ("X3.0.ours", "2.50"),
    ]


def test_a_score_is_signed_unless_it_is_zero():
    assert [claims._signed(z) for z in (0.0, 0.04, 1.0, -2.26)] == ["0", "+0.0", "+1.0", "-2.3"]


def test_the_table_of_a_paper(ledger):
    assert claims.table("two_words").data.splitlines() == [
        "| Claim | Published | Ours | Verdict |",
        "|:--|:--|:--|:--|",
        "| **X1.** It holds. ($n = 2$.) See {prf:ref}`thm-a`. | a: 2.40 (exact) "
        "| 2.40 (agrees in all 3 digits) | *confirmed*. Well. |",
        "| **X2.** It holds. ($n = 2$.) See {ref}`sec-b`. "
        "| share: 14% (400 draws, standard error 1%)<br>least: 8 (lower bound) "
        "| share: 16.0% ± 0.1% ($z = -1.5$)<br>least: 9 | *sharpened*. Well. |",
        "| **X3.** It holds. ($n = 2$.) See {prf:ref}`thm-a`. | a: 2.40 (exact) "
        "| 2.50 | *corrected*. Oh. |",
    ]


def test_the_corrections_of_all_papers(ledger):
    assert claims.corrections().data == (
        "**X3.** Not so. See {prf:ref}`thm-a`.\n\n**Y1.** Nor so. See {prf:ref}`cor-c`."
    )


def test_the_counts_of_the_verdicts(ledger):
    assert claims.counts().data.splitlines() == [
        "| | confirmed | confirmed within its sampling error | sharpened | corrected | all |",
        "|:--|--:|--:|--:|--:|--:|",
        "| [two words](two_words.md) | 1 | 0 | 1 | 1 | 3 |",
        "| [other](other.md) | 2 | 0 | 0 | 0 | 2 |",
        "| all | 3 | 0 | 1 | 1 | 5 |",
    ]


@pytest.mark.parametrize(
    ("place", "link"),
    [
        ("thm-a", "{prf:ref}`thm-a`"),
        ("prop-a", "{prf:ref}`prop-a`"),
        ("cor-a", "{prf:ref}`cor-a`"),
        ("sec-thm-a", "{ref}`sec-thm-a`"),
    ],
)
def test_the_link_to_a_place(place, link):
    assert claims._link(claim(place=place)) == link


def test_the_draws_of_an_estimate_are_told_with_its_standard_error():
    published = (
        Published("a", "2", "estimate", 1),
        Published("b", "2.0", "estimate", 2),
        Published("c", "200%", "estimate", 400),
    )
    found = (Found(2, "d", deviation=0.298),) * 3
    result = Judgement(found, (0.0,) * 3, Verdict.WITHIN_SAMPLING_ERROR)
    assert claims._published(claim(published=published), result) == (
        "a: 2 (1 draw, standard error 0.3)<br>b: 2.0 (2 draws, standard error 0.2)"
        "<br>c: 200% (400 draws, standard error 1%)"
    )


@pytest.mark.parametrize("part", [claims._published, claims._ours])
def test_the_judgement_of_another_claim_is_not_shown(part):
    other = Judgement((Found(2, "d"),) * 2, (None,) * 2, Verdict.CONFIRMED)
    with pytest.raises(ValueError, match="zip"):
        part(claim(), other)


@pytest.mark.parametrize(
    ("published", "found", "z", "words"),
    [
        (Published("a", "2.40"), Found(2.4, ".2f"), None, " (agrees in all 3 digits)"),
        (Published("a", "0.012"), Found(0.012, ".3f"), None, " (agrees in all 2 digits)"),
        (Published("a", "14.0%"), Found(0.14, ".1%"), None, " (agrees in all 3 digits)"),
        (Published("a", "7"), Found(7, "d"), None, " (agrees in its digit)"),
        (Published("a", "0"), Found(0, "d"), None, ""),
        (Published("a", "7"), Found(8, "d"), None, ""),
        (Published("a", "7", "bound"), Found(6, "d"), None, ""),
        (Published("a", "7"), Found(7, "d"), 0.0, " ($z = 0$)"),
        (Published("a", "7"), Found(7, "d"), 1.25, " ($z = +1.2$)"),
    ],
)
def test_the_digits_or_errors_by_which_two_numbers_agree(published, found, z, words):
    assert claims._agreement(published, found, z) == words
