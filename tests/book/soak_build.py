"""Builds that are killed at any moment, or run at once: ``make soak``."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from tests.book.small_books import ROOT, lay, lay_book, page

from papers.site import build

CODE = "from law import value\nprint(f'the law gives {value}')"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of one page whose cell prints a value from ``src``."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "src"), str(ROOT / "src")]))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return lay_book(tmp_path, {"index": page(CODE)}, "value = 41\n")


def start(book):
    """A build in a process group of its own."""
    command = [sys.executable, "-m", "papers.site.build"]
    return subprocess.Popen(command, cwd=book, start_new_session=True, stdout=subprocess.DEVNULL)


def kill(process):
    with suppress(ProcessLookupError):  # it was through
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def html(book):
    return (book / "_build" / "html" / "index.html").read_text()


def site(book):
    """All files of the site with their bytes."""
    files = [path for path in (book / "_build" / "html").rglob("*") if path.is_file()]
    return {path.relative_to(book): path.read_bytes() for path in files}


@pytest.mark.parametrize("after", [0.2 * n for n in range(1, 31)])
def test_a_build_killed_at_any_moment_leaves_nothing_wrong(book, after):
    lay(book / "book", index=page(CODE.replace("{value}", "{value + 1}")))
    killed = start(book)
    time.sleep(after)
    kill(killed)
    lay(book / "book", index=page(CODE))
    assert start(book).wait() == 0
    assert "the law gives 41" in html(book)
    assert html(book).rstrip().endswith("</html>")


def test_half_a_page_of_a_killed_build_is_written_again(book):
    assert build.build(book) == 0
    whole = html(book)
    (book / "_build" / "html" / "index.html").write_text(whole[: len(whole) // 2])
    (book / "_build" / build.MARK).unlink()
    assert build.build(book) == 0
    assert html(book) == whole


def test_two_builds_at_once_do_no_harm(book):
    builds = [start(book), start(book)]
    assert [each.wait() for each in builds] == [0, 0]
    assert "the law gives 41" in html(book)
    assert start(book).wait() == 0


def test_a_build_waits_for_another(book):
    with build.alone(book):
        waiting = start(book)
        time.sleep(4)  # in which it would have begun
        assert waiting.poll() is None
        assert not (book / "_build").exists()
    assert waiting.wait() == 0


def test_a_build_that_is_killed_keeps_the_pages_that_were_through(book):
    """What it kept is no more trusted than it can be read, and the site is the same bytes."""
    # Under a name that the archive of the project leaves out.
    note = "print(file=open('../.runs', 'a'), end={!r})"
    second = page(f"open('../needed.txt')\n{note.format('B')}")
    lay(book / "book", index=page(note.format("A")), second=second)
    lay(book, **{"_toc.yml": "format: jb-book\nroot: index\nchapters:\n  - file: second\n"})
    os.mkfifo(book / "needed.txt")  # the second page waits for somebody to write
    killed = start(book)
    while not (kept := list((book / "_build").glob("computed-*/*.ipynb"))):
        assert killed.poll() is None
        time.sleep(0.05)
    kill(killed)
    (book / "needed.txt").unlink()
    lay(book, **{"needed.txt": ""})
    assert build.build(book) == 0
    assert (book / ".runs").read_text() == "AB"
    resumed = site(book)

    (book / "_build" / build.MARK).unlink()
    text = kept[0].read_bytes()
    kept[0].write_bytes(text[: len(text) // 2])
    assert build.build(book) == 0
    assert (book / ".runs").read_text() == "ABA"
    assert json.loads(kept[0].read_text())
    assert site(book) == resumed

    shutil.rmtree(book / "_build")
    assert build.build(book) == 0
    assert site(book) == resumed
