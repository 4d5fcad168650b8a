"""No result is typed into prose: what counts as one, and what counts as prose."""

import codecs
from pathlib import Path
from types import SimpleNamespace

import pytest

from papers.site.prose import check, typed_results


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


CELL = "```{{code-cell}} ipython3\n---\nmystnb:\n  {}: It costs 1.25 more\n---\nx = 2.5\n```"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It costs 2.4 on average.", "2.4"),
        ("It costs .5 on average.", ".5"),
        ("It takes 12% less.", "12%"),
        ("It takes 12 percent less.", "12 percent"),
        ("It is 8× slower.", "8×"),
        ("It is 8 times slower.", "8 times"),
        ("It is 8-fold.", "8-fold"),
        ("It is ×8.", "×8"),
        ("It takes 8\ntimes as long.", "8 times"),
        ("About ≈ 3 of them.", "≈ 3"),
        ("# A title with 1,234.5", "1,234.5"),
        ("| a | 1.25 |", "1.25"),
        ("[^1]: A footnote of 1.25", "1.25"),
        ("> quoted 1.25", "1.25"),
        (":::{note} Title 1.25\ntext\n:::", "1.25"),
        ("```{prf:theorem} Name\n:label: x\nholds at 1.25\n```", "1.25"),
        ("````{note}\n```{math}\n1.5\n```\nand 1.25\n````", "1.25"),
        ("```{figure} a.svg\n:alt: a curve at 1.25\ncaption\n```", "1.25"),
        (CELL.format("figure:\n    caption"), "1.25"),
        (CELL.format("image:\n    alt"), "1.25"),
    ],
)
def test_a_typed_result_is_found(text, found):
    assert [match for _, match in typed_results(text)] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "---\nversion: 1.5\n---\nText",
        "There are 240 layers and 8 devices.",
        "At $x = 1.5$ and $$y = 2.5$$ it is {glue:text}`a.0.b`.",
        "`1.5` and ``2.5`` and {eq}`eq-1.5`",
        "See [this](https://example.org/1.5) or <https://example.org/2.5>.",
        "```python\nx = 1.5\n```",
        "```{math}\n1.5\n```",
        "```{code-cell} ipython3\n:tags: [hide-input]\nx = 1.5\n```",
    ],
)
def test_other_numbers_are_left_alone(text):
    assert typed_results(text) == []


def test_the_line_of_a_typed_result():
    assert typed_results("one\n\n$2.5$ and\n3.5 here") == [(4, "3.5")]
