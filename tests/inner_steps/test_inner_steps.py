"""decentral.inner_steps against an oracle that shares no code with it, and by hand."""

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
    displacement_variance,
    equal_weights,
    information,
    information_limit,
    information_weights,
    loss_floor,
    matched_outer_step,
    simulate,
    stationary_variance,
    step_weights,
    weight_penalty,
)

RTOL = 1e-12
MODES = [1.0, 0.25, 0.05]
FLEETS = [[1, 64], [1, 2, 4, 8, 16, 32, 64], [1] * 7 + [256], [2, 4, 4, 8]]


def close(value, exact, rtol=RTOL):
    """Whether a float lies within a relative distance of a number of any precision."""
    value, exact = mpmath.mpf(float(value)), mpmath.mpf(str(exact))
    return abs(value - exact) <= rtol * abs(exact)


# --- one worker -----------------------------------------------------------------------------

# a, H, s, V at eta = 0.2: where double precision comes to its limits.
WORKERS = [
    (1e-12, 1000, "1.9999999998002000708e-10", "39.999999992008004442"),
    (1e-12, 10**9, "1.9998000133328667241e-4", "39992001.066568010573"),
    (1e-9, 10**9, ".18126924693839277568", "32967995.402414152585"),
    (1e-17, 1000, "1.9999999999999982561e-15", "39.999999999999924521"),
    (1, 10**9, "1", ".11111111111111111796"),
    (6, 3, "1.008", ".041664"),
    (6, 4, ".9984", ".04166656"),
    (9.9, 1, "1.98", ".04"),
    (9.9, 501, "1.0000402035054425669", "1.0101010084683709273"),
    (5, 7, "1", ".04"),
]


@pytest.mark.parametrize(("a", "steps", "shrink", "variance"), WORKERS)
def test_hard_workers(a, steps, shrink, variance):
    assert close(contraction(a, 0.2, steps), shrink)
    assert close(displacement_variance(a, 0.2, steps), variance)


def test_one_worker_against_iteration():
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, eta = float(10 ** rng.uniform(-6, 1)), float(10 ** rng.uniform(-3, 0))
        if a * eta >= 1.99:
            continue
        steps, noise = int(rng.integers(1, 300)), float(10 ** rng.uniform(-3, 3))
        shrink, variance = oracle.displacement(a, eta, steps, noise)
        assert close(contraction(a, eta, steps), shrink)
        assert close(displacement_variance(a, eta, steps, noise=noise), variance)
        assert close(information(a, eta, steps, noise=noise), shrink**2 / variance)


def test_information_tends_to_its_limit():
    for a, eta, noise in ((1.0, 0.2, 1.0), (0.01, 0.5, 3.0), (5.0, 0.2, 0.1)):
        limit = information_limit(a, eta, noise=noise)
        assert math.isclose(information(a, eta, 10**7, noise=noise), limit, rel_tol=RTOL)
        steps = np.arange(1, 60)
        known = information(a, eta, steps, noise=noise)
        assert np.all(np.diff(known) >= 0)
        decay = -math.log1p(-a * eta) if a * eta < 1 else math.inf
        np.testing.assert_allclose(known, limit * np.tanh(decay * steps / 2), rtol=RTOL)


def test_the_shares_of_the_ceiling():
    """From the claims: H = 8 carries 20 % of it, H = 64 carries 93 %."""
    shares = information(0.25, 0.2, [8, 64]) / information_limit(0.25, 0.2)
    assert [f"{share:.0%}" for share in shares] == ["20%", "93%"]


# --- fleets ---------------------------------------------------------------------------------

# a, H, weights, outer step, stationary variance at eta = 0.2.
FIXED_POINTS = [
    (1, [10**9], [1], 1.999, "222.11111111113559906"),
    (1, [10**9], [1], 2, "inf"),
    (1e-12, [10**9, 1], [0.5, 0.5], 1, "49997500125.014586343"),
    (1e-9, [10**9, 1], [0.5, 0.5], 1, "47626577.288293884310"),
    (6, [1, 3], [0.5, 0.5], 1, ".0206392339544513485"),
    (6, [1, 3], [0.5, 0.5], 1.8, "2.6005434782608934696"),
    (9.9, [1, 2], [0.5, 0.5], 1, ".029606843441244103867"),
    (9.9, [1, 1], [0.5, 0.5], 1.02, "inf"),
    (1, [4, 8], [0, 1], 1, ".11111111111111111796"),
]


@pytest.mark.parametrize(("a", "steps", "weights", "outer", "value"), FIXED_POINTS)
def test_fixed_points_by_hand(a, steps, weights, outer, value):
    found = stationary_variance(a, 0.2, steps, weights, outer_step=outer)
    if value == "inf":
        assert found == math.inf
    else:
        # Close to the border of stability 2 - r cancels; the weights decide by their rounding.
        assert close(found, value, 1e-11)


def _random_fleet(rng):
    size = int(rng.integers(1, 6))
    steps, weights = rng.integers(1, 300, size).tolist(), rng.random(size).tolist()
    return steps, weights


def test_stationary_variance_against_the_recursion():
    rng = np.random.default_rng(2)
    for _ in range(60):
        steps, weights = _random_fleet(rng)
        a, noise, outer = float(10 ** rng.uniform(-2, 0.6)), float(rng.random() + 0.1), 0.7
        found = stationary_variance(a, 0.2, steps, weights, noise=noise, outer_step=outer)
        exact = oracle.stationary_variance(a, 0.2, steps, weights, noise, outer)
        assert (found == math.inf and exact == math.inf) or close(found, exact, 1e-11)


def test_loss_floor_against_the_recursion():
    rng = np.random.default_rng(3)
    for _ in range(20):
        steps, weights = _random_fleet(rng)
        weights = (np.array(weights) / sum(weights)).tolist()
        found = loss_floor(MODES, 0.2, steps, weights, noise=2.0, outer_step=0.9)
        assert close(found, oracle.loss_floor(MODES, 0.2, steps, weights, 2.0, 0.9), 1e-11)
    assert loss_floor([1, 0.05], 0.2, [64], [1], outer_step=2.1) == math.inf


def test_fleets_and_modes_broadcast():
    fleets = np.array([[1, 64], [2, 4], [8, 8]])
    weights = step_weights(fleets)
    many = loss_floor(MODES, 0.2, fleets, weights, outer_step=[0.5, 0.8, 1.0])
    assert many.shape == (3,)
    for i, outer in enumerate((0.5, 0.8, 1.0)):
        one = loss_floor(MODES, 0.2, fleets[i], weights[i], outer_step=outer)
        assert math.isclose(one, many[i], rel_tol=RTOL)
        parts = stationary_variance(MODES, 0.2, fleets[i], weights[i], outer_step=outer)
        assert math.isclose(np.dot(parts, np.array(MODES) / 2), one, rel_tol=RTOL)
    assert stationary_variance(np.ones((4, 1)), 0.2, fleets, weights).shape == (4, 3)
    assert information_weights([1, 8], [[0.1], [0.2]], 0.2).shape == (2, 1, 2)
    assert weight_penalty([0.1, 1.0], 0.2, [1, 8], [0.5, 0.5]).shape == (2,)


# --- weights --------------------------------------------------------------------------------

# For the fleets in order: penalties of equal and of step weights at a = 0.05, 0.25, 1.
PENALTIES = [
    [(1.001436255, 1.019319703, 1.049382628), (1.015497682, 1.025998560, 1.104296267)],
    [(1.008808006, 1.042031410, 1.033029821), (1.231753070, 1.262689303, 1.628728542)],
    [(1.025522605, 1.088881392, 1.086419753), (1.040374524, 1.176281575, 1.758559301)],
    [(1.000122597, 1.002496716, 1.014128096), (1.159024228, 1.134750291, 1.102170453)],
]


@pytest.mark.parametrize(("fleet", "table"), list(zip(FLEETS, PENALTIES, strict=True)))
def test_penalties_of_the_four_fleets(fleet, table):
    for scheme, row in zip((equal_weights, step_weights), table, strict=True):
        found = weight_penalty([0.05, 0.25, 1.0], 0.2, fleet, scheme(fleet))
        np.testing.assert_allclose(found, row, rtol=1e-9)


def test_penalties_against_the_programme():
    rng = np.random.default_rng(4)
    for _ in range(60):
        steps, weights = _random_fleet(rng)
        a = float(10 ** rng.uniform(-3, 0.9))
        exact = oracle.best_single_mode_penalty(a, 0.2, steps, weights)
        assert close(weight_penalty(a, 0.2, steps, weights), exact)
        best = information_weights(steps, a, 0.2)
        assert math.isclose(best.sum(), 1, rel_tol=RTOL)
        assert math.isclose(weight_penalty(a, 0.2, steps, best), 1, rel_tol=RTOL)
        if a * 0.2 <= 1:
            assert best.max() <= 2 * best.min()


def test_equal_weights_lose_at_most_an_eighth():
    """9/8, approached by one worker that runs forever and ever more that hardly move it."""
    for rate, most in ((1e-2, 2e-2), (1e-3, 2e-3), (1e-4, 2e-4)):
        slow = round(2 / (2 * rate))  # their variances are to that of the fast one as 2 to 1
        fleet = [1] * slow + [10**8]
        lost = float(weight_penalty(rate / 0.2, 0.2, fleet, equal_weights(fleet)))
        assert 9 / 8 * (1 - most) < lost < 9 / 8
    rng = np.random.default_rng(5)
    fleets = rng.choice([1, 2, 8, 64, 10**4], (2000, 7))
    assert np.all(weight_penalty(0.3, 0.2, fleets, equal_weights(fleets)) < 9 / 8)


def test_the_published_comparison():
    """Claim S7: 10.5 times at outer step 1, and what is left of it at equal progress."""
    ratios, fair = [], []
    for fleet in FLEETS:
        equal, steps = equal_weights(fleet), step_weights(fleet)
        base = loss_floor(MODES, 0.2, fleet, equal)
        ratios.append(float(loss_floor(MODES, 0.2, fleet, steps) / base))
        pace = float(np.min(contraction(np.array(MODES)[:, None], 0.2, fleet) @ equal))
        outer = matched_outer_step(MODES, 0.2, fleet, steps, target=pace)
        fair.append(float(loss_floor(MODES, 0.2, fleet, steps, outer_step=outer) / base))
    np.testing.assert_allclose(ratios, [2.4262079, 2.8458636, 10.519671, 1.3764670], rtol=1e-7)
    np.testing.assert_allclose(fair, [0.94007421, 0.97966338, 0.81482895, 1.0769039], rtol=1e-7)


def test_dropping_the_slowest_worker():
    for outer, ratio in ((1.0, 1.3931024), (None, 1.0201202)):
        whole = loss_floor(MODES, 0.2, [1, 8, 8, 8], [0.25] * 4)
        rest = equal_weights([8, 8, 8])
        if outer is None:
            pace = np.mean(contraction(0.05, 0.2, [1, 8, 8, 8]))
            outer = matched_outer_step(MODES, 0.2, [8, 8, 8], rest, target=pace)
        dropped = loss_floor(MODES, 0.2, [8, 8, 8], rest, outer_step=outer)
        assert math.isclose(dropped / whole, ratio, rel_tol=1e-7)


def test_steps_of_a_quarter():
    """From the cases: the shares of an average weighted by steps."""
    np.testing.assert_array_equal(step_weights([100, 25]), [0.8, 0.2])


# --- the best weights -----------------------------------------------------------------------

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


def test_best_weights_are_optimal():
    """A bound by convexity, from a linear programme over all feasible weights."""
    rng, infeasible = np.random.default_rng(6), 0
    for _ in range(150):
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
        assert gap <= 1e-9 * value
    assert 5 < infeasible < 100


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


def test_scaled_weights():
    """Found by attack: tiny and huge weights."""
    tiny = stationary_variance(1, 0.2, [1, 2], [1e-200, 1e-200])
    assert math.isclose(
        tiny, stationary_variance(1, 0.2, [1, 2], [1e-9] * 2) * 1e-191, rel_tol=1e-6
    )
    assert stationary_variance(1, 0.2, [1, 2], [1e300] * 2, outer_step=1e50) == math.inf
    assert math.isclose(weight_penalty(1e-50, 1, [1, 2], [1, 1]), 1, rel_tol=RTOL)


# --- the best number of steps ---------------------------------------------------------------

STEPS = [
    (1, 10, "9.8267364105905145722"),
    (0.25, 10, "27.4393303749965079"),
    (0.05, 100, "172.30788021911310816"),
    (1e-6, 1, "53132.824917419103603"),
    (1e-12, 1, "531329284.49127009858"),
    (1, 1e9, "89.254083314092350121"),
    (1, 1e-9, ".0049392481701316439498"),
    (4.999, 1, ".37006603281606414229"),
    (1.0, 1e-30, "4.9392482701316387783e-10"),  # found by attack, like the next
    (1e-50, 1, "1.1447142425533318196e+34"),
]


@pytest.mark.parametrize(("a", "cost", "steps"), STEPS)
def test_best_inner_steps(a, cost, steps):
    assert close(best_inner_steps(a, 0.2, cost), steps)


def test_best_inner_steps_by_search():
    for a, cost in ((0.3, 5.0), (2.0, 40.0), (0.01, 1.0)):
        assert close(best_inner_steps(a, 0.2, cost), oracle.best_inner_steps(a, 0.2, cost))
    assert best_inner_steps(0.3, 0.2, 0) == 0


# --- simulation -----------------------------------------------------------------------------


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


# --- errors ---------------------------------------------------------------------------------

BAD = [
    (contraction, (0, 0.2, 1), {}, "curvature must be positive, but it is 0"),
    (contraction, (1, -0.2, 1), {}, "step must be positive"),
    (contraction, (10, 0.2, 1), {}, "step must be below 2/curvature .* product is 2"),
    (contraction, (1, 0.2, 0), {}, "inner_steps must be at least 1, but it is 0"),
    (contraction, (1, 0.2, 1.5), {}, "inner_steps must be a whole number"),
    (contraction, (1e-200, 0.2, 1), {}, "curvature must be between 1e-60 and 1e\\+60"),
    (contraction, (1e300, 1e300, 1), {}, "curvature must be between 1e-60 and 1e\\+60"),
    (contraction, ([1, 2], [0.1, 0.2, 0.3], 1), {}, r"curvature \(2,\), step \(3,\)"),
    (displacement_variance, (1, 0.2, 1), {"noise": 0}, "noise must be positive"),
    (information, (1, 0.2, math.nan), {}, "inner_steps must be finite, but it is nan"),
    (information_limit, (1, math.inf), {}, "step must be finite"),
    (equal_weights, ([],), {}, "inner_steps must have at least one entry"),
    (equal_weights, (3,), {}, "inner_steps must have one entry for each worker"),
    (step_weights, ([0, 2],), {}, r"inner_steps\[0\] is 0"),
    (stationary_variance, (1, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (stationary_variance, (1, 0.2, [1, 2], [1, -1]), {}, r"weights\[1\] is -1"),
    (stationary_variance, (1, 0.2, [1, 2], [1]), {}, "weights must have one entry for each of 2"),
    (stationary_variance, (1, 0.2, [1], [1]), {"outer_step": 0}, "outer_step must be positive"),
    (loss_floor, (1, 0.2, [1], [1]), {}, "curvatures must have one entry for each mode"),
    (loss_floor, ([1, 11], 0.2, [1], [1]), {}, "step must be below 2/curvatures"),
    (loss_floor, (MODES, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (weight_penalty, (1, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (matched_outer_step, ([1], 0.2, [1], [1]), {"target": 2}, "target must be below 2"),
    (matched_outer_step, ([1], 0.2, [1], [0]), {"target": 1}, "weights must not all be zero"),
    (best_weights, ([1], 0.2, [1]), {"target": 0}, "target must be positive"),
    (best_weights, ([1], 0.2, [[1]]), {"target": 1}, "inner_steps must be one-dimensional"),
    (best_weights, ([], 0.2, [1]), {"target": 1}, "curvatures must have at least one entry"),
    (best_inner_steps, (5, 0.2, 1), {}, "step must be below 1/curvature"),
    (best_inner_steps, (1, 0.2, -1), {}, "sync_cost must be non-negative"),
    (simulate, ([1], 0.2, [1], [0]), {}, "weights must not all be zero"),
    (simulate, ([1], 0.2, [1, 1], [1, -1]), {}, r"weights\[1\] is -1"),
    (simulate, ([1], 0.2, [64], [1]), {"outer_step": 2.1}, "outer_step must be smaller"),
    (simulate, ([1], 0.2, [64], [1]), {"replicas": 1}, "replicas must be at least 2"),
    (simulate, ([1], 0.2, [1, 2], [[1, 2]]), {}, "weights must be one-dimensional"),
    (simulate, ([1], 0.2, [1, 2], [1e-200] * 2), {}, "rounds to settle they need"),
    (simulate, ([1], 0.2, [1, 2**40], [0.5] * 2), {}, "at most 2e\\+10 random numbers"),
    (simulate, ([1], 0.2, [1], [1]), {"replicas": 10**12}, "at most 2e\\+10 random numbers"),
    (loss_floor, ([1, 2], [0.1, 0.2], [[1, 2]] * 3, [1, 1]), {}, r"step \(2,\), .*\(3,\)"),
    (simulate, ([1], 0.2, [64], [1]), {"literal": 1}, "literal must be True or False"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
