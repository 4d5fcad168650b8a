"""Sphinx extension: a site that loads nothing from elsewhere, and nothing that it does not need.

The theme's live-code button registers its script twice and points to a server of
a third party. The book offers the source of its papers for download instead, so the
script is left out of every page; our own for the search is left out of all pages but
that of the search. MathJax comes with a dozen bundles, other languages of mathematics,
a second renderer and speech rules for a dozen languages of people. The pages load one
bundle, and the reader's menu the English rules; the rest is deleted. So are the theme's
translations and templates, the older format of its fonts, and maps of minified sources.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Of MathJax: the bundle of the pages, and the rules of speech that its menu can load.
_BUNDLE = "tex-chtml.js"
_RULES = {"base.json", "en.json"}
# Other inputs than TeX, and TeX without its extensions or with all of them at once.
_LANGUAGES = ("asciimath.js", "mml.js", "mml/**/*.js", "tex-*.js")


def tidy_scripts(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop what a page does not need: live code, the search elsewhere, and scripts twice over."""
    kept: dict[str, Any] = {}
    for script in context.get("script_files", []):
        text = f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', '')}"
        elsewhere = "_static/search.js" in text and pagename != "search"
        if "thebe" not in text.lower() and not elsewhere:
            kept.setdefault(text, script)
    context["script_files"] = list(kept.values())


def unused(static: Path) -> list[Path]:
    """Return the files below ``_static`` that no page loads.

    Parameters
    ----------
    static : Path

    Returns
    -------
    list of Path
    """
    mathjax = static / "mathjax"
    bundles = [path for path in mathjax.glob("*.js") if path.name != _BUNDLE]
    rules = [path for path in mathjax.glob("sre/mathmaps/*.json") if path.name not in _RULES]
    languages = [path for name in _LANGUAGES for path in (mathjax / "input").glob(name)]
    renderers = [*mathjax.glob("output/svg.js"), *mathjax.glob("output/svg/**/*.js")]
    patterns = ("*.map", "*.ttf", "*webpack-macros.html", "sphinx-thebe.js", "locales/**/*.*")
    files = [*bundles, *rules, *languages, *renderers]
    return [*files, *(x for name in patterns for x in static.rglob(name))]


def drop_unused(app: Any, exception: Exception | None) -> None:
    """Delete what no page loads, if the build has not failed."""
    if exception is None:
        for path in unused(Path(app.outdir) / "_static"):
            path.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", tidy_scripts, priority=900)
    app.connect("build-finished", drop_unused)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
