"""Numbers as the pages show them."""

import math

import numpy as np
import pytest
import sympy as sp

from papers import text
from papers.text import number, say, typeset


def refusal(kind, function, *arguments, **options):
    """What a call says when it refuses."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "spec", "shown"),
    [
        (2.375, ".2f", "2.38"),
        (-0.05, ".1f", "-0.1"),
        (0.0137, ".1%", "1.4%"),
        (1234567.0, ",d", "1,234,567"),
        (0, "d", "0"),
        (0, ".0%", "0%"),
        (1e-320, ".0e", "1e-320"),
        (10.0, ".0f", "10"),
        (0.09, ".1f", "0.1"),
        (np.float64(1e-9), ".1e", "1.0e-09"),
        (np.int64(7), "d", "7"),
    ],
)
def test_a_number_as_it_is_shown(value, spec, shown):
    assert number(value, spec) == shown


@pytest.mark.parametrize(
    ("value", "spec", "error", "message"),
    [
        (math.nan, "d", 0, "value must be finite, got nan"),
        (-math.inf, ".2f", 0, "value must be finite, got -inf"),
        (1, ".3g", 0, "spec must end in f, e, % or d, got '.3g'"),
        (1, "", 0, "spec must end in f, e, % or d, got ''"),
        (1, "f ", 0, "spec must end in f, e, % or d, got 'f '"),
        (1.5, ",d", 0, "value must be whole for ',d', got 1.5"),
        (0.04, ".1f", 0, "value 0.04 would print as 0.0; use a finer spec than '.1f'"),
        (-1e-9, ".1%", 0, "value -1e-09 would print as -0.0%; use a finer spec than '.1%'"),
        (2.3729, ".3f", 0.005, "2.373 shows digits of size 0.001, finer than the error 0.005"),
        (0.01372, ".2%", 0.001, "1.37% shows digits of size 0.0001, finer than the error 0.001"),
        (1234, "d", 2.5, "1234 shows digits of size 1, finer than the error 2.5"),
        (1234, ".1e", 200, "1.2e+03 shows digits of size 100, finer than the error 200"),
    ],
)
def test_what_a_number_is_refused_for(value, spec, error, message):
    assert refusal(ValueError, number, value, spec, error=error) == message


def test_an_error_may_be_one_unit_of_the_last_digit_up_to_rounding():
    assert number(2.37, ".2f", error=0.01) == "2.37"
    assert number(2.37, ".2f", error=0.01 * (1 + 5e-10)) == "2.37"
    refusal(ValueError, number, 2.37, ".2f", error=0.01 * (1 + 2e-9))


@pytest.mark.parametrize(
    ("shown", "exponent"),
    [
        ("2.37", -2),
        ("-1,234", 0),
        ("7", 0),
        ("14%", -2),
        ("1.4%", -3),
        ("1.0e-09", -10),
        ("1e+03", 3),
        ("1.25e+03", 1),
    ],
)
def test_the_size_of_the_last_digit(shown, exponent):
    assert text._last_digit(shown) == 10.0**exponent


@pytest.fixture
def glued(monkeypatch):
    said = []
    monkeypatch.setattr(text, "glue", lambda *words, **options: said.append((words, options)))
    return said


def test_a_number_is_glued_as_it_is_shown_and_text_as_it_is(glued):
    say("a", 2.375, ".2f", error=0.01)
    say("b", "2.4", ".0f")
    say("c", 7, "d")
    say("d", "text")
    say("e", 0.25, ".2f")
    quiet = {"display": False}
    assert glued == [
        (("a", "2.38"), quiet),
        (("b", "2.4"), quiet),
        (("c", "7"), quiet),
        (("d", "text"), quiet),
        (("e", "0.25"), quiet),
    ]


def test_a_number_that_is_refused_is_not_glued(glued):
    message = "2.38 shows digits of size 0.01, finer than the error 0.1"
    assert refusal(ValueError, say, "a", 2.375, ".2f", error=0.1) == message
    message = "spec must end in f, e, % or d, got ''"
    assert refusal(ValueError, say, "a", 2.375) == message
    assert glued == []


def test_a_formula_is_shown_as_the_text_sets_it():
    w, x = sp.symbols("w_max x", positive=True)
    plain = sp.polygamma(1, x) + sp.log(1 - w)
    formula = typeset(plain, order="none", w_max=r"w_{\max}")
    assert formula._repr_latex_() == (
        r"$\displaystyle \psi'{\left(x \right)} + \ln{\left(1 - w_{\max} \right)}$"
    )
    assert repr(formula) == str(plain)
    with pytest.raises(ValueError, match=r"among \['w_max', 'x'\], got \['y'\]"):
        typeset(plain, y="z")
