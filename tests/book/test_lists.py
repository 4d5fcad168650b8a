"""What lists the papers is made from them: landing page, ledger, notation, library, README."""

import re
import zipfile

import pytest
import yaml

from papers.pages import modules, papers, read
from papers.site import archive, contents, lists
from papers.site.cite import bibtex

HEADER = "---\njupytext: {}\npaper:\n  figure: fig-one\n---\n\n"


@pytest.fixture
def book(tmp_path):
    """A project with the beginnings of two papers, of which one has a package."""
    toc = {"parts": [{"caption": "Papers", "chapters": [{"file": "one"}, {"file": "two_words"}]}]}
    reference = {"caption": "Reference", "chapters": [{"file": "library"}]}
    toc["parts"].append(reference)
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    (tmp_path / "book").mkdir()
    lead = "**Yes, {glue:text}`big` times {cite:p}`who`.** And more.\nOn two lines."
    for name in ("one", "two_words"):
        (tmp_path / "book" / f"{name}.md").write_text(
            f"{HEADER}# Does {name}?\n\n{lead}\n\n## Model\n"
        )
    for name in ("two_words", "also", "numerics"):
        (tmp_path / "src" / "decentral" / name).mkdir(parents=True)
        (tmp_path / "src" / "decentral" / name / "__init__.py").touch()
    (tmp_path / "src" / "decentral" / "__init__.py").touch()
    return tmp_path


def test_papers_are_those_of_the_table_of_contents(book):
    assert papers(book) == ("one", "two_words")
    assert modules(book) == ("two_words", "also")


def test_a_page_says_what_it_is(book):
    page = read("two_words", book)
    assert (page.title, page.short) == ("Does two_words?", "two words")
    assert page.lead.endswith("On two lines.")
    assert page.front == {"figure": "fig-one"}
    (book / "book" / "one.md").write_text("# No front matter\n")
    with pytest.raises(ValueError, match=r"book/one\.md must begin with front matter"):
        read("one", book)


def test_a_card_begins_as_its_paper_does(book):
    cards = lists.cards(book)
    assert "[Does one?](one.md)" in cards
    assert "Yes, {glue:text}`one.md::big` times." in cards
    assert "```{figure-of} two_words fig-one" in cards
    page = book / "book" / "one.md"
    page.write_text(page.read_text().replace("**", ""))
    with pytest.raises(ValueError, match=r"book/one\.md must begin with a sentence in bold"):
        lists.cards(book)


def test_each_module_gets_its_page_below_that_of_the_library(book):
    (book / "_build").mkdir()
    (book / "book" / "api").mkdir()
    for name, module in (("gone", "decentral.gone"), ("mine", "another")):
        automodule = f"```{{eval-rst}}\n.. automodule:: {module}\n```\n"
        (book / "book" / "api" / f"{name}.md").write_text(f"# `{module}`\n\n{automodule}")
    whole = yaml.safe_load(contents.write(book).read_text())
    (library,) = whole["parts"][1]["chapters"]
    assert library["sections"] == [{"file": "api/two_words"}, {"file": "api/also"}]
    pages = {path.name: path.read_text() for path in (book / "book" / "api").iterdir()}
    assert sorted(pages) == ["also.md", "mine.md", "two_words.md"]
    assert ".. automodule:: decentral.also\n" in pages["also.md"]


def test_the_readme_lists_the_modules_as_they_say_what_they_are(root):
    text = (root / "README.md").read_text("utf-8")
    assert lists.readme(root) in text, "run `make notebooks`, or `python -m papers.site.lists`"


@pytest.mark.parametrize("paper", papers())
def test_every_paper_says_what_the_landing_page_needs(paper):
    page = read(paper)
    assert f"    name: {page.front['figure']}\n" in page.text
    for row in page.front["questions"]:
        assert sorted(row) == ["answer", "ask", "call", "law"]
        assert f":label: {row['law']}\n" in page.text
        assert f"{{py:func}}`~{row['call']}`" in page.text, "the paper links what it offers"
        assert not re.search(r"\d\.\d|\d\s*%", row["answer"]), "no number that nobody computed"


def test_the_entry_of_a_paper_names_it_and_the_book(root):
    assert bibtex(root).startswith("@book{decentral2026,\n")
    entry = bibtex(root, "inner_steps", "How?")
    assert entry.startswith("@incollection{decentral2026innersteps,\n")
    assert "title     = {How?},\n" in entry
    assert "booktitle = {Exact Laws of Decentralised Training},\n" in entry


def test_the_archive_is_the_project_and_nothing_else(tmp_path):
    for name in ("README.md", ".build.lock", ".gitignore", "src/a/b.py", "src/a/__pycache__/c.pyc",
                 "_build/d", ".venv/e"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    targets = [tmp_path / "_build" / "one.zip", tmp_path / "_build" / "two.zip"]
    for target in targets:
        archive.pack(tmp_path, target)
    assert targets[0].read_bytes() == targets[1].read_bytes()
    with zipfile.ZipFile(targets[0]) as packed:
        names = ["exact-laws/.gitignore", "exact-laws/README.md", "exact-laws/src/a/b.py"]
        assert packed.namelist() == names
        assert packed.read("exact-laws/README.md") == b"README.md"


def test_the_site_offers_what_can_be_run(root):
    with zipfile.ZipFile(root / "_build" / "html" / "exact-laws.zip") as packed:
        names = set(packed.namelist())
    for name in ("Makefile", "requirements.txt", "_toc.yml", "book/partition.md", ".ci/run"):
        assert f"exact-laws/{name}" in names
    assert not any("/.venv/" in name or "__pycache__" in name for name in names)
