"""The library's pages: every public name has an entry, linked from the papers and back."""

import importlib
import inspect
import re
from pathlib import Path
from types import FunctionType

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree

from papers.claims import PAPERS
from papers.pages import modules
from papers.site.masthead import WORDS_PER_MINUTE, masthead, minutes

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


def entry(module, name):
    page = BeautifulSoup((SITE / "api" / f"{module}.html").read_text("utf-8"), "html.parser")
    title = page.find("dt", id=f"decentral.{module}.{name}")
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


def test_what_can_be_read_is_counted():
    words = "word " * (2 * WORDS_PER_MINUTE)
    code = "::\n\n    code " + "code " * 1000
    assert minutes(publish_doctree(f"Title\n=====\n\n{words}\n\n{code}\n\n:math:`x`")) == 3
    assert minutes(publish_doctree("few words")) == 1


def test_the_line_under_the_title():
    line = masthead("api/x", 4, notebook=False)
    assert 'href="../_sources/api/x.md"' in line
    assert "4 min read" in line
    assert "ipynb" not in line
    assert "make run PAGE=y" in masthead("y", 1, notebook=True)


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
