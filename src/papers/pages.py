"""The papers, what each says of itself, and the modules of the library: lists made once.

A paper is registered by its line in ``_toc.yml``. What the landing page shows of it stands
in the front matter of its own page, under ``paper``::

    paper:
      figure: fig-price        # the label of one of its figures
      questions:               # rows of the landing page's table
        - ask: where to cut a chain of layers
          answer: so that the slowest stage is as fast as it can be
          law: thm-greedy      # the label of a numbered statement
          call: decentral.partition.partition
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
# The environment variable that names the folder of judgements shared within one build.
SHARED = "DECENTRAL_JUDGEMENTS"


@cache
def papers(root: Path = ROOT) -> tuple[str, ...]:
    """Return the names of the papers in reading order.

    They are the chapters of the part "Papers" in ``_toc.yml``.
    """
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    return tuple(
        chapter["file"]
        for part in toc.get("parts", [])
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


@dataclass(frozen=True)
class Page:
    """A paper as text.

    Attributes
    ----------
    name : str
    front : dict
        Its front matter under ``paper``.
    title, lead : str
        The title, and the first paragraph.
    text : str
        All of it.
    """

    name: str
    front: dict[str, Any]
    title: str
    lead: str
    text: str

    @property
    def short(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")


def read(name: str, root: Path = ROOT) -> Page:
    """Read a paper.

    Raises
    ------
    ValueError
        If the page does not begin with front matter, a title and a lead.
    """
    text = (root / "book" / f"{name}.md").read_text("utf-8")
    parts = re.match(r"---\n(.*?)\n---\n+# ([^\n]+)\n+(.+?)\n\n", text, re.DOTALL)
    if parts is None:
        raise ValueError(f"book/{name}.md must begin with front matter, a title and a lead")
    front = yaml.safe_load(parts[1]).get("paper", {})
    return Page(name, front, title=parts[2], lead=parts[3], text=text)
