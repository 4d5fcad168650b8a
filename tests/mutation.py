"""Change the code in every way that mutmut knows, and see which changes no test notices.

``python tests/mutation.py run decentral`` and ``... run papers`` take some hours; what they have
found stays in ``_mutation``, and a second run goes on from there. ``... report`` writes the
result into ``benchmarks/mutation.md``.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "_mutation"
COPIED = ["src", "tests", "book", "notebooks", "template", "benchmarks"]
COPIED += ["_toc.yml", "_config.yml", "README.md", "requirements.txt", "pyproject.toml", "LICENSE"]
# Survivors that no test can tell from the original, and why.
EXPLAINED = ROOT / "tests" / "survivors.toml"

OPTIONS = ["-p", "no:cacheprovider", "-p", "no:nbval", "-o", "addopts=", "--doctest-modules"]
RUNS = {
    "decentral": {
        "tests": [
            "test_bounds", "test_partition", "test_ordering", "test_schedule", "test_redundancy",
            "test_inner_steps", "test_stragglers", "test_sampling", "test_transformers",
            "test_devices", "test_validation", "test_properties", "test_reference_values",
            "test_arrays", "test_messages",
        ],
        # The first runs another process; the others repeat what smaller chains show.
        "left_out": [
            "tests/test_redundancy.py::test_importing_it_does_not_import_scipy_stats",
            *(
                f"tests/test_ordering.py::test_{kind}equals_full_enumeration[{size}]"
                for kind in ("", "worst_order_") for size in (5, 6, 7)
            ),
        ],
        "options": OPTIONS,
    },
    "papers": {
        "tests": [
            "test_papers", "test_claims", "test_notation", "test_library", "test_pages",
            "test_build", "test_template", "mutation_pages",
        ],
        # What looks at the finished site, at the installation, or at another process.
        "left_out": [
            "tests/test_library.py::test_every_public_name_has_an_entry",
            "tests/test_library.py::test_every_function_is_linked_with_the_papers_both_ways",
            "tests/test_library.py::test_what_is_offered_for_download_is_current",
            "tests/test_pages.py::TestPaper",
            "tests/test_build.py::test_what_is_installed_is_what_is_pinned",
            "tests/test_build.py::test_a_build_that_was_killed_leaves_nothing_wrong",
            "tests/test_build.py::test_two_builds_at_once_do_no_harm",
        ],
        "options": [*OPTIONS, "-p", "mutation_plugin", "-W", "ignore"],
    },
}  # fmt: skip


def configuration(name: str) -> str:
    """Return the section on mutmut for one part of the sources.

    Workers start from a process that has run no test, so that no answer is remembered.
    """
    part = RUNS[name]
    options = part["options"] + [word for test in part["left_out"] for word in ("--deselect", test)]
    selection = [f"tests/{test}.py" for test in part["tests"]]
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/{name}/*"],
        "also_copy": [path for path in COPIED if path != "src"],
        "pytest_add_cli_args": options,
        "pytest_add_cli_args_test_selection": selection,
    }
    lines = [f"{key} = {value!r}" for key, value in settings.items()]
    lines += ["timeout_multiplier = 1.5", "timeout_constant = 5.0", "track_dependencies = false"]
    lines += ['process_isolation = "forkserver"']
    return "\n".join(["", "[tool.mutmut]", *lines, ""])


def run(name: str, mutants: list[str]) -> int:
    """Bring the copy up to date, and go on with the mutants of one part."""
    folder = COPIES / name
    for path in COPIED:
        if (ROOT / path).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / path, folder / path, dirs_exist_ok=True, ignore=ignore)
        else:
            shutil.copy2(ROOT / path, folder / path)
    with (folder / "pyproject.toml").open("a") as file:
        file.write(configuration(name))
    environment = os.environ | {
        "PYTHONPATH": str(folder / "mutants" / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [str(Path(sys.executable).with_name("mutmut")), "run", *mutants]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
