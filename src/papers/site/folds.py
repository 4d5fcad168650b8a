"""Sphinx extension: the bar above a folded cell says what is in it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

# The first pattern that a cell's text matches names it.
KINDS = {
    r"\bwith figure\(": "how it is drawn",
    r"\b(?:agree|z_score|must_fail)\(|\bproofs\.": "the check",
    r"\A(?:import|from) (?!papers import ledger)": "what this page imports",
    r"\bsp\.": "the derivation",
    r"": "the computation",
}


def kind(source: str) -> str:
    """Say what a cell does.

    Examples
    --------
    >>> from papers.site.folds import kind
    >>> kind("import numpy as np"), kind("print(agree(points))"), kind("x = 1")
    ('what this page imports', 'the check', 'the computation')
    """
    return next(name for pattern, name in KINDS.items() if re.search(pattern, source))


def name(app: Any, doctree: nodes.document) -> None:
    """Name the bars of a page."""
    for cell in doctree.findall(nodes.container):
        if cell.get("hide_mode"):
            what = kind(next(cell.findall(nodes.literal_block)).astext())
            cell["prompt_show"], cell["prompt_hide"] = f"Show {what}", f"Hide {what}"


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", name)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
