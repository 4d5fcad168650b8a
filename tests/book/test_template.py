"""The smallest paper builds when it is put in its place as the README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.book.test_pages import lacks

from papers.site.notation import explained, used
from papers.site.prose import check

ROOT = Path(__file__).parents[2]
INDEX = "# Book\n\nOne paper.\n"
TOC = """format: jb-book
root: index
chapters:
  - file: checkpoints
  - file: api/checkpoints
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project with the README's commands carried out, and a book of this paper alone."""
    root = tmp_path_factory.mktemp("project")
    for name in ("src", "template", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "book" / "_static", root / "book" / "_static")
    for name in ("_config.yml", "requirements.txt", "pyproject.toml", "book/references.bib"):
        shutil.copy(ROOT / name, root / name)
    (root / "book" / "api").mkdir()
    commands = re.findall(r"```bash\n(cp .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(commands) == 1
    subprocess.run(["bash", "-euc", commands[0]], cwd=root, check=True)
    (root / "book" / "index.md").write_text(INDEX)
    (root / "_toc.yml").write_text(TOC)
    registry = root / "src" / "papers" / "claims.py"
    text = re.sub(r"(?m)^PAPERS = .*$", 'PAPERS = ("checkpoints",)', registry.read_text())
    registry.write_text(text)
    return root


def run(project, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=project, env=environment, check=False).returncode


def test_it_builds_without_a_warning(project):
    assert run(project, "papers.site.build") == 0
    html = (project / "_build" / "html" / "checkpoints.html").read_text("utf-8")
    assert "Theorem 1" in html
    assert re.search(r"save after\s+<span class=\"pasted-text\">29.7</span>", html)
    library = (project / "_build" / "html" / "api" / "checkpoints.html").read_text("utf-8")
    assert "../checkpoints.html#thm-interval" in library


def test_its_law_passes_its_test(project):
    files = ("src/decentral/checkpoints.py", "tests/test_checkpoints.py")
    assert run(project, "pytest", "--quiet", *files) == 0


def test_it_keeps_the_rules_of_the_book(project):
    assert check(project / "book") == []
    page = (project / "book" / "checkpoints.md").read_text("utf-8")
    rows = explained((project / "template" / "notation.md").read_text("utf-8"))
    assert used(page) == set().union(*(names for names, _ in rows))
    assert lacks(page, "checkpoints") == []
