"""The simulation: it agrees with the law, and its seed means the same everywhere."""

import math

import numpy as np
import pytest
from tests.inner_steps import oracle

from decentral import InfeasibleError
from decentral.inner_steps import (
    equal_weights,
    loss_floor,
    simulate,
    stationary_variance,
    step_weights,
)

MODES = [1.0, 0.25, 0.05]
FLEETS = [[1, 64], [1, 2, 4, 8, 16, 32, 64], [1] * 7 + [256], [2, 4, 4, 8]]


@pytest.mark.parametrize("fleet", FLEETS)
@pytest.mark.parametrize("scheme", [equal_weights, step_weights])
@pytest.mark.parametrize("literal", [True, False])
def test_simulation_agrees_with_the_floor(fleet, scheme, literal):
    weights = scheme(fleet)
    found = simulate(
        MODES, 0.2, fleet, weights, noise=1.5, outer_step=0.8, rounds=20, replicas=400,
        literal=literal, seed=7,
    )  # fmt: skip
    exact = loss_floor(MODES, 0.2, fleet, weights, noise=1.5, outer_step=0.8)
    assert abs(found.floor - exact) < 4 * found.floor_error < 0.4 * exact
    parts = stationary_variance(MODES, 0.2, fleet, weights, noise=1.5, outer_step=0.8)
    assert np.all(np.abs(found.variances - parts) < 4 * found.variance_errors)


@pytest.mark.parametrize("literal", [True, False])
def test_simulation_to_a_quarter_of_a_per_cent(literal):
    found = simulate(
        [1.0, 9.0], 0.2, [1, 3], [0.7, 0.3], rounds=60, replicas=20_000, literal=literal, seed=3
    )
    exact = stationary_variance([1.0, 9.0], 0.2, [1, 3], [0.7, 0.3])
    assert np.all(np.abs(found.variances - exact) < 4 * found.variance_errors)
    assert np.all(found.variance_errors < 0.0025 * exact)


def test_simulation_is_seeded():
    runs = [simulate([1.0], 0.2, [1, 3], [1, 1], replicas=3, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].floor == runs[1].floor != runs[2].floor


def test_simulation_against_a_plain_one():
    rng = np.random.default_rng(8)
    fleet, weights = [1, 4, 9], [0.2, 0.5, 0.3]
    plain, error = oracle.simulate_literal(MODES, 0.2, fleet, weights, 1.0, 1.0, 90, 60, 400, rng)
    ours = simulate(MODES, 0.2, fleet, weights, rounds=30, replicas=400, seed=9)
    assert abs(plain - ours.floor) < 4 * math.hypot(error, ours.floor_error)


def settle(curvatures, step, fleet, weights, outer):
    """Rounds after which (1 - r)^(2T) is a millionth in every mode, not rounded."""
    return max(
        math.log(1e-6) / (2 * math.log(abs(1 - r)))
        for a in curvatures
        if (r := outer * sum(w * (1 - (1 - step * a) ** h) for h, w in zip(fleet, weights)))  # noqa: B905
    )


def by_hand(curvatures, step, fleet, weights, noise, outer, rounds, copies, seed, literal):
    """Mean squares by mode and copy, from the formula and the documented generators.

    So that a seed means the same on every machine: those that run longest draw first, and
    those that run equally long in their order.
    """
    a, sigma = np.array(curvatures)[:, None], math.sqrt(noise)
    first = math.ceil(settle(curvatures, step, fleet, weights, outer))
    found = []
    sizes = [1000] * (copies // 1000) + [copies % 1000] * (copies % 1000 > 0)
    for seeds, size in zip(np.random.SeedSequence(seed).spawn(len(sizes)), sizes, strict=True):
        draw = np.random.Generator(np.random.SFC64(seeds)).standard_normal
        x = np.zeros((len(curvatures), size))
        total = 0 * x
        for turn in range(first + rounds):
            if literal:
                y = dict.fromkeys(sorted(range(len(fleet)), key=lambda i: -fleet[i]), x)
                for inner in range(max(fleet)):
                    for i in y:
                        if inner < fleet[i]:
                            y[i] = y[i] - step * (a * y[i] - sigma * draw(x.shape))
                x = x - outer * sum(weights[i] * (x - y[i]) for i in y)
            else:
                factor, fresh = 1, 0
                for steps, w in zip(fleet, weights, strict=True):
                    kept = [(1 - step * a) ** k for k in range(steps + 1)]
                    factor = factor - outer * w * (1 - kept[-1])
                    fresh = fresh + (outer * w * step) ** 2 * noise * sum(k**2 for k in kept[:-1])
                x = factor * x + np.sqrt(fresh) * draw(x.shape)
            if turn >= first:
                total = total + x**2
        found.append(total / rounds)
    return np.concatenate(found, axis=1)


@pytest.mark.parametrize(
    ("fleet", "copies", "literal"),
    [
        ([3], 5, True),
        ([1, 3] * 20, 3, True),  # those that run longest first; the others keep their order
        ([1, 4, 9], 5, False),
        ([1, 4], 1001, False),
        ([7], 2500, False),
    ],
)
def test_simulation_is_that_of_the_formula_and_the_generators(fleet, copies, literal):
    curvatures, weights = [1.0, 4.0, 0.5], np.arange(1, len(fleet) + 1) / len(fleet) ** 2
    squares = by_hand(curvatures, 0.2, fleet, weights, 2.0, 0.8, 4, copies, 5, literal)
    found = simulate(
        curvatures, 0.2, fleet, weights,
        noise=2.0, outer_step=0.8, rounds=4, replicas=copies, seed=5, literal=literal,
    )  # fmt: skip
    loss = np.array(curvatures) / 2 @ squares
    root = math.sqrt(copies)
    np.testing.assert_allclose(found.variances, squares.mean(axis=1), rtol=1e-11)
    np.testing.assert_allclose(
        found.variance_errors, squares.std(axis=1, ddof=1) / root, rtol=1e-11
    )
    assert math.isclose(found.floor, loss.mean(), rel_tol=1e-11)
    assert math.isclose(found.floor_error, loss.std(ddof=1) / root, rel_tol=1e-11)


def test_the_defaults_of_a_simulation():
    setting = [1.0], 0.2, [1, 2], [0.5, 0.5]
    plain = simulate(*setting)
    full = simulate(
        *setting, noise=1.0, outer_step=1.0, rounds=100, replicas=1000, literal=True, seed=0
    )
    assert (plain.floor, plain.floor_error) == (full.floor, full.floor_error)


def test_the_sum_of_the_noise_costs_as_much_for_any_number_of_steps():
    found = simulate([1.0], 0.2, [1, 2**50], [0.5, 0.5], rounds=20, literal=False)
    exact = loss_floor([1.0], 0.2, [1, 2**50], [0.5, 0.5])
    assert abs(found.floor - exact) < 4 * found.floor_error


@pytest.mark.parametrize("literal", [True, False])
def test_the_refusal_says_how_many_numbers_are_needed(literal):
    curvatures, fleet, weights = [1.0, 0.25], [1, 3], [0.5, 0.5]
    rounds = settle(curvatures, 0.2, fleet, weights, 1.0)
    numbers = (rounds + 1000) * 10**10 * 2 * (4 if literal else 1)
    with pytest.raises(ValueError, match="2e") as caught:
        simulate(curvatures, 0.2, fleet, weights, rounds=1000, replicas=10**10, literal=literal)
    assert str(caught.value) == (
        "rounds and replicas must need at most 2e+10 random numbers, but with "
        f"{rounds:.3g} rounds to settle they need {numbers:.3g}"
    )


def test_a_simulation_of_endless_work_is_refused():
    with pytest.raises(ValueError, match=r"at most 2e\+10"):
        simulate([1], 0.2, [2**53] * 1025, [1 / 1025] * 1025, rounds=1, replicas=2)


def test_a_mode_that_one_round_settles():
    """eta a = 1, where r = 1: the start is forgotten at once, and without a warning."""
    found = simulate([5.0], 0.2, [1, 3], [0.5, 0.5], rounds=1000)
    exact = loss_floor([5.0], 0.2, [1, 3], [0.5, 0.5])
    assert abs(found.floor - exact) < 4 * found.floor_error


@pytest.mark.parametrize(
    ("weight", "outer_step", "message"),
    [
        (1e-300, 1e-60, "rounds and replicas .* with inf rounds to settle they need inf"),
        (1e-308, 1, "rounds and replicas .* with inf rounds to settle they need inf"),
        (
            1e300,
            1,
            r"outer_step .* for these weights: some mode contracts by 2e\+299, and must .*",
        ),
    ],
)
def test_weights_too_small_to_settle_or_too_large_to_be_stable(weight, outer_step, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        simulate([1.0], 0.2, [1], [weight], outer_step=outer_step)


def test_a_simulation_on_the_border_of_stability():
    message = "for these weights: some mode contracts by 2, and must stay below 2$"
    with pytest.raises(ValueError, match=message):
        simulate([5.0], 0.2, [1], [1], outer_step=2)


BAD = [
    (simulate, ([1], 0.2, [1], [0]), {}, "weights must not all be zero"),
    (simulate, ([1], 0.2, [1, 1], [1, -1]), {}, r"weights\[1\] is -1"),
    (simulate, ([1], 0.2, [64], [1]), {"outer_step": 2.1}, "outer_step must be smaller"),
    (simulate, ([1], 0.2, [64], [1]), {"replicas": 1}, "replicas must be at least 2"),
    (simulate, ([1], 0.2, [1, 2], [[1, 2]]), {}, "weights must be one-dimensional"),
    (simulate, ([1], 0.2, [1, 2], [1e-200] * 2), {}, "rounds to settle they need"),
    (simulate, ([1], 0.2, [1, 2**40], [0.5] * 2), {}, "at most 2e\\+10 random numbers"),
    (simulate, ([1], 0.2, [1], [1]), {"replicas": 10**12}, "at most 2e\\+10 random numbers"),
    (simulate, ([1], 0.2, [64], [1]), {"literal": 1}, "literal must be True or False"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
