"""Execute a page with a reader's own numbers: ``python -m papers.site.own_numbers PAGE``.

Nothing is compared. A cell may check what the page says of the published numbers, and fail
with others: the cells after it are executed all the same, and what failed is listed last.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from papers.site.build import OWN
from papers.site.notebooks import convert, executable, run

HEADING = "Your numbers"
# Failures to describe; the rest are mostly their consequences.
FEW = 5
_TITLE = re.compile(r"^(#+)[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def find(root: Path, given: str) -> Path:
    """Return the file of a page: one of the book by its name, any other by its path.

    Raises
    ------
    ValueError
        If there is none.
    """
    path = Path(given).expanduser()
    if path.suffix in (".ipynb", ".md"):
        if path.is_file():
            return path
        raise ValueError(f"There is no file {path}")
    pages = {page.stem: page for page in executable(root / "book")}
    if given not in pages:
        raise ValueError(f"PAGE must be one of: {' '.join(pages)}; or the path of a notebook")
    return pages[given]


def read(path: Path) -> Any:
    """Read a page or a notebook.

    Raises
    ------
    ValueError
        If it cannot be read as one.
    """
    try:
        return convert(path) if path.suffix == ".md" else nbformat.read(path, as_version=4)
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a notebook: {error}") from error


def titled(notebook: Any) -> Iterator[tuple[list[str], Any]]:
    """Yield each code cell after the titles that it stands under, the outermost first."""
    titles: dict[int, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield list(titles.values()), cell
        else:
            for marks, title in _TITLE.findall(cell.source):
                above = {level: name for level, name in titles.items() if level < len(marks)}
                titles = {**above, len(marks): title}


def wanted(notebook: Any) -> list[Any]:
    """Return the cells under "Your numbers", or all code cells if there are none."""
    cells = [cell for titles, cell in titled(notebook) if HEADING in titles]
    return cells or [cell for _, cell in titled(notebook)]


def said(cell: Any) -> str:
    """Return what a cell gave as far as it is text, an error in one line."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text.rstrip("\n"))
        elif output.output_type == "error":
            parts.append(_error(output))
        else:
            shown = [output.data.get(kind, "") for kind in ("text/markdown", "text/plain")]
            # A figure is no more in plain text than the name of its class.
            parts += [text for text in shown if text and not text.startswith("<")][:1]
    return "\n".join(parts)


def failures(notebook: Any) -> list[str]:
    """Describe each cell that failed: where it stands, the line, and the error."""
    lines = []
    for titles, cell in titled(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                trace = _COLOUR.sub("", "\n".join(output.traceback))
                line = re.search(r"^-+> \d+ +(.+)$", trace, re.MULTILINE)
                place = f'under "{titles[-1]}"' if titles else "at the top"
                at = f"\n      {line[1]}" if line else ""
                lines.append(f"  [{cell.execution_count}] {place}:{at}\n      {_error(output)}")
    return lines


def _error(output: Any) -> str:
    return ": ".join([output.ename, *output.evalue.splitlines()[:1]])


def main(root: Path, given: str) -> int:
    """Execute a page, print what its reader is after, and write all of it to a notebook.

    Parameters
    ----------
    root : Path
        The project's folder.
    given : str
        The name of a page in ``book``, or the path of a notebook.

    Returns
    -------
    int
        0 if every cell was executed, 1 if one failed, 2 if there is nothing to execute.
    """
    try:
        path = find(root, given)
        notebook = read(path)
    except ValueError as error:
        print(error)
        return 2
    print(f"Executing {path} with the numbers that stand in it. Nothing is compared.", flush=True)
    stopped = ""
    try:
        run(notebook, root / "book", timeout=None, allow_errors=True, coalesce_streams=True)
    except Exception as error:  # no cell's: the kernel died or was interrupted
        stopped = f"It was stopped before its end: {str(error) or 'interrupted'}"
    target = root / "_build" / OWN / f"{path.stem}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    print(*["", *filter(None, map(said, wanted(notebook))), ""], sep="\n")
    failed = failures(notebook)
    if failed:
        print(f"{len(failed)} of its cells failed:", *failed[:FEW], sep="\n")
        print(*[f"  and {len(failed) - FEW} more"] * (len(failed) > FEW), "", sep="\n")
    print(*filter(None, [stopped, f"The notebook with all outputs is {target}"]), sep="\n")
    return int(bool(failed or stopped))


if __name__ == "__main__":
    sys.exit(main(Path(), " ".join(sys.argv[1:])))
