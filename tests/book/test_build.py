"""The build notices what it must: small books, built with the book's own settings."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from nbclient.exceptions import CellExecutionError
from tests.book.small_books import CELL, HEADER, files, lay, lay_book, page, stream

from papers.site import build

LAW = "value = 41\n"
# It prints in pieces, and notes each time that it is executed.
COUNTED = """import sys
from law import value
for piece in ("the law ", f"gives {value}", "\\n\\n", "and more"):
    sys.stdout.write(piece); sys.stdout.flush()
print(file=open("../runs.txt", "a"), end=".")"""
WHOLE = "<span></span>the law gives {}\n\nand more\n</pre>"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """The folder of a small book, whose cells can import what stands in its ``src``."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return tmp_path


def test_a_failure_is_mended_at_the_cost_of_one_page_and_an_edit_in_src_changes_all(book, capfd):
    pages = {"index": page(COUNTED), "second": page("assert 1 == 2")}
    lay_book(book, pages, LAW, chapters=["second"])
    site = book / "_build" / "html"
    assert build.build(book) != 0
    assert re.search(r"AssertionError", "".join(capfd.readouterr()))

    lay(book / "book", second=page("assert 1 == 1"))
    assert build.build(book) == 0
    assert WHOLE.format(41) in (site / "index.html").read_text()
    assert (book / "runs.txt").read_text() == "."

    (book / "src" / "law.py").write_text("value = 42\n")
    assert build.build(book) == 0
    assert WHOLE.format(42) in (site / "index.html").read_text()
    assert (book / "runs.txt").read_text() == ".."


FAULTS = {
    "a warning in a cell": ("import warnings\nwarnings.warn('odd')", "Text.", "stderr was found"),
    "a glue key that is missing": (
        "1",
        "It is {glue:text}`nothing`.",
        "nothing.*found in glue data",
    ),
    "a NumPy scalar glued with a format": (
        "import numpy as np\nfrom myst_nb import glue\nglue('n', np.float64(2.5), display=False)",
        "It is {glue:text}`n:.1f`.",
        "n:.1f|Failed to format",
    ),
    "a reference to nowhere": ("1", "See {numref}`fig-nowhere`.", "fig-nowhere"),
}


def test_faults_of_a_page_fail_a_clean_build_and_a_second_one(book, capfd):
    """Each is a warning, and a single warning is enough."""
    names = [f"page-{number}" for number in range(len(FAULTS))]
    pages = {x: page(*fault[:2]) for x, fault in zip(names, FAULTS.values(), strict=True)}
    lay_book(book, {"index": "# Index\n", **pages}, LAW, chapters=names)
    for _ in range(2):
        assert build.build(book) != 0
        printed = "".join(capfd.readouterr())
        for name, (_, _, message) in zip(names, FAULTS.values(), strict=True):
            assert re.search(rf"{name}.*(WARNING|ERROR).*({message})", printed)


# --- what is kept and what is deleted -------------------------------------------------------


def test_the_fingerprint_depends_on_names_contents_and_the_python(tmp_path, monkeypatch):
    def inputs(**given):
        folder = tmp_path / str(len(seen))
        return build.fingerprint(lay(folder, **given), ["src", "one.md"])

    seen = set()
    seen.add(inputs(one="1", **{"src/a.py": "a", "src/deep/b.py": "b"}))
    assert seen == {inputs(one="1", **{"src/deep/b.py": "b", "src/a.py": "a", "other": "0"})}
    for given in (
        {"one": "2", "src/a.py": "a", "src/deep/b.py": "b"},
        {"one": "1", "src/a.py": "b", "src/deep/b.py": "a"},
        {"one": "1", "src/a.py": "a", "src/deep/b.py": "B"},
        {"one": "1", "src/a.py": "a", "src/deep/c.py": "b"},
        {"one": "1", "src/a.py": "a", "src/b.py": "b"},
        {"one": "1", "src/a.py": "a"},
        {"one": "1", "src/a.py": "a", "src/deep/b.py": "b", "src/c.py": ""},
    ):
        known = len(seen)
        seen.add(inputs(**given))
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
    """What a build depends on."""
    return lay(tmp_path, **dict.fromkeys(INPUTS, "a: 1"))


@pytest.mark.parametrize("name", [*INPUTS, "src/new.py"])
def test_what_was_built_is_kept_until_an_input_is_edited(project, name):
    build.finish(project, build.begin(project))
    lay(project, **{"_build/made.txt": "", "_build/html/made.txt": ""})
    build.finish(project, build.begin(project))
    assert files(project / "_build") == {"made.txt", "html/made.txt", "inputs.sha256"}
    lay(project, **{name: "a: 2"})
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


def test_a_build_killed_while_it_deletes_leaves_nothing(project, monkeypatch):
    """The edit that made it delete is then taken back, so that the inputs are those of before."""
    key = build.begin(project)
    lay(project, **{"_build/html/page.html": "", "_build/html/search.html": ""})
    build.finish(project, key)

    def killed(folder):
        (folder / "search.html").unlink()
        raise KeyboardInterrupt

    lay(project, **{"src/law.py": "2"})
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            build.begin(project)
    lay(project, **{"src/law.py": "a: 1"})
    assert build.begin(project) == key
    assert files(project / "_build") == set()


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
        assert files(root / "_build") == {"toc.yml"}
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
    options = ["--config", "_config.yml", "--toc", f"{project}/_build/toc.yml", "--path-output"]
    words = ["build", "book", *options, f"{project}", "-W", "-n", "--keep-going"]
    assert (builder / "called").read_text().splitlines() == [f"{project}", *words]
    finished = files(project / "_build") - {"toc.yml"}
    assert finished == ({build.MARK} if code == 0 else set())
    for mark in finished:
        assert (project / "_build" / mark).read_text() == build.fingerprint(project)
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
    assert files(project / "_build") == {"toc.yml"}


@pytest.mark.parametrize("edited", [False, True])
def test_so_it_is_if_the_build_is_interrupted(project, builder, monkeypatch, edited):
    def execute(root, folder):
        lay(root, **{"src/law.py": "edited" if edited else "a: 1"})
        (folder / "page.ipynb").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        build.build(project)
    assert len(files(project / "_build") - {"toc.yml"}) == (not edited)


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


def titled(title, code):
    empty = f"{CELL}\n```\n"  # which no kernel counts
    return f"{HEADER}# {title}\n\n{CELL}1 + 1\n```\n\nText.\n\n{CELL}{code}\n```\n{empty}"


def test_a_page_is_executed_once_and_kept_with_its_streams_joined(tmp_path, ran):
    lay(
        tmp_path / "book",
        one=titled("one", "1"),
        renamed=titled("renamed", "1"),
        two=titled("two", "2"),
    )
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in ("one", "two", "one", "renamed"):
        notebook = build.keep(folder, tmp_path / "book" / f"{name}.md")
        assert notebook.cells[1].outputs == [stream("one line\n")]
    assert ran == [("book", "# one"), ("book", "# two")]
    assert {path.suffix for path in folder.iterdir()} == {".ipynb"}
    assert len(files(folder)) == 2


@pytest.mark.parametrize("left", ["", "{}", "[]", '{"cells": [', None])
def test_what_is_damaged_or_of_another_page_is_executed_again(tmp_path, ran, left):
    lay(tmp_path / "book", one=titled("one", "1"), two=titled("two", "2"))
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
    lay(tmp_path, fails=titled("fails", "1"), odd="---\n: [\n---\n")
    for name in ("fails", "odd", "gone"):
        assert build.keep(folder, tmp_path / f"{name}.md") is None
    assert len(ran) == 1
    assert files(folder) == set()


def test_the_builder_finds_all_pages_executed_but_those_that_fail(tmp_path, ran):
    pages = {name: titled(name, name) for name in ("one", "other", "fails")}
    lay(tmp_path / "book", **pages, again=titled("again", "one"), prose="Text.")
    folder, left = tmp_path / "kept", tmp_path / "_build" / ".jupyter_cache"
    folder.mkdir()
    lay(left, **{"global.db": "half a database"})
    for name, later in (("other", "renamed"), ("renamed", "other")):
        build.execute(tmp_path, folder)
        cache = build.get_cache(left)
        found = {}
        for record in cache.list_cache_records():
            first, second, _ = cache.get_cache_bundle(record.pk).nb.cells
            found[second.source] = first.outputs
            assert Path(record.uri).is_file()
        assert found == {text: [stream("one line\n")] for text in ("one", "other")}
        cache.db.dispose()
        (tmp_path / "book" / f"{name}.md").rename(tmp_path / "book" / f"{later}.md")
    titles = [title for _, title in ran]
    assert titles.count("# other") == 1
    assert titles.count("# fails") == 2


def test_a_build_that_is_interrupted_does_not_wait_for_its_pages(tmp_path, monkeypatch):
    end = Event()

    def keep(folder, page):
        time.sleep(0.5)  # until the build waits for it: just before, Python may lose a signal
        os.kill(os.getpid(), signal.SIGINT)
        end.wait()

    lay(tmp_path / "book", page=page("1"))
    monkeypatch.setattr(build, "keep", keep)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            build.execute(tmp_path, tmp_path)
    finally:
        end.set()
        signal.signal(signal.SIGINT, before)
