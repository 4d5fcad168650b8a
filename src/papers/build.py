"""Build the site: ``python -m papers.build``.

What the book builder does not do. Its execution cache keys on the cells alone, so a
change of the code behind them would go unnoticed: the build folder is discarded when
anything the cells depend on changes. After a build with warnings it would find nothing
left to read and succeed, and after one that was killed it would keep half a page: what
was not finished is forgotten. Two builds at once would write into each other's files:
the second waits. And it executes one page after the other: here all processors share
the work.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors import load_executor

from papers.claims import SHARED
from papers.notebooks import join_streams, papers

# Everything besides a page's own cells that can change what is on it.
INPUTS = ("src", "book/_static", "requirements.txt", "pyproject.toml", "_config.yml", "_toc.yml")
# Holds the fingerprint of the inputs of the last finished build.
MARK = "inputs.sha256"
IGNORED = {"__pycache__", "decentral.egg-info"}


def fingerprint(root: Path, inputs: Iterable[str] = INPUTS) -> str:
    """Hash the names and contents of all files that the cells depend on.

    Parameters
    ----------
    root : Path
        The project's folder.
    inputs : iterable of str, optional
        Files and folders below it.

    Returns
    -------
    str
    """
    digest = hashlib.sha256(sys.version.encode())
    for name in inputs:
        top = root / name
        files = sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]
        for path in files:
            if not IGNORED & set(path.parts):
                digest.update(str(path.relative_to(root)).encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def alone(root: Path) -> Iterator[int]:
    """Wait until no other build of this project runs, and yield the descriptor of the lock.

    A child process that inherits the descriptor keeps the lock if this process is killed.
    """
    with (root / ".build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def begin(root: Path) -> str:
    """Delete the build folder unless a build from the present inputs was finished.

    From here to :func:`finish` nothing counts as finished, so a build that fails or is
    killed at any point is followed by one from nothing.

    Returns
    -------
    str
        The fingerprint of the inputs, for :func:`finish`.
    """
    folder, mark, key = root / "_build", root / "_build" / MARK, fingerprint(root)
    finished = mark.is_file() and mark.read_text() == key
    mark.unlink(missing_ok=True)  # before the rest: what is half deleted is not finished
    if not finished:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
    return key


def finish(root: Path, key: str) -> None:
    """Remember that a build was finished from the inputs with that fingerprint."""
    (root / "_build" / MARK).write_text(key)


def execute(root: Path) -> None:
    """Execute the pages that the builder's cache does not hold yet, side by side.

    A page that fails is left to the builder, which executes it again and says why.
    """
    cache = get_cache(root / "_build" / ".jupyter_cache")
    for page in papers(root / "book"):
        cache.add_nb_to_project(str(page), read_data={"type": "plugin", "name": "myst_nb_md"})
    load_executor("local-parallel", cache).run_and_cache(timeout=120)
    for record in cache.list_cache_records():
        notebook = cache.get_cache_bundle(record.pk).nb
        if join_streams(notebook):
            whole = CacheBundleIn(notebook, record.uri, data=record.data)
            cache.cache_notebook_bundle(whole, check_validity=False, overwrite=True)
    cache.db.dispose()


def build(root: Path) -> int:
    """Execute the papers and render the site, every warning an error.

    Parameters
    ----------
    root : Path
        The project's folder, with ``book``, ``_config.yml`` and ``_toc.yml``.

    Returns
    -------
    int
        0 if the site was built, else the builder's exit code.
    """
    with alone(root) as lock:
        key = begin(root)
        # Claims are judged once for all pages; gone as soon as an input changes.
        os.environ[SHARED] = str(root / "_build" / "judgements")
        execute(root)
        toc, out = str(root / "_toc.yml"), str(root)
        options = ["--config", "_config.yml", "--toc", toc, "--path-output", out]
        strict = ["-W", "-n", "--keep-going"]
        builder = str(Path(sys.executable).with_name("jupyter-book"))
        command = [builder, "build", "book", *options, *strict]
        code = subprocess.run(command, cwd=root, check=False, pass_fds=[lock]).returncode
        if code == 0:
            finish(root, key)
    return code


if __name__ == "__main__":
    project = Path.cwd()
    exit_code = build(project)
    if exit_code == 0:
        print(f"\nThe book is at {project / '_build' / 'html' / 'index.html'}")
    sys.exit(exit_code)
