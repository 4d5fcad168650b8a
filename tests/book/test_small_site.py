"""A site of four pages, to the letter: what the book's own extensions write into it."""

import shutil

import pytest
from bs4 import BeautifulSoup
from tests.book.test_build import HEADER, ROOT

from papers.site import build
from papers.site.assets import unused

LAW = '''"""Laws."""


def compute():
    """Compute the law."""


def estimate():
    """Estimate it."""


def forget():
    """Nobody uses it."""
'''
PAGES = {
    "index": "# Index\n\nThe landing page links to {py:func}`law.compute` as well.\n",
    "second": f"""{HEADER}
# The second paper

In code: {{py:func}}`law.compute`.

```{{code-cell}} ipython3
print("two")
```
""",
    "first": """# The first paper

{py:func}`law.compute` before any section, and a formula $x + y$.

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

## How long it takes

"""
    + "word " * 401
    + "\n\n```python\nthese = words_do_not_count\n```\n",
    "api/law": "# The laws\n\n```{eval-rst}\n.. automodule:: law\n```\n",
}


def make(folder):
    """Lay out the project of the small site."""
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "book" / "_static", folder / "book" / "_static")
    (folder / "book" / "references.bib").touch()
    chapters = "".join(f"  - file: {page}\n" for page in list(PAGES)[1:])
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: index\nchapters:\n{chapters}")
    (folder / "src").mkdir()
    (folder / "book" / "api").mkdir()
    (folder / "src" / "law.py").write_text(LAW)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    for page, text in PAGES.items():
        (folder / "book" / f"{page}.md").write_text(text)


def words(element):
    """The text of an element, with single spaces."""
    return " ".join(element.get_text().split()).replace(" ,", ",")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder / "src"))
        assert build.build(folder) == 0
    return folder / "_build" / "html"


def parsed(site, page):
    return BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")


@pytest.mark.parametrize(
    ("page", "text", "files"),
    [
        ("index", "1 min read Download .md", ["_sources/index.md"]),
        ("first", "3 min read Download .md", ["_sources/first.md"]),
        (
            "second",
            "1 min read Download .ipynb .md Run and compare it make run PAGE=second",
            ["_sources/second.ipynb", "_sources/second.md"],
        ),
        ("api/law", "1 min read Download .md", ["../_sources/api/law.md"]),
    ],
)
def test_the_line_under_the_title(site, page, text, files):
    (line,) = parsed(site, page).select("h1 + p.masthead")
    assert " ".join(words(span) for span in line.select("span")) == text
    assert [link["href"] for link in line.select("a[download]")] == files


ENTRIES = {
    "compute": [
        ("The second paper The second paper.", ["second.html", "second.html#the-second-paper"]),
        (
            "The first paper Theorem 1, The first paper, How it is computed.",
            [
                "first.html",
                "first.html#thm-law",
                "first.html#the-first-paper",
                "first.html#how-it-is-computed",
            ],
        ),
    ],
    "estimate": [
        (
            "The first paper Theorem 1, How it is computed.",
            ["first.html", "first.html#thm-law", "first.html#how-it-is-computed"],
        )
    ],
    "forget": [],
}


@pytest.mark.parametrize("function", ENTRIES)
def test_an_entry_names_the_papers_in_their_order_and_theorems_first(site, function):
    entry = parsed(site, "api/law").find(id=f"law.{function}").find_next_sibling("dd")
    places = ENTRIES[function]
    assert [words(x) for x in entry.select(".rubric")] == ["In the papers"] * bool(places)
    found = [(words(p), [a["href"] for a in p.select("a")]) for p in entry.select(".rubric ~ p")]
    assert found == [(text, [f"../{href}" for href in hrefs]) for text, hrefs in places]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_each_script_once_and_none_from_elsewhere(site, page):
    scripts = [script["src"] for script in parsed(site, page).select("script[src]")]
    if page == "first":  # which has a formula
        assert sum(script.startswith("_static/mathjax/tex-chtml.js") for script in scripts) == 1
    assert len(scripts) == len(set(scripts))
    assert not [script for script in scripts if "//" in script or "thebe" in script]


def test_what_no_page_loads_is_gone_and_the_rest_is_there(site):
    assert unused(site / "_static") == []
    mathjax = site / "_static" / "mathjax"
    assert [path.name for path in mathjax.glob("*.js")] == ["tex-chtml.js"]
    assert {path.name for path in mathjax.glob("sre/mathmaps/*")} == {"base.json", "en.json"}
    assert (mathjax / "input" / "tex").is_dir()
    assert list(mathjax.glob("output/chtml/**/*.js"))


def test_sources_are_offered(site):
    offered = {str(path.relative_to(site / "_sources")) for path in site.glob("_sources/**/*.*")}
    assert offered == {*(f"{page}.md" for page in PAGES), "second.ipynb"}


def test_an_entry_follows_new_numbers(site, monkeypatch):
    """Last in this file, since it builds the site again: the links themselves stay as they are."""
    folder = site.parents[1]
    theorem = "```{prf:theorem} Another\n:label: thm-another\n\nOne.\n```\n\n## How it is computed"
    text = PAGES["first"].replace("## How it is computed", theorem, 1)
    (folder / "book" / "first.md").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    assert build.build(folder) == 0
    entry = parsed(site, "api/law").find(id="law.estimate").find_next_sibling("dd")
    (place,) = [words(p) for p in entry.select(".rubric ~ p")]
    assert place == "The first paper Theorem 2, How it is computed."
