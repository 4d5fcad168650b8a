"""What takes too long for every day: ``make soak``."""

import csv
import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.library import reference_values

ROOT = Path(__file__).parents[1]
PARTS = ("src", "book", "notebooks")
FILES = ("_config.yml", "_toc.yml", "requirements.txt", "pyproject.toml")


def build(folder, seed):
    """A cold build and fresh notebooks of the whole book in a folder, with a seed for hashes."""
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONHASHSEED": seed}
    for module in ("papers.site.build", "papers.site.notebooks"):
        command = [sys.executable, "-m", module]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def files(folder):
    tops = (folder / "_build" / "html", folder / "notebooks")
    return {path.relative_to(folder) for top in tops for path in top.rglob("*") if path.is_file()}


def test_two_cold_builds_give_the_same_bytes(tmp_path):
    """In two folders, whatever the order of sets, page by page and notebook by notebook."""
    one, other = tmp_path / "one", tmp_path / "a" / "longer" / "path"
    for folder, seed in ((one, "0"), (other, "1")):
        folder.mkdir(parents=True)
        build(folder, seed)
    assert files(one) == files(other)
    differ = [
        str(name) for name in files(one) if not filecmp.cmp(one / name, other / name, shallow=False)
    ]
    assert differ == []
    for notebook in (ROOT / "notebooks").iterdir():
        assert notebook.read_bytes() == (one / "notebooks" / notebook.name).read_bytes()


def test_the_reference_values_are_what_their_script_makes(tmp_path, monkeypatch):
    here = reference_values.TABLE
    monkeypatch.setattr(reference_values, "TABLE", tmp_path / "table.csv")
    reference_values.main()
    made = list(csv.reader((tmp_path / "table.csv").open(encoding="utf-8")))
    assert made == list(csv.reader(here.open(encoding="utf-8")))
