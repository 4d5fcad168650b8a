"""What the builder is given besides the papers: the contents, and a page for each module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from papers.pages import modules


def toc(root: Path) -> dict[str, Any]:
    """Return the contents of the book, with a page for each module below that of the library."""
    contents: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    for part in contents.get("parts", []):
        for chapter in part["chapters"]:
            if chapter["file"] == "library":
                chapter["sections"] = [{"file": f"api/{name}"} for name in modules(root)]
    return contents


def write(root: Path) -> Path:
    """Write the pages of the library's modules and the contents; return where the latter are."""
    folder = root / "book" / "api"
    for page in folder.glob("*.md"):
        if page.stem not in modules(root) and page.read_text("utf-8") == _module_page(page.stem):
            page.unlink()  # its module is gone
    for name in modules(root):
        page = folder / f"{name}.md"
        if not page.is_file() or page.read_text("utf-8") != _module_page(name):
            folder.mkdir(exist_ok=True)
            page.write_text(_module_page(name), "utf-8")
    path = root / "_build" / "toc.yml"
    path.write_text(yaml.safe_dump(toc(root), sort_keys=False), "utf-8")
    return path


def _module_page(name: str) -> str:
    module = f"decentral.{name}"
    return f"# `{module}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n```\n"
