"""Every argument of every public function meets every kind of bad value.

The answer may be a number, or a ``ValueError`` (such as ``InfeasibleError``) that names the
argument and the rule. Each ``tests/<module>/calls.py`` lists the functions of a module; a public
function that is not listed there fails the first test.
"""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from decentral import InfeasibleError
from papers.pages import modules

MODULES = [name for name in modules() if name != "errors"]


def calls(module):
    """The file that lists the good calls of a module's functions."""
    return Path(__file__).parents[1] / module / "calls.py"


GOOD = {
    module: importlib.import_module(f"tests.{module}.calls").CALLS
    if calls(module).is_file() else {}
    for module in MODULES
}  # fmt: skip

BAD = {
    "NaN": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "an array with NaN": [1.0, float("nan"), 1.0],
    "nothing": [],
    "three dimensions": np.ones((2, 2, 2)),
    "ragged": [[1.0], [1.0, 2.0]],
    "text": "many",
    "None": None,
    "an object": object(),
    "complex": 1 + 1j,
    "a dictionary": {"a": 1},
    "a mixed list": [1.0, "a"],
    "minus one": -1,
    "zero": 0,
    "huge": 1e300,
    "tiny": 1e-300,
    "a half": 2.5,
    "an integer beyond doubles": 10**400,
    "a date": np.datetime64("2026-11-30"),
}
NUMBERS = {kind: BAD[kind] for kind in (
    "NaN", "inf", "-inf", "minus one", "zero", "huge", "tiny", "a half"
)}  # fmt: skip
# How a message says what is wanted, or what cannot be had.
RULE = r"\bmust\b|\bneed|\bno \b|\bat most\b|\bdo not\b|\bcannot\b|\bnone\b"
# What it says of an argument that is wrong as a whole.
WHOLE = r"\bshapes?\b|\bsum to\b|\bsingle number\b|\bmust be (a|one|True)\b"
WHOLE += r"|\bone entry for each\b|\bfor these weights\b"
CASES = [
    (module, function, argument)
    for module, functions in GOOD.items()
    for function, arguments in functions.items()
    for argument in arguments
]


def public(module):
    library = importlib.import_module(f"decentral.{module}")
    things = {name: getattr(library, name) for name in library.__all__}
    return {name: thing for name, thing in things.items() if isinstance(thing, FunctionType)}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_and_argument_is_listed(module):
    missing = (
        f"write tests/{module}/calls.py, with one good call of each public function of "
        f"decentral.{module} and all its arguments: CALLS = {{'law': {{'x': 1.0}}}}"
    )
    assert calls(module).is_file(), missing
    functions = public(module)
    assert set(GOOD[module]) == set(functions)
    for name, arguments in GOOD[module].items():
        assert set(arguments) == set(inspect.signature(functions[name]).parameters)


def numbers(answer):
    """All numbers of an answer."""
    if dataclasses.is_dataclass(answer):
        fields = (getattr(answer, field.name) for field in dataclasses.fields(answer))
        return [x for field in fields for x in numbers(field)]
    if isinstance(answer, (str, list, tuple)):
        return []
    return np.ravel(np.asarray(answer, float)).tolist()


@pytest.mark.parametrize("module", GOOD)
def test_the_good_calls_are_good(module):
    for name, function in public(module).items():
        assert not np.isnan(numbers(function(**GOOD[module][name]))).any()


def shown(kind):
    """How a message may print a bad number; anything will do for what is no number."""
    number = NUMBERS.get(kind.partition(" comes")[0])
    return "" if number is None else rf"(?<![\w.]){re.escape(f'{number:g}')}(?![\w.]*\d)"


@pytest.mark.parametrize(("module", "function", "argument"), CASES)
def test_bad_values_are_refused_or_answered(module, function, argument):
    """Bad values in place of the argument, and bad numbers in place of its first and last entry."""
    problems, good, tries = {}, GOOD[module][function][argument], dict(BAD)
    if isinstance(good, list) and np.ndim(good) == 1 and not isinstance(good[0], str):
        for kind, number in NUMBERS.items():
            tries[f"{kind} comes first"] = [number, *good[1:]]
            tries[f"{kind} comes last"] = [*good[:-1], number]
    for kind, value in tries.items():
        call = {**GOOD[module][function], argument: value}
        try:
            answer = public(module)[function](**call)
        except ValueError as error:
            message, named = str(error), [argument]
            if isinstance(error, InfeasibleError):
                named = list(call)  # an argument that is good by itself may leave no answer
            elif not re.search(f"{shown(kind)}|{WHOLE}", message):
                problems[kind] = f"does not say what it got: {message}"
            if not (re.search(rf"\b({'|'.join(named)})\b", message) and re.search(RULE, message)):
                problems[kind] = message
        except Exception as error:
            problems[kind] = repr(error)
        else:
            if np.isnan(numbers(answer)).any():
                problems[kind] = f"answers {answer}"
    assert problems == {}


@pytest.mark.parametrize(
    ("module", "function", "call", "carries"),
    [
        (
            "partition",
            "partition",
            {"costs": [1] * 8, "speeds": [1] * 3, "memory": [1] * 8, "capacity": [2] * 3},
            {"layer": 6, "shortfall": 2},
        ),
        (
            "inner_steps",
            "best_weights",
            {"curvatures": [1.0, 0.1], "step": 0.2, "inner_steps": [1], "target": 1.5},
            {"shortfall": 13},
        ),
    ],
)
def test_an_error_says_by_how_much(module, function, call, carries):
    with pytest.raises(InfeasibleError) as caught:
        public(module)[function](**call)
    for name, value in carries.items():
        assert getattr(caught.value, name) == pytest.approx(value)


@pytest.mark.parametrize("module", GOOD)
def test_results_cannot_be_changed(module):
    library = importlib.import_module(f"decentral.{module}")
    for name in library.__all__:
        if dataclasses.is_dataclass(getattr(library, name)):
            assert getattr(library, name).__dataclass_params__.frozen
