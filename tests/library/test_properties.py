"""Properties that hold for all inputs: bounds, monotony, invariances, limits, consistency.

Each public function is touched by at least one of them; a test sees to it.
"""

import ast
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import special
from tests.library.test_validation import MODULES, public

from decentral import inner_steps, machines, ordering, partition, redundancy, sampling, stragglers

RTOL = 1e-11
few = settings(max_examples=settings.default.max_examples * 3 // 10)  # the slow ones


def lists(low, high, least, most):
    return st.lists(st.floats(low, high), min_size=least, max_size=most)


chains = st.tuples(lists(0.01, 10, 1, 8), lists(0.1, 10, 1, 4))
twos = st.integers(-8, 8).map(lambda n: 2.0**n)
shares = st.floats(0.01, 0.99)


def leq(small, large):
    """At most, up to rounding."""
    return np.all(np.asarray(small) <= np.asarray(large) * (1 + RTOL) + 1e-300)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=RTOL, atol=1e-300)
    return True


def test_every_public_function_has_a_property():
    named = {
        node.attr for node in ast.walk(ast.parse(Path(__file__).read_text()))
        if isinstance(node, ast.Attribute)
    }  # fmt: skip
    for module in MODULES:
        assert set(public(module)) <= named, f"properties of decentral.{module}"


# --- cutting --------------------------------------------------------------------------------


@given(chains, twos)
def test_the_unit_does_not_matter(chain, unit):
    costs, speeds = map(np.array, chain)
    best = partition.bottleneck(costs, speeds)
    assert partition.bottleneck(unit * costs, speeds) == unit * best
    assert partition.bottleneck(costs, unit * speeds) == best / unit
    assert close(partition.upper_bound(unit * costs, speeds), unit * partition.upper_bound(*chain))


@given(chains)
def test_a_pipeline_may_be_read_from_either_end(chain):
    costs, speeds = chain
    assert close(
        partition.bottleneck(costs, speeds), partition.bottleneck(costs[::-1], speeds[::-1])
    )


@given(chains)
def test_the_best_cut_lies_between_its_bounds_and_below_other_cuts(chain):
    cut = partition.partition(*chain)
    assert leq(partition.lower_bound(*chain), cut.bottleneck)
    assert leq(cut.bottleneck, partition.upper_bound(*chain))
    for other in (partition.equal_split(*chain), partition.proportional_split(*chain)):
        assert other.counts.sum() == cut.counts.sum() == len(chain[0])
        assert cut.bottleneck <= other.bottleneck
    assert partition.evaluate(*chain, cut.counts).bottleneck == cut.bottleneck


@given(chains)
def test_the_bottleneck_is_where_fitting_begins(chain):
    best = partition.bottleneck(*chain)
    assert partition.fits(*chain, best)
    assert not partition.fits(*chain, best * (1 - 3e-12))


@given(chains, st.floats(0.1, 10), st.integers(0, 7))
def test_more_work_or_less_help_is_never_faster(chain, more, place):
    costs, speeds = chain
    best = partition.bottleneck(costs, speeds)
    heavier = list(costs)
    heavier[place % len(costs)] += more
    assert leq(best, partition.bottleneck(heavier, speeds))
    assert leq(partition.bottleneck(costs, [*speeds, more]), best)
    assert leq(best, partition.bottleneck(costs, speeds, overhead=[more] * len(speeds)))
    room = [len(costs)] * len(speeds)
    bound = {"memory": [1] * len(costs), "capacity": room}
    assert partition.bottleneck(costs, speeds, **bound) == best


@given(lists(0.01, 10, 1, 6), st.integers(1, 1000), twos)
def test_filling_and_draining(times, rounds, unit):
    total = partition.makespan(times, rounds)
    assert close(partition.makespan(times, 1), sum(times))
    assert close(total - sum(times) + max(times), rounds * max(times))
    idle = partition.bubble_fraction(times, [rounds, rounds + 1])
    assert 0 <= idle[1] <= idle[0] < 1
    assert close(partition.bubble_fraction(np.array(times) * unit, rounds), idle[0])


@few
@given(st.integers(1, 50), st.floats(0.01, 1.5))
def test_blindness_costs_more_with_more_devices_and_more_spread(devices_, sigma):
    price = partition.expected_blind_price([devices_, devices_ + 1], sigma)
    assert leq(1, price[0])
    assert leq(price[0], price[1])
    assert leq(price[0], partition.expected_blind_price(devices_, 1.1 * sigma))
    assert partition.expected_blind_price(1, sigma) == 1
    assert partition.blind_price_std(1, sigma) == 0 <= partition.blind_price_std(devices_, sigma)


@few
@given(st.floats(0.1, 5), st.floats(0.1, 5))
def test_two_devices_at_random(sigma, wider):
    """The slower is exp(-s |Z|) times the faster, with s^2 = 2 sigma^2 and one normal Z."""
    s = math.sqrt(2) * sigma
    first, second = (2 * math.exp(t * t / 2) * special.ndtr(t) for t in (s, 2 * s))
    assert close(partition.expected_blind_price(2, sigma), (1 + first) / 2)
    spread = partition.blind_price_std(2, sigma)
    np.testing.assert_allclose(spread, math.sqrt(second - first**2) / 2, rtol=1e-10)
    assert leq(spread, partition.blind_price_std(2, max(sigma, wider)))


# --- order ----------------------------------------------------------------------------------


@few
@given(lists(0.01, 10, 1, 6), lists(0.1, 10, 1, 4))
def test_orders(costs, speeds):
    best, worst = ordering.best_order(costs, speeds), ordering.worst_order(costs, speeds)
    times = [partition.bottleneck(costs, list(o)) for o in itertools.permutations(speeds)]
    assert best.partition.bottleneck == pytest.approx(min(times), rel=2e-12, abs=0)
    assert worst.partition.bottleneck == pytest.approx(max(times), rel=2e-12, abs=0)
    found = ordering.swap_search(costs, speeds).partition.bottleneck
    assert leq(min(times), found)
    assert leq(found, max(times))
    again = ordering.best_order(costs, speeds[::-1]).partition.bottleneck
    assert again == pytest.approx(best.partition.bottleneck, rel=2e-12, abs=0)
    for kind in ("given", "fast-first", "slow-first", "valley"):
        assert sorted(ordering.sort_order(speeds, kind)) == list(range(len(speeds)))


# --- replicas and skips ---------------------------------------------------------------------


@given(shares, st.integers(1, 20), st.floats(0, 0.9))
def test_outage_falls_to_the_domains(live, count, down):
    outage = redundancy.stage_outage(live, [count, count + 1], domain_outage=down)
    assert down <= outage[1] <= outage[0] <= 1


@given(st.integers(1, 60), shares, st.integers(0, 8))
def test_what_is_dropped(stages, outage, skips):
    rate = redundancy.drop_probability(stages, outage, skips=skips)
    assert 0 <= rate <= 1
    assert leq(redundancy.drop_probability(stages, outage, skips=skips + 1), rate)
    assert leq(rate, redundancy.drop_probability(stages + 1, outage, skips=skips))
    assert leq(rate, redundancy.drop_probability(stages, (1 + outage) / 2, skips=skips))
    if rate > 0:
        assert close(np.exp(redundancy.log_drop_probability(stages, outage, skips=skips)), rate)
    each = [outage] * stages
    np.testing.assert_allclose(
        redundancy.unequal_drop_probability(each, skips=skips), rate, rtol=1e-10, atol=1e-300
    )


@given(st.integers(1, 60), shares, st.floats(1e-9, 0.5), st.integers(0, 4), st.floats(0, 1e-3))
def test_the_least_number_of_replicas(stages, live, target, skips, down):
    floor = 1 - redundancy.success_floor(stages, down, skips=skips)
    count = redundancy.min_replicas(
        stages, live, target, skips=skips, domain_outage=down, infeasible="inf"
    )

    def dropped(r):
        return redundancy.drop_probability(
            stages, redundancy.stage_outage(live, r, domain_outage=down), skips=skips
        )

    if math.isinf(count):
        assert leq(target, floor * (1 + 1e-6))
    else:
        assert leq(dropped(int(count)), target)
        assert count == 1 or not leq(dropped(int(count) - 1), target * (1 - 1e-9))


@given(st.integers(1, 40), shares, st.integers(1, 6), shares)
def test_yield_and_its_price(stages, live, count, loss):
    outage = redundancy.stage_outage(live, count)
    free = redundancy.useful_yield(stages, outage, loss)
    assert close(free, (1 - loss * outage) ** stages)
    assert leq(redundancy.useful_yield(stages, outage, loss, skips=0), free)
    assert close(redundancy.cost_per_yield(stages, live, count, loss), stages * count / free)
    best = redundancy.best_design(stages, live, loss)
    assert leq(best.cost, redundancy.cost_per_yield(stages, live, count, loss))
    assert leq(best.cost, redundancy.best_design(stages, live, loss, max_skips=1).cost)


@few
@given(st.lists(st.sampled_from([0.6, 0.8, 0.95]), min_size=1, max_size=4), st.integers(0, 5))
def test_shares_of_workers(live, spare):
    workers = len(live) + spare
    found = redundancy.best_allocation(live, workers)
    assert found.sum() == workers
    assert found.min() >= 1

    def dropped(a, r):
        return redundancy.unequal_drop_probability(redundancy.stage_outage(a, r))

    turned = redundancy.best_allocation(live[::-1], workers)
    np.testing.assert_allclose(dropped(live, found), dropped(live[::-1], turned), rtol=1e-9)


@given(st.integers(2, 12), shares, st.integers(1, 4), st.integers(0, 3))
def test_pools_that_never_fail_do_not_matter(stages, live, count, skips):
    alone = redundancy.drop_probability(stages, redundancy.stage_outage(live, count), skips=skips)
    pools = {"pool_outages": [0.0, 0.0], "pool_of_stage": [i % 2 for i in range(stages)]}
    shared = redundancy.shared_pool_drop_probability(stages, live, count, skips=skips, **pools)
    np.testing.assert_allclose(shared, alone, rtol=1e-10, atol=1e-300)


# --- inner steps ----------------------------------------------------------------------------

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


# --- stragglers -----------------------------------------------------------------------------

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


# --- who is heard ---------------------------------------------------------------------------


@few
@given(rates, st.integers(1, 6), twos)
def test_inclusion(paces, quorum, unit):
    assume(quorum <= len(paces))
    heard = sampling.inclusion_probabilities(paces, quorum)
    assert heard.min() > 0
    assert heard.max() <= 1
    np.testing.assert_allclose(heard.sum(), quorum, rtol=1e-9)
    order = np.argsort(paces, kind="stable")
    assert np.all(np.diff(heard[order]) >= -1e-10)
    scaled = sampling.inclusion_probabilities(np.array(paces) * unit, quorum)
    np.testing.assert_allclose(scaled, heard, rtol=1e-9)
    both = sampling.joint_inclusion_probabilities(paces, quorum)
    np.testing.assert_allclose(both, both.T, rtol=1e-9)
    np.testing.assert_allclose(np.diag(both), heard, rtol=1e-9)
    np.testing.assert_allclose(both.sum(axis=1), quorum * heard, rtol=1e-9)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.05, 1)), min_size=1, max_size=6), twos)
def test_estimates(pairs, unit):
    values, heard = map(np.array, zip(*pairs, strict=True))
    assert close(sampling.hajek(unit * values, heard), unit * sampling.hajek(values, heard))
    assert abs(sampling.hajek(values + 1, heard) - sampling.hajek(values, heard) - 1) < 1e-12
    assert values.min() - 1e-12 <= sampling.plain_mean(values) <= values.max() + 1e-12
    total = sampling.horvitz_thompson(values, heard, 10)
    assert close(sampling.horvitz_thompson(unit * values, heard, 10), unit * total)


@few
@given(st.lists(st.tuples(st.floats(0.2, 5), st.floats(-3, 3)), min_size=2, max_size=5), twos)
def test_errors_of_the_estimates(workers, unit):
    paces, optima = map(np.array, zip(*workers, strict=True))
    heard = sampling.inclusion_probabilities(paces, 1)
    bias = sampling.selection_bias(heard, optima)
    assert abs(sampling.selection_bias(heard, optima + 7) - bias) < 1e-9
    assert abs(sampling.selection_bias([1 / len(paces)] * len(paces), optima)) < 1e-12
    for estimator in ("plain", "horvitz-thompson", "hajek"):
        error = sampling.mean_squared_error(estimator, paces, 1, optima)
        more = sampling.mean_squared_error(estimator, paces, 1, optima, noise=2.0)
        assert 0 < error < more
        scaled = sampling.mean_squared_error(estimator, paces, 1, unit * optima, noise=unit**2)
        np.testing.assert_allclose(scaled, unit**2 * error, rtol=1e-8)
    assert leq(bias**2, sampling.mean_squared_error("plain", paces, 1, optima))


# --- what things cost -----------------------------------------------------------------------

SHAPE = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
    "num_attention_heads": 4, "vocab_size": 100,
}  # fmt: skip


@few
@given(st.integers(1, 100), st.integers(1, 8))
def test_transformers(length, batch):
    shape = machines.from_config(SHAPE)
    one = machines.layers(shape, sequence_length=length)
    many = machines.layers(shape, sequence_length=length, microbatch_size=batch)
    assert close(many.flops, batch * one.flops)
    causal = machines.layers(shape, sequence_length=length, causal=True)
    again = machines.layers(shape, sequence_length=length, recompute=True)
    assert np.all(causal.flops <= one.flops)
    assert np.all(again.flops >= one.flops)
    assert np.all(again.activation_bytes <= one.activation_bytes)
    assert one.parameters.sum() == shape.parameters


def test_tables_are_plausible():
    for name in machines.device_names():
        found = machines.device(name)
        assert 1e12 < found.compute < 1e17
        assert found.bandwidth > 1e11
    assert machines.model("llama-3-8b").parameters > 8e9
