"""Entries of the library name the theorems and sections that use them, in a small site."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import new_document
from tests.book.small_books import App, lay, lay_book, words

from papers.site import backlinks, build
from papers.site.backlinks import Place

LAW = '''"""Laws."""


def compute():
    """Compute the law."""


def estimate():
    """Estimate it."""


def forget():
    """Nobody uses it for long."""
'''
FIRST = """# The first paper

{py:func}`law.compute` before any section, and a formula $x + y$.

## How long it takes

{py:func}`law.forget`

## How it is computed

{py:func}`law.compute` and again {py:func}`law.compute`.

```{prf:theorem} Law
:label: thm-law

{py:func}`law.compute` or {py:func}`law.estimate`.
```

```{prf:remark}
:label: rem-law
:nonumber:

{py:func}`law.estimate` in a remark without a number.
```
"""
# The paper later: another theorem comes before its own, and it has lost a link.
ANOTHER = "```{prf:theorem} Another\n:label: thm-another\n\nOne.\n```"
LATER = FIRST.replace("{py:func}`law.forget`", ANOTHER)
PAGES = {
    "index": "# Index\n\nThe landing page links to {py:func}`law.compute` as well.\n",
    "second": "# The second paper\n\nIn code: {py:func}`law.compute`.\n",
    "first": FIRST,
    "api/law": "# The laws\n\n```{eval-rst}\n.. automodule:: law\n```\n",
}


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """The entries of a site that was built twice: the second time only the one paper is read."""
    folder = tmp_path_factory.mktemp("site")
    lay_book(folder, PAGES, LAW, chapters=("second", "first", "api/law"))
    page, found = folder / "_build" / "html" / "api" / "law.html", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder / "src"))
        for text in (FIRST, LATER):
            lay(folder / "book", first=text)
            assert build.build(folder) == 0
            found.append(BeautifulSoup(page.read_text("utf-8"), "html.parser"))
    return found


def places(page, function):
    """What stands under an entry, and what it leads to."""
    entry = page.find(id=f"law.{function}").find_next_sibling("dd")
    paragraphs = entry.select(".rubric ~ p")
    assert [words(x) for x in entry.select(".rubric")] == ["In the papers"] * bool(paragraphs)
    links = [[a["href"] for a in p.select("a.reference.internal")] for p in paragraphs]
    return list(zip(map(words, paragraphs), links, strict=True))


SECOND = (
    "The second paper The second paper.",
    ["../second.html", "../second.html#the-second-paper"],
)
PAPER = "../first.html"
OUTSIDE, INSIDE, LAW_OF_IT = (
    f"{PAPER}#{place}" for place in ("the-first-paper", "how-it-is-computed", "thm-law")
)


@pytest.mark.parametrize("build", [0, 1])
def test_an_entry_names_the_papers_in_their_order_theorems_first_and_each_place_once(
    entries, build
):
    law = f"Theorem {1 + build}"
    text = f"The first paper {law}, The first paper, How it is computed."
    links = [PAPER, LAW_OF_IT, OUTSIDE, INSIDE]
    assert places(entries[build], "compute") == [SECOND, (text, links)]
    text = f"The first paper {law}, How it is computed."
    assert places(entries[build], "estimate") == [(text, [PAPER, LAW_OF_IT, INSIDE])]


def test_a_link_that_is_gone_is_named_no_more(entries):
    text, links = "The first paper How long it takes.", [PAPER, f"{PAPER}#how-long-it-takes"]
    assert places(entries[0], "forget") == [(text, links)]
    assert places(entries[1], "forget") == []


# --- on nodes made by hand ------------------------------------------------------------------


def xref(target="law.compute", domain="py"):
    name = nodes.inline(text=target)
    return addnodes.pending_xref("", name, refdomain=domain, reftarget=target)


def section(title, name, *children):
    return nodes.section("", nodes.title(text=title), *children, ids=[name, f"{name}-again"])


def theorem(label, *children):
    return nodes.admonition("", *children, label=label)


def read(page, *children):
    """Let a page be read whose document holds the given nodes."""
    document = new_document("")
    document += list(children)
    environment = SimpleNamespace(docname=page)
    backlinks.collect(App(env=environment), document)
    return environment


def test_the_place_of_a_link_is_the_innermost_numbered_statement():
    link = xref()
    section("A", "a", theorem("outer", theorem("inner", section("B", "b", link))))
    for statements, label in (({"inner", "outer"}, "inner"), ({"outer"}, "outer")):
        assert backlinks.place(link, "page", statements) == Place("page", label, label, True)


def test_or_else_the_innermost_section_with_a_title():
    link = xref()
    untitled = nodes.section("", nodes.paragraph("", "", link), ids=["remark"])
    section("Outer", "outer", section("Inner", "inner", theorem("unnumbered", untitled)))
    assert backlinks.place(link, "page", ()) == Place("page", "inner", "Inner", False)


def test_a_link_outside_of_any_section_has_no_place():
    link = xref()
    nodes.paragraph("", "", link)
    assert backlinks.place(link, "page", {"label"}) is None


def test_a_book_without_statements_has_places_too():
    """The proofs' extension keeps no list before it has met the first statement."""
    env = read("page", section("A", "a", theorem("thm", xref())))
    assert env.decentral_links == {"page": [("law.compute", Place("page", "a", "A", False))]}


@pytest.mark.parametrize("page", ["index", "library", "notation", "api/law"])
def test_links_of_pages_that_list_the_library_do_not_count(page):
    assert not hasattr(read(page, section("A", "a", xref())), "decentral_links")


def test_the_pages_of_the_library_are_outdated_when_a_paper_is_read_or_gone_and_only_then():
    """Whatever its links are: its title, or the numbers of its statements, may have changed."""
    env = SimpleNamespace(found_docs=["api/law", "page", "api/other"], docname="page")
    app = SimpleNamespace(env=env)
    assert backlinks.outdated(app, env) == []
    backlinks.collect(app, new_document(""))
    assert backlinks.outdated(app, env) == ["api/law", "api/other"]
    assert backlinks.outdated(app, env) == []
    backlinks.forget(app, env, "page")
    assert env.decentral_links == {}
    assert backlinks.outdated(app, env) == ["api/law", "api/other"]
    backlinks.forget(app, env, "page")
    env.docname = "api/law"
    backlinks.collect(app, new_document(""))
    assert backlinks.outdated(app, env) == []
