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
from papers.site.folds import kind
from papers.site.prose import check

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


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
class TestPaper:
    def test_cells_are_short(self, page):
        for cell in jupytext.read(page).cells:
            if cell.cell_type == "code":
                lines = [line for line in cell.source.splitlines() if line.strip()]
                most = 25 if kind(cell.source) == "what this page imports" else 20
                assert len(lines) <= most, lines[0]
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


def test_no_notebook_without_a_page():
    names = {page.stem for page in PAPERS}
    assert {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} == names


def test_the_picture_of_the_readme_is_that_of_a_paper():
    page, figure = notebooks.PICTURE
    notebook = committed(ROOT / "book" / f"{page}.md")
    picture = (ROOT / "notebooks" / "picture.svg").read_text("utf-8")
    assert picture == notebooks.drawing(notebook, figure), "run `make notebooks`"
    assert "notebooks/picture.svg" in (ROOT / "README.md").read_text("utf-8")


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
