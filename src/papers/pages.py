"""The list of papers and that of the library's modules, which everything else follows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


@cache
def papers(root: Path = ROOT) -> tuple[str, ...]:
    """Return the names of the papers in reading order.

    They are the chapters of the part "Papers" in ``_toc.yml``: the one place where a paper
    is registered.
    """
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    return tuple(
        chapter["file"]
        for part in toc["parts"]
        if part["caption"] == "Papers"
        for chapter in part["chapters"]
    )


@cache
def modules(root: Path = ROOT) -> tuple[str, ...]:
    """Return the names of the public modules of ``decentral``: those of papers first.

    Public is what has no leading underscore in its name and is not ``numerics``, the floor
    on which the others stand.
    """
    found = {path.stem for path in (root / "src" / "decentral").glob("[a-z]*") if _module(path)}
    named = [paper for paper in papers(root) if paper in found]
    return (*named, *sorted(found - {*named, "numerics"}))


def _module(path: Path) -> bool:
    return path.suffix == ".py" or (path / "__init__.py").is_file()
