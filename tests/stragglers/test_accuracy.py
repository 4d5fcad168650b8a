"""The squared error, the rounds to an accuracy, the least quorum and the gradients needed."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.numerics.precision import close
from tests.stragglers import oracle_descent as oracle

from decentral import InfeasibleError
from decentral.stragglers import (
    best_step,
    gradients_needed,
    min_quorum,
    rounds_to_accuracy,
    squared_error,
)

GOAL = {"curvature": 1, "noise": 2, "start": 1, "accuracy": 0.05}


@pytest.mark.parametrize("step", [1e-3, 0.2, 0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("k", [1, 5, 64])
def test_squared_error_is_the_recursion(step, k):
    path = oracle.error_path(60, k, 0.75, step, 2, 3)
    ours = squared_error(np.arange(61), k, curvature=0.75, step=step, noise=2, start=3)
    assert all(close(a, b) for a, b in zip(ours, path, strict=True))


def test_squared_error_where_little_has_happened():
    # 1 - rho^(2t) cancels in the plain formula.
    law = {"curvature": 1e-9, "step": 1e-6, "noise": 1, "start": 1e-30}
    with mpmath.workdps(60):
        left = (1 - mpmath.mpf(1e-9) * mpmath.mpf(1e-6)) ** 2
        settled = mpmath.mpf(1e-6) ** 2 / (1 - left)
        exact = left**3 * mpmath.mpf(1e-30) + settled / 7 * (1 - left**3)
    assert close(squared_error(3, 7, **law), exact, 1e-14)


@pytest.mark.parametrize("seed", [2])
def test_rounds_are_the_least_that_the_recursion_needs(seed):
    rng = np.random.default_rng(seed)
    for _ in range(80):
        law = {
            "curvature": float(rng.uniform(0.1, 2)),
            "step": float(rng.uniform(0.02, 0.95)),
            "noise": float(10 ** rng.uniform(-2, 1)),
            "start": float(10 ** rng.uniform(-1, 2)),
            "accuracy": float(10 ** rng.uniform(-2, 0)),
        }
        k = int(rng.integers(1, 40))
        exact = oracle.rounds_needed(k, most=5000, **law)
        ours = rounds_to_accuracy(k, **law, infeasible="inf")
        if exact is None:
            assert math.isinf(ours)
            assert math.isinf(rounds_to_accuracy(k, **law, whole=False, infeasible="inf"))
        else:
            assert ours == exact
            real = rounds_to_accuracy(k, **law, whole=False)
            assert exact - 1 < real <= exact or exact <= 1
            if real > 0:
                args = {name: law[name] for name in ("curvature", "step", "noise", "start")}
                assert close(squared_error(real, k, **args), law["accuracy"], 1e-10)


def test_rounds_at_either_side_of_a_tie():
    # rho = 1/2 and phi = 1/4, so the errors are binary fractions.
    law = {"curvature": 1.0, "step": 0.5, "noise": 0.75, "start": 16.25}
    for t, error in enumerate([4.25, 1.25, 0.5, 0.3125, 0.265625], start=1):
        assert close(squared_error(t, 1, **law), error, 1e-15)
        assert rounds_to_accuracy(1, **law, accuracy=error * (1 - 0.9e-12)) == t
        assert rounds_to_accuracy(1, **law, accuracy=error * (1 - 1.1e-12)) == t + 1


def test_rounds_at_the_borders():
    assert rounds_to_accuracy(4, curvature=1, step=0.2, noise=2, start=0.04, accuracy=0.05) == 0
    # A step of 1/a forgets the start in one round, however far, and then errs by just phi/k.
    newton = {"curvature": 1, "step": 1, "noise": 0.25, "start": 1e9}
    for whole in (True, False):
        assert rounds_to_accuracy(64, **newton, accuracy=0.05, whole=whole) == 1
        assert rounds_to_accuracy(4, **newton, accuracy=0.0625, whole=whole) == 1
    assert math.isinf(rounds_to_accuracy(3, **newton, accuracy=0.0625, infeasible="inf"))
    assert min_quorum(curvature=1, step=1, noise=0.25, accuracy=0.0625) == 4
    with pytest.raises(
        InfeasibleError, match=r"accuracy must be above 0.05\d*, where .* quorum of 4"
    ):
        rounds_to_accuracy(4, step=0.2, **GOAL)
    with pytest.raises(InfeasibleError) as caught:
        rounds_to_accuracy([5, 4], step=0.2, **GOAL)
    assert caught.value.floor == pytest.approx(1 / 18)
    assert caught.value.shortfall == pytest.approx(1 / 18 - 0.05)
    with pytest.raises(ValueError, match="infeasible must be 'raise' or 'inf', got 'nan'"):
        rounds_to_accuracy(4, step=0.2, **GOAL, infeasible="nan")


def test_min_quorum_is_the_pole():
    rng = np.random.default_rng(3)
    law = dict(
        zip(("curvature", "noise", "accuracy"), 10 ** rng.uniform(-3, 1, (3, 300)), strict=True)
    )
    law["step"] = rng.uniform(0.01, 1.99, 300) / law["curvature"]
    least = min_quorum(**law)
    start = 10 * law["accuracy"]
    assert np.isfinite(rounds_to_accuracy(least, start=start, **law)).all()
    more = least > 1
    fewer = {name: value[more] for name, value in law.items()}
    assert np.isinf(
        rounds_to_accuracy(least[more] - 1, start=start[more], **fewer, infeasible="inf")
    ).all()
    assert more.sum() > 100


def test_min_quorum_at_exact_ties_and_beyond_reach():
    # phi = 1/4 exactly: the error settles at the accuracy itself with k = 4, so 5 are needed.
    assert min_quorum(curvature=1, step=0.5, noise=0.75, accuracy=1 / 16) == 5
    assert min_quorum(curvature=1, step=0.5, noise=0.75, accuracy=1) == 1
    with pytest.raises(InfeasibleError, match=r"within reach of 2\*\*53 workers"):
        min_quorum(curvature=1, step=0.5, noise=1, accuracy=1e-30)
    with pytest.raises(InfeasibleError, match=r"within reach of 2\*\*53 workers"):
        min_quorum(curvature=1, step=1, noise=2.0**54, accuracy=1)


def test_no_step_or_schedule_needs_fewer_gradients():
    k = np.arange(1, 40)
    needed = float(gradients_needed(**GOAL))
    best = best_step(k, **GOAL)
    assert np.all(best.rounds * k >= needed * (1 - 1e-12))
    for quorum in (1, 4, 19, 37):
        rounds = oracle.best_schedule_gradients(1, 2, 1, Fraction(1, 20), quorum)
        assert rounds == math.ceil(Fraction(38, quorum))


def test_gradients_needed_keeps_its_digits():
    exact = Fraction(3) / 4 * (1 / Fraction(1.0) - 1 / Fraction(1 + 1e-12))
    assert close(
        gradients_needed(curvature=2, noise=3, start=1 + 1e-12, accuracy=1.0), exact, 1e-14
    )
    assert gradients_needed(curvature=2, noise=3, start=1, accuracy=1.0) == 0


def test_after_as_many_rounds_as_are_allowed_the_error_has_settled():
    error = squared_error(1e60, 4, curvature=1, step=0.5, noise=3, start=100)
    assert error == pytest.approx(0.25, rel=1e-15)


def test_a_step_of_one_over_the_curvature_forgets_the_start_after_one_round_not_before():
    errors = squared_error([0, 1, 2], 4, curvature=2, step=0.5, noise=3, start=100)
    assert errors.tolist() == [100, 0.1875, 0.1875]


def test_a_start_that_is_just_accurate_enough_takes_no_round():
    for quorum in (1, 64):  # of which one never reaches the accuracy
        for whole in (True, False):
            assert rounds_to_accuracy(quorum, step=0.2, **GOAL | {"start": 0.05}, whole=whole) == 0


def test_a_start_beyond_the_accuracy_takes_a_round():
    law = {"curvature": 1, "step": 0.5, "noise": 3 * 2.0**-53, "accuracy": 0.3}
    assert rounds_to_accuracy(1, **law, start=0.3 * (1 + 2e-12)) == 1
    assert rounds_to_accuracy(1, **law, start=0.1 + 0.2) == 0


def test_an_error_that_settles_at_the_accuracy_itself_never_reaches_it():
    law = {"curvature": 1, "step": 0.5, "noise": 0.75, "start": 1, "accuracy": 1 / 16}
    for whole in (True, False):
        assert np.isinf(rounds_to_accuracy(4, **law, whole=whole, infeasible="inf"))
    with pytest.raises(InfeasibleError, match=r"accuracy must be above 0\.0625") as caught:
        rounds_to_accuracy(4, **law)
    assert caught.value.shortfall == 0


@pytest.mark.parametrize(
    ("step", "noise"), [(0.2, 1e-50), (0.3, 1e-14), (5e-6, 2.0), (2e-3, 1e-2), (1.9, 1e-14)]
)
def test_the_rounds_are_the_least_whose_error_is_small_enough(step, noise):
    """Just above and just below the error after so many rounds, which their logarithms blur."""
    law = {"curvature": 1, "step": step, "noise": 100 * noise, "start": 100}
    rounds = np.unique(np.geomspace(1, 11 / step if step < 1 else 60, 2000).round())
    error = squared_error(rounds, 1, **law)
    assert np.array_equal(rounds_to_accuracy(1, **law, accuracy=error * (1 - 0.9e-12)), rounds)
    after = rounds_to_accuracy(1, **law, accuracy=error * (1 - 1.1e-12))
    assert np.array_equal(after, rounds + 1)


def test_without_noise_the_rounds_agree_with_the_error():
    law = {"curvature": 1, "step": np.linspace(0.01, 0.9, 300), "noise": 1e-50, "start": 3}
    rounds = np.arange(1.0, 20)[:, None]
    error = squared_error(rounds, 1, **law)
    assert np.all(rounds_to_accuracy(1, **law, accuracy=error) == rounds)
    assert np.all(rounds_to_accuracy(1, **law, accuracy=error * (1 - 2e-12)) == rounds + 1)


def test_the_least_quorum_is_the_first_that_gets_there_however_its_quotient_is_rounded():
    accuracy = 1 + np.arange(200) * 2.0**-52
    for quorum in (3, 7, 15, 31, 2**20 - 1):
        noise = 3 * np.nextafter(quorum * accuracy, 0)  # with this step, the noise over 3 settles
        law = {"curvature": 1, "step": 0.5, "noise": noise, "accuracy": accuracy}
        least = min_quorum(**law)
        assert np.isfinite(rounds_to_accuracy(least, start=4, **law)).all()
        assert np.isinf(rounds_to_accuracy(least - 1, start=4, **law, infeasible="inf")).all()


def test_the_least_quorum_is_a_whole_number():
    law = {"curvature": 1, "step": 0.2, "noise": 2}
    assert type(min_quorum(**law, accuracy=0.05)) is int
    assert min_quorum(**law, accuracy=[0.05, 0.1]).dtype == np.int64


def test_a_step_of_one_over_the_curvature_forgets_the_start_at_once():
    for a in range(1, 200):
        law = {"curvature": a, "step": 1 / a, "noise": 2 * a**2, "start": 1, "accuracy": 0.05}
        for whole in (True, False):
            assert rounds_to_accuracy(64, **law, whole=whole) == 1
        del law["start"]
        assert min_quorum(**law) == 40  # 2/.05, and that is enough with this step alone


def test_the_least_quorum_where_the_error_settles_at_the_accuracy_itself():
    """phi = eta sigma^2/(a (2 - eta a)) is 1/9 of the noise at eta = .2, a = 1."""
    for k in range(1, 100):
        law = {"curvature": 1, "step": 0.2, "noise": 0.9, "accuracy": 0.1 / k}
        assert min_quorum(**law) == k + 1
        assert rounds_to_accuracy(k, **law, start=1, infeasible="inf") == math.inf
        assert rounds_to_accuracy(k + 1, **law, start=1) < math.inf


def test_rounds_where_the_error_is_the_accuracy_itself():
    """rho = .9, noise that hardly counts: .81^t."""
    for t in range(1, 40):
        law = {"curvature": 1, "step": 0.1, "noise": 1e-40, "start": 1}
        assert rounds_to_accuracy(1, **law, accuracy=float(Fraction(81, 100) ** t)) == t


BAD = [
    (
        lambda: squared_error(-1, 4, curvature=1, step=0.2, noise=2, start=1),
        "rounds must be non-negative, but it is -1",
    ),
    (
        lambda: squared_error(1, 4, curvature=1, step=2, noise=2, start=1),
        "step must be below 2/curvature",
    ),
    (
        lambda: squared_error(1, 4, curvature=1, step=0.2, noise=-2, start=1),
        "noise must be positive, but it is -2",
    ),
    (lambda: rounds_to_accuracy(4, step=0.2, **GOAL, whole=1), "whole must be True or False"),
    (lambda: min_quorum(curvature=1, step=0.2, noise=2, accuracy=0), "accuracy must be positive"),
    (lambda: gradients_needed(**{**GOAL, "start": "x"}), "start must be real numbers"),
    (
        lambda: squared_error(1e308, 1, curvature=1, step=0.2, noise=2, start=1),
        r"rounds must be at most 1e\+60",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
