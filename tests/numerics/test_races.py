"""Races of exponential times: when a round ends, and who is in it, to full precision."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import special
from tests.numerics import oracle
from tests.numerics.precision import close
from tests.stragglers.oracle import simulate_round_times

from decentral.sampling import (
    inclusion_probabilities,
    joint_inclusion_probabilities,
)
from decentral.stragglers import (
    unequal_round_time,
)


@pytest.mark.parametrize(("seed", "most"), [(1, 10)])
def test_unequal_rates_against_the_exact_race(seed, most):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        n = int(rng.integers(1, most + 1))
        k = int(rng.integers(1, n + 1))
        rates = 10 ** rng.uniform(-5, 5, n) * 10.0 ** rng.integers(-15, 15)
        exact = oracle.race_mean_mp([float(r) for r in rates], k, 0)
        assert close(unequal_round_time(rates, k), exact, 1e-13)


def test_a_simulation_of_unequal_rates():
    rates = np.exp(0.7 * np.linspace(-1.5, 1.5, 16))
    mean, error = simulate_round_times(
        lambda rng, shape: rng.exponential(size=shape) / rates, 16, 12, 40000, 3
    )
    assert abs(float(unequal_round_time(rates, 12)) - mean) < 4 * error


def random_rates(seed, number, most):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, most + 1))
        yield (
            10 ** rng.uniform(-5, 5, n) * 10.0 ** rng.integers(-15, 15),
            int(rng.integers(1, n + 1)),
        )


@pytest.mark.parametrize(("seed", "most"), [(1, 10)])
def test_inclusion_against_the_exact_race(seed, most):
    for rates, k in random_rates(seed, 30, most):
        exact = oracle.joint_inclusion_mp(rates.tolist(), k)
        ours, joint = inclusion_probabilities(rates, k), joint_inclusion_probabilities(rates, k)
        for i, row in enumerate(exact):
            assert close(ours[i], row[i], 1e-13)
            assert all(
                close(a, b, 1e-13) or a == b == 0 for a, b in zip(joint[i], row, strict=True)
            )


@pytest.mark.parametrize("rates", [[2, 2, 1], [1, 10, 100, 1000], [1] * 5, [7, 5, 3, 2, 1, 1]])
def test_inclusion_in_exact_fractions(rates):
    for k in range(1, len(rates) + 1):
        exact = oracle.joint_inclusion([Fraction(rate) for rate in rates], k)
        ours = joint_inclusion_probabilities(rates, k)
        for row, line in zip(ours, exact, strict=True):
            assert all(close(a, b, 1e-14) or a == b == 0 for a, b in zip(row, line, strict=True))


def test_a_worker_that_hardly_ever_finishes_keeps_its_digits():
    # Ten fast workers, one slower by 10^12: its chance is of the order of 1e-12.
    rates = [1.0] * 10 + [1e-12]
    for k in (1, 5, 9, 10):
        exact = oracle.inclusion([Fraction(rate) for rate in rates], k)
        assert all(
            close(a, b, 1e-14)
            for a, b in zip(inclusion_probabilities(rates, k), exact, strict=True)
        )


@pytest.mark.parametrize(
    ("rates", "k", "pair", "exact"),
    [
        ([1e20, 1, 1], 2, (1, 2), "2e-40"),
        ([1e40, 1, 1], 2, (1, 2), "2e-80"),
        ([1, 1, 1e-50], 2, (0, 2), "7.5e-51"),
    ],
)
def test_pairs_that_hardly_ever_occur_keep_their_digits(rates, k, pair, exact):
    assert close(joint_inclusion_probabilities(rates, k)[pair], exact, 1e-14)


def test_fleets_over_a_hundred_orders_of_magnitude():
    rng = np.random.default_rng(7)
    for _ in range(40):
        n = int(rng.integers(2, 7))
        k = int(rng.integers(1, n + 1))
        rates = 10 ** rng.uniform(-25, 25, n)
        exact = oracle.joint_inclusion_mp(rates.tolist(), k)
        joint = joint_inclusion_probabilities(rates, k)
        for row, line in zip(joint, exact, strict=True):
            assert all(close(a, b, 1e-13) or a == b == 0 for a, b in zip(row, line, strict=True))
        assert joint.max() <= 1


def test_inclusion_by_another_quadrature():
    rates = np.geomspace(1e-5, 1e5, 25)
    for k in (3, 12, 23):
        exact = oracle.inclusion_by_quadrature(rates.tolist(), k, digits=20)
        ours = inclusion_probabilities(rates, k)
        assert all(close(a, b) for a, b in zip(ours, exact, strict=True))


@pytest.mark.parametrize("worker", [520])
def test_a_thousand_workers_over_ten_orders_of_magnitude(worker):
    """Worker by worker, with one fixed rule and a law of the others in extended precision."""
    rates, k = np.geomspace(1e-5, 1e5, 1000), 500
    nodes, weights = np.polynomial.legendre.leggauss(80)
    first, width = np.longdouble(-2.2), 3.2  # the 500th is in by e^1, and not before e^-2.2
    time = np.exp(first + width / 2 * (1 + nodes))
    law = np.zeros((k, time.size), dtype=np.longdouble)
    law[0] = 1
    for other in np.delete(rates, worker).astype(np.longdouble):
        running = np.exp(-other * time)
        law[1:] = law[1:] * running + law[:-1] * (1 - running)
        law[0] *= running
    rate = np.longdouble(rates[worker])
    total = -np.expm1(-rate * np.exp(first))
    total += (width / 2 * weights * law.sum(axis=0) * rate * time * np.exp(-rate * time)).sum()
    ours = inclusion_probabilities(rates, k)
    assert close(ours[worker], float(total))
    assert abs(ours.sum() - k) < 1e-12 * k


def test_inclusion_adds_up():
    for rates, k in random_rates(2, 12, 50):
        ours = inclusion_probabilities(rates, k)
        joint = joint_inclusion_probabilities(rates, k)
        assert ours.sum() == pytest.approx(k, rel=1e-13)
        assert np.allclose(joint.sum(axis=1), k * ours, rtol=1e-13, atol=0)
        assert np.array_equal(joint, joint.T)
        order = np.argsort(rates)
        assert np.all(np.diff(ours[order]) >= -1e-14)


def test_two_workers_and_all_workers():
    assert np.allclose(inclusion_probabilities([3, 5], 1), [3 / 8, 5 / 8], rtol=1e-15)
    assert np.array_equal(inclusion_probabilities([3, 5], 2), [1, 1])
    assert np.allclose(
        joint_inclusion_probabilities([3, 5], 1), np.diag([3 / 8, 5 / 8]), rtol=1e-15
    )
    assert np.array_equal(joint_inclusion_probabilities([3], 1), [[1]])


@pytest.mark.parametrize(
    ("law", "rates", "k"),
    [
        (joint_inclusion_probabilities, [1e60] * 40 + [1e-60] * 460, 40),
        (inclusion_probabilities, [1e60] * 500 + [1e-60] * 19500, 500),
        (unequal_round_time, [1e60] * 1000 + [1e-60] * 9000, 1000),
    ],
)
def test_clusters_far_apart_that_would_take_minutes(law, rates, k):
    with pytest.raises(ValueError, match="must not need minutes"):
        law(rates, k)


@pytest.mark.parametrize(
    ("rates", "quorum", "mean"),
    [
        (np.ones(5000), 5000, special.digamma(5001) - special.digamma(1)),
        (np.ones(10**4), 9999, special.digamma(10**4 + 1) - special.digamma(2)),
        (np.ones(3000), 1500, special.digamma(3001) - special.digamma(1501)),
        (np.repeat([1e6, 1e-6], 500), 500, 6.792823426594e-6),
    ],
)
def test_large_fleets_are_answered(rates, quorum, mean):
    """Of the last the fast half alone counts, up to a millionth of a millionth."""
    assert unequal_round_time(rates, quorum) == pytest.approx(mean, rel=1e-11)


def test_the_most_work_that_is_answered():
    pairs = joint_inclusion_probabilities(np.ones(120), 60)
    np.testing.assert_allclose(pairs[0, 1:], 60 * 59 / (120 * 119), rtol=1e-12)
    with pytest.raises(ValueError, match="must not need minutes or gigabytes"):
        unequal_round_time(np.ones(20_000), 1500)


def test_pairs_that_would_take_gigabytes_are_refused_though_they_take_no_minutes():
    assert joint_inclusion_probabilities(np.ones(100), 2).shape == (100, 100)
    with pytest.raises(ValueError, match="400 workers of these rates with a quorum of 2 do"):
        joint_inclusion_probabilities(np.ones(400), 2)
