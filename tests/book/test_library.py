"""The library's pages: every public name has an entry, linked from the papers and back."""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import FunctionType

import nbformat
import pytest
from bs4 import BeautifulSoup

from papers.claims import PAPERS
from papers.pages import modules

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"
MODULES = modules()
NAMES = [
    (module, name)
    for module in MODULES
    for name in importlib.import_module(f"decentral.{module}").__all__
    if isinstance(
        getattr(importlib.import_module(f"decentral.{module}"), name), (type, FunctionType)
    )
]


@cache
def entries(module):
    html = (SITE / "api" / f"{module}.html").read_text("utf-8")
    return BeautifulSoup(html, "html.parser")


def entry(module, name):
    title = entries(module).find("dt", id=f"decentral.{module}.{name}")
    assert title, f"decentral.{module}.{name} has no entry"
    return title.parent


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_name_has_an_entry(module, name):
    text = entry(module, name).get_text()
    thing = getattr(importlib.import_module(f"decentral.{module}"), name)
    assert inspect.getdoc(thing).split(maxsplit=1)[0] in text
    if inspect.isfunction(thing):
        assert "Examples" in text
        assert "Returns" in text


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_function_is_linked_with_the_papers_both_ways(module, name):
    thing = getattr(importlib.import_module(f"decentral.{module}"), name)
    if inspect.isclass(thing):
        return  # their functions are linked
    links = [link["href"] for link in entry(module, name).find_all("a", href=True)]
    papers = {page for page in PAPERS for link in links if link.startswith(f"../{page}.html#")}
    assert papers, "name it in the paper, as {py:func}`~decentral...`"
    for page in papers:
        text = (SITE / f"{page}.html").read_text("utf-8")
        assert f'href="api/{module}.html#decentral.{module}.{name}"' in text


@pytest.mark.parametrize("page", [path.stem for path in (ROOT / "notebooks").glob("*.ipynb")])
def test_what_is_offered_for_download_is_current(page):
    offered = SITE / "_sources"
    assert (offered / f"{page}.md").read_bytes() == (ROOT / "book" / f"{page}.md").read_bytes()
    notebook = nbformat.read(ROOT / "notebooks" / f"{page}.ipynb", as_version=4)
    first, *cells = nbformat.read(offered / f"{page}.ipynb", as_version=4).cells
    assert cells == notebook.cells, "run `make book` once more"
    assert f"make execute PAGE=path/to/{page}.ipynb\n" in first.source


# What was published before there were such identifiers, or never got one.
WITHOUT_DOI = {"google2023tpuv5e", "kantorovich1948functional", "wang1993number"}


def test_references_have_identifiers():
    text = (ROOT / "book" / "references.bib").read_text("utf-8")
    keys = []
    for block in re.split(r"(?m)^(?=@)", text)[1:]:
        kind, key = re.match(r"@(\w+)\{(\w+),", block).groups()
        keys.append(key)
        if kind not in ("book", "incollection", "techreport"):
            assert bool(re.search(r"\n  doi\s+= \{10\.\d{4,}/\S+\}", block)) != (key in WITHOUT_DOI)
    assert len(set(keys)) == len(keys) > 40
