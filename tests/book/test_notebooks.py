"""Pages as notebooks: read, executed, compared and written."""

from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
import yaml
from nbclient import NotebookClient
from nbformat import v4
from tests.book.small_books import CELL, HEADER, ROOT, code, files, lay, shown, stream, svg

from papers.site import notebooks

PAGE = f"""{HEADER}# Café

{CELL}:tags: [hide-input]
:mystnb:
:  figure:
:    name: fig-one
:editable: false
1 + 1
```

Text.

{CELL}2 + 2
```
"""


@pytest.mark.usefixtures("ascii_elsewhere")
def test_papers_are_the_pages_with_cells_in_alphabetical_order(tmp_path):
    lay(tmp_path, b=f"é\n{CELL}", a=CELL, c="no cell", **{"d.txt": CELL, "api/e": CELL})
    assert notebooks.executable(tmp_path) == [tmp_path / "a.md", tmp_path / "b.md"]


def test_a_page_is_read_with_what_says_something_about_it_only(tmp_path):
    lay(tmp_path, page=PAGE)
    notebook = notebooks.convert(tmp_path / "page.md")
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    figure = {"figure": {"name": "fig-one"}}
    assert [(cell.id, cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells] == [
        ("cell-0", "markdown", "# Café", {}),
        ("cell-1", "code", "1 + 1", {"tags": ["hide-input"], "mystnb": figure}),
        ("cell-2", "markdown", "Text.", {}),
        ("cell-3", "code", "2 + 2", {}),
    ]


class Kernel(NotebookClient):
    """A client that needs no kernel, and answers with what it was asked to do."""

    async def async_execute(self):
        self.nb.metadata.language_info = {"name": "python", "version": "3.of this machine"}
        self.nb.cells[1].outputs = [stream(f"{self.kernel_name} in {self.resources}")]
        assert (
            self.timeout == yaml.safe_load((ROOT / "_config.yml").read_text())["execute"]["timeout"]
        )
        assert not self.record_timing
        assert self.coalesce_streams


def test_a_page_is_executed_in_its_folder_and_says_nothing_of_the_machine(tmp_path, monkeypatch):
    lay(tmp_path, page=PAGE)
    monkeypatch.setattr(notebooks, "NotebookClient", Kernel)
    notebook = notebooks.execute(tmp_path / "page.md")
    resources = {"metadata": {"path": str(tmp_path)}}
    assert notebook.cells[1].outputs == [stream(f"python3 in {resources}")]
    notebook.cells[1].outputs = []
    assert notebook == notebooks.convert(tmp_path / "page.md")


def test_pieces_of_one_text_are_joined_and_others_are_not():
    kept = [
        stream("1"),
        stream("2", name="stderr"),
        stream("3"),
        shown(),
        shown(),
        stream("4"),
    ]
    prose = v4.new_markdown_cell("Text.")
    notebook = v4.new_notebook(
        cells=[prose, code("", stream("a"), stream("b"), stream("c"), shown()), code("", *kept)]
    )
    assert notebooks.join_streams(notebook) is True
    assert [cell.outputs for cell in notebook.cells[1:]] == [[stream("abc"), shown()], kept]
    assert "outputs" not in prose
    assert notebooks.join_streams(notebook) is False


def test_sources_and_results_of_a_notebook():
    first = code("1", stream("a"), stream("b"), shown(), stream("c"), svg("<svg/>"))
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("Text."), first, code("2")])
    assert notebooks.sources(notebook) == [("markdown", "Text."), ("code", "1"), ("code", "2")]
    assert notebooks.results(notebook) == [
        ["ab", {"text/plain": "shown"}, "c", {"text/plain": "shown"}],
        [],
    ]


def test_a_notebook_is_stale_if_it_is_missing_or_of_another_text(tmp_path):
    lay(tmp_path, page=PAGE)
    page, target = tmp_path / "page.md", tmp_path / "page.ipynb"
    assert notebooks.is_stale(page, target) is True
    nbformat.write(notebooks.convert(page), target)
    assert notebooks.is_stale(page, target) is False
    lay(tmp_path, page=PAGE + "\nMore.\n")
    assert notebooks.is_stale(page, target) is True


def test_a_drawing_is_found_by_the_name_of_its_figure():
    cells = [
        v4.new_markdown_cell("Text."),
        code("", svg("<svg>0</svg>")),
        code("", svg("<svg>1</svg>"), mystnb={}),
        code("", svg("<svg>2</svg>"), mystnb={"figure": {}}),
        code("", svg("<svg>3</svg>"), mystnb={"figure": {"name": "fig-other"}}),
        code("", stream("a"), shown(), svg("<svg>4</svg>"), mystnb={"figure": {"name": "fig"}}),
    ]
    notebook = v4.new_notebook(cells=cells)
    assert notebooks.drawing(notebook, "fig") == "<svg>4</svg>"
    with pytest.raises(KeyError, match=r"^'fig-none'$"):
        notebooks.drawing(notebook, "fig-none")


@pytest.fixture
def here(monkeypatch):
    """Pages are executed in this process; each prints its name, and draws the README's figure."""

    def execute(page):
        notebook = notebooks.convert(page)
        text, picture = f"{page.stem}: Café", f"<svg>{page.stem} ±</svg>"
        notebook.cells[-1].outputs = [shown(text), svg(picture)]
        notebook.cells[-1].metadata = {"mystnb": {"figure": {"name": notebooks.PICTURE[1]}}}
        return notebook

    monkeypatch.setattr(notebooks, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(notebooks, "execute", execute)


@pytest.mark.usefixtures("here", "ascii_elsewhere")
def test_every_paper_is_written_and_what_has_none_is_deleted(tmp_path, capsys):
    book, folder = tmp_path / "book", tmp_path / "notebooks"
    lay(book, first=PAGE, stragglers=PAGE, prose="Text.")
    lay(folder, **{"gone.ipynb": "", "prose.ipynb": "", "first.ipynb": "", "notes.txt": ""})
    notebooks.main(book, folder)
    assert files(folder) == {"first.ipynb", "stragglers.ipynb", "notes.txt", "picture.svg"}
    for name in ("first", "stragglers"):
        notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        assert notebook.cells[-1].outputs[0] == shown(f"{name}: Café")
    assert (folder / "picture.svg").read_text("utf-8") == "<svg>stragglers ±</svg>"
    lines = [f"{book / name}.md -> {folder / name}.ipynb\n" for name in ("first", "stragglers")]
    assert capsys.readouterr().out == "".join(lines)


@pytest.mark.usefixtures("here")
def test_a_paper_that_fails_keeps_the_notebook_it_had(tmp_path, monkeypatch):
    def fail(page):
        raise ValueError(page.stem)

    monkeypatch.setattr(notebooks, "execute", fail)
    lay(tmp_path / "book", first=PAGE)
    lay(tmp_path / "notebooks", **{"first.ipynb": "as it was"})
    with pytest.raises(ValueError, match="first"):
        notebooks.main(tmp_path / "book", tmp_path / "notebooks")
    assert (tmp_path / "notebooks" / "first.ipynb").read_text("utf-8") == "as it was"
