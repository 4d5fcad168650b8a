"""Weights of a fleet: equal, by steps, by information, and the best."""

import math

import numpy as np
import pytest
from tests.inner_steps import oracle

from decentral import InfeasibleError
from decentral.inner_steps import (
    best_weights,
    contraction,
    equal_weights,
    information,
    information_weights,
    loss_floor,
    matched_outer_step,
    step_weights,
)

RTOL = 1e-12
MODES = [1.0, 0.25, 0.05]
FLEETS = [[1, 64], [1, 2, 4, 8, 16, 32, 64], [1] * 7 + [256], [2, 4, 4, 8]]


def test_steps_of_a_quarter():
    """From the cases: the shares of an average weighted by steps."""
    np.testing.assert_array_equal(step_weights([100, 25]), [0.8, 0.2])


BEST = [0.05863408624579822, 0.01724073238, 0.01071169969, 0.03797337876]


@pytest.mark.parametrize(("fleet", "floor"), list(zip(FLEETS, BEST, strict=True)))
def test_best_weights_of_the_four_fleets(fleet, floor):
    target = float(np.mean(contraction(0.05, 0.2, fleet)))
    best = best_weights(MODES, 0.2, fleet, target=target)
    assert math.isclose(best.floor, floor, rel_tol=1e-8)
    assert math.isclose(best.weights.sum(), 1, rel_tol=RTOL)
    again = loss_floor(MODES, 0.2, fleet, best.weights, outer_step=best.outer_step)
    assert math.isclose(again, best.floor, rel_tol=RTOL)
    schemes = [equal_weights(fleet), step_weights(fleet)]
    schemes += [information_weights(fleet, a, 0.2) for a in MODES]
    for weights in schemes:
        outer = matched_outer_step(MODES, 0.2, fleet, weights, target=target)
        assert best.floor <= loss_floor(MODES, 0.2, fleet, weights, outer_step=outer)


@pytest.mark.parametrize("seed", [6])
def test_best_weights_are_optimal(seed):
    """A bound by convexity, from a linear programme over all feasible weights."""
    rng, infeasible = np.random.default_rng(seed), 0
    for _ in range(50):
        curvatures = np.minimum(10 ** rng.uniform(-3, 0.9, rng.integers(1, 5)), 9.9)
        steps, target = rng.integers(1, 200, rng.integers(1, 6)), float(10 ** rng.uniform(-2, 0.2))
        try:
            best = best_weights(curvatures, 0.2, steps, target=target)
        except InfeasibleError:
            infeasible += 1
            floor, _ = oracle.best_weights_floor(
                curvatures.tolist(), 0.2, steps.tolist(), target, 1.0
            )
            assert floor == math.inf
            continue
        moved = (best.weights * best.outer_step).tolist()
        value, gap = oracle.optimality_gap(
            curvatures.tolist(), 0.2, steps.tolist(), moved, 1.0, target
        )
        assert math.isclose(value, best.floor, rel_tol=1e-10)
        if gap > 1e-9 * value:  # the bound is not sharp everywhere
            value, _ = oracle.best_weights_floor(
                curvatures.tolist(), 0.2, steps.tolist(), target, 1.0
            )
            assert math.isclose(best.floor, value, rel_tol=1e-10)
    assert 2 < infeasible < 35


@pytest.mark.parametrize("a", [0.01, 0.25, 1.0, 6.0])
def test_best_weights_of_one_mode_are_the_closed_form(a):
    for fleet in FLEETS:
        best = best_weights([a], 0.2, fleet, target=0.3, noise=2.0)
        np.testing.assert_allclose(best.weights, information_weights(fleet, a, 0.2), rtol=1e-9)
        known = float(np.sum(information(a, 0.2, fleet, noise=2.0)))
        assert math.isclose(best.floor, a / 2 * 0.3 / (1.7 * known), rel_tol=RTOL)


def test_weights_that_vanish():
    """Near the speed limit of the fast modes the slow worker is left out."""
    best = best_weights(MODES, 0.2, [1, 64], target=0.8)
    assert best.weights[0] < 1e-9
    assert math.isclose(best.floor, 0.64443, rel_tol=1e-5)
    best = best_weights([9, 0.05], 0.2, [1, 2, 4], target=0.1)
    assert math.isclose(best.floor, 3.02587209276, rel_tol=1e-9)


def test_best_weights_without_an_answer():
    for curvatures, steps, target, least in (
        (MODES, [1, 2, 4], 0.15, 0.0),
        ([1.0, 0.05], [64, 64], 1.99, 0.0),
        ([1.0, 1e-9], [1, 2], 1.0, 1e8),
        ([1.0], [1, 2], 2 - 1e-9, -1e-4),  # feasible, but next to the border
    ):
        with pytest.raises(InfeasibleError, match="is out of reach") as caught:
            best_weights(curvatures, 0.2, steps, target=target)
        assert caught.value.shortfall > least


@pytest.mark.parametrize(
    ("curvatures", "step", "target", "noise"),
    [
        ([1e-10], 0.2, 0.1, 1.0),
        ([1.0], 1e-10, 1.5, 1.0),
        ([1.0], 0.2, 1e-50, 1.0),
        ([1.0, 0.01], 0.2, 1e-20, 1.0),
        ([1.0], 0.2, 0.1, 1e-55),
        ([1.0], 0.2, 2 - 1e-4, 1.0),
    ],
)
def test_badly_scaled_programmes(curvatures, step, target, noise):
    """Found by attack: units must not matter."""
    best = best_weights(curvatures, step, [1, 2], target=target, noise=noise)
    floor = loss_floor(
        curvatures, step, [1, 2], best.weights, noise=noise, outer_step=best.outer_step
    )
    assert math.isclose(best.floor, floor, rel_tol=1e-9)
    if len(curvatures) == 1:
        known = information(curvatures[0], step, [1, 2], noise=noise).sum()
        least = curvatures[0] / 2 * target / ((2 - target) * known)
        assert math.isclose(best.floor, least, rel_tol=1e-9)


def test_a_fleet_is_a_list_of_workers():
    message = "inner_steps must have one entry for each worker, got a single number"
    with pytest.raises(ValueError, match=f"^{message}$"):
        step_weights(5)


def test_steps_that_add_up_to_more_than_an_integer():
    np.testing.assert_array_equal(step_weights([2**53] * 2048), 1 / 2048)


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


def test_weights_too_small_to_match():
    assert matched_outer_step([1], 0.2, [1], [1e-300], target=0.5) == pytest.approx(2.5e300)
    with pytest.raises(ValueError, match=r"^weights must be .* the largest is 1e-308; rescale"):
        matched_outer_step([1], 0.2, [[1, 4], [1, 4]], [[1, 1], [1e-308, 1e-320]], target=0.5)


BAD = [
    (equal_weights, ([],), {}, "inner_steps must have at least one entry"),
    (equal_weights, (3,), {}, "inner_steps must have one entry for each worker"),
    (step_weights, ([0, 2],), {}, r"inner_steps\[0\] is 0"),
    (matched_outer_step, ([1], 0.2, [1], [1]), {"target": 2}, "target must be below 2"),
    (matched_outer_step, ([1], 0.2, [1], [0]), {"target": 1}, "weights must not all be zero"),
    (best_weights, ([1], 0.2, [1]), {"target": 0}, "target must be positive"),
    (best_weights, ([1], 0.2, [[1]]), {"target": 1}, "inner_steps must be one-dimensional"),
    (best_weights, ([], 0.2, [1]), {"target": 1}, "curvatures must have at least one entry"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
