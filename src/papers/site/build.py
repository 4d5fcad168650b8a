"""Build the site: ``python -m papers.site.build``.

What the book builder does not do. Its execution cache keys on the cells alone, so a
change of the code behind them would go unnoticed: the build folder is discarded when
anything the cells depend on changes. After a build with warnings it would find nothing
left to read and succeed, and after one that was killed it would keep half a page: the
site that was not finished is forgotten. The pages that were executed for it are not:
each is kept by itself as soon as it is through. Two builds at once would write into each
other's files: the second waits. And it executes one page after the other: here all
processors share the work.
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
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.readers import get_reader

from papers.pages import SHARED
from papers.site import contents
from papers.site.notebooks import executable, join_streams, run

# Everything besides a page's own cells that can change what is on it.
INPUTS = ("src", "book/_static", "requirements.txt", "pyproject.toml", "_config.yml", "_toc.yml")
# Holds the fingerprint of the inputs of the last finished build.
MARK = "inputs.sha256"
# Pages that a reader executed with numbers of their own; no build makes or needs them.
OWN = "executed"
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


def computed(root: Path, key: str) -> Path:
    """Return the folder of all that was computed from the inputs with that fingerprint."""
    return root / "_build" / f"computed-{key}"


def begin(root: Path) -> str:
    """Delete what was built, unless a build from the present inputs was finished.

    From here to :func:`finish` nothing counts as finished, so a build that fails or is
    killed at any point is followed by one that makes the whole site anew. What it had
    computed from the same inputs stays.

    Returns
    -------
    str
        The fingerprint of the inputs, for :func:`finish`.
    """
    folder, mark, key = root / "_build", root / "_build" / MARK, fingerprint(root)
    finished = mark.is_file() and mark.read_text() == key
    mark.unlink(missing_ok=True)  # before the rest: what is half deleted is not finished
    if not finished:
        for path in folder.glob("*"):
            if path.name not in (computed(root, key).name, OWN):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    computed(root, key).mkdir(parents=True, exist_ok=True)
    return key


def finish(root: Path, key: str) -> None:
    """Remember that a build was finished from the inputs with that fingerprint."""
    (root / "_build" / MARK).write_text(key)


def keep(folder: Path, page: Path) -> Any:
    """Return a page with its outputs, from the folder if they are there, or else execute it.

    What was executed is written into the folder at once, under a hash of the cells.

    Returns
    -------
    NotebookNode or None
        None for a page that fails. It is left to the builder, which executes it again
        and says why.
    """
    try:
        notebook = get_reader({"type": "plugin", "name": "myst_nb_md"})(str(page))
        name = _hash(notebook)
        path = folder / f"{name}.ipynb"
        found = _whole(path)
        if found is not None and _hash(found) == name:
            return found
        run(notebook, page.parent)
    except Exception:  # it cannot be read, a cell failed, or the kernel died
        return None
    join_streams(notebook)
    draft = path.with_suffix(f".{page.stem}")
    nbformat.write(notebook, draft)
    draft.replace(path)  # whole or not at all, whenever the build may be killed
    return notebook


def _hash(notebook: Any) -> str:
    """Return what the builder's cache tells notebooks apart by."""
    return str(get_cache("").create_hashed_notebook(notebook)[1])


def _whole(path: Path) -> Any:
    """Read a notebook; None if it is missing or damaged."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception:
        return None


def execute(root: Path, folder: Path) -> None:
    """Execute the pages that the folder does not hold yet, side by side, for the builder.

    Its cache is filled anew each time: what a build that was killed or pages that are gone
    have left in it would stop the next.
    """
    cache = get_cache(root / "_build" / ".jupyter_cache")
    cache.clear_cache()
    pages = executable(root / "book")
    with ThreadPool() as pool:  # of threads: it can be interrupted; a kernel is a process anyway
        for page, notebook in zip(pages, pool.imap(partial(keep, folder), pages), strict=True):
            if notebook is not None:
                whole = CacheBundleIn(notebook, page)
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
        folder = computed(root, key)
        os.environ[SHARED] = str(folder / "judgements")  # of claims, once for all pages
        toc, out = str(contents.write(root)), str(root)
        options = ["--config", "_config.yml", "--toc", toc, "--path-output", out]
        strict = ["-W", "-n", "--keep-going"]
        builder = str(Path(sys.executable).with_name("jupyter-book"))
        command = [builder, "build", "book", *options, *strict]
        try:
            execute(root, folder)
            code = subprocess.run(command, cwd=root, check=False, pass_fds=[lock]).returncode
        finally:
            unchanged = fingerprint(root) == key
            if not unchanged:  # an input was edited meanwhile: before or after, who knows
                shutil.rmtree(folder)
        if code == 0 and unchanged:
            finish(root, key)
    return code


if __name__ == "__main__":
    project = Path.cwd()
    exit_code = build(project)
    if exit_code == 0:
        print(f"\nThe book is at {project / '_build' / 'html' / 'index.html'}")
    sys.exit(exit_code)
