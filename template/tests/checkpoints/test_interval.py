import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from decentral.checkpoints import best_interval, expected_time


@pytest.mark.parametrize(("save", "mean"), [(1, 1), (2, 240), (0.5, 1e4)])
def test_the_best_interval_is_the_one_that_a_search_finds(save, mean):
    def price(log):
        return expected_time(np.exp(log), save, mean) / np.exp(log)

    found = np.exp(minimize_scalar(price, bounds=(-5, 12), options={"xatol": 1e-10}).x)
    assert best_interval(save, mean) == pytest.approx(found, rel=1e-6)


def test_the_mean_time_is_what_a_simulation_takes():
    rng = np.random.default_rng(1)
    times = []
    for _ in range(20_000):
        time = 0.0
        while (failure := rng.exponential(240)) < 32:
            time += failure
        times.append(time + 32)
    error = np.std(times) / np.sqrt(len(times))
    assert abs(np.mean(times) - expected_time(30, 2, 240)) < 4 * error


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="save_time"):
        best_interval(-1, 240)
