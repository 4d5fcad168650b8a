"""The estimators, their bias and their errors, against all sets and by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.numerics.oracle import race
from tests.sampling import oracle

from decentral.sampling import (
    hajek,
    horvitz_thompson,
    inclusion_probabilities,
    joint_inclusion_probabilities,
    mean_squared_error,
    plain_mean,
    selection_bias,
)

NAMES = ("plain", "horvitz-thompson", "hajek")


def random_rates(seed, number, most):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, most + 1))
        yield (
            10 ** rng.uniform(-5, 5, n) * 10.0 ** rng.integers(-15, 15),
            int(rng.integers(1, n + 1)),
        )


def test_laws_broadcast():
    rates = np.array([[1.0, 2, 3], [5, 5, 1]])
    table = inclusion_probabilities(rates[:, None], [1, 2, 3])
    assert table.shape == (2, 3, 3)
    assert np.array_equal(table[1, 1], inclusion_probabilities(rates[1], 2))
    assert joint_inclusion_probabilities(rates, 2).shape == (2, 3, 3)
    errors = mean_squared_error("plain", rates, [[1], [2]], [1, 2, 3], noise=[[[1.0]], [[2.0]]])
    assert errors.shape == (2, 2, 2)
    assert errors[1, 0, 1] == mean_squared_error("plain", rates[1], 1, [1, 2, 3], noise=2.0)
    assert selection_bias(table, [1, 2, 3]).shape == (2, 3)
    assert horvitz_thompson(np.ones((4, 2)), [0.5, 0.5], [2, 3, 4, 5]).shape == (4,)


def test_the_case_from_the_field():
    pi = inclusion_probabilities([2, 2, 1], 2)
    assert np.allclose(pi, [23 / 30, 23 / 30, 7 / 15], rtol=1e-14)
    values = np.array([0.0, 0.0, 3.0])
    chances = race([Fraction(2), Fraction(2), Fraction(1)], 2)
    plain, weighted = 0.0, 0.0
    for pair in combinations(range(3), 2):
        chance, chosen = float(chances[frozenset(pair)]), list(pair)
        plain += chance * plain_mean(values[chosen])
        weighted += chance * horvitz_thompson(values[chosen], pi[chosen], 3)
    assert plain == pytest.approx(0.7, rel=1e-14)
    assert weighted == pytest.approx(1, rel=1e-14)
    assert selection_bias(pi, values) == pytest.approx(-0.3, rel=1e-13)


def test_bias_against_the_exact_race():
    for rates, k in random_rates(3, 20, 7):
        theta = [Fraction(int(x)) for x in np.random.default_rng(k).integers(-9, 9, rates.size)]
        exact = oracle.selection_bias(rates.tolist(), k, theta)
        ours = selection_bias(inclusion_probabilities(rates, k), [float(x) for x in theta])
        assert abs(float(ours) - float(exact)) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_mean_squared_errors_in_exact_fractions(name):
    rng = np.random.default_rng(4)
    for _ in range(15):
        n = int(rng.integers(2, 8))
        rates = [Fraction(int(x)) for x in rng.integers(1, 30, n)]
        theta = [Fraction(int(x), 3) for x in rng.integers(-9, 20, n)]
        k, noise = int(rng.integers(1, n + 1)), Fraction(int(rng.integers(0, 4)), 2)
        if name == "hajek":
            exact = oracle.hajek_linearised_mse(rates, k, theta, noise)
        else:
            exact = oracle.estimator_mse(name, rates, k, theta, noise)
        ours = mean_squared_error(
            name, [float(x) for x in rates], k, [float(x) for x in theta], noise=float(noise)
        )
        scale = float(sum(x * x for x in theta)) + float(noise)
        assert abs(float(ours) - float(exact)) < 1e-13 * scale


@pytest.mark.parametrize("coupling", [0, 1])
@pytest.mark.parametrize("k", [1, 4, 8, 12, 16])
def test_the_published_fleet(coupling, k):
    z = np.linspace(-1.5, 1.5, 16)
    rates, theta = np.exp(0.7 * z), 0.5 - coupling * z
    for name in NAMES[:2]:
        exact = oracle.estimator_mse_float(name, rates.tolist(), k, theta.tolist(), 1.0)
        assert mean_squared_error(name, rates, k, theta) == pytest.approx(exact, rel=1e-12)
    exact = oracle.hajek_linearised_mse_float(rates.tolist(), k, theta.tolist(), 1.0)
    assert mean_squared_error("hajek", rates, k, theta) == pytest.approx(exact, rel=1e-12)


def test_a_common_shift_of_the_optima():
    rates, theta = [3, 2, 1, 1], np.array([1.0, -2, 0, 4])
    for name in ("plain", "hajek"):
        here = mean_squared_error(name, rates, 2, theta)
        assert mean_squared_error(name, rates, 2, theta + 100) == pytest.approx(here, rel=1e-10)
    here = mean_squared_error("horvitz-thompson", rates, 2, theta)
    assert mean_squared_error("horvitz-thompson", rates, 2, theta + 100) > 10 * here


def test_errors_do_not_cancel():
    # All optima alike, and far from 0: the sum of the first k does not vary at all.
    assert mean_squared_error("horvitz-thompson", [1] * 4, 2, [1e8] * 4, noise=0) < 1e-8
    ours = mean_squared_error("horvitz-thompson", [1] * 4, 2, 1e8 + np.arange(4), noise=0)
    assert ours == pytest.approx(5 / 12, rel=1e-6)
    rng = np.random.default_rng(9)
    for name in NAMES:
        for k in (1, 2, 5, 6):
            goal = 1e8 + rng.standard_normal(6)
            assert mean_squared_error(name, [1] * 6, k, goal, noise=0) >= 0


def test_errors_are_not_negative():
    assert mean_squared_error("plain", [1, 1e18, 1e18], 2, [0, 1, -1], noise=0) >= 0
    for name in NAMES[1:]:
        assert mean_squared_error(name, [1e7, 1e7, 1e18, 1e18], 3, [-2, -2, -2, 2], noise=0) >= 0


def test_estimates_by_hand():
    assert plain_mean([1, 2, 6]) == 3
    assert horvitz_thompson([1, 2], [0.5, 0.25], 5) == 2
    assert hajek([1, 2], [0.5, 0.25]) == pytest.approx(10 / 6)
    assert plain_mean([[1, 3], [-2, 2]]).tolist() == [2, 0]


def test_a_weighted_mean_stays_within_the_values():
    rng = np.random.default_rng(6)
    for scale in (1e-50, 1.0, 1e50):
        values = scale * (0.1 + rng.random((2000, 3)) * np.array([[1e-16], [1.0]])[rng.integers(2)])
        chance = 10 ** rng.uniform(-59, 0, (2000, 3))
        for mean in (hajek(values, chance), plain_mean(values)):
            assert np.all((mean >= values.min(axis=1)) & (mean <= values.max(axis=1)))
    assert hajek([0.1] * 7, [0.3] * 7) == 0.1


BAD = [
    (lambda: inclusion_probabilities([1, -1], 1), r"rates must be positive, but rates\[1\] is -1"),
    (lambda: inclusion_probabilities([1, 2], 3), "quorum is 3 and there are 2 workers"),
    (lambda: inclusion_probabilities([1, 2], 0), "quorum must be at least 1"),
    (lambda: inclusion_probabilities([1, 1e70], 1), "rates must be between 1e-60 and 1e\\+60"),
    (lambda: inclusion_probabilities(np.ones(20_000), 10_000), "must not need minutes"),
    (lambda: inclusion_probabilities(np.ones(10**5), 1), "at most 20,000 workers, else"),
    (lambda: joint_inclusion_probabilities(np.ones(2000), 2000), "at most 500 workers for pairs"),
    (lambda: joint_inclusion_probabilities(np.ones(500), 250), "must not need minutes"),
    (lambda: mean_squared_error("plain", [1, 1e-60, 1e60], 2, [0, 1, 2]), "rates must include"),
    (lambda: mean_squared_error("plain", [1, 2], 1, [0, 1], noise=1e300), "noise must be at most"),
    (lambda: mean_squared_error(["plain"], [1, 2], 1, [0, 1]), "estimator must be"),
    (lambda: selection_bias([0.5, 0.5], [1, 2, 3]), "optima must have one entry for each worker"),
    (lambda: selection_bias([0.5, 1.5], [1, 2]), "inclusion must be a probability"),
    (lambda: selection_bias([0, 0], [1, 2]), "inclusion must not be 0 for all workers"),
    (lambda: selection_bias([0.5, 0.5], [1, np.nan]), r"optima must be finite, but optima\[1\]"),
    (lambda: plain_mean(3), "values must have one entry for each worker"),
    (lambda: plain_mean([1e70, 2]), r"values must be at most 1e\+60 in size"),
    (lambda: horvitz_thompson([1, 2], [0.5, 0], 3), "inclusion must be at least 1e-60"),
    (lambda: horvitz_thompson([1, 2], [0.5, 0.5], 1), "workers must be at least the 2"),
    (lambda: hajek([1, 2], [0.5]), "inclusion must have one entry for each worker of values"),
    (lambda: hajek([], []), "values must have at least one entry"),
    (
        lambda: mean_squared_error("mean", [1, 2], 1, [0, 0]),
        "estimator must be 'plain', 'horvitz-thompson' or 'hajek', got 'mean'",
    ),
    (lambda: mean_squared_error("plain", [1, 2], 1, [0]), "optima must have one entry"),
    (
        lambda: mean_squared_error("plain", [1, 2], 1, [0, 0], noise=-1),
        "noise must be non-negative, but it is -1",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_worker_errs_by_its_noise():
    for name in ("plain", "horvitz-thompson", "hajek"):
        assert mean_squared_error(name, [3.0], 1, [7.0], noise=2.5) == 2.5


def test_errors_of_more_workers_than_pairs_are_known_of_are_refused():
    with pytest.raises(ValueError, match="at most 500 workers for pairs"):
        mean_squared_error("plain", np.ones(501), 501, np.zeros(501))


def test_the_largest_values_noise_and_the_rarest_worker_that_are_allowed():
    assert plain_mean([1e60, -1e60]) == 0
    assert selection_bias([0.5, 0.5], [1e60, 1e60]) == 0
    assert mean_squared_error("plain", [1, 1], 1, [0, 0], noise=1e60) == 1e60
    assert horvitz_thompson([1.0], [1e-60], 1) == pytest.approx(1e60, rel=1e-15)
    assert hajek([3.0, 5.0], [1e-60, 1.0]) == 3


@pytest.mark.parametrize("name", ["plain", "horvitz-thompson", "hajek"])
def test_every_estimator_takes_tables_of_fleets(name):
    rates = np.array([[1.0, 2, 3, 4], [5, 1, 1, 1], [2, 7, 1, 8]])
    optima = np.array([[0.0, 1, 2, 5], [3, -1, 0, 1], [1, 1, 2, 3]])
    noise = np.array([0.5, 2, 0])
    errors = mean_squared_error(name, rates, [1, 2, 3], optima, noise=noise)
    for i, error in enumerate(errors):
        alone = mean_squared_error(name, rates[i], i + 1, optima[i], noise=noise[i])
        assert error == pytest.approx(alone, rel=1e-14)
