"""Make each formula wrong by one per cent: a test and a cell must turn red.

Run by ``make mutants``. Each mutant is a copy of the project in which one expression
is multiplied by 1.01 (or a count is one off). The tests of its folder run on the copy,
and so does the paper, cell by cell, up to the first failure. Each ``tests/<page>/mutants.py``
lists the expressions of a page; a page without this file has none.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jupytext

from papers.pages import modules

ROOT = Path(__file__).parents[1]

# The page that must notice an error of a file, where its folder is not named after one.
PAGES = {
    "numerics/binomial.py": "redundancy",
    "numerics/quadratic.py": "inner_steps",
    "numerics/quadrature.py": "stragglers",
    "numerics/races.py": "stragglers",
    "sampling/estimators.py": "stragglers",
}
LISTS = [
    importlib.import_module(f"tests.{folder}.mutants")
    for folder in (*modules(), "numerics")
    if (ROOT / "tests" / folder / "mutants.py").is_file()
]
# The file, the expression, and what becomes of it.
MUTANTS = [
    (file, old, new)
    for mutants in LISTS
    for file, changes in mutants.MUTANTS.items()
    for old, new in changes
]
# One for each law, for the report: the file, and how the expression begins.
LAWS = {law: place for mutants in LISTS for law, place in mutants.LAWS.items()}

PAGE = """
import os, sys, jupytext
sys.stdout = open(os.devnull, "w")
space = {"__name__": "__main__"}
for number, cell in enumerate(jupytext.read(sys.argv[1]).cells):
    if cell.cell_type == "code":
        try:
            exec(cell.source, space)
        except Exception as error:
            sys.stderr.write(f"cell {number}: {type(error).__name__}")
            sys.exit(1)
"""


def run(command: list[str], folder: Path) -> tuple[int, str]:
    """Run a command on the copy in `folder`; return its exit code and the end of what it says.

    A search that no longer ends is a failure too.
    """
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "agg",
    }
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    except subprocess.TimeoutExpired:
        return 1, "does not end"
    said = (done.stdout + done.stderr).strip().splitlines()
    failed = [line for line in said if line.startswith("FAILED")]
    return done.returncode, (failed or said or [""])[-1]


def notices(file: str) -> tuple[str, tuple[str, ...]]:
    """Return the page that must notice an error of a file, and the folders of its tests."""
    folder = file.split("/")[0]
    page = PAGES.get(file, folder)
    return page, tuple(dict.fromkeys((folder, page)))


def commands(page: str, folders: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the command that runs some tests, and the one that runs a page."""
    pytest = [sys.executable, "-m", "pytest", "-qx", "-rf", "-p", "no:cacheprovider"]
    pytest += [f"tests/{folder}" for folder in folders]
    return pytest, [sys.executable, "-W", "ignore", "-c", PAGE, f"book/{page}.md"]


def copy(folder: Path) -> None:
    """Copy what the tests and the pages need."""
    for part in ("src", "tests", "book"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "_toc.yml"):
        shutil.copy(ROOT / name, folder)


def report(target: Path) -> None:
    """Write which test and which cell first turn red under one error for each law."""
    lines = [
        "# Which check notices an error of one per cent",
        "",
        "Made by `.venv/bin/python -m tests.mutants --report`. In a copy of the project one",
        "expression is made wrong; the tests of its folder run up to the first failure, and so",
        "does the paper.",
        "",
        "| Law | Wrong expression | First test | First cell of the paper |",
        "|:--|:--|:--|:--|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        for law, (file, start) in LAWS.items():
            (old, new), *_ = [m[1:] for m in MUTANTS if m[0] == file and m[1].startswith(start)]
            path = folder / "src" / "decentral" / file
            text = path.read_text("utf-8")
            path.write_text(text.replace(old, new), "utf-8")
            page, folders = notices(file)
            pytest, cells = commands(page, folders)
            (tested, first), (shown, where) = run(pytest, folder), run(cells, folder)
            path.write_text(text, "utf-8")
            test = re.search(r"FAILED \S*?(test_\w+\.py::\S+)", first)
            cell = f"{page}, {section(page, where)}" if shown else "none"
            found = f"`{test[1]}`" if tested and test else "none"
            lines.append(f"| {law} | `{file}`: `{' '.join(new.split())}` | {found} | {cell} |")
            print(lines[-1], flush=True)
    target.write_text("\n".join(lines) + "\n", "utf-8")


def section(page: str, where: str) -> str:
    """Name the section and the kind of a cell, given as ``cell 17: AssertionError``."""
    number = int(re.findall(r"cell (\d+)", where)[0])
    cells = jupytext.read(ROOT / "book" / f"{page}.md").cells
    texts = [cell.source for cell in cells[:number] if cell.cell_type == "markdown"]
    titles = re.findall(r"(?m)^##+ (.*)$", "\n".join(texts))
    count = sum(cell.cell_type == "code" for cell in cells[: number + 1])
    return f"code cell {count} ({titles[-1] if titles else 'before the model'})"


def stale() -> list[str]:
    """Return the expressions that the sources no longer contain."""
    sources = ROOT / "src" / "decentral"
    return [old for file, old, _ in MUTANTS if old not in (sources / file).read_text("utf-8")]


def main(files: list[str]) -> int:
    """Run all mutants, or those of some files of ``src/decentral``; or write the report."""
    if files == ["--report"]:
        report(ROOT / "benchmarks" / "one_percent.md")
        return 0
    chosen = [mutant for mutant in MUTANTS if not files or mutant[0] in files]
    survivors = 0
    assert not stale(), f"these expressions are gone: {stale()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        for suite in {notices(file) for file, _, _ in chosen}:
            for command in commands(*suite):
                code, said = run(command, folder)
                assert code == 0, f"the original fails: {said}"
        for file, old, new in chosen:
            path = folder / "src" / "decentral" / file
            text = path.read_text("utf-8")
            path.write_text(text.replace(old, new), "utf-8")
            pytest, page = commands(*notices(file))
            (tested, _), (shown, where) = run(pytest, folder), run(page, folder)
            path.write_text(text, "utf-8")
            verdicts = ["red" if code else "GREEN" for code in (tested, shown)]
            survivors += "GREEN" in verdicts
            print(f"tests {verdicts[0]}, page {verdicts[1]} ({where}): {new.strip()}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants turn a test and a cell red")
    return survivors


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
