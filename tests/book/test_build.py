"""The build notices what it must: small books are built with the book's own settings."""

import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests import mutants

from papers.site import build, licences

ROOT = Path(__file__).parents[2]
HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""
CODE = "from law import value\nprint(f'the law gives {value}')"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A book of one page whose cell prints a value from ``src``."""
    shutil.copy(ROOT / "_config.yml", tmp_path)
    shutil.copytree(ROOT / "book" / "_static", tmp_path / "book" / "_static")
    (tmp_path / "book" / "references.bib").touch()
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (tmp_path / "src").mkdir()
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    (tmp_path / "src" / "law.py").write_text("value = 41\n")
    write(tmp_path, CODE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return tmp_path


def write(project, code, prose="Text.", page="index"):
    text = f"{HEADER}\n# Page\n\n{prose}\n\n```{{code-cell}} ipython3\n{code}\n```\n"
    (project / "book" / f"{page}.md").write_text(text)


def html(project):
    return (project / "_build" / "html" / "index.html").read_text()


def site(project):
    """All files of the site with their bytes."""
    files = [path for path in (project / "_build" / "html").rglob("*") if path.is_file()]
    return {path.relative_to(project): path.read_bytes() for path in files}


def test_an_edit_in_src_changes_the_page(project):
    assert build.build(project) == 0
    assert "the law gives 41" in html(project)
    (project / "src" / "law.py").write_text("value = 42\n")
    assert build.build(project) == 0
    assert "the law gives 42" in html(project)


def test_without_the_guard_the_page_would_be_stale(project, monkeypatch):
    """Executions are kept under the cells alone, so the guard is needed."""
    monkeypatch.setattr(build, "fingerprint", lambda root: "")
    assert build.build(project) == 0
    (project / "src" / "law.py").write_text("value = 42\n")
    write(project, CODE, prose="The page is read again.")
    assert build.build(project) == 0
    assert "read again" in html(project)
    assert "the law gives 41" in html(project)


@pytest.mark.parametrize(
    "name",
    ["requirements.txt", "pyproject.toml", "_config.yml", "src/new.py", "book/_static/book.css"],
)
def test_every_input_invalidates_the_build(project, name):
    build.finish(project, build.begin(project))
    made = project / "_build" / "made"
    made.touch()
    build.finish(project, build.begin(project))
    assert made.exists()
    with (project / name).open("a") as file:
        file.write("# changed\n")
    build.begin(project)
    assert not made.exists()


def test_what_was_not_finished_is_forgotten(project):
    build.finish(project, build.begin(project))
    (project / "_build" / "half").touch()
    build.begin(project)
    build.begin(project)
    assert not (project / "_build" / "half").exists()


def test_bytecode_is_no_input(project):
    before = build.fingerprint(project)
    (project / "src" / "__pycache__").mkdir()
    (project / "src" / "__pycache__" / "law.pyc").write_bytes(b"1")
    assert build.fingerprint(project) == before


def test_an_entry_of_the_library_follows_the_links_of_the_papers(project):
    """Also if only the paper has changed, so that only the paper is read again."""
    module = 'def compute():\n    """Compute the law."""\n'
    (project / "src" / "law.py").write_text(module)
    (project / "book" / "api").mkdir()
    (project / "book" / "api" / "law.md").write_text(
        "# Law\n\n```{eval-rst}\n.. automodule:: law\n```\n"
    )
    paper = project / "book" / "paper.md"
    theorem = "````{prf:theorem} T\n:label: thm-t\n\n{py:func}`law.compute`\n````\n"
    (project / "book" / "index.md").write_text("# Index\n")
    chapters = "chapters:\n  - file: paper\n  - file: api/law\n"
    (project / "_toc.yml").write_text(f"format: jb-book\nroot: index\n{chapters}")
    entry = project / "_build" / "html" / "api" / "law.html"
    for text, linked in ((theorem, True), ("Text.", False), (theorem, True)):
        paper.write_text(f"# Paper\n\n{text}\n")
        assert build.build(project) == 0
        assert ('href="../paper.html#thm-t">Theorem 1</a>' in entry.read_text()) == linked


def test_a_line_that_the_kernel_sends_in_pieces_stays_one(project):
    code = "import sys\nfor piece in ('one ', 'line', '\\n\\n', 'more'):\n"
    code += "    sys.stdout.write(piece); sys.stdout.flush()"
    write(project, code)
    assert build.build(project) == 0
    assert "<span></span>one line\n\nmore\n</pre>" in html(project)


def start(project):
    """A build in a process group of its own."""
    command = [sys.executable, "-m", "papers.site.build"]
    environment = {**os.environ, "PYTHONPATH": f"{project / 'src'}{os.pathsep}{ROOT / 'src'}"}
    return subprocess.Popen(
        command, cwd=project, env=environment, start_new_session=True, stdout=subprocess.DEVNULL
    )


@pytest.mark.parametrize("after", [1.0, 3.0, 4.0])
def test_a_build_that_was_killed_leaves_nothing_wrong(project, after):
    write(project, CODE.replace("{value}", "{value + 1}"))
    killed = start(project)
    time.sleep(after)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    write(project, CODE)
    assert start(project).wait() == 0
    assert "the law gives 41" in html(project)
    assert html(project).rstrip().endswith("</html>")


def test_half_a_page_of_a_killed_build_is_written_again(project):
    assert build.build(project) == 0
    whole = html(project)
    page = project / "_build" / "html" / "index.html"
    page.write_text(whole[: len(whole) // 2])
    build.begin(project)  # and no more: killed
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(whole[: len(whole) // 2])
    assert build.build(project) == 0
    assert html(project) == whole


def test_a_build_killed_while_it_deletes_leaves_nothing_wrong(project, monkeypatch):
    """The edit that made it delete is then taken back, so that the inputs are those of before."""
    assert build.build(project) == 0
    pages = project / "_build" / "html"
    before = {path.name for path in pages.iterdir()}
    law = project / "src" / "law.py"
    text = law.read_text()

    class Killed(BaseException):
        pass

    def killed(folder):
        if folder == pages:
            (folder / "searchindex.js").unlink()
            raise Killed

    law.write_text("value = 42\n")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(Killed):
            build.begin(project)
    law.write_text(text)
    assert build.build(project) == 0
    assert {path.name for path in pages.iterdir()} == before


def test_two_builds_at_once_do_no_harm(project):
    builds = [start(project), start(project)]
    assert [each.wait() for each in builds] == [0, 0]
    assert "the law gives 41" in html(project)
    assert start(project).wait() == 0


def test_a_build_waits_for_another(project):
    with build.alone(project):
        waiting = start(project)
        time.sleep(4)  # in which it would have begun
        assert waiting.poll() is None
        assert not (project / "_build").exists()
    assert waiting.wait() == 0


PIECES = "import sys\nfor piece in ('in ', 'pieces'):\n"
PIECES += "    sys.stdout.write(piece); sys.stdout.flush()\n"


@pytest.fixture
def two_pages(project):
    """A book of two pages that note each time that they are executed; the second needs a file."""
    (project / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n  - file: second\n")
    note = "print(file=open('../runs.txt', 'a'), *{!r})"
    write(project, PIECES + note.format("A"))
    write(project, f"open('../needed.txt')\n{note.format('B')}", page="second")
    return project


def runs(project):
    return (project / "runs.txt").read_text().split()


def test_a_page_that_fails_does_not_cost_the_others(two_pages):
    assert build.build(two_pages) != 0
    assert runs(two_pages) == ["A"]
    (two_pages / "needed.txt").touch()
    assert build.build(two_pages) == 0
    assert runs(two_pages) == ["A", "B"]
    (two_pages / "src" / "law.py").write_text("value = 42\n")
    build.begin(two_pages)
    assert not list((two_pages / "_build").rglob("*.ipynb"))


def test_a_build_that_is_killed_keeps_the_pages_that_were_through(two_pages):
    """What it kept is no more trusted than it can be read, and the site is the same bytes."""
    os.mkfifo(two_pages / "needed.txt")  # the second page waits for somebody to write
    killed = start(two_pages)
    while not (kept := list((two_pages / "_build").glob("computed-*/*.ipynb"))):
        assert killed.poll() is None
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    (two_pages / "needed.txt").unlink()
    (two_pages / "needed.txt").touch()
    assert build.build(two_pages) == 0
    assert runs(two_pages) == ["A", "B"]
    resumed = site(two_pages)

    (two_pages / "_build" / build.MARK).unlink()
    text = kept[0].read_bytes()
    kept[0].write_bytes(text[: len(text) // 2])
    assert build.build(two_pages) == 0
    assert runs(two_pages) == ["A", "B", "A"]
    assert json.loads(kept[0].read_text())
    assert site(two_pages) == resumed

    shutil.rmtree(two_pages / "_build")
    assert build.build(two_pages) == 0
    assert site(two_pages) == resumed


def test_a_page_outside_of_the_book_may_be_renamed(project):
    write(project, "1 + 1", page="draft")
    assert build.build(project) == 0
    (project / "book" / "draft.md").rename(project / "book" / "renamed.md")
    assert build.build(project) == 0


FAILURES = {
    "a cell that raises": ("assert 1 == 2", "Text.", "AssertionError"),
    "a warning in a cell": ("import warnings\nwarnings.warn('odd')", "Text.", "stderr was found"),
    "a glue key that is missing": (
        "1",
        "It is {glue:text}`nothing`.",
        "nothing.*found in glue data",
    ),
    "a NumPy scalar glued with a format": (
        "import numpy as np\nfrom myst_nb import glue\nglue('n', np.float64(2.5), display=False)",
        "It is {glue:text}`n:.1f`.",
        "WARNING.*n:.1f|Failed to format",
    ),
    "a reference to nowhere": ("1", "See {numref}`fig-nowhere`.", "fig-nowhere"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_it_fails_in_a_clean_and_in_a_second_build(project, capfd, failure):
    code, prose, message = FAILURES[failure]
    write(project, code, prose)
    for _ in range(2):
        assert build.build(project) != 0
        printed = "".join(capfd.readouterr())
        assert re.search(message, printed)


def test_it_fails_after_a_success_and_recovers(project):
    assert build.build(project) == 0
    write(project, "assert 1 == 2")
    assert build.build(project) != 0
    assert build.build(project) != 0
    write(project, CODE)
    assert build.build(project) == 0
    assert "the law gives 41" in html(project)


def test_the_tools_are_the_ones_of_this_environment():
    assert Path(sys.executable).with_name("jupyter-book").exists()


def test_every_dependency_is_pinned():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {re.match(r"[\w.-]+", line)[0].lower() for group in groups for line in group}
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert wanted <= {pin.lower() for pin in pins}, "run `make lock`"


def test_the_mutants_still_exist():
    assert mutants.stale() == []
    for file, start in mutants.LAWS.values():
        assert any(m[0] == file and m[1].startswith(start) for m in mutants.MUTANTS)


def test_what_is_installed_is_what_is_pinned():
    """Nothing else, and no other version; the package itself and pip aside."""
    locked = licences.pins((ROOT / "requirements.txt").read_text())
    installed = {}
    for package in importlib.metadata.distributions():
        installed[re.sub(r"[-_.]+", "-", package.name).lower()] = package.version
    installed = {k: v for k, v in installed.items() if k not in ("pip", "decentral")}
    assert installed.items() <= locked.items()
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if "==" in line and not line.startswith(" "):
            pin = Requirement(line.rstrip(" \\"))
            if pin.marker is None or pin.marker.evaluate():
                assert re.sub(r"[-_.]+", "-", pin.name).lower() in installed


def test_every_pin_has_a_hash():
    blocks = re.split(r"(?m)^(?=\S)", (ROOT / "requirements.txt").read_text())
    pinned = [block for block in blocks if "==" in block]
    assert len(pinned) > 100
    assert [block for block in pinned if "--hash=sha256:" not in block] == []


def test_the_colophon_lists_every_licence():
    rows = licences.rows((ROOT / "requirements.txt").read_text())
    page = (ROOT / "book" / "colophon.md").read_text("utf-8")
    assert [row for row in rows if row not in page] == [], "run `make lock`"
    assert [row for row in rows if row.endswith("| `` |")] == []
    assert page.count("\n| ") == len(rows) + 1
