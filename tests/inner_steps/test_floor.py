"""The stationary variance, the floor of the loss, and what weights lose of it."""

import math

import numpy as np
import pytest
from tests.inner_steps import oracle
from tests.numerics.precision import close

from decentral import InfeasibleError
from decentral.inner_steps import (
    contraction,
    equal_weights,
    information_weights,
    loss_floor,
    matched_outer_step,
    stationary_variance,
    step_weights,
    weight_penalty,
)

RTOL = 1e-12
MODES = [1.0, 0.25, 0.05]
FLEETS = [[1, 64], [1, 2, 4, 8, 16, 32, 64], [1] * 7 + [256], [2, 4, 4, 8]]


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


def test_scaled_weights():
    """Found by attack: tiny and huge weights."""
    tiny = stationary_variance(1, 0.2, [1, 2], [1e-200, 1e-200])
    assert math.isclose(
        tiny, stationary_variance(1, 0.2, [1, 2], [1e-9] * 2) * 1e-191, rel_tol=1e-6
    )
    assert stationary_variance(1, 0.2, [1, 2], [1e300] * 2, outer_step=1e50) == math.inf
    assert math.isclose(weight_penalty(1e-50, 1, [1, 2], [1, 1]), 1, rel_tol=RTOL)


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


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_the_penalty_depends_on_no_unit(unit):
    whole = weight_penalty(1, 0.2, [1, 8], [2, 3])
    assert math.isclose(weight_penalty(1, 0.2, [1, 8], [2 * unit, 3 * unit]), whole, rel_tol=1e-14)


def test_the_penalty_of_the_slowest_mode():
    """As eta a tends to 0 so do s = H eta a and V = H eta^2: n sum w^2 H sum H/n."""
    exact = (2**2 * 1 + 3**2 * 8) * (1 + 8) / (2 * 1 + 3 * 8) ** 2
    found = weight_penalty(1e-60, 1e-60, [1, 8], [2, 3])
    assert math.isclose(found, exact, rel_tol=1e-14)


def test_a_server_at_the_border_of_stability_is_unstable():
    for n in range(1, 60):
        weights = [1 / n] * n
        at = {"curvature": 1, "step": 1, "inner_steps": [1] * n, "weights": weights}
        assert np.isinf(stationary_variance(**at, outer_step=2))
        assert np.isfinite(stationary_variance(**at, outer_step=2 * (1 - 2e-12)))


BAD = [
    (stationary_variance, (1, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (stationary_variance, (1, 0.2, [1, 2], [1, -1]), {}, r"weights\[1\] is -1"),
    (stationary_variance, (1, 0.2, [1, 2], [1]), {}, "weights must have one entry for each of 2"),
    (stationary_variance, (1, 0.2, [1], [1]), {"outer_step": 0}, "outer_step must be positive"),
    (loss_floor, (1, 0.2, [1], [1]), {}, "curvatures must have one entry for each mode"),
    (loss_floor, ([1, 11], 0.2, [1], [1]), {}, "step must be below 2/curvatures"),
    (loss_floor, (MODES, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (weight_penalty, (1, 0.2, [1, 2], [0, 0]), {}, "weights must not all be zero"),
    (loss_floor, ([1, 2], [0.1, 0.2], [[1, 2]] * 3, [1, 1]), {}, r"step \(2,\), .*\(3,\)"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
