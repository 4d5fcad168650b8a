"""How to cite the book and its papers, as BibTeX, from ``CITATION.cff``."""

from __future__ import annotations

from pathlib import Path

import yaml


def bibtex(root: Path, paper: str = "", title: str = "") -> str:
    """Return the entry of the book, or that of one of its papers.

    Parameters
    ----------
    root : Path
        The project's folder.
    paper, title : str, optional
        The name of a paper, and its title.
    """
    facts = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in facts["authors"])
    year = facts["date-released"].year
    whole = {"title": facts["title"]}
    fields = {
        "author": authors,
        **({"title": title, "booktitle": facts["title"]} if paper else whole),
        "year": str(year),
        "note": f"Version {facts['version']}",
    }
    kind = "incollection" if paper else "book"
    lines = [f"  {name:<9} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{decentral{year}{paper.replace('_', '')},", *lines, "}"])
