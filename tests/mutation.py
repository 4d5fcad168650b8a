"""Change one module in every way that mutmut knows, and print the changes that no test notices.

``make mutation MODULE=partition/cut`` does it for ``src/decentral/partition/cut.py``, with the
tests of the laws; those of ``tests/book`` run other processes. What survives wants a test only if
a reader of the library could be wronged by it. mutmut is imported where it is needed, since only
the environment of ``make mutation`` has it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "book", "_toc.yml", "pyproject.toml", "README.md", "LICENSE")
# Exit codes of mutmut: no test failed; no test came by.
SURVIVED = (0, 33)


def prepare(module: str) -> Path:
    """Copy what the tests need into a folder of its own, with a configuration of mutmut."""
    folder = ROOT / "_mutation" / module
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    options = ["-p", "no:nbval", "-o", "addopts=", "--doctest-modules", "--import-mode=importlib"]
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/decentral/{module}.py"],
        "also_copy": [name for name in COPIED if name != "src"],
        "pytest_add_cli_args": options,
        "pytest_add_cli_args_test_selection": [
            str(path.relative_to(ROOT))
            for path in sorted((ROOT / "tests").glob("*/test_*.py"))
            if path.parent.name != "book" and path.stem != "test_sources"
        ],
        "process_isolation": "forkserver",
    }
    lines = ["", "[tool.mutmut]", *(f"{key} = {value!r}" for key, value in settings.items()), ""]
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n".join(lines))
    return folder


def survivors(folder: Path, module: str) -> tuple[list[str], int]:
    """Return the changes that no test noticed, and how many there were."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    os.chdir(folder)
    source = Path("src", "decentral", f"{module}.py")
    known = json.loads((folder / "mutants" / f"{source}.meta").read_text("utf-8"))
    codes = known["exit_code_by_key"]
    alive = [mutant for mutant, code in codes.items() if code in SURVIVED]
    return [get_diff_for_mutant(mutant, path=source) for mutant in alive], len(codes)


def main(module: str) -> int:
    """Run mutmut on a module and print what survived."""
    if not (ROOT / "src" / "decentral" / f"{module}.py").is_file():
        print(f"MODULE must name a file of src/decentral, but it is {module!r}")
        return 2
    folder = prepare(module)
    paths = (str(folder / "mutants" / "src"), str(folder / "mutants"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    mutmut = str(Path(sys.executable).with_name("mutmut"))
    subprocess.run([mutmut, "run"], cwd=folder, env=environment, check=False)
    alive, count = survivors(folder, module)
    print(*alive, f"{len(alive)} of {count} changes survived.", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
