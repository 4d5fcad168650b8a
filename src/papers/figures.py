"""One style for every figure: SVG that follows the reader's light or dark scheme.

A figure is drawn once, in the light palette. On the way out each palette colour
becomes a CSS variable, and a style sheet inside the SVG gives the variables their
dark values where the page's colour scheme is dark. Identifiers are hashed from
fixed text, coordinates are rounded, and letters are those of Matplotlib's own font,
so equal figures give equal bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from IPython.display import display
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

# Light and dark value of each colour; all text colours have a contrast above 4.5
# on their background, and the four hues differ for every common colour blindness.
PALETTE = {
    "paper": ("#ffffff", "#121212"),
    "ink": ("#23282e", "#d8dde3"),
    "muted": ("#5c6670", "#9aa5b1"),
    "grid": ("#e3e7eb", "#2c3238"),
    "blue": ("#0065a8", "#58b4f5"),
    "orange": ("#b84a00", "#ff9a57"),
    "green": ("#00735a", "#3fd4ac"),
    "purple": ("#9a3c7c", "#f094cf"),
}
PAPER, INK, MUTED, GRID, BLUE, ORANGE, GREEN, PURPLE = (light for light, _ in PALETTE.values())

# A system may have another version of the font, with other outlines and numbers of letters.
fontManager.ttflist = [
    font for font in fontManager.ttflist if Path(font.fname).is_relative_to(mpl.get_data_path())
]

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.constrained_layout.use": True,
    "figure.facecolor": PAPER,
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "decentral",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}


@contextmanager
def figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] = (5.8, 3.6), **subplots: Any
) -> Iterator[Any]:
    """Draw a figure in the book's style, and show it when the block ends.

    Parameters
    ----------
    rows, columns : int, optional
        Of axes.
    size : tuple of float, optional
        Width and height in inches.
    **subplots
        Passed on to ``Figure.subplots``.

    Yields
    ------
    Axes or ndarray of Axes
    """
    with mpl.rc_context(_STYLE):
        canvas = Figure(figsize=size)
        yield canvas.subplots(rows, columns, **subplots)
        display({"image/svg+xml": svg(canvas), "text/plain": summary(canvas)}, raw=True)


def note(
    axes: Any,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    color: str,
    **font: Any,
) -> None:
    """Write a label at a data point, shifted by so many points."""
    axes.annotate(text, at, shift, textcoords="offset points", color=color, **font)


def ticks(axes: Any, axis: str, values: list[float], labels: list[str] | None = None) -> None:
    """Mark just these values on the ``"x"`` or ``"y"`` axis, by default as plain numbers."""
    names = labels or [f"{value:g}" for value in values]
    getattr(axes, f"set_{axis}ticks")(values, names)
    getattr(axes, f"set_{axis}ticks")([], minor=True)


def svg(canvas: Figure) -> str:
    """Render a figure as SVG text with the palette as CSS variables."""
    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        canvas.savefig(buffer, format="svg")
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(?<= d=")[^"]*', lambda path: _rounded(path[0]), text)
    for name, (light, _) in PALETTE.items():
        text = text.replace(light, f"var(--figure-{name}, {light})")
    return text.replace("<defs>", f"<defs>\n  <style>{_schemes()}</style>", 1)


def _rounded(path: str) -> str:
    return re.sub(r"-?\d+\.\d+", lambda x: f"{float(x[0]):.2f}".rstrip("0").rstrip("."), path)


def _schemes() -> str:
    light, dark = (
        "".join(f"--figure-{name}:{pair[scheme]};" for name, pair in PALETTE.items())
        for scheme in (0, 1)
    )
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def summary(canvas: Figure) -> str:
    """Describe the plotted data in words, so that a change of data changes the text.

    Only labelled lines and bars are listed; four significant digits do not depend
    on the machine.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from papers.figures import summary
    >>> canvas = Figure()
    >>> _ = canvas.subplots().plot([1, 2], [3, 4], label="a line")
    >>> summary(canvas)
    '[figure] a line: 2 points, x 1 to 2, y 3 to 4'
    """
    parts = []
    for axes in canvas.axes:
        for line in axes.lines:
            if not str(line.get_label()).startswith("_"):
                x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
                parts.append(f"{line.get_label()}: {x.size} points, x {_span(x)}, y {_span(y)}")
        for bars in axes.containers:
            if isinstance(bars, BarContainer):
                values = np.asarray(bars.datavalues, float)
                parts.append(f"{bars.get_label()}: {values.size} bars, {_span(values)}")
    return "[figure] " + "; ".join(parts)


def _span(values: Any) -> str:
    return f"{values.min():.4g} to {values.max():.4g}"
