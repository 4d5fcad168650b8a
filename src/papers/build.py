"""Build the site: ``python -m papers.build``.

Three things the book builder does not do. Its execution cache keys on the cells
alone, so a change of the code behind them would go unnoticed: the build folder is
discarded when anything the cells depend on changes. After a build with warnings it
would find nothing left to read and succeed: a failed build forgets what it read.
And it executes one page after the other: here all processors share the work.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

from papers.claims import SHARED
from papers.notebooks import papers

# Everything besides a page's own cells that can change what is on it.
INPUTS = ("src", "book/_static", "requirements.txt", "pyproject.toml", "_config.yml", "_toc.yml")
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


def discard_if_stale(root: Path) -> bool:
    """Delete the build folder unless it was made from the present inputs.

    Returns
    -------
    bool
        Whether it was deleted.
    """
    build, mark = root / "_build", root / "_build" / "inputs.sha256"
    key = fingerprint(root)
    stale = not mark.is_file() or mark.read_text() != key
    if stale:
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir()
        mark.write_text(key)
    return stale


def execute(root: Path) -> None:
    """Execute the pages that the builder's cache does not hold yet, side by side.

    A page that fails is left to the builder, which executes it again and says why.
    """
    cache = get_cache(root / "_build" / ".jupyter_cache")
    for page in papers(root / "book"):
        cache.add_nb_to_project(str(page), read_data={"type": "plugin", "name": "myst_nb_md"})
    quiet = logging.getLogger("papers.build")
    load_executor("local-parallel", cache, logger=quiet).run_and_cache(timeout=120)
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
    discard_if_stale(root)
    # Claims are judged once for all pages; gone with the build folder as soon as an input changes.
    os.environ[SHARED] = str(root / "_build" / "judgements")
    execute(root)
    options = ["--config", "_config.yml", "--toc", str(root / "_toc.yml"), "--path-output", "."]
    strict = ["-W", "-n", "--keep-going"]
    builder = str(Path(sys.executable).with_name("jupyter-book"))
    command = [builder, "build", "book", *options, *strict]
    code = subprocess.run(command, cwd=root, check=False).returncode
    if code:
        (root / "_build" / "inputs.sha256").unlink(missing_ok=True)
    return code


if __name__ == "__main__":
    project = Path.cwd()
    exit_code = build(project)
    if exit_code == 0:
        print(f"\nThe book is at {project / '_build' / 'html' / 'index.html'}")
    sys.exit(exit_code)
