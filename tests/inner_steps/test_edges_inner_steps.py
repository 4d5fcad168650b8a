"""The exact law, the simulation and the transformer's costs, where the other tests do not reach."""

import math

import mpmath
import numpy as np
import pytest
from tests.inner_steps import oracle

from decentral import InfeasibleError
from decentral.inner_steps import (
    best_inner_steps,
    best_weights,
    contraction,
    local_sgd,
    loss_floor,
    matched_outer_step,
    simulate,
    stationary_variance,
    step_weights,
    weight_penalty,
)
from decentral.inner_steps.programme import Programme
from decentral.machines.transformers import from_config, layers
from decentral.partition import bubble_fraction

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 128,
}


# --- the best number of steps ---------------------------------------------------------------


@pytest.mark.parametrize(
    "y", [2e-4, 1e-3, 0.1, 0.3, 0.4, 0.4999, 0.5001, 0.7, 2.0, 9.0, 60.0, 690.0]
)
def test_best_inner_steps_to_the_last_digits(y):
    """Where y = lambda H, from all ranges of sinh y - y."""
    a, eta = 0.7, 0.3
    with mpmath.workdps(40):
        decay = -mpmath.log1p(-mpmath.mpf(a) * mpmath.mpf(eta))
        cost = float((mpmath.sinh(y) - y) / decay)
        root = mpmath.findroot(lambda y: (mpmath.sinh(y) - y) / (decay * cost) - 1, y)
        assert abs(float(best_inner_steps(a, eta, cost)) * decay / root - 1) < 3e-15


def test_four_newton_steps_suffice_and_three_do_not():
    """The steps of best_inner_steps to 100 digits, and the bound of each by the one before."""
    after_three, after_four = [], []
    with mpmath.workdps(100):
        for root in map(mpmath.mpf, np.geomspace(1e-4, 90, 300)):
            goal = mpmath.sinh(root) - root
            cube = mpmath.cbrt(6 * goal)
            y = min(cube, mpmath.asinh(goal + cube))
            errors = [y / root - 1]
            for _ in range(4):
                most = errors[-1] ** 2 * y / 2 * mpmath.coth(y / 2)
                y -= (mpmath.sinh(y) - y - goal) / (2 * mpmath.sinh(y / 2) ** 2)
                errors.append(y / root - 1)
                assert -1e-40 < errors[-1] <= most + 1e-40
            assert 0 < errors[0] < 0.02 * min(1, mpmath.exp(2 - root / 2))
            after_three.append(errors[3])
            after_four.append(errors[4])
    assert max(after_three) > 1e-13
    assert max(after_four) < 2.0**-80


def test_steps_where_the_goal_of_the_equation_underflows():
    """There sinh y - y is y**3/6, so that H is the cube root of 6C/lambda**2."""
    assert math.isclose(best_inner_steps(1e-60, 1, 1e-300), np.cbrt(6e-180), rel_tol=1e-15)


def test_communication_of_any_cost_has_an_answer_or_is_refused():
    assert math.isfinite(best_inner_steps(1 - 2e-12, 1, 1e300))
    with pytest.raises(ValueError, match=r"sync_cost must be at most 1e\+300"):
        best_inner_steps(1, 0.2, 1e308)


def test_a_fleet_is_a_list_of_workers():
    message = "inner_steps must have one entry for each worker, got a single number"
    with pytest.raises(ValueError, match=f"^{message}$"):
        step_weights(5)


def test_the_largest_and_the_smallest_units():
    for curvature, step in ((1e60, 1e-60), (1e-60, 1e60)):
        assert contraction(curvature, step, 1) == pytest.approx(1, rel=1e-15)
    for extreme in (1.0001e60, 0.9999e-60):
        for curvature, step in ((extreme, 1 / extreme), (1 / extreme, extreme)):
            with pytest.raises(ValueError, match="must be between 1e-60 and 1e\\+60, but it is"):
                contraction(curvature, step, 1)


# --- fleets together ------------------------------------------------------------------------

TWO_FLEETS = [[1, 8], [2, 4]]


@pytest.mark.parametrize(
    ("law", "weights"),
    [
        (lambda *fleet: stationary_variance(1, 0.2, *fleet), [[3e-200, 1e-200], [0.1, 0.2]]),
        (lambda *fleet: weight_penalty(1, 0.2, *fleet), [[3e-250, 1e-250], [1e100, 2e100]]),
        (
            lambda *fleet: matched_outer_step([1, 0.1], 0.2, *fleet, target=0.5),
            [[3e-250, 1e-250], [1e100, 2e100]],
        ),
    ],
)
def test_fleets_with_weights_of_very_different_size(law, weights):
    together = law(TWO_FLEETS, weights)
    alone = [law(*fleet) for fleet in zip(TWO_FLEETS, weights, strict=True)]
    np.testing.assert_allclose(together, alone, rtol=1e-14)


def test_a_fleet_without_weight_to_speak_of_has_no_floor():
    assert stationary_variance(1, 0.2, [1], [1e-300], outer_step=1e-60) == 0


def test_a_fleet_without_weights_among_others():
    with pytest.raises(ValueError, match=r"^weights must not all be zero$"):
        stationary_variance(1, 0.2, [1, 2], [[1, 1], [0, 0]])


def test_steps_that_add_up_to_more_than_an_integer():
    np.testing.assert_array_equal(step_weights([2**53] * 2048), 1 / 2048)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_the_penalty_depends_on_no_unit(unit):
    whole = weight_penalty(1, 0.2, [1, 8], [2, 3])
    assert math.isclose(weight_penalty(1, 0.2, [1, 8], [2 * unit, 3 * unit]), whole, rel_tol=1e-14)


def test_the_penalty_of_the_slowest_mode():
    """As eta a tends to 0 so do s = H eta a and V = H eta^2: n sum w^2 H sum H/n."""
    exact = (2**2 * 1 + 3**2 * 8) * (1 + 8) / (2 * 1 + 3 * 8) ** 2
    found = weight_penalty(1e-60, 1e-60, [1, 8], [2, 3])
    assert math.isclose(found, exact, rel_tol=1e-14)


# --- the best weights -----------------------------------------------------------------------


def test_a_mode_that_hardly_moves():
    with pytest.raises(ValueError, match="hardly moves") as caught:
        best_weights([1.0, 1e-20], 0.2, [1, 2], target=1.0)
    assert str(caught.value) == (
        "curvatures must be closer together for inner_steps so few: the slowest mode "
        "hardly moves, 5.55556e-21 times what the fastest does"
    )


def test_an_unreachable_pace_says_how_far_it_is():
    """Of equal workers: both modes contract in proportion."""
    fastest = 1.99 * (1 - 0.8**64) / (1 - 0.99**64)
    with pytest.raises(InfeasibleError) as caught:
        best_weights([1.0, 0.05], 0.2, [64, 64], target=1.99)
    assert str(caught.value) == (
        "target 1.99 is out of reach: when the slowest mode contracts by it, the fastest "
        f"contracts by {fastest:.9g} at best, and must stay below 2 by a relative 1e-5"
    )
    assert math.isclose(caught.value.shortfall, fastest - 2, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("curvatures", "fleet", "target", "rtol"),
    [
        ([0.013, 0.004], [7, 1, 4], 0.6178592, 1e-11),
        ([8.624, 0.016], [1, 2, 3], 0.0269, 1e-11),
        ([8.624, 0.016], [2, 3, 1, 1], 0.026922021636634277, 1e-10),
    ],
)
def test_best_weights_next_to_the_border_of_reach(curvatures, fleet, target, rtol):
    """Where the fastest mode contracts by nearly 2 under all weights that are fast enough."""
    best = best_weights(curvatures, 0.2, fleet, target=target)
    exact, _ = oracle.best_weights_floor(curvatures, 0.2, fleet, target, 1.0)
    assert math.isclose(best.floor, float(exact), rel_tol=rtol)


def test_gradient_and_hessian_of_the_programme():
    pull, shake = [[1.0, 0.4], [0.5, 0.3], [0.1, 0.3]], [[0.2, 1.0], [0.3, 0.5], [0.7, 0.1]]
    moved, target = [0.9, 0.6], 0.6

    def floor(*u):
        paces = [mpmath.fdot(row, u) for row in pull]
        noises = [mpmath.fdot(row, [x * x for x in u]) for row in shake]
        return sum(v / (r * (2 - target * r)) for r, v in zip(paces, noises, strict=True))

    programme = Programme(np.array(pull), np.array(shake), target)
    gradient, hessian = programme.derivatives(np.array(moved))
    with mpmath.workdps(50):
        assert math.isclose(programme.floor(np.array(moved)), floor(*moved), rel_tol=1e-13)
        slopes = [float(mpmath.diff(floor, moved, n)) for n in ((1, 0), (0, 1))]
        bends = [float(mpmath.diff(floor, moved, n)) for n in ((2, 0), (1, 1), (1, 1), (0, 2))]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)
    np.testing.assert_allclose(hessian.ravel(), bends, rtol=1e-12)


@pytest.mark.parametrize("moved", [2.0, 2.5, 100.0])
def test_the_floor_is_infinite_where_the_iteration_is_unstable(moved):
    programme = Programme(np.array([[1.0], [0.5]]), np.ones((2, 1)), 1.0)
    assert math.isfinite(programme.floor(np.array([1.99])))
    assert programme.floor(np.array([moved])) == math.inf


# --- simulation -----------------------------------------------------------------------------


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


def test_weights_too_small_to_match():
    assert matched_outer_step([1], 0.2, [1], [1e-300], target=0.5) == pytest.approx(2.5e300)
    with pytest.raises(ValueError, match=r"^weights must be .* the largest is 1e-308; rescale"):
        matched_outer_step([1], 0.2, [[1, 4], [1, 4]], [[1, 1], [1e-308, 1e-320]], target=0.5)


def test_the_most_random_numbers_are_allowed(monkeypatch):
    """Three rounds of two copies, which settle at once."""
    call = {"rounds": 3, "replicas": 2}
    monkeypatch.setattr(local_sgd, "_MOST_DRAWS", 6)
    assert simulate([5.0], 0.2, [1], [1], **call).floor > 0
    monkeypatch.setattr(local_sgd, "_MOST_DRAWS", 5)
    with pytest.raises(ValueError, match=r"with 0 rounds to settle they need 6$"):
        simulate([5.0], 0.2, [1], [1], **call)


def test_a_simulation_on_the_border_of_stability():
    message = "for these weights: some mode contracts by 2, and must stay below 2$"
    with pytest.raises(ValueError, match=message):
        simulate([5.0], 0.2, [1], [1], outer_step=2)


# --- pipelines ------------------------------------------------------------------------------


def test_a_pipeline_without_work_has_no_bubble():
    with pytest.raises(ValueError, match=r"^stage_times must not all be 0$"):
        bubble_fraction([0, 0], 3)


# --- transformers ---------------------------------------------------------------------------


def test_heads_need_not_divide_the_width_if_their_own_is_given():
    shape = from_config(LLAMA | {"num_attention_heads": 3, "head_dim": 8})
    assert (shape.query_size, shape.hidden_size) == (24, 64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intermediate_size": None}, "^config must have the field 'intermediate_size'$"),
        ({"mlp_bias": True}, "^mlp_bias must be false: the count leaves such biases out$"),
        ({"vocab_size": "many"}, "^vocab_size must be real numbers .* got 'many'$"),
        ({"vocab_size": [1, 2]}, r"^vocab_size must be a single number, got shape \(2,\)$"),
    ],
)
def test_bad_fields(change, message):
    with pytest.raises(ValueError, match=message):
        from_config(LLAMA | change)


def test_the_names_of_the_layers():
    names = layers(from_config(LLAMA), sequence_length=8).names
    assert names == ("embedding", "block 0", "block 1", "head")


def test_bytes_are_whole_and_rounded_up():
    chain = layers(
        from_config(LLAMA), sequence_length=8, bytes_per_parameter=1 / 3, bytes_per_value=0.7
    )
    counted = (chain.parameter_bytes, chain.parameters / 3), (chain.activation_bytes[-1:], 1433.6)
    for whole, exact in counted:
        assert whole.dtype.kind == "i"
        np.testing.assert_array_equal(whole, np.ceil(exact))


@pytest.mark.parametrize(
    "change",
    [
        {"bytes_per_value": 1e308},
        {"bytes_per_parameter": 1e308},
        {"sequence_length": 2**30, "microbatch_size": 2**30},
        {"sequence_length": 2**53, "microbatch_size": 2**53},
    ],
)
def test_bytes_beyond_integers_are_refused(change):
    with pytest.raises(ValueError, match=r"must give each layer less than 2\*\*63 bytes"):
        layers(from_config(LLAMA), **{"sequence_length": 8} | change)


def test_layers_beyond_integers_are_refused():
    config = {"model_type": "llama", "hidden_size": 2**40, "intermediate_size": 2**40}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
    with pytest.raises(ValueError, match=r"^transformer must have less than 2\*\*63 parameters"):
        layers(from_config(config), sequence_length=4)


def test_one_parameter_too_many_is_refused():
    """A block of width h has 4 h**2 + 3 h i + 2 h parameters: here 2**63."""
    config = LLAMA | {"hidden_size": 2**11, "intermediate_size": 2 * (2**51 - 2**12 - 1) // 3}
    with pytest.raises(ValueError, match=r"in each layer, but one has 9.223e\+18"):
        layers(from_config(config), sequence_length=4)


def test_the_most_bytes_of_a_layer():
    """The head keeps 2 * 64 + 128 values of one token; each may have just under 2**55 bytes."""
    lean = {"sequence_length": 1, "recompute": True}
    most = math.nextafter(2.0**55, 0)
    chain = layers(from_config(LLAMA), **lean, bytes_per_value=most)
    assert chain.activation_bytes[-1] == 2**8 * int(most)
    with pytest.raises(ValueError, match=r"but it is 3\.60288e\+16 and a layer has 256 numbers"):
        layers(from_config(LLAMA), **lean, bytes_per_value=2.0**55)
