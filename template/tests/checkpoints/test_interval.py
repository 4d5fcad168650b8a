import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from decentral.checkpoints import best_interval, expected_time

times = st.floats(1e-9, 1e9)


@pytest.mark.parametrize(("save", "mean"), [(1, 1), (2, 240), (0.5, 1e4)])
def test_the_best_interval_is_the_one_that_a_search_finds(save, mean):
    def price(log):
        return expected_time(np.exp(log), save, mean) / np.exp(log)

    found = np.exp(minimize_scalar(price, bounds=(-5, 12), options={"xatol": 1e-10}).x)
    assert best_interval(save, mean) == pytest.approx(found, rel=1e-6)


@given(times, times, st.floats(0.1, 10))
def test_no_other_interval_is_better(save, mean, factor):
    best = best_interval(save, mean)
    with np.errstate(invalid="ignore"):  # infinity over infinity
        price, other = (expected_time(x, save, mean) / x for x in (best, factor * best))
    assert price <= other * (1 + 1e-6) or not np.isfinite(other)
    assert 0 < best <= mean


def test_the_mean_time_is_what_a_simulation_takes():
    rng = np.random.default_rng(1)
    taken = []
    for _ in range(20_000):
        time = 0.0
        while (failure := rng.exponential(240)) < 32:
            time += failure
        taken.append(time + 32)
    error = np.std(taken) / np.sqrt(len(taken))
    assert abs(np.mean(taken) - expected_time(30, 2, 240)) < 4 * error


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="save_time"):
        best_interval(-1, 240)
