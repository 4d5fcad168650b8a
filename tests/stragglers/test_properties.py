"""Properties that hold for all waiting and descending: bounds, monotony, invariances, limits."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.library.strategies import close, few, leq, lists, twos

from decentral import stragglers

fleets = st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))
rates = lists(0.1, 10, 1, 6)
goals = st.fixed_dictionaries(
    {
        "curvature": st.floats(0.1, 2),
        "noise": st.floats(0.1, 10),
        "start": st.floats(1, 100),
        "accuracy": st.floats(1e-3, 0.9),
    }
)


@few
@given(fleets, st.floats(0, 10), twos)
def test_round_times(fleet, shift, unit):
    workers, quorum = fleet
    time = stragglers.exponential_round_time(workers, quorum, shift=shift)
    scaled = stragglers.exponential_round_time(workers, quorum, shift=shift / unit, rate=unit)
    assert close(scaled, time / unit)
    assert leq(time, stragglers.exponential_round_time(workers + 1, quorum + 1, shift=shift))
    assert leq(stragglers.exponential_round_time(workers + 1, quorum, shift=shift), time)
    assert 0 < stragglers.exponential_round_variance(workers, quorum) < math.pi**2 / 6
    pareto = stragglers.pareto_round_time(workers, quorum, tail=2.5, scale=unit)
    assert close(pareto, unit * stragglers.pareto_round_time(workers, quorum, tail=2.5))
    assert leq(unit, pareto)


@few
@given(fleets, st.floats(0.5, 3))
def test_any_law_can_be_given_by_its_quantiles(fleet, width):
    workers, quorum = fleet
    time = stragglers.round_time(lambda share: width * share, workers, quorum)
    assert close(time, width * quorum / (workers + 1))


@few
@given(rates, st.integers(1, 6))
def test_unequal_workers(paces, quorum):
    assume(quorum <= len(paces))
    time = stragglers.unequal_round_time(paces, quorum)
    np.testing.assert_allclose(stragglers.unequal_round_time(paces[::-1], quorum), time, rtol=1e-9)
    alike = [paces[0]] * len(paces)
    exact = stragglers.exponential_round_time(len(paces), quorum, rate=paces[0])
    np.testing.assert_allclose(stragglers.unequal_round_time(alike, quorum), exact, rtol=1e-9)


@few
@given(goals, st.integers(1, 60), st.floats(0.02, 0.4), st.integers(0, 300))
def test_errors_and_rounds(goal, quorum, share, rounds):
    step = share / goal["curvature"]
    world = {name: goal[name] for name in ("curvature", "noise", "start")}
    error = stragglers.squared_error(rounds, quorum, step=step, **world)
    assert leq(stragglers.squared_error(rounds, quorum + 1, step=step, **world), error)
    needed = stragglers.rounds_to_accuracy(quorum, step=step, infeasible="inf", **goal)
    assume(0 < needed < math.inf)

    def reached(t):
        return stragglers.squared_error(int(t), quorum, step=step, **world)

    assert leq(reached(needed), goal["accuracy"] * (1 + 1e-9))
    assert not leq(reached(needed - 1), goal["accuracy"] * (1 - 1e-9))
    least = {"curvature": goal["curvature"], "noise": goal["noise"]}
    assert quorum >= stragglers.min_quorum(step=step, accuracy=goal["accuracy"], **least)


@few
@given(goals, st.integers(2, 40))
def test_schedules(goal, workers):
    times = stragglers.exponential_round_time(workers, np.arange(1, workers + 1), shift=0.5)
    tuned = stragglers.best_quorum_and_step(times, **goal)
    alone = stragglers.best_step(int(tuned.quorum), **goal)
    assert alone.rounds == tuned.rounds
    assert close(tuned.time, tuned.rounds * times[int(tuned.quorum) - 1])
    assert leq(stragglers.gradients_needed(**goal), tuned.quorum * tuned.rounds)
    fixed = stragglers.best_quorum(times, step=float(tuned.step), **goal)
    assert leq(tuned.time, fixed.time * (1 + 1e-9))
