"""Sphinx extension: a line under each title with the reading time, downloads and how to run it."""

from __future__ import annotations

import html
import math
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell

from papers.pages import papers
from papers.site.backlinks import ancestors
from papers.site.cite import bibtex
from papers.site.notebooks import convert, executable

WORDS_PER_MINUTE = 200
# What stands at the top of a notebook that was downloaded.
NOTE = """\
*To run this notebook* you need a clone of the book's project, Python 3.11 or newer, and make. Its
cells import the packages `decentral` and `papers` of that clone: without it the first of them stops
with `No module named …`.

**With one command.** Change the numbers that you want to change, save the notebook, and run in the
clone's folder

```bash
make execute PAGE=path/to/{name}.ipynb
```

The first call creates the environment `.venv` there, with all that is needed. The notebook is
executed from top to bottom. You see what your numbers give, and find the notebook with all outputs
at `_build/executed/{name}.ipynb`.

**Cell by cell.** Once `.venv` is there, make it known to your own Jupyter, in the same folder, and
choose the kernel *Exact Laws* in it:

```bash
.venv/bin/python -m ipykernel install --user --name exact-laws --display-name "Exact Laws"
```"""
_UNREAD = (nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)


def minutes(doctree: nodes.document) -> int:
    """Return how long a page takes to read, in whole minutes; code and formulas are left out."""
    words = sum(
        len(text.split())
        for text in doctree.findall(nodes.Text)
        if not any(isinstance(above, _UNREAD) for above in ancestors(text))
    )
    return math.ceil(words / WORDS_PER_MINUTE)


def masthead(page: str, time: int, *, notebook: bool, entry: str = "") -> str:
    """Write the line as HTML.

    Parameters
    ----------
    page : str
        The page's name, with its folder.
    time : int
        Minutes to read it.
    notebook : bool
        Whether it has cells.
    entry : str, optional
        How to cite it.
    """
    source = f"{'../' * page.count('/')}_sources/{page}"
    kinds = ["ipynb", "md"] if notebook else ["md"]
    files = " ".join(f'<a href="{source}.{kind}" download>.{kind}</a>' for kind in kinds)
    parts = [f"{time} min read", f"Download {files}"]
    if notebook:
        parts.append(f"Run and compare it <code>make run PAGE={page}</code>")
    if entry:
        cite = f"<summary>Cite this paper</summary><pre>{html.escape(entry)}</pre>"
        parts.append(f"<details>{cite}</details>")
    return f'<div class="masthead">{"".join(f"<span>{part}</span>" for part in parts)}</div>'


def insert(app: Any, doctree: nodes.document, docname: str) -> None:
    """Put the line under the title."""
    title = doctree.next_node(nodes.title)
    if title is not None:
        notebook = "{code-cell}" in Path(app.env.doc2path(docname)).read_text("utf-8")
        root = Path(app.srcdir).parent
        entry = bibtex(root, docname, title.astext()) if docname in papers(root) else ""
        line = masthead(docname, minutes(doctree), notebook=notebook, entry=entry)
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", line, format="html"))


def explained(notebook: Any, name: str) -> Any:
    """Put before all cells of a notebook what it needs, and how to get it."""
    note = new_markdown_cell(NOTE.format(name=name), id="how-to-run")
    notebook.cells.insert(0, note)
    return notebook


def copy_notebooks(app: Any, exception: Exception | None) -> None:
    """Lay the notebooks beside the sources, also if no page has changed.

    A page that was not executed into ``notebooks/`` yet is offered without outputs.
    """
    if exception is None:
        for page in executable(Path(app.srcdir)):
            executed = Path(app.srcdir).parent / "notebooks" / f"{page.stem}.ipynb"
            stored = executed.is_file()
            notebook = nbformat.read(executed, as_version=4) if stored else convert(page)
            offered = Path(app.outdir) / "_sources" / executed.name
            nbformat.write(explained(notebook, page.stem), offered)


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-resolved", insert)
    app.connect("build-finished", copy_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
