"""Sphinx extension: what lists the papers, the claims, the symbols or the modules is made here.

A page asks for a list with a fence of its own, which is replaced by Markdown before the page
is parsed::

    ```{list} papers
    ```

So a new paper appears on the landing page, in the ledger and in the notation without an edit
of any of them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from papers import ledger
from papers.pages import Page, modules, papers, read
from papers.site import notation
from papers.site.cite import bibtex

_FENCE = re.compile(r"^```\{list\} (\w+)\n```$", re.MULTILINE)
_START, _END = "<!-- modules: written by `make notebooks` -->", "<!-- end -->"


def questions(root: Path) -> str:
    """Return the table of the landing page: question and answer, call and paper."""
    lines = ["| You want to know | Call, and read |", "|:--|:--|"]
    for paper in _pages(root):
        for row in paper.front["questions"]:
            call = f"{{py:func}}`~{row['call']}`"
            where = f"[{paper.short}]({paper.name}.md), {{prf:ref}}`{row['law']}`"
            lines.append(f"| **{row['ask']}**<br>{row['answer']} | {call}<br>{where} |")
    return _classed("questions", lines)


def cards(root: Path) -> str:
    """Return a card for each paper: its title, the sentence that it begins with, a figure."""
    each = "\n\n".join(_card(paper) for paper in _pages(root))
    return f"::::::{{container}} cards\n{each}\n::::::"


def _card(paper: Page) -> str:
    opening = re.match(r"\*\*(.+?)\*\*", paper.lead, re.DOTALL)
    if opening is None:
        raise ValueError(f"the lead of book/{paper.name}.md must begin with a sentence in bold")
    sentence = re.sub(r"\s*\{cite:p\}`[^`]*`", "", opening[1])  # its list is on the paper's page
    sentence = sentence.replace("{glue:text}`", f"{{glue:text}}`{paper.name}.md::")
    return "\n".join(
        [
            ":::::{container} card",
            f"**[{paper.title}]({paper.name}.md)**",
            "",
            sentence,
            "",
            f"```{{figure-of}} {paper.name} {paper.front['figure']}",
            "```",
            ":::::",
        ]
    )


def symbols(root: Path) -> str:
    """Return the table of notation, from the tables of symbols in the papers."""
    rows: dict[notation.Row, list[str]] = {}
    for paper in _pages(root):
        for row in notation.rows(paper.text):
            rows.setdefault(row, []).append(f"[{paper.short}]({paper.name}.md)")
    lines = ["| Symbol | Meaning | Unit | Papers |", "|:--|:--|:--|:--|"]
    for row in sorted(rows, key=notation.order):
        lines.append(f"| {row.symbol} | {row.meaning} | {row.unit} | {', '.join(rows[row])} |")
    return _classed("notation", lines)


def library(root: Path) -> str:
    """Return the table of the library's modules, with the papers that derive or use each."""
    lines = ["| Module | Question | Papers |", "|:--|:--|:--|"]
    for name in modules(root):
        uses = [page for page in _pages(root) if f"~decentral.{name}." in page.text]
        links = ", ".join(f"[{page.short}]({page.name}.md)" for page in uses)
        lines.append(f"| {{doc}}`api/{name}` | {question(name)} | {links} |")
    return _classed("modules", lines)


def readme(root: Path) -> str:
    """Return the table of the library's modules for the README."""
    rows = [f"| `decentral.{name}` | {question(name)} |" for name in modules(root)]
    return "\n".join([_START, "", "| Module | Question |", "|:--|:--|", *rows, "", _END])


def question(module: str) -> str:
    """Return the first line of a module's documentation, without its full stop."""
    doc = inspect.getdoc(importlib.import_module(f"decentral.{module}")) or ""
    return doc.split("\n\n")[0].replace("\n", " ").rstrip(".")


LISTS: dict[str, Callable[[Path], str]] = {
    "questions": questions,
    "papers": cards,
    "symbols": symbols,
    "modules": library,
    "counts": lambda root: ledger.counts(),
    "claims": lambda root: ledger.page(),
    "citation": lambda root: f"```bibtex\n{bibtex(root)}\n```",
}


def _pages(root: Path) -> list[Page]:
    return [read(name, root) for name in papers(root)]


def _classed(name: str, table: list[str]) -> str:
    return "\n".join(["```{table}", f":class: {name}", "", *table, "```"])


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replace the fences of a page by the lists they name."""
    root = Path(app.srcdir).parent
    if _FENCE.search(source[0]):
        for paper in papers(root):
            app.env.note_dependency(f"{paper}.md")
        source[0] = _FENCE.sub(lambda fence: LISTS[fence[1]](root), source[0])


class FigureOf(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """Where the figure of another page is to stand."""


class FigureOfDirective(SphinxDirective):
    """Ask for the figure of another page: its name, and the label of the figure."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return a mark, since the other page may not have been read yet."""
        return [FigureOf(page=self.arguments[0], label=self.arguments[1])]


class ShowFigures(SphinxPostTransform):
    """Put the drawings of other pages where they were asked for, without their captions."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Go through the marks of a page."""
        for mark in list(self.document.findall(FigureOf)):
            page, label = mark["page"], mark["label"]
            figures = self.env.get_doctree(page).findall(nodes.figure)
            found = [x for x in figures if label in (*x["names"], *x["ids"])]
            if not found:
                raise ValueError(f"book/{page}.md must have the figure {label!r}")
            image = next(found[0].findall(nodes.image)).deepcopy()
            link = self.app.builder.get_relative_uri(self.env.docname, page)
            mark.replace_self(nodes.reference("", "", image, refuri=link, internal=True))


def update(path: Path) -> None:
    """Write the table of modules into the README."""
    text = path.read_text("utf-8")
    before, after = text.split(_START)[0], text.split(_END)[1]
    path.write_text(before + readme(path.parent) + after, "utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("source-read", fill)
    app.add_node(FigureOf)
    app.add_directive("figure-of", FigureOfDirective)
    app.add_post_transform(ShowFigures)
    return {"version": "1", "parallel_read_safe": False}


if __name__ == "__main__":
    update(Path("README.md"))
