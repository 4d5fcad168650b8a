"""Round times with the laws that have a closed form: exponential, Pareto, unequal rates."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.numerics.precision import close
from tests.stragglers import oracle

from decentral.stragglers import (
    exponential_round_time,
    exponential_round_variance,
    pareto_round_time,
    round_time,
    unequal_round_time,
)

SIZES = [1, 2, 3, 10, 64, 1000, 10**5]


def quorums(n):
    """Whole and fractional quorums of n workers, from the least to all."""
    return sorted({k for k in (1, 2, n // 2, n - 1, n, 0.5, n / 3, n - 0.25) if 0 < k <= n})


@pytest.mark.parametrize("n", SIZES)
def test_exponential_times_to_full_precision(n):
    for k in quorums(n):
        assert close(exponential_round_time(n, k), oracle.exponential_mean(n, k, 0, 1), 4e-15)
        assert close(exponential_round_variance(n, k), oracle.exponential_variance(n, k, 1), 4e-15)
    assert close(
        exponential_round_time(n, n, shift=0.8, rate=5), oracle.exponential_mean(n, n, 0.8, 5)
    )
    assert close(exponential_round_variance(n, 1, rate=5), oracle.exponential_variance(n, 1, 5))


def test_exponential_times_of_more_workers_than_could_be_summed():
    with mpmath.workdps(60):
        for n in (10**9, 10**12, 2**53):
            for k in (1, 1000, n // 2, n):
                gap = mpmath.digamma(n + 1) - mpmath.digamma(n - k + 1)
                squares = mpmath.polygamma(1, n - k + 1) - mpmath.polygamma(1, n + 1)
                assert close(exponential_round_time(n, k), gap, 4e-15)
                assert close(exponential_round_variance(n, k), squares, 4e-15)


@pytest.mark.parametrize("k", [7])
def test_exponential_times_from_the_density(k):
    assert close(
        exponential_round_time(12, k, shift=3, rate=0.5),
        oracle.exponential_mean_by_density(12, k, 3, 0.5),
    )
    assert close(
        exponential_round_variance(12, k, rate=0.5),
        oracle.exponential_variance_by_density(12, k, 0.5),
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("tail", [0.01, 0.3, 0.9, 1.0, 1.5, 3.0, 100.0])
def test_pareto_times_to_full_precision(n, tail):
    for k in quorums(n):
        exact = oracle.pareto_mean(n, k, tail, 2.5)
        ours = pareto_round_time(n, k, tail=tail, scale=2.5)
        if math.isinf(exact):
            assert math.isinf(ours)
        else:
            assert close(ours, exact, 3e-15 * (1 + math.log(n) / tail))


def test_pareto_times_from_the_density():
    for k in (1, 11):
        assert close(
            pareto_round_time(12, k, tail=1.5), oracle.pareto_mean_by_density(12, k, 1.5, 1)
        )


def test_a_pareto_mean_exists_just_where_it_should():
    # n - k + 1 > 1/alpha
    assert np.isinf(pareto_round_time(10, 10, tail=1.0))
    assert np.isinf(pareto_round_time(10, [8, 9, 10], tail=[1 / 3, 0.5, 0.99])).all()
    assert np.isfinite(pareto_round_time(10, [7, 8, 9, 10], tail=[1 / 3, 0.5, 0.99, 1.01])).all()
    assert pareto_round_time(2, 1, tail=0.5 + 1e-9) > 1e8


def test_pareto_times_close_to_the_border():
    # 1/alpha is rounded; alpha (n - k + 1) - 1 is as if it were exact, and 0 if it is below 1e-12.
    for n, k, tail in ((64, 64, 1.0000000001), (64, 64, 1.0001), (64, 63, 0.50001)):
        assert close(pareto_round_time(n, k, tail=tail), oracle.pareto_mean(n, k, tail, 1), 1e-13)
    for n in range(2, 120):
        for tail in (np.nextafter(1 / n, 0), 1 / n, float(f"{1 / n:.14g}"), np.nextafter(1 / n, 1)):
            assert math.isinf(pareto_round_time(n, 1, tail=tail))
        tail = 1 / n * (1 + 2e-12)
        exact = oracle.pareto_mean(n, 1, tail, 1)
        assert close(pareto_round_time(n, 1, tail=tail), exact, 1e-14 * (1 + math.log(n) / tail))


def test_quorums_that_are_not_whole_close_to_the_border():
    assert math.isfinite(pareto_round_time(1, 1 - 2e-12, tail=1))
    assert math.isinf(pareto_round_time(1, np.nextafter(1, 0), tail=1))
    assert math.isinf(pareto_round_time(5, 1.5380767429137487, tail=0.2241186014151721))
    tail = 0.523377422638784 * (1 + 2e-12)
    exact = oracle.pareto_mean(1, 0.08933294264364233, tail, 1)
    assert close(pareto_round_time(1, 0.08933294264364233, tail=tail), exact, 1e-12)


def test_a_small_scale_keeps_a_large_mean_finite():
    ours = pareto_round_time(2**53, 2**53 - 30, tail=0.045, scale=1e-60)
    assert ours == pytest.approx(3.33e266, rel=2e-3)


def test_the_case_from_the_field():
    # Quorum 60 of 64 with 37 workers alive is an error; before that it has a time.
    assert exponential_round_time(64, 60) == pytest.approx(2.660557, abs=1e-6)
    assert exponential_round_time(64, 64) == pytest.approx(4.743891, abs=1e-6)
    with pytest.raises(ValueError, match=r"quorum is 60.* there are 37 workers"):
        exponential_round_time(37, 60)


def test_laws_broadcast():
    n, k = np.array([[4], [8]]), np.array([1, 2, 4])
    table = exponential_round_time(n, k, shift=[1, 2, 3], rate=2)
    assert table.shape == (2, 3)
    assert table[1, 2] == exponential_round_time(8, 4, shift=3, rate=2)
    assert exponential_round_variance(n, k).shape == (2, 3)
    assert pareto_round_time(n, k, tail=[[2], [3]]).shape == (2, 3)
    assert round_time(np.sqrt, n, k).shape == (2, 3)
    assert unequal_round_time(np.ones((2, 1, 4)), k, shift=[[1], [2]]).shape == (2, 3)
    assert isinstance(exponential_round_time(4, 2), float)


def test_equal_rates_are_the_exponential_law():
    for n, k in ((1, 1), (2, 2), (64, 60), (1000, 500), (1000, 1000)):
        ours = unequal_round_time(np.full(n, 3.0), k, shift=0.5)
        assert close(ours, float(exponential_round_time(n, k, shift=0.5, rate=3)))


def test_the_heaviest_tail_that_is_allowed():
    for tail in (1e-6, 1.5e-6):
        exact = oracle.pareto_mean(2 * 10**6, 1, tail, 1)
        assert close(pareto_round_time(2 * 10**6, 1, tail=tail), exact, 1e-9)


def test_a_mean_beyond_what_a_double_holds_is_infinite():
    with np.errstate(over="raise"):
        assert np.isinf(pareto_round_time(10**4, 9700, tail=0.005))
        assert np.isfinite(pareto_round_time(10**4, 9000, tail=0.005))


def test_a_pareto_mean_does_not_exist_at_its_border_in_decimals():
    for alpha in range(1, 100):
        spare = Fraction(100, alpha)
        if spare.denominator == 1:  # n - k + 1 = 1/alpha
            assert pareto_round_time(200, 201 - int(spare), tail=alpha / 100) == math.inf
            assert pareto_round_time(200, 200 - int(spare), tail=alpha / 100) < math.inf


GOAL = {"curvature": 1, "noise": 2, "start": 1, "accuracy": 0.05}
BAD = [
    (lambda: exponential_round_time(0, 1), "workers must be at least 1, but it is 0"),
    (lambda: exponential_round_time(2.5, 1), "workers must be a whole number"),
    (lambda: exponential_round_time(4, 0), "quorum must be positive, but it is 0"),
    (lambda: exponential_round_time(4, np.nan), "quorum must be positive, but it is nan"),
    (lambda: exponential_round_time([4, 4], [4, 5]), "quorum is 5.* there are 4 workers"),
    (lambda: exponential_round_time([4, 3], [4, 4]), "quorum is 4.* there are 3 workers"),
    (lambda: exponential_round_time(4, 2, shift=-1), "shift must be non-negative, but it is -1"),
    (lambda: exponential_round_time(4, 2, rate=0), "rate must be positive, but it is 0"),
    (lambda: exponential_round_variance(4, 5), "quorum must be at most the number of workers"),
    (lambda: pareto_round_time(4, 2, tail=0), "tail must be positive"),
    (lambda: pareto_round_time(4, 2, tail=1e-9), "tail must be at least 1e-06"),
    (lambda: pareto_round_time(4, 2, tail=1, scale=np.inf), "scale must be finite"),
    (lambda: pareto_round_time([1, 2], [1, 1, 1], tail=1), "must broadcast"),
    (lambda: unequal_round_time([1, 0], 1), r"rates must be positive, but rates\[1\] is 0"),
    (lambda: unequal_round_time([1, 2], 3), "quorum is 3 and there are 2 workers"),
    (lambda: unequal_round_time([1, 2], 1.5), "quorum must be a whole number"),
    (lambda: unequal_round_time(1.0, 1), "rates must have one entry for each worker"),
    (lambda: unequal_round_time(np.ones(10**5), 5 * 10**4), "would take minutes"),
    (lambda: exponential_round_time(4, 1e-300), "quorum must be between"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
