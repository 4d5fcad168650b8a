"""What the checks of the pages promise, and that they can fail."""

import math

import numpy as np
import pytest
import sympy as sp

from papers import checks
from papers.checks import Agreement, agree, grid, must_fail, z_score


def refusal(kind, function, *arguments, **options):
    """What a call says when it refuses."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert type(caught.value) is kind
    return str(caught.value)


X, Y = sp.Symbol("x"), sp.Symbol("y", positive=True)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (Agreement(("a", "b"), 1, 0), "a = b at 1 point, bit for bit"),
        (Agreement(("a", "b", "c"), 2, 1), "a = b = c at 2 points, to a relative 1e+00"),
        (Agreement(("a", "b"), 1234, 2e-12), "a = b at 1,234 points, to a relative 2e-12"),
    ],
)
def test_an_agreement_in_words(report, words):
    assert repr(report) == words


def test_a_grid_holds_all_combinations():
    columns = grid(m=[2, 3], s=np.array([0.5, 1.0, 1.5]), z=(7,))
    assert {name: column.tolist() for name, column in columns.items()} == {
        "m": [2, 2, 2, 3, 3, 3],
        "s": [0.5, 1.0, 1.5, 0.5, 1.0, 1.5],
        "z": [7] * 6,
    }
    assert [column.dtype.kind for column in columns.values()] == ["i", "f", "i"]


def test_a_grid_without_points_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        grid(m=[1, 2], s=[])


def test_symbols_are_found_by_their_names_whatever_is_assumed_of_them():
    assert checks._plain(X + 2 * Y) == X + 2 * sp.Symbol("y")


def test_all_kinds_of_sources_are_compared():
    report = agree(
        {"x": [1.0, 2.0], "y": [3, 5]},
        rtol=0,
        law=X + 2 * Y,
        code=lambda y, x: x + 2 * y,
        table=[7, 12],
        array=np.array([7.0, 12.0]),
    )
    assert report == Agreement(("law", "code", "table", "array"), 2, 0)


def test_code_is_called_with_plain_numbers():
    kinds = []
    agree(
        {"x": np.array([0.5]), "n": np.array([2])},
        rtol=0,
        a=lambda x, n: kinds.append((type(x), type(n))) or x * n,
        b=[1],
    )
    assert kinds == [(float, int)]


def test_laws_may_hold_the_functions_of_scipy():
    law = sp.gamma(X) + sp.harmonic(3)
    assert agree({"x": [5.0]}, rtol=1e-14, law=law, table=[24 + 11 / 6]).points == 1


@pytest.mark.parametrize(
    ("points", "sources", "message"),
    [
        ({}, {"a": [], "b": []}, "points must be columns of one positive length, got shapes set()"),
        (
            {"x": []},
            {"a": [], "b": []},
            "points must be columns of one positive length, got shapes {(0,)}",
        ),
        (
            {"x": 1, "y": 2},
            {"a": [1], "b": [1]},
            "points must be columns of one positive length, got shapes {()}",
        ),
        (
            {"x": [[1, 2]]},
            {"a": [1], "b": [1]},
            "points must be columns of one positive length, got shapes {(1, 2)}",
        ),
        ({"x": [1]}, {}, "sources must be at least two, got []"),
        ({"x": [1]}, {"a": [1]}, "sources must be at least two, got ['a']"),
        ({"x": [1]}, {"a": [1, 2], "b": [1]}, "a source must give 1 values, got shape (2,)"),
        ({"x": [1, 2]}, {"a": [1, 2], "b": 1.0}, "a source must give 2 values, got shape ()"),
        (
            {"x": [1]},
            {"a": [1], "b": lambda x: [x, x]},
            "a source must give 1 values, got shape (1, 2)",
        ),
        (
            {"x": [1]},
            {"a": X + Y, "b": [1]},
            "points must give a value for every symbol, not for {'y'}",
        ),
    ],
)
def test_what_is_not_compared(points, sources, message):
    assert refusal(ValueError, agree, points, rtol=0, **sources) == message


def test_columns_of_two_lengths_are_not_compared():
    said = refusal(ValueError, agree, {"x": [1], "y": [1, 2]}, rtol=0, a=[1], b=[1])
    assert said.startswith("points must be columns of one positive length, got shapes {")


@pytest.mark.parametrize(
    ("ours", "theirs", "gap", "place"),
    [
        ([1, 2, 3], [1.05, 4, 3], "5.0e-01", "x = 2, y = 5"),
        ([1, 4, 3], [1.05, 2, 3], "5.0e-01", "x = 2, y = 5"),
        ([1, -2, 3], [1, 2, 3], "2.0e+00", "x = 2, y = 5"),
        ([1, 2, 3], [1, 2, math.nan], "inf", "x = 3, y = 6"),
        ([1, math.nan, 3], [1, math.nan, 4], "inf", "x = 2, y = 5"),
        ([math.inf, 2, 3], [-math.inf, 2, 3], "inf", "x = 1, y = 4"),
        ([0, 2, 3], [1e-300, 2, 3], "1.0e+00", "x = 1, y = 4"),
    ],
)
def test_the_worst_point_is_named(ours, theirs, gap, place):
    at = int(place[4]) - 1
    values = f"{np.float64(ours[at])!r} against {np.float64(theirs[at])!r}"
    message = f"a and b differ by a relative {gap} at {place}: {values}, allowed 1e-01"
    points = {"x": [1, 2, 3], "y": [4, 5, 6]}
    with np.errstate(all="raise"):
        assert refusal(AssertionError, agree, points, rtol=0.1, a=ours, b=theirs) == message


def test_every_source_is_compared_with_the_first():
    said = refusal(AssertionError, agree, {"x": [1]}, rtol=0.1, a=[1], b=[1.09], c=[1.18])
    assert said.startswith("a and c differ by a relative 1.5e-01 at x = 1: ")
    assert agree({"x": [1]}, rtol=0.1, a=[1], b=[1.09], c=[0.91]).sources == ("a", "b", "c")


def test_equal_values_agree_even_if_they_are_zero_or_infinite():
    values = [0.0, math.inf, -math.inf, 5e-324]
    with np.errstate(all="raise"):
        assert agree({"x": range(4)}, rtol=0, a=values, b=values).points == 4


def test_a_difference_of_just_the_tolerance_is_allowed():
    assert agree({"x": [0]}, rtol=0.5, a=[1], b=[2]).rtol == 0.5
    refusal(AssertionError, agree, {"x": [0]}, rtol=0.49, a=[1], b=[2])
    refusal(AssertionError, agree, {"x": [0]}, rtol=0.49, a=[2], b=[1])


def test_the_z_score_is_signed_and_counts_both_errors():
    assert z_score(3.0, 2.0, 1.0) == 1
    assert z_score(0.5, 0.5, 2.0) == -3
    assert z_score(11.0, 3.0, 1.0, exact_error=4.0) == 2
    assert z_score(1.0, 0.0, 0.0, exact_error=0.5) == 2


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((5, 1, 1), "estimate 5 lies +4.0 standard errors from 1; allowed are 4"),
        ((0.25, 0.125, 1), "estimate 0.25 lies -6.0 standard errors from 1; allowed are 4"),
        ((math.nan, 1, 1), "estimate nan lies +nan standard errors from 1; allowed are 4"),
    ],
)
def test_an_estimate_too_far_away(numbers, message):
    assert refusal(AssertionError, z_score, *numbers) == message


@pytest.mark.parametrize("error", [0, math.inf, math.nan])
def test_an_estimate_needs_a_standard_error(error):
    message = f"standard_error must be positive and finite, got {error}"
    assert refusal(ValueError, z_score, 1, error, 1) == message


def test_a_broken_check_says_how_it_fails(capsys):
    with must_fail():
        raise AssertionError("off by 1 at x = 2")
    assert capsys.readouterr().out == "the broken check fails, as it must:\noff by 1, ...\n"


def test_a_check_that_passes_is_no_broken_one(capsys):
    with pytest.raises(AssertionError) as caught, must_fail():
        pass
    assert str(caught.value) == "the check passed although the formula was broken"
    assert capsys.readouterr().out == ""


def test_another_error_is_no_broken_check():
    with pytest.raises(ValueError, match="typo"), must_fail():
        raise ValueError("typo")
