"""A reader's own numbers: what is printed, and that the commands which are offered work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_markdown_cell, new_notebook, new_output
from tests.book.small_books import CELL, HEADER, ROOT, code, shown, stream

from papers.site import own_numbers
from papers.site.masthead import explained
from papers.site.notebooks import convert, executable, run
from papers.site.own_numbers import HEADING, find, main, read, said, wanted

BOOK = ROOT / "book"
PAGES = [page for page in executable(BOOK) if f"# {HEADING}\n" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_numbers_of_a_page_are_found(page):
    (cell,) = wanted(convert(page))
    assert re.search(r"^my_\w+.* = ", cell.source, re.MULTILINE)
    assert "print(" in cell.source


def test_the_cells_under_the_heading_are_wanted_or_else_all():
    cells = [code(str(i)) for i in range(6)]
    notebook = new_notebook(
        cells=[
            cells[0],
            new_markdown_cell("# Title\n\nText.\n\n## Your numbers  \n\nText."),
            cells[1],
            new_markdown_cell("Text with no #title\n\n### Deeper"),
            cells[2],
            new_markdown_cell("## Next\n\nYour numbers"),
            cells[3],
            new_markdown_cell("### Your numbers"),
            cells[4],
            new_markdown_cell("### Not your numbers"),
            cells[5],
        ]
    )
    assert wanted(notebook) == [cells[1], cells[2], cells[4]]
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert wanted(notebook) == cells


def test_what_a_cell_gave_is_said_as_text():
    cell = code(
        "",
        stream("one\ntwo\n"),
        shown("3"),
        shown("<Markdown>", **{"text/markdown": "| four |"}),
        shown("<Figure>", **{"image/svg+xml": "<svg/>"}),
        new_output("display_data", {"application/papermill.record/text/plain": "glued"}),
        new_output("error", ename="ValueError", evalue="five\nand more"),
    )
    assert said(cell) == "one\ntwo\n3\n| four |\nValueError: five"


def test_a_page_is_named_and_a_notebook_is_a_path(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    for name in ("one", "two"):
        (tmp_path / "book" / f"{name}.md").write_text("```{code-cell} ipython3\n1\n```\n")
    (tmp_path / "own (1).ipynb").write_text("{")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find(tmp_path, "two") == tmp_path / "book" / "two.md"
    assert find(tmp_path, "~/own (1).ipynb") == tmp_path / "own (1).ipynb"
    assert find(tmp_path, str(tmp_path / "book" / "one.md")) == tmp_path / "book" / "one.md"
    for given in ("", "three", "../book/one"):
        with pytest.raises(ValueError, match="PAGE must be one of: one two; or the path of a note"):
            find(tmp_path, given)
    with pytest.raises(ValueError, match=r"^There is no file .*gone\.ipynb$"):
        find(tmp_path, "gone.ipynb")
    with pytest.raises(ValueError, match=r"own \(1\)\.ipynb cannot be read as a notebook"):
        read(tmp_path / "own (1).ipynb")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one page, whose check fails if its number is changed."""
    (tmp_path / "book").mkdir()
    lines = [
        "number = 3",
        "print('three times:', 3 * number)",
        "assert number == 3",
        "print('end')",
    ]
    blocks = [f"{CELL}{line}\n```\n" for line in lines]
    text = "\n".join(
        [f"{HEADER}\n# Page\n\n## {HEADING}\n", *blocks[:2], "## Limits\n", *blocks[2:]]
    )
    (tmp_path / "book" / "page.md").write_text(text)
    for name in ("pyproject.toml", "requirements.txt", "tests/nbval.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(project, *words):
    """Call make in a project, with this environment in place of one of its own."""
    options = ["-s", "-f", ROOT / "Makefile", "-C", project, "-o", ".venv/.ready"]
    command = ["make", *options, f"BIN={Path(sys.executable).parent}", *words]
    environment = {
        key: x for key, x in os.environ.items() if not key.startswith(("MAKE", "PYTEST"))
    }
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_all_is_executed_and_printed_also_if_a_cell_fails(project, capsys, monkeypatch):
    page = project / "book" / "page.md"
    page.write_text(page.read_text().replace("number = 3\n", "number = 14\n", 1))
    monkeypatch.chdir(project)
    assert main(Path(), "page") == 1
    assert capsys.readouterr().out.splitlines() == [
        "Executing book/page.md with the numbers that stand in it. Nothing is compared.",
        "",
        "three times: 42",
        "",
        "1 of its cells failed:",
        '  [3] under "Limits":',
        "      assert number == 3",
        "      AssertionError",
        "",
        "The notebook with all outputs is _build/executed/page.ipynb",
    ]
    executed = nbformat.read(project / "_build" / "executed" / "page.ipynb", as_version=4)
    assert executed.cells[-1].outputs[0].text == "end\n"


def test_a_page_is_compared_with_what_is_stored(project):
    """One output is another, one cell fails, and the rest is as it was."""
    notebook = convert(project / "book" / "page.md")
    run(notebook, project)
    notebook.cells[1].source = "number = 14"
    (project / "notebooks").mkdir()
    nbformat.write(notebook, project / "notebooks" / "page.ipynb")
    done = make(project, "run", "PAGE=page")
    assert done.returncode != 0
    first, *_, result, _, hint, _ = done.stdout.splitlines()
    assert first.startswith("Executing notebooks/page.ipynb afresh and comparing every output")
    assert "2 failed, 2 passed" in result, done.stdout
    assert hint.strip() == "make execute PAGE=page"


def test_a_page_that_is_unknown(project):
    for target in ("run", "execute"):
        done = make(project, target, "PAGE=gone")
        assert done.returncode == 2
        assert done.stdout.startswith("PAGE must be one of: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "word"),
    [(DeadKernelError("Kernel died"), "Kernel died"), (AssertionError(), "inter")],
)
def test_what_was_computed_before_the_end_is_kept(project, monkeypatch, capsys, error, word):
    def stop(notebook, folder, **options):
        notebook.cells[2].outputs = [new_output("stream", text="so far\n")]
        raise error

    monkeypatch.setattr(own_numbers, "run", stop)
    assert main(project, "page") == 1
    printed = capsys.readouterr().out
    assert "so far" in printed
    assert f"stopped before its end: {word}" in printed
    assert (project / "_build" / "executed" / "page.ipynb").is_file()


def test_many_failures_are_not_all_described(project, monkeypatch, capsys):
    def fail(notebook, folder, **options):
        error = new_output("error", ename="NameError", evalue="odd", traceback=[])
        notebook.cells = [code("", error) for _ in range(7)]

    monkeypatch.setattr(own_numbers, "run", fail)
    assert main(project, "page") == 1
    assert "7 of its cells failed:" in (printed := capsys.readouterr().out)
    assert printed.count("at the top") == own_numbers.FEW
    assert "  and 2 more\n" in printed


@pytest.fixture(scope="module")
def downloaded():
    """The page on partition as it is downloaded, cut down to its own numbers, which are changed."""
    notebook = explained(convert(BOOK / "partition.md"), "partition")
    (cell,) = wanted(notebook)
    cell.source, count = re.subn(r"my_speeds = \[.*?\]", "my_speeds = [1.0, 1.0, 8.0]", cell.source)
    assert count == 1
    place = notebook.cells.index(cell)
    notebook.cells = [notebook.cells[0], *notebook.cells[place - 1 : place + 1]]
    return notebook


def commands(notebook):
    """The commands that the note at the top names."""
    return re.findall(r"```bash\n(.+)\n```", notebook.cells[0].source)


def test_the_first_command_at_the_top_of_a_notebook_works(downloaded, project, tmp_path_factory):
    path = tmp_path_factory.mktemp("downloads") / "partition (1).ipynb"
    nbformat.write(downloaded, path)
    program, *words = shlex.split(commands(downloaded)[0])
    assert program == "make"
    done = make(project, *(word.replace("path/to/partition.ipynb", str(path)) for word in words))
    assert done.returncode == 0, done.stdout
    names = {}
    exec(downloaded.cells[-1].source, names)
    assert f"layers on each device: {names['mine'].counts}\n" in done.stdout
    assert (project / "_build" / "executed" / path.name).is_file()


def test_so_does_the_second_in_another_folder(downloaded, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    python, *words = shlex.split(commands(downloaded)[1])
    assert python == ".venv/bin/python"
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    (name,) = (path.name for path in (tmp_path / "kernels").iterdir())
    path = tmp_path / "own.ipynb"
    nbformat.write(downloaded, path)
    execute = Path(sys.executable).with_name("jupyter-execute")
    options = ["--inplace", f"--kernel_name={name}", path]
    subprocess.run([execute, *options], cwd=tmp_path, check=True, capture_output=True)
    (output,) = nbformat.read(path, as_version=4).cells[-1].outputs
    assert output.text.startswith("layers on each device: ")
