"""Figures: the same bytes each time, legible in both schemes, and told in words."""

import re
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from papers import figures


def test_a_note_stands_at_a_shift_from_its_point():
    axes = Figure().subplots()
    figures.note(axes, "here", (1, 2), (3, -4), figures.BLUE, ha="right", fontsize=7)
    (label,) = axes.texts
    assert (label.get_text(), label.xy, label.xyann) == ("here", (1, 2), (3, -4))
    assert (label.xycoords, label.anncoords) == ("data", "offset points")
    assert (label.get_color(), label.get_ha(), label.get_fontsize()) == (figures.BLUE, "right", 7)


@pytest.mark.parametrize(("axis", "other"), ["xy", "yx"])
@pytest.mark.parametrize(
    ("labels", "shown"),
    [(None, ["0.1", "1", "1e+06"]), (["a", "b", "c"], ["a", "b", "c"])],
)
def test_just_the_given_ticks_are_marked(axis, other, labels, shown):
    axes = Figure().subplots()
    getattr(axes, f"set_{axis}scale")("log")
    before = getattr(axes, f"get_{other}ticks")().tolist()
    figures.ticks(axes, axis, [0.1, 1.0, 1e6], labels)
    line = getattr(axes, f"{axis}axis")
    assert line.get_majorticklocs().tolist() == [0.1, 1, 1e6]
    assert [label.get_text() for label in line.get_majorticklabels()] == shown
    assert line.get_minorticklocs().tolist() == []
    assert getattr(axes, f"get_{other}ticks")().tolist() == before


SCHEMES = (
    ":root{--figure-paper:#ffffff;--figure-ink:#23282e;--figure-muted:#5c6670;"
    "--figure-grid:#e3e7eb;--figure-blue:#0065a8;--figure-orange:#b84a00;"
    "--figure-green:#00735a;--figure-purple:#9a3c7c;}"
    "@media (prefers-color-scheme:dark){:root{--figure-paper:#121212;--figure-ink:#d8dde3;"
    "--figure-muted:#9aa5b1;--figure-grid:#2c3238;--figure-blue:#58b4f5;"
    "--figure-orange:#ff9a57;--figure-green:#3fd4ac;--figure-purple:#f094cf;}}"
)


def test_the_palette_in_both_schemes():
    assert figures._schemes() == SCHEMES


@pytest.mark.parametrize(
    ("path", "rounded"),
    [
        ("M 1.234567 -2.005 L 10.0 20", "M 1.23 -2 L 10 20"),
        ("L 100.004 0.5", "L 100 0.5"),
        ("L 0.501 120 3.999", "L 0.5 120 4"),
        ("z", "z"),
    ],
)
def test_coordinates_are_rounded_to_hundredths(path, rounded):
    assert figures._rounded(path) == rounded


@pytest.fixture
def small():
    canvas = Figure(figsize=(1, 2))
    canvas.add_artist(
        mpl.lines.Line2D([1 / 7, 2 / 3], [0.25, 0.75], color=figures.BLUE, marker="s")
    )
    canvas.text(0.5, 0.5, "a", color=figures.ORANGE)
    return canvas


def test_an_svg_from_its_first_tag_to_its_last(small):
    drawn = figures.svg(small)
    start = (
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="144pt" '
        'viewBox="0 0 72 144" xmlns="http://www.w3.org/2000/svg" version="1.1">\n'
        f" <defs>\n  <style>{SCHEMES}</style>\n"
        '  <style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>\n'
        " </defs>\n"
        ' <g id="figure_1">\n'
    )
    assert drawn[: len(start)] == start
    assert drawn.endswith("</svg>\n")
    assert drawn.count(SCHEMES) == 1
    assert drawn.count("<defs>") > 1


def test_paths_are_rounded_and_coloured_by_variables(small):
    drawn = figures.svg(small)
    assert re.findall(r'<path d="M 10.29 108 \nL 48 36 \n" [^>]*>', drawn) == [
        '<path d="M 10.29 108 \nL 48 36 \n" style="fill: none; '
        'stroke: var(--figure-blue, #0065a8); stroke-width: 1.5; stroke-linecap: square"/>'
    ]
    assert drawn.count("var(--figure-orange, #b84a00)") == 1
    for path in re.findall(r' d="([^"]*)"', drawn):
        assert figures._rounded(path) == path


def test_text_is_drawn_as_paths_under_names_that_do_not_change(small):
    first = figures.svg(small)
    assert "<text" not in first
    assert figures.svg(small) == first


def test_the_summary_tells_of_labelled_lines_and_bars():
    canvas = Figure()
    left, right = canvas.subplots(1, 2)
    left.plot([1, 2, 4], [0.123456, 123456, 3], label="a line")
    left.plot([1, 2], [5, 6])
    left.errorbar([1, 2], [3, 4], yerr=1, label="errors")
    right.plot([Fraction(1, 2), Fraction(3, 2)], [Fraction(1, 4), Fraction(1, 8)], label="shares")
    right.bar([1, 2, 3], [Fraction(1, 8), Fraction(7, 2), 2], label="bars")
    assert figures.summary(canvas) == (
        "[figure] a line: 3 points, x 1 to 4, y 0.1235 to 1.235e+05; "
        "shares: 2 points, x 0.5 to 1.5, y 0.125 to 0.25; bars: 3 bars, 0.125 to 3.5"
    )
    assert figures.summary(Figure()) == "[figure] "


def test_letters_are_of_matplotlibs_own_font_whatever_the_system_has():
    fonts = [Path(font.fname) for font in fontManager.ttflist]
    assert fonts
    assert all(font.is_relative_to(mpl.get_data_path()) for font in fonts)


def test_a_figure_is_shown_when_its_block_ends(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda *data, **options: shown.append((data, options)))
    with figures.figure(1, 2, size=(3, 2), sharey=True) as (left, right):
        left.plot([1, 2], [3, 4], label="a")
        assert right.get_shared_y_axes().joined(left, right)
        assert left.get_facecolor() == mpl.colors.to_rgba(figures.PAPER)
        assert shown == []
    canvas = left.figure
    assert canvas.get_size_inches().tolist() == [3, 2]
    data = {"image/svg+xml": figures.svg(canvas), "text/plain": figures.summary(canvas)}
    assert shown == [((data,), {"raw": True})]
    assert data["text/plain"] == "[figure] a: 2 points, x 1 to 2, y 3 to 4"


def _draw(seed=0):
    canvas = Figure(figsize=(3, 2))
    axes = canvas.subplots()
    points = np.random.default_rng(seed).random(50)
    axes.plot(points, color=figures.BLUE, label="noise")
    axes.fill_between(range(50), points, alpha=0.3, color=figures.ORANGE)
    axes.bar([1, 2], [0.5, 1], color=figures.GREEN, label="bars")
    return canvas


def test_equal_figures_give_equal_bytes():
    assert figures.svg(_draw()) == figures.svg(_draw())
    assert figures.svg(_draw()) != figures.svg(_draw(1))


def test_figures_follow_the_scheme():
    text = figures.svg(_draw())
    assert "@media (prefers-color-scheme:dark)" in text
    body = text[text.index("</style>") :]
    # Outside the style sheet a colour stands only as the fallback of a variable.
    loose = re.sub(r"var\(--figure-\w+, #[0-9a-f]{6}\)", "", body)
    assert "var(--figure-blue, #0065a8)" in body
    for light, _ in figures.PALETTE.values():
        assert light not in loose
    assert "<dc:date>" not in text


def _contrast(one, two):
    def luminance(colour):
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["ink", "muted", "blue", "orange", "green", "purple"])
@pytest.mark.parametrize("scheme", [0, 1])
def test_labels_are_legible(name, scheme):
    paper = figures.PALETTE["paper"][scheme]
    assert _contrast(figures.PALETTE[name][scheme], paper) > 4.5
