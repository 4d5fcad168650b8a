"""The best quorum, the best step and both together, against searches and at ties."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.numerics.precision import close
from tests.stragglers import oracle_descent as oracle

from decentral import InfeasibleError
from decentral.stragglers import (
    best_quorum,
    best_quorum_and_step,
    best_step,
    exponential_round_time,
    gradients_needed,
    pareto_round_time,
    rounds_to_accuracy,
    squared_error,
)

GOAL = {"curvature": 1, "noise": 2, "start": 1, "accuracy": 0.05}


def fleets(seed, number):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, 40))
        times = np.sort(10 ** rng.uniform(-1, 1) + rng.exponential(size=n))
        if rng.random() < 0.2:
            times[-1] = np.inf
        yield (
            times,
            {
                "curvature": float(rng.uniform(0.1, 2)),
                "noise": float(10 ** rng.uniform(-1, 1)),
                "start": float(10 ** rng.uniform(-1, 2)),
                "accuracy": float(10 ** rng.uniform(-2, 0)),
            },
            float(rng.uniform(0.02, 0.95)),
        )


@pytest.mark.parametrize("seed", [4])
def test_best_quorum_against_a_search(seed):
    feasible = 0
    for times, law, step in fleets(seed, 20):
        exact = oracle.best_quorum(times.tolist(), step=step, most=800, **law)
        if exact is None:
            with pytest.raises(InfeasibleError):
                best_quorum(times, step=step, **law)
        else:
            feasible += 1
            ours = best_quorum(times, step=step, **law)
            assert (ours.quorum, ours.rounds) == exact[:2]
            assert ours.time == pytest.approx(exact[2], rel=1e-12)
    assert feasible > 8


@pytest.mark.parametrize("seed", [5])
def test_best_quorum_and_step_against_a_search(seed):
    several = 0
    for times, law, _ in fleets(seed, 12):
        if np.isinf(times).all():
            continue
        exact = oracle.best_quorum_and_step(times.tolist(), most=20000, **law)
        ours = best_quorum_and_step(times, **law)
        assert (ours.quorum, ours.rounds) == exact[:2]
        assert ours.time == pytest.approx(exact[2], rel=1e-12)
        if ours.rounds:
            several += ours.rounds > 1
            args = {name: law[name] for name in ("curvature", "noise", "start")}
            reached = squared_error(ours.rounds, ours.quorum, step=ours.step, **args)
            assert reached <= law["accuracy"] * (1 + 1e-14)
    assert several > 0


def test_best_step_against_a_search():
    for k, law in (
        (4, GOAL),
        (20, GOAL),
        (37.5, GOAL),
        (1, {"curvature": 0.3, "noise": 5, "start": 40, "accuracy": 0.5}),
        (3, {"curvature": 2, "noise": 0.1, "start": 1, "accuracy": 0.01}),
    ):
        ours = best_step(k, **law)
        args = {name: law[name] for name in ("curvature", "noise", "start")}
        t = int(ours.rounds)
        error, step = oracle.best_step_error(t, k, **args)
        assert close(ours.step, step, 1e-7)
        assert close(squared_error(t, k, step=ours.step, **args), error, 1e-13)
        assert error <= law["accuracy"]
        assert t == 1 or oracle.best_step_error(t - 1, k, **args)[0] > law["accuracy"]


def test_best_step_is_exact_at_one_round():
    # k = 38 gradients are just enough for one round, and then the step is x0/(x0 + s).
    assert gradients_needed(**GOAL) == pytest.approx(38, rel=1e-14)
    best = best_step([38, 37], **GOAL)
    assert best.rounds.tolist() == [1, 2]
    assert best.step[0] == pytest.approx(0.95, rel=1e-13)
    assert best_step(1, **{**GOAL, "start": 0.04}).rounds == 0


def test_searches_broadcast():
    times = np.stack([exponential_round_time(8, np.arange(1, 9), shift=s) for s in (0, 2, 8)])
    law = {**GOAL, "accuracy": np.array([0.1, 0.2, 0.3]), "step": 0.2}
    both = best_quorum(times, **law)
    for i in range(3):
        one = best_quorum(times[i], **{**law, "accuracy": law["accuracy"][i]})
        assert (both.quorum[i], both.rounds[i], both.time[i]) == (one.quorum, one.rounds, one.time)
        assert type(one.quorum) is int
        assert type(one.time) is float
    law.pop("step")
    tuned = best_quorum_and_step(times[:, None], **law)
    assert tuned.step.shape == tuned.quorum.shape == (3, 3)
    one = best_quorum_and_step(times[1], **{**law, "accuracy": 0.3})
    assert (tuned.quorum[1, 2], tuned.step[1, 2]) == (one.quorum, one.step)


def test_impossible_quorums_and_targets():
    times = exponential_round_time(4, np.arange(1, 5))
    with pytest.raises(InfeasibleError, match=r"accuracy must be above 0.0555556, .*quorum of 4"):
        best_quorum(times, step=0.2, **GOAL)
    heavy = pareto_round_time(5, np.arange(1, 6), tail=1.0)
    with pytest.raises(InfeasibleError, match="round_times must be finite for some quorum"):
        best_quorum(heavy, step=0.2, **GOAL)
    assert best_quorum_and_step(heavy, **GOAL).quorum < 5
    with pytest.raises(InfeasibleError) as caught:
        best_quorum_and_step([np.inf, np.inf], **GOAL)
    assert str(caught.value) == (
        "round_times must be finite for some quorum that reaches the accuracy; those that do "
        "take an infinite mean time"
    )
    with pytest.raises(ValueError, match=r"round_times must not fall .* from 2.0 to 1.0"):
        best_quorum([1.0, 2.0, 1.0], step=0.2, **GOAL)
    with pytest.raises(ValueError, match="round_times must have one entry for each quorum"):
        best_quorum(1.0, step=0.2, **GOAL)


def test_one_worker_is_a_fleet():
    best = best_quorum([3.0], step=0.2, **GOAL | {"accuracy": 0.5})
    tuned = best_quorum_and_step([3.0], **GOAL | {"accuracy": 0.5})
    step = best_step(1, **GOAL | {"accuracy": 0.5})
    assert (best.quorum, tuned.quorum) == (1, 1)
    assert (tuned.rounds, tuned.step, tuned.time) == (step.rounds, step.step, 3 * step.rounds)
    assert best.time == 3 * best.rounds


def test_round_times_may_span_the_whole_range():
    law = GOAL | {"accuracy": 0.5}
    best = best_quorum_and_step([1e-60, 1e60], **law)
    assert best.quorum == 1
    assert best.time == pytest.approx(1e-60 * best.rounds, rel=1e-15)
    for times, shown in (([1.0, 1.5e60], r"1.5e\+60"), ([0.9e-60, 1.0], "9e-61")):
        with pytest.raises(ValueError, match=rf"between 1e-60 and 1e\+60, .* but one is {shown};"):
            best_quorum_and_step(times, **law)


def test_waiting_for_more_workers_may_take_no_longer():
    # Equal times are in order, and so are those that only rounding has let fall.
    for times in ([2.0, 2.0, 2.0], [2.0, 2.0 - 1e-15, 2.0]):
        assert best_quorum(times, step=0.2, **GOAL | {"accuracy": 0.2}).rounds > 0


def test_each_fleet_of_a_table_is_in_order_by_itself():
    times = np.array([[10.0, 11, 12], [1, 2, 3]])
    both = best_quorum(times, step=0.2, **GOAL | {"accuracy": 0.2})
    for fleet, quorum in zip(times, both.quorum, strict=True):
        assert best_quorum(fleet, step=0.2, **GOAL | {"accuracy": 0.2}).quorum == quorum


def test_gradients_that_are_just_enough_for_one_round_take_one():
    for accuracy in 1 / (1 + np.arange(1.0, 100)):
        enough = math.ceil(1 / Fraction(float(accuracy)) - 1 - Fraction(1e-11))
        best = best_step(enough, curvature=1, noise=1, start=1, accuracy=accuracy)
        assert best.rounds == 1
        assert close(best.step, Fraction(enough, enough + 1), 1e-14)
    assert best_step(1, curvature=1, noise=1, start=1, accuracy=0.5).rounds == 1
    assert best_step(4, curvature=2, noise=16, start=1, accuracy=0.5).rounds == 1


def test_the_accuracy_of_the_best_step_takes_its_rounds_and_a_little_less_one_more():
    quorum = 2.0 ** np.arange(-6, 7)[:, None]  # with powers of two little else is rounded
    law = {"curvature": 1, "noise": 1, "start": np.geomspace(1e4, 1e10, 100)}
    for share in (0.01, 0.1, 0.4, 0.7, 0.9):
        best = best_step(quorum, **law, accuracy=share / quorum)
        error = squared_error(best.rounds, quorum, **law, step=best.step)
        assert np.all(error <= share / quorum * (1 + 1e-12))
        assert np.all(best.rounds > 1)
        assert np.array_equal(best_step(quorum, **law, accuracy=error).rounds, best.rounds)
        after = best_step(quorum, **law, accuracy=error * (1 - 2e-12))
        assert np.array_equal(after.rounds, best.rounds + 1)


def test_the_best_step_of_a_start_close_to_the_accuracy():
    law = {"curvature": 1, "noise": 1e4, "start": 1}
    best = best_step(1, **law, accuracy=0.999)
    error, step = oracle.best_step_error(int(best.rounds), 1, **law)
    assert close(best.step, step, 1e-7)
    assert close(squared_error(best.rounds, 1, **law, step=best.step), error, 1e-13)


def test_the_best_step_from_very_far_forgets_the_start_at_once():
    best = best_step(1, curvature=1, noise=1, start=1e40, accuracy=1)
    assert best.rounds == 1
    assert best.step == pytest.approx(1, rel=1e-15)


def test_gradients_that_are_just_enough_take_one_round_of_the_best_step():
    """One round of k gradients leaves at best 1/(1 + k/2) of a start of 1 with noise 2."""
    k, n = np.arange(1.0, 20), np.arange(2.0, 40)[:, None]
    best = best_step(k, curvature=n, noise=2 * n**2, start=1, accuracy=2 / (2 + k))
    assert np.all(best.rounds == 1)


def test_of_quorums_that_take_the_same_time_the_least_is_taken():
    """Two rounds of 32 of 64 take what one round of 48 does: 2 * 64/32 = 64/16."""
    times = pareto_round_time(64, np.arange(1, 65), tail=1)
    law = {"curvature": 1, "step": 0.9, "noise": 0.5, "start": 1}
    for scale in (1.0, 0.1, 1 / 3, 7.7):
        whole = rounds_to_accuracy(np.arange(1, 65), **law, accuracy=0.0151, infeasible="inf")
        spent = [r * 64 / (64 - k) if k < 64 else math.inf for k, r in enumerate(whole, 1)]
        assert best_quorum(scale * times, **law, accuracy=0.0151).quorum == 1 + int(
            np.argmin(np.round(spent, 9))
        )


BAD = [
    (lambda: best_step(0, **GOAL), "quorum must be positive"),
    (lambda: best_step(1e-300, **GOAL), r"quorum must be between 1e-60 and 1e\+60"),
    (
        lambda: best_quorum([1e308, 1.1e308], step=0.2, **GOAL),
        r"round_times must be between 1e-60 and 1e\+60, or infinite",
    ),
    (
        lambda: best_quorum(1 - 0.9e-9 * np.arange(1000), step=0.2, **GOAL),
        "round_times must not fall with the quorum",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
