"""Change the code in every way that mutmut knows, and see which changes no test notices.

``python tests/mutation.py run decentral`` and ``... run papers`` take hours; what they have found
stays in ``_mutation``, and a second run goes on from there. ``... run papers 5`` tries one mutant
in five, drawn by lot, from the start. ``... retry decentral TEST_FILE ...`` tries some tests, new
ones say, on what survived without an explanation, gave no verdict or was not tried. ``... report``
writes the result, with the explanations of ``survivors.toml``, into ``benchmarks/mutation.md``.
mutmut is imported where it is needed, since only the environment of ``make mutation`` has it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "_mutation"
COPIED = ["src", "tests", "book", "notebooks", "template", "benchmarks"]
COPIED += ["_toc.yml", "_config.yml", "README.md", "requirements.txt", "pyproject.toml", "LICENSE"]
# Exit codes of mutmut: no test failed; no test came by.
SURVIVED = (0, 33)
# Seconds that a mutant may take when it is tried again.
AMPLE = 100
# The process of the tests broke down or was killed, which says nothing of the tests.
BROKEN = (-signal.SIGSEGV, -signal.SIGKILL)
UNDECIDED = (None, *SURVIVED, *BROKEN)
# The tests did not end in time: mutmut sets a limit of time on the processor, a retry an alarm.
ENDLESS = (-signal.SIGXCPU, -signal.SIGALRM)
# Survivors that no test can tell from the original, and why.
EXPLAINED = ROOT / "tests" / "survivors.toml"
UNEXPLAINED = "not explained"

OPTIONS = ["-p", "no:cacheprovider", "-p", "no:nbval", "-o", "addopts=", "--doctest-modules"]
RUNS = {
    "decentral": {
        "tests": [
            "test_bounds", "test_partition", "test_ordering", "test_schedule", "test_redundancy",
            "test_inner_steps", "test_stragglers", "test_sampling", "test_transformers",
            "test_devices", "test_validation", "test_properties", "test_reference_values",
            "test_arrays", "test_messages", "test_edges_inner_steps", "test_edges_redundancy",
            "test_edges_stragglers",
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
        "patience": (1.5, 5.0),
    },
    "papers": {
        "tests": [
            "test_papers", "test_claims", "test_notation", "test_library", "test_pages",
            "test_build", "test_small_site", "test_builder", "test_checks_of_laws_1",
            "test_checks_of_laws_2", "test_helpers_of_pages", "test_own_numbers", "mutation_pages",
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
            "tests/test_build.py::test_a_build_that_is_killed_keeps_the_pages_that_were_through",
            "tests/test_own_numbers.py::test_all_is_executed_and_printed_also_if_a_cell_fails",
            "tests/test_own_numbers.py::test_a_page_is_compared_with_what_is_stored",
            "tests/test_own_numbers.py::test_a_page_that_is_unknown",
            "tests/test_own_numbers.py::test_the_first_command_at_the_top_of_a_notebook_works",
            "tests/test_own_numbers.py::test_so_does_the_second_in_another_folder",
        ],
        "options": [*OPTIONS, "-p", "mutation_plugin", "-W", "ignore"],
        "patience": (2.0, 20.0),
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
        "timeout_multiplier": part["patience"][0],
        "timeout_constant": part["patience"][1],
        "process_isolation": "forkserver",
    }
    lines = [f"{key} = {value!r}" for key, value in settings.items()]
    lines += ["track_dependencies = false"]
    return "\n".join(["", "[tool.mutmut]", *lines, ""])


def prepare(name: str) -> Path:
    """Bring the copy of the project for one part of the sources up to date."""
    folder = COPIES / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in COPIED:
        if (ROOT / path).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / path, folder / path, dirs_exist_ok=True, ignore=ignore)
        else:
            shutil.copy2(ROOT / path, folder / path)
    with (folder / "pyproject.toml").open("a") as file:
        file.write(configuration(name))
    os.environ.update(
        PYTHONPATH=os.pathsep.join(str(folder / "mutants" / name) for name in ("src", "tests")),
        PYTEST_PLUGINS="mutation_order",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
        MPLBACKEND="agg",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )
    return folder


def run(name: str, words: list[str]) -> int:
    """Go on with the mutants of one part: with all, or with one in so many, drawn by lot."""
    folder = prepare(name)
    command = [str(Path(sys.executable).with_name("mutmut")), "run"]
    command += drawn(name, int(words[0])) if words else []
    return subprocess.run(command, cwd=folder, check=False).returncode


def drawn(name: str, share: int) -> list[str]:
    """Name one mutant in `share`, the same at every call."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    os.chdir(COPIES / name)
    names = [
        get_mutant_name(path, mutant)
        for path in sorted(Path("src", name).glob("*.py"))
        for mutant in mutate_file_contents(str(path), path.read_text("utf-8")).mutant_names
    ]
    return [x for x in names if int(hashlib.sha256(x.encode()).hexdigest(), 16) % share == 0]


def retry(name: str, tests: list[str]) -> int:
    """Try some tests on what they might still kill of one part, and remember what they do.

    A mutant that they leave alive counts as a survivor, even if other tests would kill it.
    """
    from mutmut.__main__ import create_mutants

    os.chdir(prepare(name))
    create_mutants(max_children=1)  # of what has changed
    shutil.copytree("tests", "mutants/tests", dirs_exist_ok=True)
    why = explanations()
    files = {
        mutant: file
        for file, mutant, code in found(name)
        if code in UNDECIDED
        and (code is None or (f"{name}/{file}", *change(name, file, mutant)) not in why)
    }
    os.chdir("mutants")
    sys.path[:0] = ["src", "tests"]
    forked = Forked(list(files), lambda mutant, code: record(name, files[mutant], mutant, code))
    pytest.main([*RUNS[name]["options"], "-q", *tests], plugins=[forked])
    return 0


def record(name: str, file: str, mutant: str, code: int) -> None:
    """Remember a verdict at once, since there may be an interruption."""
    if code not in BROKEN:
        path = COPIES / name / "mutants" / "src" / name / f"{file}.meta"
        known = json.loads(path.read_text("utf-8"))
        known["exit_code_by_key"][mutant] = code
        path.write_text(json.dumps(known), "utf-8")


class Forked:
    """Pytest plugin: run what has been collected once for each mutant, in forked processes."""

    def __init__(self, mutants: list[str], record: Callable[[str, int], None]) -> None:
        self.mutants, self.record = mutants, record

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's loop."""
        if os.waitstatus_to_exitcode(os.waitpid(self.start("", session), 0)[1]):
            raise pytest.UsageError("the tests fail without a mutant")
        waiting, running = list(reversed(self.mutants)), {}
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                mutant = waiting.pop()
                running[self.start(mutant, session)] = mutant
            process, status = os.wait()
            self.record(running.pop(process), os.waitstatus_to_exitcode(status))
        return True

    def start(self, mutant: str, session: pytest.Session) -> int:
        """Run the tests with a mutant switched on, up to the first failure, in another process."""
        process = os.fork()
        if process:
            return process
        os.environ["MUTANT_UNDER_TEST"] = mutant
        signal.alarm(AMPLE)  # which kills it
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            if any(
                report.failed for report in runtestprotocol(item, log=False, nextitem=following)
            ):
                os._exit(1)
        os._exit(0)


def found(name: str) -> Iterator[tuple[str, str, int | None]]:
    """Yield the file, the name and the exit code of each mutant of one part."""
    for path in sorted((COPIES / name / "mutants" / "src" / name).glob("*.meta")):
        for mutant, code in json.loads(path.read_text("utf-8"))["exit_code_by_key"].items():
            yield path.stem, mutant, code


def change(name: str, file: str, mutant: str) -> tuple[str, str]:
    """Return the lines that a mutant replaces, and what it puts there."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    lines = get_diff_for_mutant(mutant, path=Path("src", name, file)).splitlines()[2:]
    old, new = (
        "\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return old, new


def explanations() -> dict[tuple[str, str, str], str]:
    """Return the reason for each explained survivor, by file, old and new lines."""
    table = tomllib.loads(EXPLAINED.read_text("utf-8"))["survivor"]
    return {(row["file"], row["old"], new): row["why"] for row in table for new in row["new"]}


def stale() -> list[tuple[str, str]]:
    """Return the explanations whose lines no longer stand in the source."""
    result = []
    for file, old, _ in explanations():
        lines = {line.strip() for line in (ROOT / "src" / file).read_text("utf-8").splitlines()}
        if not set(old.splitlines()) <= lines:
            result.append((file, old))
    return result


def decorated(name: str) -> int:
    """Count the functions that mutmut leaves alone, since they are decorated."""
    count = 0
    for path in (ROOT / "src" / name).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                kinds = {ast.unparse(decorator) for decorator in node.decorator_list}
                count += bool(kinds - {"staticmethod", "classmethod"})
    return count


def survey(name: str, groups: dict[tuple[str, str], list[tuple[str, str]]]) -> list[str]:
    """Describe one part of the sources, and add its survivors to those of each reason."""
    os.chdir(COPIES / name)
    why, modules, table, counts = explanations(), defaultdict(list), [], Counter()
    for file, mutant, code in found(name):
        modules[file].append((mutant, code))
        kinds = {"untried": (None,), "broken": BROKEN, "endless": ENDLESS, "alive": SURVIVED}
        counts.update(kind for kind, codes in kinds.items() if code in codes)
    for file, mutants in modules.items():
        tried = [(mutant, code) for mutant, code in mutants if code not in (None, *BROKEN)]
        living = [mutant for mutant, code in tried if code in SURVIVED]
        for mutant in living:
            old, new = change(name, file, mutant)
            reason = why.get((f"{name}/{file}", old, new), UNEXPLAINED)
            counts["explained"] += reason != UNEXPLAINED
            groups[f"{name}/{file}", reason].append((old, new))
        if tried:
            score = f"{1 - len(living) / len(tried):.1%}"
            table.append(f"| `{file}` | {len(tried)} | {len(living)} | {score} |")
        counts["tried"] += len(tried)
    killed = counts["tried"] - counts["alive"]
    return [
        f"## `src/{name}`",
        "",
        f"{killed:,} of {counts['tried']:,} mutants are killed: {killed / counts['tried']:.1%}. "
        f"Under {counts['endless']} of these the tests did not end in time. Of the "
        f"{counts['alive']} survivors {counts['explained']} are explained. {counts['untried']} "
        f"mutants were not tried, and {counts['broken']} gave no verdict. mutmut leaves "
        f"{decorated(name)} decorated functions alone.",
        "",
        "| Module | Mutants | Survivors | Killed |",
        "|:--|--:|--:|--:|",
        *table,
        "",
    ]


def report(target: Path) -> int:
    """Write how many mutants each module has, how many live, and why; count the unexplained."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    lines = [
        "# Which changes of the code no test notices",
        "",
        "Made by `tests/mutation.py report` from runs and retries with mutmut "
        f"{version('mutmut')}. A mutant is",
        "one small change: another operator, a number one larger, an argument left out, a text in",
        "capitals. The survivors are listed below, each with the reason why no test can tell it",
        "from the original, if one is known.",
        "",
    ]
    for name in RUNS:
        lines += survey(name, groups)
    lines += ["## The survivors, and why", ""]
    for (file, reason), changes in groups.items():
        lines += [f"### `{file}`: {reason}", ""]
        for both in dict.fromkeys(changes):
            lines.append(
                "- `` {} `` → `` {} ``".format(*(" ⏎ ".join(x.splitlines()) for x in both))
            )
        lines.append("")
    target.write_text("\n".join(lines), "utf-8")
    for file, old, new in idle(groups):
        print(f"{file}: explained, but killed: {old!r} -> {new!r}")
    return sum(len(changes) for (_, reason), changes in groups.items() if reason == UNEXPLAINED)


def idle(groups: dict[tuple[str, str], list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    """Return the explanations of changes that do not survive."""
    alive = {(file, *change) for (file, _), changes in groups.items() for change in changes}
    return [key for key in explanations() if key not in alive]


def main(action: str, *words: str) -> int:
    """Run, retry or report."""
    if action == "report":
        print(report(ROOT / "benchmarks" / "mutation.md"), "survivors are not explained")
        return 0
    return {"run": run, "retry": retry}[action](words[0], list(words[1:]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
