"""Run every page in this process, and compare all that it shows with the committed notebook.

nbval does the same in a process of its own, where a mutant cannot be switched on.
"""

from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from IPython.utils.capture import capture_output

from papers import notebooks

ROOT = Path(__file__).parents[1]


def shown(cell):
    """What a cell of a notebook shows: what it prints, and its displays."""
    printed = "".join(out.text for out in cell.outputs if out.output_type == "stream")
    return printed, [dict(out.data) for out in cell.outputs if "data" in out]


def show(value):
    """Display what a cell ends with, as a kernel does."""
    if value is not None:
        display(value)


@pytest.mark.parametrize("page", notebooks.papers(ROOT / "book"), ids=lambda page: page.stem)
def test_the_page_shows_what_its_notebook_shows(page, monkeypatch):
    monkeypatch.chdir(ROOT / "book")
    notebook = nbformat.read(ROOT / "notebooks" / f"{page.stem}.ipynb", as_version=4)
    shell = InteractiveShell.instance()
    shell.reset()
    shell.display_trap.hook = show
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            with capture_output() as said:
                result = shell.run_cell(cell.source)
            result.raise_error()
            displays = [output.data for output in said.outputs]
            assert (said.stdout, displays) == shown(cell), f"cell {number}"
