"""Properties that hold for all workers of many steps: bounds, monotony, invariances, limits."""

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.library.strategies import close, few, leq, twos

from decentral import inner_steps

modes = st.tuples(st.floats(0.01, 4), st.floats(0.01, 0.4))
counts = st.lists(st.integers(1, 200), min_size=1, max_size=6)


@given(modes, st.integers(1, 300), twos)
@example(mode=(4.0, 0.375), steps=1, unit=1.0)
def test_a_worker(mode, steps, unit):
    a, eta = mode
    shrink = inner_steps.contraction(a, eta, steps)
    assert 0 < shrink < 2
    assert close(inner_steps.contraction(a * unit, eta / unit, steps), shrink)
    spread = inner_steps.displacement_variance(a, eta, steps)
    assert close(inner_steps.displacement_variance(a, eta, steps, noise=unit), unit * spread)
    known = inner_steps.information(a, eta, steps)
    assert close(known, shrink**2 / spread)
    # A step that overshoots tells more than the many after which it is forgotten.
    ceiling = inner_steps.information_limit(a, eta)
    assert leq(known, ceiling) or (a * eta > 1 and steps % 2 == 1)
    forgotten = abs(1 - a * eta) ** steps < 1e-13
    assert not forgotten or close(known, ceiling)


@few
@given(modes, counts)
def test_weights_of_one_mode(mode, fleet):
    a, eta = mode
    best = inner_steps.information_weights(fleet, a, eta)
    for weights in (best, inner_steps.equal_weights(fleet), inner_steps.step_weights(fleet)):
        assert close(weights.sum(), 1)
        penalty = inner_steps.weight_penalty(a, eta, fleet, weights)
        assert leq(1, penalty)
        assert close(inner_steps.weight_penalty(a, eta, fleet, 3 * weights), penalty)
    assert close(inner_steps.weight_penalty(a, eta, fleet, best), 1)
    assert close(inner_steps.information_weights(fleet[::-1], a, eta), best[::-1])


@few
@given(modes, counts, st.floats(0.1, 0.9))
def test_floors(mode, fleet, target):
    a, eta = mode
    weights = inner_steps.equal_weights(fleet)
    outer = inner_steps.matched_outer_step([a], eta, fleet, weights, target=target)
    reached = outer * weights @ inner_steps.contraction(a, eta, np.array(fleet))
    assume(reached < 2)
    assert close(reached, target)
    spread = inner_steps.stationary_variance(a, eta, fleet, weights, outer_step=outer)
    floor = inner_steps.loss_floor([a], eta, fleet, weights, outer_step=outer)
    assert close(floor, a / 2 * spread)
    best = inner_steps.best_weights([a], eta, fleet, target=target)
    assert best.floor <= floor * (1 + 1e-9)


@given(modes, st.floats(0.01, 1e4))
def test_dearer_synchronisation_means_more_steps(mode, cost):
    a, eta = mode
    assume(a * eta < 0.99)
    few_, more = inner_steps.best_inner_steps(a, eta, [cost, 2 * cost])
    assert 0 < few_ <= more


@settings(max_examples=5)
@given(counts, st.integers(0, 2**31))
def test_a_simulation_is_repeated_by_its_seed(fleet, seed):
    fixed = {"rounds": 3, "replicas": 4, "seed": seed}
    weights = inner_steps.equal_weights(fleet)
    runs = [inner_steps.simulate([1.0, 0.1], 0.2, fleet, weights, **fixed) for _ in range(2)]
    assert np.array_equal(runs[0].variances, runs[1].variances)
