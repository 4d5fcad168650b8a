"""The experiments and the claims of the page: they compute what they say, and they can fail."""

import itertools
import math

import numpy as np
import pytest

from papers.claims import Found
from papers.sources import inner_steps


def scale(monkeypatch, name, factor):
    law = getattr(inner_steps, name)
    monkeypatch.setattr(inner_steps, name, lambda *args, **options: factor * law(*args, **options))


@pytest.mark.parametrize(
    ("count", "law", "tolerance", "points"),
    [
        # Four fleets under two schemes, three modes, and the three outer steps that are stable.
        ("_deviating_fixed_points", "stationary_variance", 1e-9, 4 * 2 * 3 * 3),
        ("_deviating_informations", "information_limit", 1e-12, 3 * 5),
    ],
)
def test_a_law_off_by_more_than_its_tolerance_is_counted_at_every_point(
    monkeypatch, count, law, tolerance, points
):
    with monkeypatch.context() as patch:
        scale(patch, law, 1 + 0.7 * tolerance)
        assert getattr(inner_steps, count)() == 0
    scale(monkeypatch, law, 1 + 1.3 * tolerance)
    assert getattr(inner_steps, count)() == points


@pytest.mark.parametrize(
    ("count", "law", "value", "points"),
    [
        ("_deviating_fixed_points", "stationary_variance", math.inf, 4 * 2 * 3 * 3),
        ("_deviating_fixed_points", "stationary_variance", 0.0, 4 * 2 * 3 * 4),
    ],
)
def test_means_that_exist_wrongly_are_counted(monkeypatch, count, law, value, points):
    monkeypatch.setattr(inner_steps, law, lambda *_, **__: value)
    assert getattr(inner_steps, count)() == points


def test_the_recursion_is_tried_on_both_sides_of_the_border_of_stability(monkeypatch):
    pulls = []

    def law(curvature, step, fleet, weights, outer_step):
        pulls.append(
            outer_step * math.fsum(weights * (1 - (1 - step * curvature) ** np.array(fleet)))
        )
        return math.nan

    monkeypatch.setattr(inner_steps, "stationary_variance", law)
    assert inner_steps._deviating_fixed_points() == 96
    assert np.allclose(pulls, [0.5, 1.0, 1.99, 2.01] * 24, rtol=1e-14)


def test_the_informations_are_those_of_workers_with_up_to_256_steps(monkeypatch):
    tried = []

    def worker(*arguments):
        tried.append(arguments)
        return math.nan, 1.0

    monkeypatch.setattr(inner_steps, "iterate", worker)
    assert inner_steps._deviating_informations() == 3 * 5
    assert tried == list(itertools.product((1.0, 0.25, 0.05), (0.2,), (1, 2, 8, 64, 256)))


def shrink_of(curvature, steps):
    return 1 - (1 - 0.2 * curvature) ** steps


def shaken_of(curvature, steps):
    keep = (1 - 0.2 * curvature) ** 2
    return 0.2**2 * (1 - keep**steps) / (1 - keep)


def pull_of(curvature, fleet, weights):
    return math.fsum(w * shrink_of(curvature, h) for w, h in zip(weights, fleet, strict=True))


def variance_of(curvature, fleet, weights, outer=1.0):
    pull = outer * pull_of(curvature, fleet, weights)
    shaken = math.fsum(
        (outer * w) ** 2 * shaken_of(curvature, h) for w, h in zip(weights, fleet, strict=True)
    )
    return shaken / (pull * (2 - pull))


def floor_of(fleet, weights, outer=1.0):
    return math.fsum(a / 2 * variance_of(a, fleet, weights, outer) for a in (1.0, 0.25, 0.05))


def penalty_of(curvature, fleet, weights):
    """Return the noise of a pull of 1 over the least, with weights as shrink over shaken."""

    def noise(shares):
        shaken = sum(w * w * shaken_of(curvature, h) for w, h in zip(shares, fleet, strict=True))
        return shaken / pull_of(curvature, fleet, shares) ** 2

    best = [shrink_of(curvature, h) / shaken_of(curvature, h) for h in fleet]
    return noise(weights) / noise(best)


def weights_of(fleet):
    return [1 / len(fleet)] * len(fleet), [h / sum(fleet) for h in fleet]


FLEETS = [(1, 64), (1, 2, 4, 8, 16, 32, 64), (1,) * 7 + (256,), (2, 4, 4, 8)]
UNEVEN = FLEETS[2]


def test_a_displacement_step_by_step():
    assert inner_steps.iterate(2.0, 0.25, 0) == (0.0, 0.0)
    assert inner_steps.iterate(2.0, 0.25, 1) == (0.5, 0.0625)
    assert inner_steps.iterate(2.0, 0.25, 3) == (0.875, 0.08203125)


def test_a_variance_settles_grows_or_does_neither():
    assert inner_steps.settle(0.5, 3.0, rounds=2) == 3.75
    assert inner_steps.settle(0.5, 3.0) == 4.0
    assert inner_steps.settle(0.0, 1.0) == 20_000
    assert inner_steps.settle(1.0, 1e100) == 1e100
    assert inner_steps.settle(1.0, 1.1e100) == math.inf
    assert inner_steps.settle(2.01, 1.0) == math.inf


@pytest.mark.parametrize("fleet", FLEETS)
def test_the_slowest_mode_is_the_flattest(fleet):
    for weights in weights_of(fleet):
        ours = inner_steps.slowest(fleet, weights)
        assert ours == pytest.approx(pull_of(0.05, fleet, weights), rel=1e-13)


def test_the_slowest_mode_can_be_the_steepest(monkeypatch):
    monkeypatch.setattr(inner_steps, "MODES", (9.9, 0.25))
    assert inner_steps.slowest([2], [1.0]) == pytest.approx(1 - 0.98**2, rel=1e-13)


@pytest.mark.parametrize("fleet", FLEETS)
def test_the_fair_floor_is_that_of_the_outer_step_that_makes_the_flattest_mode_as_fast(fleet):
    for weights in weights_of(fleet):
        outer = 0.03 / pull_of(0.05, fleet, weights)
        ours = inner_steps.fair_floor(fleet, weights, 0.03)
        assert ours == pytest.approx(floor_of(fleet, weights, outer), rel=1e-12)


def test_the_shares_of_the_ceiling_are_hyperbolic_tangents():
    shares = [math.tanh(-math.log1p(-0.05) * steps / 2) for steps in (8, 64)]
    found = inner_steps._s3()
    assert [figure.value for figure in found] == pytest.approx(shares, rel=1e-13)
    assert [figure.spec for figure in found] == [".1%", ".1%"]


def test_the_extremal_fleet_has_one_worker_that_runs_forever():
    assert inner_steps.extremal_fleet(0.25) == (1.25, [1, 1, 1, 1, 10**9])


def test_the_extremal_fleet_comes_as_close_to_the_bounds_as_its_rate_is_small():
    rate = 2e-5
    span, loss = inner_steps._s4()
    assert span.value == pytest.approx(2 - rate, rel=1e-12)
    assert loss.value == pytest.approx((3 - rate) ** 2 / (4 * (2 - rate)), rel=1e-11)
    assert span.spec == loss.spec == ".4f"


def test_the_largest_loss_of_equal_weights():
    worst = max(
        penalty_of(a, fleet, weights_of(fleet)[0]) for a in (1.0, 0.25, 0.05) for fleet in FLEETS
    )
    (found,) = inner_steps._s5()
    assert found == Found(pytest.approx(worst, rel=1e-13), ".3f")


def test_the_loss_of_step_weights():
    (found,) = inner_steps._s6()
    expected = penalty_of(1.0, UNEVEN, weights_of(UNEVEN)[1])
    assert found == Found(pytest.approx(expected, rel=1e-13), ".3f")


def test_step_weights_at_outer_step_1_and_at_equal_progress():
    equal, steps = weights_of(UNEVEN)
    base = floor_of(UNEVEN, equal)
    outer = pull_of(0.05, UNEVEN, equal) / pull_of(0.05, UNEVEN, steps)
    assert inner_steps._s7() == (
        Found(pytest.approx(floor_of(UNEVEN, steps) / base, rel=1e-12), ".2f"),
        Found(pytest.approx(floor_of(UNEVEN, steps, outer) / base, rel=1e-12), ".2f"),
    )


def test_sampling_errors_sum_the_correlations_of_the_squares():
    """The squares of an autoregression correlate as (1 - r)^(2 t) after t rounds."""
    expected = []
    for fleet in FLEETS:
        for weights in weights_of(fleet):
            variance = 0.0
            for a in (1.0, 0.25, 0.05):
                decay = (1 - pull_of(a, fleet, weights)) ** 2
                correlations = 1 + 2 * math.fsum(decay**t for t in range(1, 1500))
                loss = a / 2 * variance_of(a, fleet, weights)
                variance += 2 * loss**2 * correlations / 500
            expected.append(math.sqrt(variance) / floor_of(fleet, weights))
    assert inner_steps.sampling_errors(500) == pytest.approx(expected, rel=1e-12)


def test_the_largest_deviation_is_the_worst_of_eight(monkeypatch):
    asked = []
    errors = [0.01, 0, 0, 0.02, 0, 0, 0, 0.005]
    monkeypatch.setattr(
        inner_steps, "sampling_errors", lambda rounds: asked.append(rounds) or errors
    )
    (found,) = inner_steps._s8()
    draws = np.random.default_rng(8).standard_normal((200_000, 8))
    worst = np.maximum.reduce([abs(draws[:, i] * errors[i]) for i in (0, 3, 7)])
    assert asked == [60_000]
    assert found.value == pytest.approx(worst.mean(), rel=1e-12)
    assert found.deviation == pytest.approx(worst.std(ddof=1), rel=1e-12)
    assert found.error == pytest.approx(found.deviation / math.sqrt(200_000), rel=1e-12)
    assert found.spec == ".2%"
