"""decentral.partition.bounds against mpmath, the optimum and hand-worked values."""

import math

import mpmath
import numpy as np
import pytest

from decentral.partition import (
    blind_price_std,
    bottleneck,
    expected_blind_price,
    lower_bound,
    upper_bound,
)

RTOL = 1e-12
SLACK = 1 + RTOL


def _chains(seed, count=150):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        costs = rng.lognormal(sigma=rng.uniform(0, 2), size=rng.integers(1, 40))
        speeds = rng.lognormal(sigma=rng.uniform(0, 2), size=rng.integers(1, 9))
        yield costs, speeds, rng.lognormal(size=speeds.size) * costs.sum() / speeds.sum()


def test_a_device_too_slow_to_count_changes_nothing():
    """Its share of the speed underflows; the bounds are those of the others."""
    for bound in (lower_bound, upper_bound):
        both = bound([1, 2, 3], [1e300, 1e-300], overhead=[1, 0.0])
        assert both == pytest.approx(1, rel=RTOL, abs=0)


def test_the_formulas():
    for costs, speeds, extra in _chains(1):
        even, piece = costs.sum() / speeds.sum(), costs.max() / speeds.sum()
        late = speeds @ extra / speeds.sum()
        most = even + (speeds.size - 1) * piece
        assert lower_bound(costs, speeds) == pytest.approx(even, rel=RTOL, abs=0)
        assert upper_bound(costs, speeds) == pytest.approx(most, rel=RTOL, abs=0)
        with_extra = upper_bound(costs, speeds, overhead=extra)
        assert with_extra == pytest.approx(most + late, rel=RTOL, abs=0)
        all_used = lower_bound(costs, speeds, overhead=extra, nonempty=True)
        assert all_used == pytest.approx(max(even + late, extra.max()), rel=RTOL, abs=0)


@pytest.mark.parametrize("seed", [2, 3])
def test_they_bracket_the_optimum(seed):
    for costs, speeds, extra in _chains(seed):
        for options in ({}, {"overhead": extra}):
            best = bottleneck(costs, speeds, **options)
            low, high = lower_bound(costs, speeds, **options), upper_bound(costs, speeds, **options)
            tight = upper_bound(costs, speeds, leave_idle=True, **options)
            assert low <= best * SLACK
            assert best <= tight * SLACK
            assert tight <= high * SLACK
        if costs.size >= speeds.size:
            best = bottleneck(costs, speeds, overhead=extra, nonempty=True)
            assert lower_bound(costs, speeds, overhead=extra, nonempty=True) <= best * SLACK


def test_the_level_with_overhead():
    """Work poured into v_j (T - c_j)^+ up to the level is the whole work, by root finding."""
    for costs, speeds, extra in _chains(4, count=50):
        level = lower_bound(costs, speeds, overhead=extra)
        poured = speeds @ np.maximum(level - extra, 0)
        assert poured == pytest.approx(costs.sum(), rel=1e-9, abs=0)
        subsets = (
            (costs.sum() + speeds[s] @ extra[s]) / speeds[s].sum()
            for bits in range(1, 2**speeds.size)
            for s in [[j for j in range(speeds.size) if bits >> j & 1]]
        )
        assert level == pytest.approx(min(subsets), rel=RTOL, abs=0)


@pytest.mark.parametrize("devices", [1, 2, 3, 8, 31])
def test_the_upper_bound_is_attained(devices):
    for layers in range(devices + 1, 6 * devices + 2, devices):
        best = bottleneck([1] * layers, [1] * devices)
        assert best == pytest.approx(upper_bound([1] * layers, [1] * devices), rel=RTOL, abs=0)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: lower_bound([1] * 10, [3, 1, 1], overhead=[0, 0, 9]), 2.5),
        (lambda: lower_bound([1], [1e300, 1], overhead=[1e10, 0]), 1.0),
        (lambda: upper_bound([1e308], [1] * 3), 1e308),
        (lambda: upper_bound([0], [1e-200], overhead=[1e-200]), 1e-200),
        (lambda: upper_bound([1] * 5, [9, 1], leave_idle=True), 5 / 9),
    ],
)
def test_values(call, value):
    assert call() == pytest.approx(value, rel=RTOL, abs=0)


# The oracle takes seconds for each; `soak_bounds.py` computes them again.
BLIND_PRICES = [
    (2, 0.3, "1.2268746164213827756", "0.2153295612213776515"),
    (8, 0.5, "2.3728532346410727779", "0.77673759973493592369"),
    (8, 1.0, "7.9288339122128955203", "7.3120108450922484097"),
    (50, 1.0, "17.484840581977534767", "10.755507662590162888"),
]


@pytest.mark.parametrize(("devices", "sigma", "mean", "deviation"), BLIND_PRICES)
def test_blind_price_to_full_precision(devices, sigma, mean, deviation):
    assert float(expected_blind_price(devices, sigma)) == pytest.approx(
        float(mean), rel=RTOL, abs=0
    )
    assert float(blind_price_std(devices, sigma)) == pytest.approx(
        float(deviation), rel=RTOL, abs=0
    )


@pytest.mark.parametrize("sigma", [1e-3, 0.01, 0.1, 1, 5, 13, 18, 26])
def test_two_devices_in_closed_form(sigma):
    with mpmath.workdps(50):
        s = mpmath.mpf(sigma)
        first = (1 + mpmath.erf(s)) * mpmath.exp(s**2)  # E of the larger over the smaller
        second = (1 + mpmath.erf(2 * s)) * mpmath.exp(4 * s**2)
        mean, deviation = (1 + first) / 2, mpmath.sqrt(second - first**2) / 2
        assert abs(expected_blind_price(2, sigma) / mean - 1) < RTOL
        if sigma < 19:
            assert abs(blind_price_std(2, sigma) / deviation - 1) < max(RTOL, 1e-14 / sigma**2)


def test_the_figures_of_the_design():
    prices = expected_blind_price(8, [0.25, 0.5, 0.75, 1.0])
    np.testing.assert_array_equal(prices.round(4), [1.4808, 2.3729, 4.1442, 7.9288])


def test_broadcasting_and_trivial_pools():
    assert expected_blind_price([[1], [2]], [0.0, 0.5]).shape == (2, 2)
    assert expected_blind_price([1, 5], [0.7, 0]).tolist() == [1, 1]
    assert blind_price_std([1, 5], [0.7, 0]).tolist() == [0, 0]
    assert isinstance(expected_blind_price(3, 0.5), float)
    tiny = expected_blind_price(8, [1e-17, 1e-10, 1e-6])
    assert np.all(tiny >= 1)
    assert np.all(np.diff(tiny) > 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_blind_price(0, 1), "devices must be at least 1"),
        (lambda: expected_blind_price(2.5, 1), "devices must be a whole number"),
        (lambda: expected_blind_price(2, -1), "sigma must be non-negative"),
        (lambda: expected_blind_price(2, math.nan), "sigma must be non-negative, but it is nan"),
        (lambda: expected_blind_price(2, 27), "sigma must be small enough .* 27"),
        (lambda: expected_blind_price(2, 1e155), r"sigma must be small enough .* 1e\+155"),
        (lambda: expected_blind_price([1, 2, 3], [0.1, 0.2]), "devices and sigma must broadcast"),
        (lambda: blind_price_std(2, 1e-4), "sigma must be 0 or at least 0.001"),
        (lambda: lower_bound([1e308, 1e308], [1]), "must give finite stage times"),
        (lambda: lower_bound([1], [1, 0]), r"speeds\[1\] is 0"),
        (lambda: lower_bound([1], [1], nonempty=1), "nonempty must be True or False"),
        (lambda: upper_bound([1], [1], leave_idle="x"), "leave_idle must be True or False"),
        (lambda: upper_bound([1], [1, 1], overhead=[1]), "overhead must have length 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
