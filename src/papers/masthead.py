"""Sphinx extension: a line under each title with the reading time, downloads and how to run it."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes

from papers.backlinks import ancestors
from papers.notebooks import convert, papers

WORDS_PER_MINUTE = 200
_UNREAD = (nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)


def minutes(doctree: nodes.document) -> int:
    """Return how long a page takes to read, in whole minutes; code and formulas are left out."""
    words = sum(
        len(text.split())
        for text in doctree.findall(nodes.Text)
        if not any(isinstance(above, _UNREAD) for above in ancestors(text))
    )
    return math.ceil(words / WORDS_PER_MINUTE)


def masthead(page: str, time: int, *, notebook: bool) -> str:
    """Write the line as HTML.

    Parameters
    ----------
    page : str
        The page's name, with its folder.
    time : int
        Minutes to read it.
    notebook : bool
        Whether it has cells.
    """
    source = f"{'../' * page.count('/')}_sources/{page}"
    kinds = ["ipynb", "md"] if notebook else ["md"]
    files = " ".join(f'<a href="{source}.{kind}" download>.{kind}</a>' for kind in kinds)
    parts = [f"{time} min read", f"Download {files}"]
    if notebook:
        parts.append(f"Run it <code>make run PAGE={page}</code>")
    return f'<p class="masthead">{"".join(f"<span>{part}</span>" for part in parts)}</p>'


def insert(app: Any, doctree: nodes.document, docname: str) -> None:
    """Put the line under the title."""
    title = doctree.next_node(nodes.title)
    if title is not None:
        notebook = "{code-cell}" in Path(app.env.doc2path(docname)).read_text("utf-8")
        line = masthead(docname, minutes(doctree), notebook=notebook)
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", line, format="html"))


def copy_notebooks(app: Any, exception: Exception | None) -> None:
    """Lay the notebooks beside the sources, also if no page has changed.

    A page that was not executed into ``notebooks/`` yet is offered without outputs.
    """
    if exception is None:
        for page in papers(Path(app.srcdir)):
            executed = Path(app.srcdir).parent / "notebooks" / f"{page.stem}.ipynb"
            offered = Path(app.outdir) / "_sources" / executed.name
            if executed.is_file():
                shutil.copy(executed, offered)
            else:
                nbformat.write(convert(page), offered)


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-resolved", insert)
    app.connect("build-finished", copy_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
