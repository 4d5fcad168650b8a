"""Sphinx extension: each entry of the library says which theorems and sections use it.

The papers link to the functions that compute their laws. This collects those links
while the pages are read, and writes them back under the entries: nothing is listed
twice by hand, so nothing can disagree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

# Pages whose links do not count: they list the library, they do not derive it.
_LISTS = ("index", "library", "notation", "api/")


@dataclass(frozen=True)
class Place:
    """Where a page speaks of a function.

    Attributes
    ----------
    page, anchor, title : str
        The page, the id on it, and the title of the section.
    theorem : bool
        Whether the anchor is the label of a numbered statement.
    """

    page: str
    anchor: str
    title: str
    theorem: bool


def place(link: nodes.Node, page: str, statements: Collection[str]) -> Place | None:
    """Return the numbered statement that a link stands in, or else its section.

    Parameters
    ----------
    link : Node
    page : str
        The page that it is on.
    statements : collection of str
        The labels of all numbered statements.
    """
    above = ancestors(link)
    for node in above:
        if node.get("label") in statements:
            return Place(page, node["label"], node["label"], theorem=True)
    for node in above:
        # Statements without a number hold a section without a title.
        if isinstance(node, nodes.section) and isinstance(node[0], nodes.title):
            return Place(page, node["ids"][0], node[0].astext(), theorem=False)
    return None


def ancestors(node: nodes.Node) -> list[nodes.Element]:
    """Return what a node stands in, from the inside out."""
    above = []
    while (node := node.parent) is not None:
        above.append(node)
    return above


def collect(app: Any, doctree: nodes.document) -> None:
    """Remember the places of a page's links into the library."""
    page = app.env.docname
    if page.startswith(_LISTS):
        return
    listed = getattr(app.env, "proof_list", {})
    statements = {label for label, entry in listed.items() if not entry["nonumber"]}
    uses: list[tuple[str, Place]] = []
    for link in doctree.findall(addnodes.pending_xref):
        where = place(link, page, statements) if link.get("refdomain") == "py" else None
        if where:
            uses.append((link["reftarget"], where))
    _collected(app.env)[page] = uses
    app.env.decentral_news = True


def forget(app: Any, env: Any, docname: str) -> None:
    """Drop what was remembered of a page that is read again, or gone."""
    if _collected(env).pop(docname, None) is not None:
        env.decentral_news = True


def outdated(app: Any, env: Any) -> Iterable[str]:
    """Name the library's pages, if a paper was read or is gone: titles and numbers change too."""
    news, env.decentral_news = getattr(env, "decentral_news", False), False
    return [page for page in env.found_docs if news and page.startswith("api/")]


def _collected(env: Any) -> dict[str, list[tuple[str, Place]]]:
    if not hasattr(env, "decentral_links"):
        env.decentral_links = {}
    links: dict[str, list[tuple[str, Place]]] = env.decentral_links
    return links


class WriteBack(SphinxPostTransform):
    """Append to each entry the places that use it, before references are resolved."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Go through the entries of a page of the library."""
        if not self.env.docname.startswith("api/"):
            return
        order = [*self.env.toctree_includes[self.config.root_doc], *sorted(self.env.found_docs)]
        links = _collected(self.env)
        for entry in list(self.document.findall(addnodes.desc)):
            names = entry[0]["ids"]
            places = [
                self.paragraph(page, [where for name, where in links[page] if name in names])
                for page in sorted(links, key=order.index)
            ]
            if any(places):
                entry[-1] += [nodes.rubric(text="In the papers"), *filter(None, places)]

    def paragraph(self, page: str, places: list[Place]) -> nodes.paragraph | None:
        """Name a page and its places, the theorems first, each once; None if there is none."""
        if not places:
            return None
        title = self.env.titles[page].astext()
        parts: list[nodes.Node] = [self.reference(page, "", title), nodes.Text(" ")]
        for where in sorted(dict.fromkeys(places), key=lambda where: not where.theorem):
            parts += [self.link(where), nodes.Text(", ")]
        parts[-1] = nodes.Text(".")
        return nodes.paragraph("", "", *parts)

    def link(self, where: Place) -> nodes.Node:
        """Refer to a theorem by its number, to a section by its title."""
        if where.theorem:
            name = nodes.inline(text=where.anchor)
            target = {"refdomain": "prf", "reftype": "ref", "reftarget": where.anchor}
            return addnodes.pending_xref("", name, refexplicit=False, **target)
        return self.reference(where.page, f"#{where.anchor}", where.title)

    def reference(self, page: str, anchor: str, text: str) -> nodes.reference:
        """Link to a page, or to a place on it."""
        uri = self.app.builder.get_relative_uri(self.env.docname, page)
        return nodes.reference("", text, refuri=uri + anchor, internal=True)


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", outdated)
    app.add_post_transform(WriteBack)
    return {"version": "1", "env_version": 1, "parallel_read_safe": False}
