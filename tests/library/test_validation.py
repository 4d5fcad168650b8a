"""Every argument of every public function meets every kind of bad value.

The answer may be a number, or a ``ValueError`` (such as ``InfeasibleError``) that names the
argument and the rule. A public function that is not listed here fails the first test.
"""

import dataclasses
import importlib
import inspect
import re
from types import FunctionType

import numpy as np
import pytest

from decentral import InfeasibleError
from decentral.machines import transformers
from papers.pages import modules

MODULES = [name for name in modules() if name != "errors"]

CHAIN = {"costs": [3.0, 1.0, 2.0, 1.0], "speeds": [2.0, 1.0]}
BOUND = {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [4.0, 4.0], "overhead": [0.5, 0.0]}
MODE = {"curvature": 1.0, "step": 0.2}
MODES = {"curvatures": [1.0, 0.1], "step": 0.2, "inner_steps": [1, 4]}
GOAL = {"curvature": 1.0, "noise": 1.0, "start": 1.0, "accuracy": 0.05}
WORKERS = {"workers": 8, "quorum": 6}
STAGES = {"stages": 6, "availability": 0.9}

# One good call of each function, with all its arguments.
GOOD = {
    "partition": {
        "blind_price_std": {"devices": 4, "sigma": 0.5},
        "bottleneck": {**CHAIN, **BOUND, "nonempty": False},
        "bubble_fraction": {"stage_times": [1.0, 2.0], "microbatches": 4},
        "equal_split": CHAIN,
        "evaluate": {**CHAIN, "counts": [3, 1], **BOUND, "nonempty": False},
        "expected_blind_price": {"devices": 4, "sigma": 0.5},
        "fits": {**CHAIN, "target": 3.0, **BOUND, "nonempty": False},
        "lower_bound": {**CHAIN, "overhead": [0.5, 0.0], "nonempty": False},
        "makespan": {"stage_times": [1.0, 2.0], "microbatches": 4},
        "partition": {**CHAIN, **BOUND, "nonempty": False},
        "proportional_split": CHAIN,
        "upper_bound": {**CHAIN, "overhead": [0.5, 0.0], "leave_idle": False},
    },
    "ordering": {
        "best_order": {**CHAIN, **BOUND, "nonempty": False, "progress": False},
        "sort_order": {"speeds": [2.0, 1.0], "kind": "fast-first"},
        "swap_search": {
            **CHAIN, "restarts": 1, "seed": 0, **BOUND, "nonempty": False, "progress": False
        },
        "worst_order": {**CHAIN, "overhead": [0.5, 0.0], "progress": False},
    },
    "redundancy": {
        "best_allocation": {"availabilities": [0.9, 0.8], "workers": 4, "skips": 0},
        "best_design": {**STAGES, "skip_loss": 0.1, "domain_outage": 0.01, "max_skips": 2},
        "cost_per_yield": {
            **STAGES, "replicas": 2, "skip_loss": 0.1, "skips": 1, "domain_outage": 0.01
        },
        "drop_probability": {"stages": 6, "outage": 0.1, "skips": 1},
        "log_drop_probability": {"stages": 6, "outage": 0.1, "skips": 1},
        "min_replicas": {
            **STAGES, "target": 0.01, "skips": 1, "domain_outage": 1e-3, "infeasible": "raise"
        },
        "shared_pool_drop_probability": {
            "stages": 6, "availability": [0.9, 0.8, 0.9, 0.7, 0.6, 0.5],
            "replicas": [2, 2, 1, 3, 3, 4], "pool_outages": [0.01, 0.02],
            "pool_of_stage": [0, 0, 1, 1, 0, 1], "skips": 1,
        },
        "stage_outage": {"availability": 0.9, "replicas": 2, "domain_outage": 0.01},
        "success_floor": {"stages": 6, "domain_outage": 0.01, "skips": 1},
        "unequal_drop_probability": {"outages": [0.1, 0.2], "skips": 1},
        "useful_yield": {"stages": 6, "outage": 0.1, "skip_loss": 0.1, "skips": 1},
    },
    "inner_steps": {
        "best_inner_steps": {**MODE, "sync_cost": 4.0},
        "best_weights": {**MODES, "target": 0.1, "noise": 1.0},
        "contraction": {**MODE, "inner_steps": 4},
        "displacement_variance": {**MODE, "inner_steps": 4, "noise": 1.0},
        "equal_weights": {"inner_steps": [1, 4]},
        "information": {**MODE, "inner_steps": 4, "noise": 1.0},
        "information_limit": {**MODE, "noise": 1.0},
        "information_weights": {"inner_steps": [1, 4], **MODE},
        "loss_floor": {**MODES, "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0},
        "matched_outer_step": {**MODES, "weights": [0.5, 0.5], "target": 0.1},
        "simulate": {
            **MODES, "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0, "rounds": 2,
            "replicas": 3, "literal": True, "seed": 0,
        },
        "stationary_variance": {
            **MODE, "inner_steps": [1, 4], "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0
        },
        "step_weights": {"inner_steps": [1, 4]},
        "weight_penalty": {**MODE, "inner_steps": [1, 4], "weights": [0.5, 0.5]},
    },
    "stragglers": {
        "best_quorum": {"round_times": [1.0, 2.0, 3.0], **GOAL, "step": 0.05, "whole": True},
        "best_quorum_and_step": {"round_times": [1.0, 2.0, 3.0], **GOAL},
        "best_step": {"quorum": 4, **GOAL},
        "exponential_round_time": {**WORKERS, "shift": 1.0, "rate": 2.0},
        "exponential_round_variance": {**WORKERS, "rate": 2.0},
        "gradients_needed": GOAL,
        "min_quorum": {"curvature": 1.0, "step": 0.2, "noise": 1.0, "accuracy": 0.05},
        "pareto_round_time": {**WORKERS, "tail": 2.0, "scale": 1.0},
        "round_time": {"quantile": lambda share: share, **WORKERS, "upper_tail": False},
        "rounds_to_accuracy": {
            "quorum": 4, **GOAL, "step": 0.2, "whole": True, "infeasible": "raise"
        },
        "squared_error": {
            "rounds": 3, "quorum": 4, "curvature": 1.0, "step": 0.2, "noise": 1.0, "start": 1.0
        },
        "unequal_round_time": {"rates": [1.0, 2.0, 3.0], "quorum": 2, "shift": 1.0},
    },
    "sampling": {
        "hajek": {"values": [1.0, 2.0], "inclusion": [0.5, 0.5]},
        "horvitz_thompson": {"values": [1.0, 2.0], "inclusion": [0.5, 0.5], "workers": 3},
        "inclusion_probabilities": {"rates": [1.0, 2.0, 3.0], "quorum": 2},
        "joint_inclusion_probabilities": {"rates": [1.0, 2.0, 3.0], "quorum": 2},
        "mean_squared_error": {
            "estimator": "plain", "rates": [1.0, 2.0, 3.0], "quorum": 2,
            "optima": [0.0, 1.0, 2.0], "noise": 1.0,
        },
        "plain_mean": {"values": [1.0, 2.0]},
        "selection_bias": {"inclusion": [0.5, 0.7, 0.8], "optima": [0.0, 1.0, 2.0]},
    },
    "machines": {
        "from_config": {"config": {
            "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
        }},
        "layers": {
            "transformer": transformers.model("gpt2-xl"), "sequence_length": 16,
            "microbatch_size": 1, "bytes_per_parameter": 2.0, "bytes_per_value": 2.0,
            "causal": False, "recompute": False,
        },
        "model": {"name": "gpt2-xl"},
        "device": {"name": "h100-sxm"},
        "device_names": {},
    },
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


def test_every_public_function_and_argument_is_listed():
    assert set(GOOD) == set(MODULES)
    for module, calls in GOOD.items():
        functions = public(module)
        assert set(calls) == set(functions)
        for name, arguments in calls.items():
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
