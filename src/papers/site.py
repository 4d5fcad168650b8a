"""Sphinx extension: a site that loads nothing from elsewhere.

The theme's live-code button registers its script twice and points to a server of
a third party. The book offers the source of its papers for download instead, so the
script is left out of every page.
"""

from __future__ import annotations

from typing import Any


def tidy_scripts(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop the live-code scripts and every script that is there twice."""
    kept: dict[str, Any] = {}
    for script in context.get("script_files", []):
        text = f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', '')}"
        if "thebe" not in text.lower():
            kept.setdefault(text, script)
    context["script_files"] = list(kept.values())


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", tidy_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
