"""The pages: no typed result, short cells, fresh notebooks, and a site that shows the same."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupyter_cache import get_cache

from papers.claims import PAPERS as CLAIMED
from papers.claims import registry
from papers.site import notebooks
from papers.site.prose import check, typed_results

ROOT = Path(__file__).parents[2]
PAPERS = notebooks.executable(ROOT / "book")


def committed(page):
    path = ROOT / "notebooks" / f"{page.stem}.ipynb"
    assert path.is_file(), f"{path.name} is missing: run `make notebooks`"
    return nbformat.read(path, as_version=4)


def was_executed(notebook):
    """Whether all cells were, in order, and something came out."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    return counts == list(range(1, len(code) + 1)) and any(cell.outputs for cell in code)


def test_a_notebook_without_outputs_is_found():
    notebook = committed(ROOT / "book" / "ordering.md")
    assert was_executed(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    assert not was_executed(notebook)
    assert not was_executed(notebooks.convert(ROOT / "book" / "ordering.md"))


# What every paper has, besides its title and the answer.
ANATOMY = {
    "a model": r"\n## Model\n",
    "a table of symbols": r"\n\| Symbol \| Meaning \|",
    "a law": r"\n## Law\n",
    "a numbered statement": r"\{prf:(theorem|proposition)\}",
    "a proof": r"\{prf:proof\}",
    "a function for the law": r"In code: \{py:func\}",
    "a check": r"\bagree\(",
    "a check that fails": r"\n\s*with must_fail\(\):",
    "prices": r"\n## What it costs\n",
    "rules of thumb": r"\n## Rules of thumb\n",
    "real machines": r"\n## On real machines\n",
    "the reader's numbers": r"\n\(your-[\w-]+\)=\n## Your numbers\n",
    "limits": r"\n## Limits\n",
    "references": r":keyprefix: |:filter: docname in docnames",
}


def lacks(text, paper):
    """What a paper lacks; the ledger of its own only if it has claims."""
    wanted = dict(ANATOMY)
    if any(claim.paper == paper for claim in registry().values()):
        wanted["its ledger"] = rf"ledger\.cards\(\"{paper}\"\)"
    missing = [what for what, pattern in wanted.items() if not re.search(pattern, text)]
    drawn = text.count("\n    name: fig-")
    if drawn != len(re.findall(r"\n  image:\n    alt: \S", text)):
        missing.append("an alternative text for each figure")
    return missing


@pytest.mark.parametrize("paper", CLAIMED)
def test_a_paper_has_all_its_parts(paper):
    assert lacks((ROOT / "book" / f"{paper}.md").read_text("utf-8"), paper) == []


def test_every_module_of_claims_is_a_paper():
    modules = {path.stem for path in (ROOT / "src" / "papers" / "sources").glob("[a-z]*.py")}
    claiming = {name for name in modules if "\nCLAIMS" in source(name)}
    assert claiming <= set(CLAIMED), "register the paper in _toc.yml"


def source(name):
    return (ROOT / "src" / "papers" / "sources" / f"{name}.py").read_text("utf-8")


def test_every_page_is_in_the_order_of_reading():
    toc = (ROOT / "_toc.yml").read_text()
    for page in (ROOT / "book").glob("*.md"):
        name = page.stem
        assert f" {name}\n" in toc, f"list {name} in _toc.yml"


def test_no_result_is_typed():
    assert check(ROOT / "book") == [], (
        "compute it in a cell, hand it on with papers.text.say, show it with {glue:text}"
    )


CELL = "```{{code-cell}} ipython3\n---\nmystnb:\n  {}: It costs 1.25 more\n---\nx = 2.5\n```"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It costs 2.4 on average.", "2.4"),
        ("It costs .5 on average.", ".5"),
        ("It takes 12% less.", "12%"),
        ("It takes 12 percent less.", "12 percent"),
        ("It is 8× slower.", "8×"),
        ("It is 8 times slower.", "8 times"),
        ("It is 8-fold.", "8-fold"),
        ("It is ×8.", "×8"),
        ("It takes 8\ntimes as long.", "8 times"),
        ("About ≈ 3 of them.", "≈ 3"),
        ("# A title with 1,234.5", "1,234.5"),
        ("| a | 1.25 |", "1.25"),
        ("[^1]: A footnote of 1.25", "1.25"),
        ("> quoted 1.25", "1.25"),
        (":::{note} Title 1.25\ntext\n:::", "1.25"),
        ("```{prf:theorem} Name\n:label: x\nholds at 1.25\n```", "1.25"),
        ("````{note}\n```{math}\n1.5\n```\nand 1.25\n````", "1.25"),
        ("```{figure} a.svg\n:alt: a curve at 1.25\ncaption\n```", "1.25"),
        (CELL.format("figure:\n    caption"), "1.25"),
        (CELL.format("image:\n    alt"), "1.25"),
    ],
)
def test_a_typed_result_is_found(text, found):
    assert [match for _, match in typed_results(text)] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "---\nversion: 1.5\n---\nText",
        "There are 240 layers and 8 devices.",
        "At $x = 1.5$ and $$y = 2.5$$ it is {glue:text}`a.0.b`.",
        "`1.5` and ``2.5`` and {eq}`eq-1.5`",
        "See [this](https://example.org/1.5) or <https://example.org/2.5>.",
        "```python\nx = 1.5\n```",
        "```{math}\n1.5\n```",
        "```{code-cell} ipython3\n:tags: [hide-input]\nx = 1.5\n```",
    ],
)
def test_other_numbers_are_left_alone(text):
    assert typed_results(text) == []


def test_the_line_of_a_typed_result():
    assert typed_results("one\n\n$2.5$ and\n3.5 here") == [(4, "3.5")]


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
class TestPaper:
    def test_cells_are_short(self, page):
        for cell in jupytext.read(page).cells:
            if cell.cell_type == "code":
                lines = [line for line in cell.source.splitlines() if line.strip()]
                assert len(lines) <= 20, lines[0]
                assert max(map(len, lines)) <= 84, lines[0]

    def test_nothing_is_imported_or_defined_in_vain(self, page):
        command = [shutil.which("ruff", path=Path(sys.executable).parent), "check", "--isolated"]
        code = jupytext.writes(jupytext.read(page), "py:percent")
        command += ["--select=F", "--stdin-filename", f"{page.stem}.py", "-"]
        found = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout

    def test_the_notebook_is_not_stale(self, page):
        assert not notebooks.is_stale(page, ROOT / "notebooks" / f"{page.stem}.ipynb"), (
            "run `make notebooks`"
        )

    def test_every_cell_was_executed(self, page):
        """nbval checks a notebook without stored outputs only for errors."""
        assert was_executed(committed(page))

    def test_outputs_do_not_depend_on_the_machine(self, page):
        text = repr(notebooks.results(committed(page)))
        local = rf"0x[0-9a-f]{{6,}}|{re.escape(str(ROOT))}|/home/|/tmp/|Warning"
        assert not re.search(local, text)

    def test_the_site_shows_what_the_notebook_holds(self, page):
        cache = get_cache(ROOT / "_build" / ".jupyter_cache")
        try:
            records = [r for r in cache.list_cache_records() if Path(r.uri).name == page.name]
            assert records, "run `make book`"
            shown = cache.get_cache_bundle(max(record.pk for record in records)).nb
        finally:
            cache.db.dispose()  # newer Pythons warn of connections left open
        assert notebooks.results(shown) == notebooks.results(committed(page))


def test_staleness_is_noticed(tmp_path):
    page, notebook = tmp_path / "page.md", tmp_path / "page.ipynb"
    kernel = "kernelspec:\n  display_name: Python 3\n  language: python\n  name: python3"
    text = f"---\n{kernel}\n---\n# T\n\n```{{code-cell}} ipython3\n1 + 1\n```\n"
    page.write_text(text)
    assert notebooks.is_stale(page, notebook)
    nbformat.write(notebooks.convert(page), notebook)
    assert not notebooks.is_stale(page, notebook)
    page.write_text(text.replace("1 + 1", "1 + 2"))
    assert notebooks.is_stale(page, notebook)
    page.write_text(text.replace("# T", "# U"))
    assert notebooks.is_stale(page, notebook)


def test_no_notebook_without_a_page():
    names = {page.stem for page in PAPERS}
    assert {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} == names


def test_the_picture_of_the_readme_is_that_of_a_paper():
    page, figure = notebooks.PICTURE
    notebook = committed(ROOT / "book" / f"{page}.md")
    picture = (ROOT / "notebooks" / "picture.svg").read_text("utf-8")
    assert picture == notebooks.drawing(notebook, figure), "run `make notebooks`"
    assert "notebooks/picture.svg" in (ROOT / "README.md").read_text("utf-8")
    with pytest.raises(KeyError):
        notebooks.drawing(notebook, "fig-nowhere")


def test_pieces_of_a_stream_are_one_result():
    cell = nbformat.v4.new_code_cell()
    pieces = [nbformat.v4.new_output("stream", text=text) for text in ("one ", "two\n")]
    whole = nbformat.v4.new_output("stream", text="one two\n")
    books = []
    for outputs in (pieces, [whole]):
        cell.outputs = outputs
        books.append(notebooks.results(nbformat.v4.new_notebook(cells=[cell])))
    assert books[0] == books[1] == [["one two\n"]]


@pytest.mark.parametrize("page", ["README.md", "book/index.md"])
def test_the_answers_beside_plain_code_are_right(page):
    """Code that no notebook runs shows its answers as comments."""
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    space, answers = {}, 0
    for line in block.splitlines():
        code, _, answer = line.partition("#")
        if answer:
            assert repr(eval(code.strip(), space)) == answer.strip()
            answers += 1
        else:
            exec(code, space)
    assert answers >= 2
