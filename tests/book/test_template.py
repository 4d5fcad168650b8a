"""The smallest paper builds once it is put in its place and registered, as the README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.book.test_pages import lacks

from papers.site.notation import unexplained
from papers.site.prose import check

ROOT = Path(__file__).parents[2]
# The book with this paper alone; the registration is its first line under "Papers".
TOC = """format: jb-book
root: index
parts:
  - caption: Papers
    chapters:
      - file: checkpoints
  - caption: Reference
    chapters:
      - file: ledger
      - file: notation
      - file: library
"""
# Of the other papers only the titles that their packages' documentation names are missing.
PAGES = ("index", "ledger", "notation", "library")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project with the README's command carried out, and a book of this paper alone."""
    root = tmp_path_factory.mktemp("project")
    for name in ("src", "template", "tests", "book/_static"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    others = [*(f"book/{page}.md" for page in PAGES), "book/references.bib"]
    for name in ("_config.yml", "requirements.txt", "pyproject.toml", "CITATION.cff", *others):
        shutil.copy(ROOT / name, root / name)
    commands = re.findall(r"```bash\n(cp .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(commands) == 1
    subprocess.run(["bash", "-euc", commands[0]], cwd=root, check=True)
    (root / "_toc.yml").write_text(TOC)
    return root


def run(project, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=project, env=environment, check=False).returncode


def text(project, page):
    html = (project / "_build" / "html" / f"{page}.html").read_text("utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_to_add_a_paper_is_to_copy_six_files_at_most():
    assert len([path for path in (ROOT / "template").rglob("*") if path.is_file()]) <= 6


def test_it_builds_without_a_warning_and_is_listed_everywhere(project):
    assert run(project, "papers.site.build") == 0
    assert "Theorem 1" in text(project, "checkpoints")
    assert "save after 29.7 minutes of work" in text(project, "checkpoints")
    front = (project / "_build" / "html" / "index.html").read_text("utf-8")
    assert "checkpoints.html#thm-interval" in front
    assert 'href="checkpoints.html"><img alt="Line chart of the share of time lost' in front
    assert "The best interval is" in text(project, "ledger")
    assert "work between two saves time checkpoints" in text(project, "notation")
    assert "How often a run should save its state checkpoints" in text(project, "library")
    entry = (project / "_build" / "html" / "api" / "checkpoints.html").read_text("utf-8")
    assert "../checkpoints.html#thm-interval" in entry


def test_its_law_passes_its_tests_and_those_of_all_functions(project):
    files = ("src/decentral/checkpoints", "tests/checkpoints", "tests/library")
    chosen = ("-k", "checkpoints or every")
    assert run(project, "pytest", "--quiet", *files, *chosen) == 0


def test_it_keeps_the_rules_of_the_book(project):
    assert check(project / "book") == []
    page = (project / "book" / "checkpoints.md").read_text("utf-8")
    assert unexplained(page) == set()
    assert lacks(page, "checkpoints") == []
