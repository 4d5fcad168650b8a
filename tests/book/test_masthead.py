"""The line under a title, and the notebooks that it offers."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from docutils import nodes
from sphinx.util.docutils import new_document
from tests.book.small_books import CELL, ROOT, App, lay, stream

from papers.site import masthead, notebooks
from papers.site.cite import bibtex


def prose(words):
    return nodes.paragraph(text="word " * words)


@pytest.mark.parametrize(("words", "minutes"), [(0, 0), (1, 1), (200, 1), (201, 2), (400, 2)])
def test_two_hundred_words_take_a_minute(words, minutes):
    document = new_document("")
    document += [prose(words // 2), prose(words - words // 2)]
    assert masthead.minutes(document) == minutes


@pytest.mark.parametrize(
    "kind", [nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment]
)
def test_code_formulas_and_comments_take_no_time(kind):
    document = new_document("")
    unread = kind("", "")
    unread += nodes.emphasis(text="word " * 500)
    document += [prose(150), unread, prose(50)]
    assert masthead.minutes(document) == 1


def test_the_line_of_a_page_with_cells_offers_the_notebook_and_the_command():
    assert masthead.masthead("deep/er/page", 7, notebook=True) == (
        '<div class="masthead"><span>7 min read</span>'
        '<span>Download <a href="../../_sources/deep/er/page.ipynb" download>.ipynb</a> '
        '<a href="../../_sources/deep/er/page.md" download>.md</a></span>'
        "<span>Run and compare it <code>make run PAGE=deep/er/page</code></span></div>"
    )


def test_the_line_of_a_page_without_cells_offers_its_text():
    assert masthead.masthead("page", 1, notebook=False) == (
        '<div class="masthead"><span>1 min read</span>'
        '<span>Download <a href="_sources/page.md" download>.md</a></span></div>'
    )


def test_the_line_of_a_paper_unfolds_how_to_cite_it():
    line = masthead.masthead("page", 1, notebook=False, entry="@book{a & b}")
    entry = "<summary>Cite this paper</summary><pre>@book{a &amp; b}</pre>"
    assert line.endswith(f"<span><details>{entry}</details></span></div>")


PAPER = "parts: [{caption: Papers, chapters: [{file: page}]}]"


@pytest.mark.usefixtures("ascii_elsewhere")
@pytest.mark.parametrize(
    ("text", "toc", "notebook"),
    [(f"Café\n\n{CELL}", PAPER, True), ("Café", PAPER, False), ("Café", "root: page", False)],
)
def test_the_line_stands_right_under_the_title(tmp_path, text, toc, notebook):
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    lay(tmp_path, **{"book/page.md": text, "_toc.yml": toc, "CITATION.cff": citation})
    document = new_document("")
    title, below = nodes.title(text="Title"), [prose(300), prose(300), nodes.title(text="Other")]
    # The place of a title is sought by its equality with it, so a target stands before it.
    document += nodes.section("", nodes.target(), title, *below)
    book = tmp_path / "book"
    env = SimpleNamespace(doc2path=lambda name: str(book / f"{name}.md"))
    masthead.insert(App(env=env, srcdir=str(book)), document, "page")
    target, first, line, *rest = document[0]
    assert isinstance(target, nodes.target)
    assert first is title
    assert rest == below
    assert isinstance(line, nodes.raw)
    assert line["format"] == "html"
    entry = bibtex(tmp_path, "page", "Title") if toc == PAPER else ""
    assert line.astext() == masthead.masthead("page", 4, notebook=notebook, entry=entry)


def test_a_page_without_a_title_gets_no_line():
    document = new_document("")
    document += prose(1)
    masthead.insert(App(), document, "page")
    assert [type(child) for child in document] == [nodes.paragraph]


@pytest.fixture
def finished(tmp_path):
    """A build that has written its sources: two pages with cells, one executed, and one without."""
    cells = f"# Title\n\n{CELL}1 + 1\n```\n"
    lay(tmp_path / "book", executed=cells, fresh=cells, prose="Text.")
    (tmp_path / "out" / "_sources").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    notebook = notebooks.convert(tmp_path / "book" / "executed.md")
    notebook.cells[1].outputs = [stream("2")]
    nbformat.write(notebook, tmp_path / "notebooks" / "executed.ipynb")
    return App(srcdir=str(tmp_path / "book"), outdir=str(tmp_path / "out"))


def test_notebooks_are_offered_executed_or_else_without_outputs(finished):
    stored = Path(finished.srcdir).parent / "notebooks" / "executed.ipynb"
    before = stored.read_bytes()
    offered = Path(finished.outdir) / "_sources"
    written = []
    for _ in range(2):
        masthead.copy_notebooks(finished, None)
        written.append({path.name: path.read_bytes() for path in offered.iterdir()})
    assert written[0] == written[1]
    assert stored.read_bytes() == before
    assert sorted(written[0]) == ["executed.ipynb", "fresh.ipynb"]
    executed = nbformat.read(stored, as_version=4)
    fresh = notebooks.convert(Path(finished.srcdir) / "fresh.md")
    for name, notebook in (("executed", executed), ("fresh", fresh)):
        first, *rest = nbformat.read(offered / f"{name}.ipynb", as_version=4).cells
        assert rest == notebook.cells
        assert first.cell_type == "markdown"
        assert first.source == masthead.NOTE.format(name=name)


def test_the_note_names_the_python_that_the_project_asks_for():
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["requires-python"]
    assert f"Python {wanted.removeprefix('>=')} or newer" in masthead.NOTE


def test_a_build_that_failed_offers_no_notebooks(finished):
    masthead.copy_notebooks(finished, OSError())
    assert list((Path(finished.outdir) / "_sources").iterdir()) == []
