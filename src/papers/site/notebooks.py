"""Regenerate the executed notebooks from the papers: ``python -m papers.site.notebooks``.

The text in ``book/`` is the only source. Each paper with code cells is executed
afresh and written to ``notebooks/`` with its outputs, which nbval then compares
with a run of its own.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

# Metadata that says something about a cell or the paper; the rest depends on the machine.
_KEPT = ("tags", "mystnb")
# The figure that the README shows, and its paper.
PICTURE = "stragglers", "fig-quorum"


def executable(book: Path) -> list[Path]:
    """Return the pages of a book that have code cells."""
    return [page for page in sorted(book.glob("*.md")) if "{code-cell}" in page.read_text("utf-8")]


def convert(page: Path) -> Any:
    """Read a page as a notebook without outputs, equal for equal text."""
    notebook = jupytext.read(page)
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index}"
        cell.metadata = {key: cell.metadata[key] for key in _KEPT if key in cell.metadata}
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def run(notebook: Any, folder: Path, **options: Any) -> None:
    """Execute a notebook in a folder, so that it holds its outputs; the client takes options.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    usual: dict[str, Any] = {"kernel_name": "python3", "record_timing": False, "timeout": 120}
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, resources=resources, **(usual | options))
    asyncio.run(client.async_execute())  # in a loop of its own, which ends with it


def execute(page: Path) -> Any:
    """Run a page from top to bottom and return it with its outputs.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    notebook = convert(page)
    run(notebook, page.parent, coalesce_streams=True)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def join_streams(notebook: Any) -> bool:
    """Join the pieces in which a kernel may send one text, and return whether there were any.

    The builder would end a line after each piece, wherever the kernel happened to cut.
    """
    changed = False
    for cell in notebook.cells:
        whole: list[Any] = []
        for output in cell.get("outputs", []):
            stream = whole and whole[-1].get("name") == output.get("name")
            if stream and output.output_type == whole[-1].output_type == "stream":
                whole[-1].text += output.text
                changed = True
            else:
                whole.append(output)
        if cell.cell_type == "code":
            cell.outputs = whole
    return changed


def sources(notebook: Any) -> list[tuple[str, str]]:
    """Return the kind and text of each cell."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def results(notebook: Any) -> list[list[Any]]:
    """Return what each code cell gave, as far as it can be compared: text, not pixels."""
    return [_results(cell) for cell in notebook.cells if cell.cell_type == "code"]


def _results(cell: Any) -> list[Any]:
    given: list[Any] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            # A kernel may send one text in several pieces.
            if given and isinstance(given[-1], str):
                given[-1] += output.text
            else:
                given.append(output.text)
        else:
            given.append({kind: x for kind, x in output.data.items() if kind != "image/svg+xml"})
    return given


def is_stale(page: Path, notebook: Path) -> bool:
    """Whether a notebook was not made from the present text of its page."""
    if not notebook.is_file():
        return True
    return sources(convert(page)) != sources(nbformat.read(notebook, as_version=4))


def drawing(notebook: Any, name: str) -> str:
    """Return the figure of that name as SVG.

    Raises
    ------
    KeyError
        If no cell draws it.
    """
    for cell in notebook.cells:
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == name:
            shown = [output.get("data", {}) for output in cell.outputs]  # what is printed has none
            (svg,) = (data["image/svg+xml"] for data in shown if "image/svg+xml" in data)
            return str(svg)
    raise KeyError(name)


def main(book: Path, folder: Path) -> None:
    """Write every paper's executed notebook, and delete those whose paper is gone."""
    folder.mkdir(exist_ok=True)
    wanted = {page.with_suffix(".ipynb").name for page in executable(book)}
    for left_over in folder.glob("*.ipynb"):
        if left_over.name not in wanted:
            left_over.unlink()
    pages = executable(book)
    with ProcessPoolExecutor() as pool:
        for page, notebook in zip(pages, pool.map(execute, pages), strict=True):
            target = folder / f"{page.stem}.ipynb"
            nbformat.write(notebook, target)
            print(f"{page} -> {target}", flush=True)
            if page.stem == PICTURE[0]:
                (folder / "picture.svg").write_text(drawing(notebook, PICTURE[1]), "utf-8")


if __name__ == "__main__":
    main(Path("book"), Path("notebooks"))
