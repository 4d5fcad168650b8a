"""The extensions and the builder, function by function, on nodes and folders made by hand."""

import fcntl
import io
import os
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from docutils import nodes
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import v4
from sphinx import addnodes
from sphinx.util.docutils import new_document
from sphinx.util.osutil import relative_uri

from papers.site import assets, backlinks, build, licences, masthead, notebooks
from papers.site.backlinks import Place

ROOT = Path(__file__).parents[2]
CELL = "```{code-cell} ipython3\n"


@pytest.fixture
def ascii_elsewhere(monkeypatch):
    """Where no encoding is named it is ASCII, as on machines of another language."""
    named = io.text_encoding
    monkeypatch.setattr(io, "text_encoding", lambda x, *level: named(x or "ascii", *level))


def lay(folder, **files):
    """Write files, with folders below; the names of pages need no ending."""
    for name, text in files.items():
        path = folder / (name if "." in name else f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


class App(SimpleNamespace):
    """What an extension is set up with; it remembers what was connected."""

    def __init__(self, **given):
        super().__init__(connected=[], transforms=[], **given)

    def connect(self, event, handler, priority=500):
        self.connected.append((event, handler, priority))

    def add_post_transform(self, transform):
        self.transforms.append(transform)


# --- backlinks ------------------------------------------------------------------------------


def xref(target="law.compute", domain="py"):
    name = nodes.inline(text=target)
    return addnodes.pending_xref("", name, refdomain=domain, reftarget=target)


def section(title, name, *children):
    return nodes.section("", nodes.title(text=title), *children, ids=[name, f"{name}-again"])


def theorem(label, *children):
    return nodes.admonition("", *children, label=label)


def read(page, *children, links=None, **env):
    """Let a page be read whose document holds the given nodes."""
    document = new_document("")
    document += list(children)
    environment = SimpleNamespace(docname=page, **env)
    if links is not None:
        environment.decentral_links = links
    backlinks.collect(App(env=environment), document)
    return environment


def test_what_a_node_stands_in_is_named_from_the_inside_out():
    link = xref()
    paragraph = nodes.paragraph("", "", link)
    whole = section("A", "a", paragraph)
    assert backlinks.ancestors(link) == [paragraph, whole]
    assert backlinks.ancestors(whole) == []


def test_the_place_of_a_link_is_the_innermost_numbered_statement():
    link = xref()
    section("A", "a", theorem("outer", theorem("inner", section("B", "b", link))))
    assert backlinks.place(link, "page", {"inner", "outer"}) == Place(
        "page", "inner", "inner", True
    )
    assert backlinks.place(link, "page", {"outer"}) == Place("page", "outer", "outer", True)


def test_or_else_the_innermost_section_with_a_title():
    link = xref()
    untitled = nodes.section("", nodes.paragraph("", "", link), ids=["remark"])
    topic = nodes.topic("", nodes.title(text="Topic"), untitled, ids=["topic"])
    section("Outer", "outer", section("Inner", "inner", theorem("unnumbered", topic)))
    assert backlinks.place(link, "page", ()) == Place("page", "inner", "Inner", False)


def test_a_link_outside_of_any_section_has_no_place():
    link = xref()
    nodes.paragraph("", "", link)
    assert backlinks.place(link, "page", {"label"}) is None


def test_links_into_the_library_are_collected_in_their_order():
    env = read(
        "page",
        xref("law.outside"),
        section(
            "A",
            "a",
            xref("law.first"),
            xref("elsewhere", domain="std"),
            addnodes.pending_xref("", refexplicit=False),
            theorem("thm", xref("law.second")),
            theorem("rem", xref("law.third")),
        ),
        proof_list={"thm": {"nonumber": False}, "rem": {"nonumber": True}},
    )
    here = Place("page", "a", "A", False)
    uses = [
        ("law.first", here),
        ("law.second", Place("page", "thm", "thm", True)),
        ("law.third", here),
    ]
    assert env.decentral_links == {"page": uses}


def test_a_book_without_statements_has_places_too():
    """The proofs' extension keeps no list before it has met the first statement."""
    env = read("page", section("A", "a", theorem("thm", xref())))
    assert env.decentral_links == {"page": [("law.compute", Place("page", "a", "A", False))]}


def test_what_is_read_again_replaces_its_own_links_only():
    env = read("page", links={"page": ["old"], "other": ["kept"]})
    assert env.decentral_links == {"page": [], "other": ["kept"]}


@pytest.mark.parametrize("page", ["index", "library", "notation", "api/law"])
def test_links_of_pages_that_list_the_library_do_not_count(page):
    assert not hasattr(read(page, section("A", "a", xref())), "decentral_links")


def test_a_page_that_is_gone_is_forgotten():
    env = SimpleNamespace(decentral_links={"page": ["use"], "other": ["kept"]})
    backlinks.forget(App(), env, "page")
    backlinks.forget(App(), env, "never read")
    assert env.decentral_links == {"other": ["kept"]}
    fresh = SimpleNamespace()
    backlinks.forget(App(), fresh, "page")
    assert fresh.decentral_links == {}


def test_the_pages_of_the_library_are_outdated_when_a_paper_is_read_or_gone_and_only_then():
    """Whatever its links are: its title, or the numbers of its statements, may have changed."""
    env = SimpleNamespace(found_docs=["api/law", "page", "api/other"], docname="page")
    app = SimpleNamespace(env=env)
    assert backlinks.outdated(app, env) == []
    backlinks.collect(app, new_document(""))
    assert backlinks.outdated(app, env) == ["api/law", "api/other"]
    assert backlinks.outdated(app, env) == []
    backlinks.forget(app, env, "page")
    assert backlinks.outdated(app, env) == ["api/law", "api/other"]
    backlinks.forget(app, env, "page")
    env.docname = "api/law"
    backlinks.collect(app, new_document(""))
    assert backlinks.outdated(app, env) == []


def entry(*names):
    return addnodes.desc(
        "",
        addnodes.desc_signature("", "", ids=list(names)),
        nodes.comment(),
        addnodes.desc_content("", nodes.paragraph(text="What it does.")),
    )


def written_back(links, *entries, page="api/law", **env):
    """Let the links be written under the entries of a page, and return the page."""
    document = new_document("")
    document += nodes.section("", *entries)
    uri = SimpleNamespace(get_relative_uri=lambda a, b: relative_uri(f"{a}.html", f"{b}.html"))
    given = {
        "app": SimpleNamespace(builder=uri),
        "config": SimpleNamespace(root_doc="root"),
        "decentral_links": links,
        "docname": page,
        "found_docs": {"root", "b-loose", "second", "first", "a-loose", "api/law"},
        "titles": {
            name: nodes.title(text=name.capitalize())
            for name in ("first", "second", "a-loose", "b-loose")
        },
        "toctree_includes": {"root": ["second", "first", "api/law"], "index": []},
    }
    document.settings.env = SimpleNamespace(**(given | env))
    backlinks.WriteBack(document).apply()
    return document


def places(text):
    """A paragraph's text and what its links lead to."""
    links = text.findall(lambda node: isinstance(node, nodes.reference | addnodes.pending_xref))
    return text.astext(), [link.get("refuri") or link["reftarget"] for link in links]


LAW = "law.compute"
LINKS = {
    name: [(LAW, Place(name, "part", "A part", False))]
    for name in ("a-loose", "first", "b-loose", "second")
}


def test_an_entry_names_the_pages_in_the_order_of_the_book_and_then_of_the_alphabet():
    document = written_back(LINKS, entry("law.estimate"), entry(LAW, "law.alias"))
    unused, used = document.findall(addnodes.desc_content)
    assert [child.astext() for child in unused] == ["What it does."]
    text, rubric, *paragraphs = used
    assert text.astext() == "What it does."
    assert isinstance(rubric, nodes.rubric)
    assert rubric.astext() == "In the papers"
    assert [places(paragraph) for paragraph in paragraphs] == [
        ("Second A part.", ["../second.html", "../second.html#part"]),
        ("First A part.", ["../first.html", "../first.html#part"]),
        ("A-loose A part.", ["../a-loose.html", "../a-loose.html#part"]),
        ("B-loose A part.", ["../b-loose.html", "../b-loose.html#part"]),
    ]


def test_an_entry_names_theorems_first_each_place_once_and_no_page_without_any():
    part, law = Place("first", "part", "A part", False), Place("first", "thm", "thm", True)
    later = Place("first", "later", "Later", False)
    uses = [(LAW, part), ("law.alias", later), (LAW, law), (LAW, part), ("law.other", law)]
    document = written_back(
        {"second": [("law.other", law)], "first": uses}, entry("law.alias", LAW)
    )
    (content,) = document.findall(addnodes.desc_content)
    first = "../first.html"
    expected = ("First thm, A part, Later.", [first, "thm", f"{first}#part", f"{first}#later"])
    assert [places(paragraph) for paragraph in content[2:]] == [expected]


def test_the_links_of_an_entry_are_those_that_sphinx_resolves_and_marks_as_inner():
    law = Place("first", "thm", "thm", True)
    document = written_back({"first": [(LAW, law)]}, entry(LAW))
    (to_page,) = document.findall(nodes.reference)
    assert to_page.attributes["internal"] is True
    (to_law,) = document.findall(addnodes.pending_xref)
    kept = ("refdomain", "reftype", "reftarget", "refexplicit")
    assert {key: to_law[key] for key in kept} == {
        "refdomain": "prf",
        "reftype": "ref",
        "reftarget": "thm",
        "refexplicit": False,
    }
    assert [type(child) for child in to_law] == [nodes.inline]
    assert {node.rawsource for node in document.findall(nodes.Element)} == {""}


def test_nothing_is_written_back_outside_of_the_library():
    document = written_back(LINKS, entry(LAW), page="first")
    (content,) = document.findall(addnodes.desc_content)
    assert len(content) == 1


def test_backlinks_come_before_references_are_resolved_and_keep_to_one_process():
    app = App()
    assert backlinks.setup(app) == {"version": "1", "env_version": 1, "parallel_read_safe": False}
    assert app.connected == [
        ("doctree-read", backlinks.collect, 500),
        ("env-purge-doc", backlinks.forget, 500),
        ("env-updated", backlinks.outdated, 500),
    ]
    assert app.transforms == [backlinks.WriteBack]


# --- masthead -------------------------------------------------------------------------------


def prose(words):
    return nodes.paragraph(text="word " * words)


@pytest.mark.parametrize(("words", "minutes"), [(0, 0), (1, 1), (200, 1), (201, 2), (400, 2)])
def test_two_hundred_words_take_a_minute(words, minutes):
    document = new_document("")
    document += [prose(words // 2), prose(words - words // 2)]
    assert masthead.minutes(document) == minutes


@pytest.mark.parametrize(
    "kind", [nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment]
)
def test_code_formulas_and_comments_take_no_time(kind):
    document = new_document("")
    unread = kind("", "")
    unread += nodes.emphasis(text="word " * 500)
    document += [prose(150), unread, prose(50)]
    assert masthead.minutes(document) == 1


def test_the_line_of_a_page_with_cells_offers_the_notebook_and_the_command():
    assert masthead.masthead("deep/er/page", 7, notebook=True) == (
        '<p class="masthead"><span>7 min read</span>'
        '<span>Download <a href="../../_sources/deep/er/page.ipynb" download>.ipynb</a> '
        '<a href="../../_sources/deep/er/page.md" download>.md</a></span>'
        "<span>Run and compare it <code>make run PAGE=deep/er/page</code></span></p>"
    )


def test_the_line_of_a_page_without_cells_offers_its_text():
    assert masthead.masthead("page", 1, notebook=False) == (
        '<p class="masthead"><span>1 min read</span>'
        '<span>Download <a href="_sources/page.md" download>.md</a></span></p>'
    )


@pytest.mark.usefixtures("ascii_elsewhere")
@pytest.mark.parametrize(("text", "notebook"), [(f"Café\n\n{CELL}", True), ("Café", False)])
def test_the_line_stands_right_under_the_title(tmp_path, text, notebook):
    lay(tmp_path, page=text)
    document = new_document("")
    title, below = nodes.title(text="Title"), [prose(300), prose(300), nodes.title(text="Other")]
    # The place of a title is sought by its equality with it, so a target stands before it.
    document += nodes.section("", nodes.target(), title, *below)
    env = SimpleNamespace(doc2path=lambda name: str(tmp_path / f"{name}.md"))
    masthead.insert(App(env=env), document, "page")
    target, first, line, *rest = document[0]
    assert isinstance(target, nodes.target)
    assert first is title
    assert rest == below
    assert isinstance(line, nodes.raw)
    assert line.rawsource == ""
    assert line["format"] == "html"
    assert line.astext() == masthead.masthead("page", 4, notebook=notebook)


def test_a_page_without_a_title_gets_no_line():
    document = new_document("")
    document += prose(1)
    masthead.insert(App(), document, "page")
    assert [type(child) for child in document] == [nodes.paragraph]


@pytest.fixture
def finished(tmp_path):
    """A build that has written its sources: two pages with cells, one executed, and one without."""
    cells = f"# Title\n\n{CELL}1 + 1\n```\n"
    lay(tmp_path / "book", executed=cells, fresh=cells, prose="Text.")
    (tmp_path / "out" / "_sources").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    notebook = notebooks.convert(tmp_path / "book" / "executed.md")
    notebook.cells[1].outputs = [stream("2")]
    nbformat.write(notebook, tmp_path / "notebooks" / "executed.ipynb")
    return App(srcdir=str(tmp_path / "book"), outdir=str(tmp_path / "out"))


def test_notebooks_are_offered_executed_or_else_without_outputs(finished):
    stored = Path(finished.srcdir).parent / "notebooks" / "executed.ipynb"
    before = stored.read_bytes()
    offered = Path(finished.outdir) / "_sources"
    written = []
    for _ in range(2):
        masthead.copy_notebooks(finished, None)
        written.append({path.name: path.read_bytes() for path in offered.iterdir()})
    assert written[0] == written[1]
    assert stored.read_bytes() == before
    assert sorted(written[0]) == ["executed.ipynb", "fresh.ipynb"]
    executed = nbformat.read(stored, as_version=4)
    fresh = notebooks.convert(Path(finished.srcdir) / "fresh.md")
    for name, notebook in (("executed", executed), ("fresh", fresh)):
        first, *rest = nbformat.read(offered / f"{name}.ipynb", as_version=4).cells
        assert rest == notebook.cells
        assert first.cell_type == "markdown"
        assert first.source == masthead.NOTE.format(name=name)


def test_the_note_names_the_python_that_the_project_asks_for():
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["requires-python"]
    assert f"Python {wanted.removeprefix('>=')} or newer" in masthead.NOTE


def test_a_build_that_failed_offers_no_notebooks(finished):
    masthead.copy_notebooks(finished, OSError())
    assert list((Path(finished.outdir) / "_sources").iterdir()) == []


def test_the_masthead_may_be_built_in_parallel():
    app = App()
    flags = {"parallel_read_safe": True, "parallel_write_safe": True}
    assert masthead.setup(app) == {"version": "1", **flags}
    assert app.connected == [
        ("doctree-resolved", masthead.insert, 500),
        ("build-finished", masthead.copy_notebooks, 500),
    ]


# --- site -----------------------------------------------------------------------------------


def script(name, **attributes):
    return SimpleNamespace(filename=name, attributes=attributes)


def tidied(*scripts):
    context = {"script_files": list(scripts)}
    assets.tidy_scripts(App(), "page", "page.html", context, None)
    assert list(context) == ["script_files"]
    return context["script_files"]


def test_a_script_that_is_there_twice_is_loaded_once_and_in_its_place():
    first, second = script("a.js"), script("b.js")
    assert tidied(first, second, script("a.js"), "c.js", "c.js") == [first, second, "c.js"]


def test_scripts_that_differ_in_name_or_attributes_or_kind_are_all_kept():
    scripts = [script("a.js"), script("a.js", body="1"), script("a.js", body="2"), "a.js", "b.js"]
    assert tidied(*scripts) == scripts


def test_a_plain_name_is_the_same_as_a_script_without_attributes():
    assert tidied("a.js", SimpleNamespace(filename="a.js", attributes="")) == ["a.js"]


def test_live_code_scripts_are_dropped():
    wanted = script("a.js")
    unwanted = ["_static/sphinx-Thebe.js", script(None, body="var THEBE = 1"), script("thebe.js")]
    assert tidied(*unwanted, wanted) == [wanted]


def test_a_page_without_scripts_stays_so():
    context = {}
    assets.tidy_scripts(App(), "page", "page.html", context, None)
    assert context == {"script_files": []}


UNUSED = {
    "a/style.css.map",
    "fonts/old.ttf",
    "locales/de/LC_MESSAGES/theme.mo",
    "mathjax/input/asciimath.js",
    "mathjax/input/mml.js",
    "mathjax/input/mml/entities.js",
    "mathjax/input/mml/extensions/mml3.js",
    "mathjax/input/tex-base.js",
    "mathjax/output/svg.js",
    "mathjax/output/svg/fonts/tex.js",
    "mathjax/output/svg/svg.js",
    "mathjax/sre/mathmaps/de.json",
    "mathjax/tex-svg.js",
    "sphinx-thebe.js",
    "webpack-macros.html",
}
USED = {
    "fonts/new.woff2",
    "mathjax/input/tex.js",
    "mathjax/input/tex/extensions/ams.js",
    "mathjax/output/chtml.js",
    "mathjax/output/chtml/fonts/tex.js",
    "mathjax/sre/mathmaps/base.json",
    "mathjax/sre/mathmaps/en.json",
    "mathjax/sre/speech-worker.js",
    "mathjax/tex-chtml.js",
    "page.html",
    "theme.js",
}


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_no_page_loads_is_deleted_and_nothing_else(tmp_path):
    static = lay(tmp_path / "_static", **dict.fromkeys(UNUSED | USED, ""))
    app = App(outdir=str(tmp_path))
    assets.drop_unused(app, OSError())
    assert files(static) == UNUSED | USED
    unused = assets.unused(static)
    assert sorted(path.relative_to(static).as_posix() for path in unused) == sorted(UNUSED)
    assets.drop_unused(app, None)
    assert files(static) == USED


def test_scripts_are_tidied_after_all_others_were_added():
    app = App()
    assert assets.setup(app) == {"parallel_read_safe": True, "parallel_write_safe": True}
    assert app.connected == [
        ("html-page-context", assets.tidy_scripts, 900),
        ("build-finished", assets.drop_unused, 500),
    ]


# --- notebooks ------------------------------------------------------------------------------

PAGE = f"""---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: The Python of this machine
  language: python
  name: python3
---
# Café

{CELL}:tags: [hide-input]
:mystnb:
:  figure:
:    name: fig-one
:editable: false
1 + 1
```

Text.

{CELL}2 + 2
```
"""


def code(source="", *outputs, **metadata):
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def stream(text, name="stdout"):
    return v4.new_output("stream", text=text, name=name)


def shown(text="shown", **kinds):
    return v4.new_output("display_data", {"text/plain": text, **kinds})


def svg(picture):
    return shown(**{"image/svg+xml": picture})


@pytest.mark.usefixtures("ascii_elsewhere")
def test_papers_are_the_pages_with_cells_in_alphabetical_order(tmp_path):
    lay(tmp_path, b=f"é\n{CELL}", a=CELL, c="no cell", **{"d.txt": CELL, "api/e": CELL})
    assert notebooks.papers(tmp_path) == [tmp_path / "a.md", tmp_path / "b.md"]


def test_a_page_is_read_with_what_says_something_about_it_only(tmp_path):
    lay(tmp_path, page=PAGE)
    notebook = notebooks.convert(tmp_path / "page.md")
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    figure = {"figure": {"name": "fig-one"}}
    assert [(cell.id, cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells] == [
        ("cell-0", "markdown", "# Café", {}),
        ("cell-1", "code", "1 + 1", {"tags": ["hide-input"], "mystnb": figure}),
        ("cell-2", "markdown", "Text.", {}),
        ("cell-3", "code", "2 + 2", {}),
    ]


class Kernel(NotebookClient):
    """A client that needs no kernel, and answers with what it was asked to do."""

    async def async_execute(self):
        self.nb.metadata.language_info = {"name": "python", "version": "3.of this machine"}
        self.nb.cells[1].outputs = [stream(f"{self.kernel_name} in {self.resources}")]
        assert (
            self.timeout == yaml.safe_load((ROOT / "_config.yml").read_text())["execute"]["timeout"]
        )
        assert not self.record_timing
        assert self.coalesce_streams


def test_a_page_is_executed_in_its_folder_and_says_nothing_of_the_machine(tmp_path, monkeypatch):
    lay(tmp_path, page=PAGE)
    monkeypatch.setattr(notebooks, "NotebookClient", Kernel)
    notebook = notebooks.execute(tmp_path / "page.md")
    resources = {"metadata": {"path": str(tmp_path)}}
    assert notebook.cells[1].outputs == [stream(f"python3 in {resources}")]
    notebook.cells[1].outputs = []
    assert notebook == notebooks.convert(tmp_path / "page.md")


def test_pieces_of_one_text_are_joined_and_others_are_not():
    kept = [
        stream("1"),
        stream("2", name="stderr"),
        stream("3"),
        shown(),
        shown(),
        stream("4"),
    ]
    prose = v4.new_markdown_cell("Text.")
    notebook = v4.new_notebook(
        cells=[prose, code("", stream("a"), stream("b"), stream("c"), shown()), code("", *kept)]
    )
    assert notebooks.join_streams(notebook) is True
    assert [cell.outputs for cell in notebook.cells[1:]] == [[stream("abc"), shown()], kept]
    assert "outputs" not in prose
    assert notebooks.join_streams(notebook) is False


def test_a_cell_that_was_never_executed_has_no_outputs_to_join():
    cell = code()
    notebook = v4.new_notebook(cells=[cell])
    del cell["outputs"]
    assert notebooks.join_streams(notebook) is False
    assert cell.outputs == []


def test_sources_and_results_of_a_notebook():
    first = code("1", stream("a"), stream("b"), shown(), stream("c"), svg("<svg/>"))
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("Text."), first, code("2")])
    assert notebooks.sources(notebook) == [("markdown", "Text."), ("code", "1"), ("code", "2")]
    assert notebooks.results(notebook) == [
        ["ab", {"text/plain": "shown"}, "c", {"text/plain": "shown"}],
        [],
    ]


def test_a_notebook_is_stale_if_it_is_missing_or_of_another_text(tmp_path):
    lay(tmp_path, page=PAGE)
    page, target = tmp_path / "page.md", tmp_path / "page.ipynb"
    assert notebooks.is_stale(page, target) is True
    nbformat.write(notebooks.convert(page), target)
    assert notebooks.is_stale(page, target) is False
    lay(tmp_path, page=PAGE + "\nMore.\n")
    assert notebooks.is_stale(page, target) is True


def test_a_drawing_is_found_by_the_name_of_its_figure():
    cells = [
        v4.new_markdown_cell("Text."),
        code("", svg("<svg>0</svg>")),
        code("", svg("<svg>1</svg>"), mystnb={}),
        code("", svg("<svg>2</svg>"), mystnb={"figure": {}}),
        code("", svg("<svg>3</svg>"), mystnb={"figure": {"name": "fig-other"}}),
        code("", stream("a"), shown(), svg("<svg>4</svg>"), mystnb={"figure": {"name": "fig"}}),
    ]
    notebook = v4.new_notebook(cells=cells)
    assert notebooks.drawing(notebook, "fig") == "<svg>4</svg>"
    with pytest.raises(KeyError, match=r"^'fig-none'$"):
        notebooks.drawing(notebook, "fig-none")


@pytest.fixture
def here(monkeypatch):
    """Pages are executed in this process; each prints its name, and draws the landing figure."""

    def execute(page):
        notebook = notebooks.convert(page)
        text, picture = f"{page.stem}: Café", f"<svg>{page.stem} ±</svg>"
        notebook.cells[-1].outputs = [shown(text), svg(picture)]
        notebook.cells[-1].metadata = {"mystnb": {"figure": {"name": "fig-home-stragglers"}}}
        return notebook

    monkeypatch.setattr(notebooks, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(notebooks, "execute", execute)


@pytest.mark.usefixtures("here", "ascii_elsewhere")
def test_every_paper_is_written_and_what_has_none_is_deleted(tmp_path, capsys):
    book, folder = tmp_path / "book", tmp_path / "notebooks"
    lay(book, first=PAGE, index=PAGE, prose="Text.")
    lay(folder, **{"gone.ipynb": "", "prose.ipynb": "", "first.ipynb": "", "notes.txt": ""})
    notebooks.main(book, folder)
    assert files(folder) == {"first.ipynb", "index.ipynb", "notes.txt", "picture.svg"}
    for name in ("first", "index"):
        notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        assert notebook.cells[-1].outputs[0] == shown(f"{name}: Café")
    assert (folder / "picture.svg").read_text("utf-8") == "<svg>index ±</svg>"
    lines = [f"{book / name}.md -> {folder / name}.ipynb\n" for name in ("first", "index")]
    assert capsys.readouterr().out == "".join(lines)


@pytest.mark.usefixtures("here")
def test_a_paper_that_fails_keeps_the_notebook_it_had(tmp_path, monkeypatch):
    def fail(page):
        raise ValueError(page.stem)

    monkeypatch.setattr(notebooks, "execute", fail)
    lay(tmp_path / "book", first=PAGE)
    lay(tmp_path / "notebooks", **{"first.ipynb": "as it was"})
    with pytest.raises(ValueError, match="first"):
        notebooks.main(tmp_path / "book", tmp_path / "notebooks")
    assert (tmp_path / "notebooks" / "first.ipynb").read_text("utf-8") == "as it was"


@pytest.mark.usefixtures("here")
def test_the_folder_of_notebooks_is_made(tmp_path):
    lay(tmp_path / "book", first=PAGE)
    notebooks.main(tmp_path / "book", tmp_path / "notebooks")
    assert files(tmp_path / "notebooks") == {"first.ipynb"}


# --- licences -------------------------------------------------------------------------------


class Package(Distribution):
    """An installed package that says this of itself."""

    def __init__(self, *fields):
        self.fields = fields

    def read_text(self, filename):
        if filename != "METADATA":
            return None
        message = Message()
        for key, value in (("Name", "package"), ("Version", "1"), *self.fields):
            message[key] = value
        return message.as_string()

    def locate_file(self, path):
        return Path(path)


KIND = "License :: OSI Approved :: MIT License"
KINDS = [("Classifier", KIND), ("Classifier", "License :: Other"), ("Classifier", "Topic :: Text")]


def test_pins_are_found_by_their_normal_names():
    lock = """# comment==0
numpy==2.4.6 \\
    --hash=sha256:00==
Zope.Inter_face==6.0 ; sys_platform == 'linux'
a--b==1;marker
"""
    assert licences.pins(lock) == {"numpy": "2.4.6", "zope-inter-face": "6.0", "a-b": "1"}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ([("License-Expression", "BSD-3-Clause"), ("License", "BSD")], "BSD-3-Clause"),
        ([("License", "BSD")], "BSD"),
        ([("License", "X")], "X"),
        ([("License", "L" * 59)], "L" * 59),
        ([("License", "L" * 60)], "MIT License, Other"),
        ([("License", "Copyright of somebody")], "MIT License, Other"),
        ([("License", "UNKNOWN")], "MIT License, Other"),
        ([], "MIT License, Other"),
    ],
)
def test_a_licence_is_said_in_few_words(field, said):
    assert licences.licence(Package(*field, *KINDS)) == said


def test_a_package_may_say_nothing_of_its_licence():
    assert licences.licence(Package()) == ""


@pytest.fixture
def installed(monkeypatch):
    packages = {"numpy": Package(("License", "BSD")), "zlib": Package(("License", "Zlib"))}

    def distribution(name):
        if name not in packages:
            raise PackageNotFoundError(name)
        return packages[name]

    monkeypatch.setattr(licences, "distribution", distribution)


@pytest.mark.usefixtures("installed")
def test_every_pin_has_a_row_also_those_of_other_systems():
    lock = "zlib==1\nPyWin32==3\nnumpy==2\n"
    assert licences.rows(lock) == [
        "| numpy | `BSD` |",
        "| pywin32 | `PSF-2.0` |",
        "| zlib | `Zlib` |",
    ]
    with pytest.raises(KeyError, match="nobody-knows"):
        licences.rows("nobody-knows==1\n")


@pytest.mark.usefixtures("installed", "ascii_elsewhere")
def test_the_table_is_written_between_its_marks(tmp_path):
    start, end = "<!-- licences: written by `make lock` -->", "<!-- end -->"
    lay(tmp_path, page=f"Café\n\n{start}\nold\n{end}\n\nMore é\n", lock="# é\nnumpy==2\n")
    page, lock = tmp_path / "page.md", tmp_path / "lock.md"
    table = "| Package | Licence |\n|:--|:--|\n| numpy | `BSD` |"
    for _ in range(2):
        licences.main(page, lock)
        assert page.read_text("utf-8") == f"Café\n\n{start}\n\n{table}\n\n{end}\n\nMore é\n"


# --- build ----------------------------------------------------------------------------------


def test_the_fingerprint_depends_on_names_contents_and_the_python(tmp_path, monkeypatch):
    def inputs(**files):
        folder = tmp_path / str(len(seen))
        return build.fingerprint(lay(folder, **files), ["src", "one.md"])

    seen = set()
    seen.add(inputs(one="1", **{"src/a.py": "a", "src/deep/b.py": "b"}))
    assert seen == {inputs(one="1", **{"src/deep/b.py": "b", "src/a.py": "a", "other": "0"})}
    for files in (
        {"one": "2", "src/a.py": "a", "src/deep/b.py": "b"},
        {"one": "1", "src/a.py": "b", "src/deep/b.py": "a"},
        {"one": "1", "src/a.py": "a", "src/deep/b.py": "B"},
        {"one": "1", "src/a.py": "a", "src/deep/c.py": "b"},
        {"one": "1", "src/a.py": "a", "src/b.py": "b"},
        {"one": "1", "src/a.py": "a"},
        {"one": "1", "src/a.py": "a", "src/deep/b.py": "b", "src/c.py": ""},
    ):
        known = len(seen)
        seen.add(inputs(**files))
        assert len(seen) == known + 1
    monkeypatch.setattr(sys, "version", "another")
    assert build.fingerprint(tmp_path / "0", ["src", "one.md"]) not in seen


@pytest.mark.parametrize("name", ["__pycache__/law.pyc", "decentral.egg-info/PKG-INFO"])
def test_what_python_writes_beside_the_sources_is_no_input(tmp_path, name):
    lay(tmp_path, **{"src/law.py": "1"})
    before = build.fingerprint(tmp_path, ["src"])
    lay(tmp_path, **{f"src/{name}": "1"})
    assert build.fingerprint(tmp_path, ["src"]) == before


INPUTS = ("src/law.py", "book/_static/book.css", "requirements.txt", "pyproject.toml")
INPUTS += ("_config.yml", "_toc.yml")


@pytest.fixture
def project(tmp_path):
    return lay(tmp_path, **dict.fromkeys(INPUTS, "1"))


def test_what_a_finished_build_left_is_kept_as_long_as_its_inputs_are(project):
    key = build.begin(project)
    assert key == build.fingerprint(project)
    lay(project, **{"_build/made.txt": "", "_build/html/made.txt": ""})
    build.finish(project, key)
    assert files(project / "_build") == {"made.txt", "html/made.txt", "inputs.sha256"}
    assert build.begin(project) == key
    assert files(project / "_build") == {"made.txt", "html/made.txt"}
    build.finish(project, "other inputs")
    build.begin(project)
    assert files(project / "_build") == set()


def test_what_was_not_finished_is_deleted_but_not_what_was_computed_from_the_same_inputs(project):
    key = build.begin(project)
    folder = build.computed(project, key)
    assert folder.parent == project / "_build"
    assert key in folder.name
    computed = f"{folder.name}/page.ipynb"
    lay(project, **{"_build/half/made.txt": "", f"_build/{computed}": ""})
    build.begin(project)
    assert files(project / "_build") == {computed}
    lay(project, **{"src/law.py": "2"})
    build.begin(project)
    assert files(project / "_build") == set()
    assert not folder.exists()


def test_what_readers_executed_is_theirs(project):
    lay(project, **{"_build/executed/page.ipynb": "", "_build/made.txt": ""})
    build.begin(project)
    assert files(project / "_build") == {"executed/page.ipynb"}


def is_locked(project):
    with (project / ".build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_build_is_alone_until_it_ends(project):
    with build.alone(project) as lock:
        assert os.path.sameopenfile(lock, lock)
        assert os.path.samestat(os.fstat(lock), (project / ".build.lock").stat())
        assert is_locked(project)
    assert not is_locked(project)


@pytest.fixture
def builder(tmp_path_factory, monkeypatch):
    """Stand in for the book builder: a script that notes its arguments and exits with a code."""
    tools = tmp_path_factory.mktemp("tools")
    script = tools / "jupyter-book"
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" >{tools}/called\nexit $(cat {tools}/code)\n'
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tools / "python"))
    monkeypatch.setenv(build.SHARED, "")
    return tools


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_builder_is_called_strictly_and_its_verdict_remembered(
    project, builder, monkeypatch, code
):
    (builder / "code").write_text(str(code))
    executed, inherited = [], []

    def execute(root, folder):
        assert is_locked(root)
        assert files(root / "_build") == set()
        assert folder == build.computed(root, build.fingerprint(root))
        assert folder.is_dir()
        assert os.environ[build.SHARED] == str(folder / "judgements")
        executed.append(root)

    def run(command, *, pass_fds, **options):
        assert executed == [project]
        assert is_locked(project)
        inherited.extend(os.fstat(number).st_ino for number in pass_fds)
        return REAL(command, pass_fds=pass_fds, **options)

    monkeypatch.setattr(build, "execute", execute)
    monkeypatch.setattr(build, "subprocess", SimpleNamespace(run=run))
    assert build.build(project) == code
    assert inherited == [(project / ".build.lock").stat().st_ino]
    options = ["--config", "_config.yml", "--toc", f"{project}/_toc.yml", "--path-output"]
    words = ["build", "book", *options, f"{project}", "-W", "-n", "--keep-going"]
    assert (builder / "called").read_text().splitlines() == [f"{project}", *words]
    finished = {"inputs.sha256"} if code == 0 else set()
    assert files(project / "_build") == finished
    if finished:
        assert (project / "_build" / "inputs.sha256").read_text() == build.fingerprint(project)
    assert not is_locked(project)


REAL = subprocess.run


@pytest.mark.parametrize("code", [0, 1])
def test_what_was_computed_while_an_input_was_edited_is_not_kept(
    project, builder, monkeypatch, code
):
    """Also if the edit is taken back: it is not known which pages saw it."""
    (builder / "code").write_text(str(code))

    def execute(root, folder):
        lay(root, **{"src/law.py": "edited"})
        (folder / "page.ipynb").touch()

    monkeypatch.setattr(build, "execute", execute)
    assert build.build(project) == code
    assert files(project / "_build") == set()


@pytest.mark.parametrize("edited", [False, True])
def test_so_it_is_if_the_build_is_interrupted(project, builder, monkeypatch, edited):
    def execute(root, folder):
        lay(root, **{"src/law.py": "edited" if edited else "1"})
        (folder / "page.ipynb").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        build.build(project)
    assert len(files(project / "_build")) == (not edited)


@pytest.fixture
def ran(monkeypatch):
    """Execute pages without a kernel: each prints a line in two pieces, or fails."""
    pages = []

    def run(notebook, folder):
        title = notebook.cells[0].source
        pages.append((folder.name, title))
        code = next(cell for cell in notebook.cells if cell.cell_type == "code")
        code.outputs = [stream("one "), stream("line\n")]
        if title == "# fails":
            raise CellExecutionError("", "ValueError", "odd")

    monkeypatch.setattr(build, "run", run)
    return pages


def cell(title, code):
    empty = f"{CELL}\n```\n"  # which no kernel counts
    return PAGE.replace("# Café", f"# {title}").replace("2 + 2", code) + empty


def test_a_page_is_executed_once_and_kept_with_its_streams_joined(tmp_path, ran):
    lay(tmp_path / "book", one=cell("one", "1"), renamed=cell("renamed", "1"), two=cell("two", "2"))
    folder = tmp_path / "kept"
    folder.mkdir()
    for page in ("one", "two", "one", "renamed"):
        notebook = build.keep(folder, tmp_path / "book" / f"{page}.md")
        assert notebook.cells[1].outputs == [stream("one line\n")]
    assert ran == [("book", "# one"), ("book", "# two")]
    assert {path.suffix for path in folder.iterdir()} == {".ipynb"}
    assert len(files(folder)) == 2


@pytest.mark.parametrize("left", ["", "{}", "[]", '{"cells": [', None])
def test_what_is_damaged_or_of_another_page_is_executed_again(tmp_path, ran, left):
    lay(tmp_path / "book", one=cell("one", "1"), two=cell("two", "2"))
    one, two = (tmp_path / "book" / f"{page}.md" for page in ("one", "two"))
    folder = tmp_path / "kept"
    folder.mkdir()
    build.keep(folder, one)
    (kept,) = folder.iterdir()
    if left is None:
        build.keep(folder, two)
        (other,) = set(folder.iterdir()) - {kept}
        left = other.read_text()
    kept.write_text(left)
    ran.clear()
    assert build.keep(folder, one).cells[-2].source == "1"
    assert ran == [("book", "# one")]
    assert build.keep(folder, one).cells[-2].source == "1"
    assert len(ran) == 1


def test_a_page_that_fails_is_not_kept(tmp_path, ran):
    folder = tmp_path / "kept"
    folder.mkdir()
    lay(tmp_path, fails=cell("fails", "1"), odd="---\n: [\n---\n")
    for page in ("fails", "odd", "gone"):
        assert build.keep(folder, tmp_path / f"{page}.md") is None
    assert len(ran) == 1
    assert files(folder) == set()


def test_the_builder_finds_all_pages_executed_but_those_that_fail(tmp_path, ran):
    pages = {name: cell(name, name) for name in ("one", "other", "fails")}
    lay(tmp_path / "book", **pages, again=cell("again", "one"), prose="Text.")
    folder, left = tmp_path / "kept", tmp_path / "_build" / ".jupyter_cache"
    folder.mkdir()
    lay(left, **{"global.db": "half a database"})
    for _ in range(2):
        build.execute(tmp_path, folder)
        cache = build.get_cache(left)
        found = {}
        for record in cache.list_cache_records():
            first, second, _ = cache.get_cache_bundle(record.pk).nb.cells
            found[second.source] = first.outputs
            assert Path(record.uri).is_relative_to(tmp_path / "book")
        assert found == {name: [stream("one line\n")] for name in ("one", "other")}
        cache.db.dispose()
    titles = [title for _, title in ran]
    assert titles.count("# other") == 1
    assert titles.count("# fails") == 2


def test_a_build_that_is_interrupted_does_not_wait_for_its_pages(tmp_path, monkeypatch):
    end = Event()

    def keep(folder, page):
        time.sleep(0.5)  # until the build waits for it: just before, Python may lose a signal
        os.kill(os.getpid(), signal.SIGINT)
        end.wait()

    lay(tmp_path / "book", page=PAGE)
    monkeypatch.setattr(build, "keep", keep)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            build.execute(tmp_path, tmp_path)
    finally:
        end.set()
        signal.signal(signal.SIGINT, before)
