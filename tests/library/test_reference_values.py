"""What the docstrings claim of accuracy, against a table of values with fifty digits."""

import csv
import importlib
import inspect
import json
import math
import re
from collections import defaultdict
from decimal import Decimal, localcontext

import numpy as np
import pytest
from tests.library.reference_values import TABLE
from tests.library.test_validation import MODULES, public

with TABLE.open(encoding="utf-8") as file:
    ROWS = defaultdict(list)
    for row in csv.DictReader(file):
        ROWS[row["function"]].append((json.loads(row["arguments"]), Decimal(row["value"])))


def pareto(call):
    return 3e-14 * (1 + math.log(call["workers"]) / call["tail"])


# The laws of the table, by the lower and by the upper tail.
QUANTILES = {
    ("uniform", False): lambda share: share,
    ("uniform", True): lambda share: 1 - share,
    ("exponential", False): lambda share: -np.log1p(-share),
    ("exponential", True): lambda share: -np.log(share),
    ("cube", False): lambda share: (-np.log1p(-share)) ** 3,
    ("cube", True): lambda share: (-np.log(share)) ** 3,
    ("step", True): lambda share, place: np.where(share < place, 2.0, 1.0),
    ("power", True): lambda share, index: share**-index,
}


def any_law(call):
    if call["quantile"] == "step":
        return 1e-10
    if call["quantile"] == "power":
        left = call["workers"] - call["quorum"] + 1
        return 1e-11 if call["index"] <= 0.99 * left else 1e-9
    return 1e-11 if call["upper_tail"] else 1e-9


# The relative error that is claimed, and the words of the docstring that claim it.
CLAIMS = {
    "inner_steps.best_weights": (lambda c: 1e-10 / (2 - c["target"]), "10^{-10}/(2 - r^*)"),
    "partition.blind_price_std": (
        lambda c: 1e-12 * (1 + 1 / c["sigma"] ** 2),
        r"10^{-12} (1 + 1/\sigma^2)",
    ),
    "partition.expected_blind_price": (lambda _: 2e-13, "a relative error below 2e-13"),
    "redundancy.drop_probability": (lambda _: 1e-10, "relative error is below 1e-10 for values"),
    "redundancy.log_drop_probability": (lambda _: 1e-10, "of the logarithm is below 1e-10"),
    "sampling.inclusion_probabilities": (lambda _: 1e-12, "1e-12, also where rates differ"),
    "sampling.joint_inclusion_probabilities": (lambda _: 1e-12, "error of each is below 1e-12"),
    "sampling.mean_squared_error": (
        lambda c: 3e-15 * max(c["largest"], 1),
        "the order of 1e-15 times the largest squared difference",
    ),
    "stragglers.exponential_round_time": (lambda _: 1e-14, "below 1e-14 for every n"),
    "stragglers.exponential_round_variance": (lambda _: 1e-14, "below 1e-14 for every n"),
    "stragglers.pareto_round_time": (pareto, r"3 \cdot 10^{-14} (1 + \ln(n)/\alpha)"),
    "stragglers.round_time": (any_law, "error is below 1e-11; it is below 1e-9 where b is"),
    "stragglers.unequal_round_time": (lambda _: 1e-12, "relative error is below 1e-12"),
}


def function(name):
    module, name = name.split(".")
    return getattr(importlib.import_module(f"decentral.{module}"), name)


def relative_error(name, call, exact):
    """Of the library's double against twenty-five digits."""
    hints = {"at", "field", "largest", "index"}
    given = {key: value for key, value in call.items() if key not in hints}
    if "quantile" in given:
        law = QUANTILES[given["quantile"], given["upper_tail"]]
        index = [call["index"]] if "index" in call else []
        given["quantile"] = lambda share: law(share, *index)
    value = function(name)(**given)
    if "field" in call:
        value = getattr(value, call["field"])
    for index in call.get("at", []):
        value = value[index]
    with localcontext() as context:
        context.prec = 40
        return float(abs(Decimal(float(value)) - exact) / abs(exact))


# It says how long a start is forgotten, which `test_local_sgd.py` counts in rounds.
ELSEWHERE = {"inner_steps.simulate"}


def test_the_table_covers_what_is_claimed():
    assert set(ROWS) == set(CLAIMS)
    assert min(map(len, ROWS.values())) >= 6


def test_every_claim_of_a_docstring_is_in_the_table():
    """Whoever writes of a relative error, and a small number after it, needs rows here.

    "A relative 1e-12" is what counts as equal, and no claim.
    """
    claim = re.compile(r"\brelative\b(?!\s+1e-12)[^.]{0,80}?(?:\de-\d|10\^\{-)")
    claiming = {
        f"{module}.{name}"
        for module in MODULES
        for name, what in public(module).items()
        if claim.search(inspect.getdoc(what).partition("\nExamples\n")[0])
    }
    assert claiming == set(CLAIMS) - {"sampling.mean_squared_error"} | ELSEWHERE


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_of_accuracy_holds_over_the_whole_range(name):
    bound, words = CLAIMS[name]
    assert re.sub(r"\s+", " ", words) in re.sub(r"\s+", " ", inspect.getdoc(function(name)))
    errors = {str(call): relative_error(name, call, exact) for call, exact in ROWS[name]}
    too_large = {
        str(call): errors[str(call)]
        for call, _ in ROWS[name]
        if not errors[str(call)] <= bound(call)
    }
    assert too_large == {}


def test_an_error_of_one_digit_too_many_is_seen():
    call, exact = ROWS["stragglers.exponential_round_time"][5]
    wrong = exact * (1 + Decimal("1e-13"))
    assert relative_error("stragglers.exponential_round_time", call, wrong) > 1e-14
