"""Counts of deviations see every point; experiments and proofs compute what they say."""

import math
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise, permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
import z3

from decentral.errors import InfeasibleError
from decentral.machines import constants, devices, transformers
from decentral.partition import bottleneck, fits
from papers import machines, proofs
from papers.claims import Found, exactly
from papers.sources import ordering, partition, redundancy


def times(function, factor, where=lambda *args, **options: True):
    """Multiply what a function returns, at some arguments or at all."""

    def wrong(*args, **options):
        return function(*args, **options) * (factor if where(*args, **options) else 1)

    return wrong


def recorder(calls, answers):
    """Stand in for a function: note the arguments and give the next answer."""
    answers = iter(answers)

    def stand_in(*args, **options):
        calls.append((args, options))
        return next(answers)

    return stand_in


# --- redundancy: the experiments --------------------------------------------------------------


def binomial(trials, chance, count):
    return math.comb(trials, count) * chance**count * (1 - chance) ** (trials - count)


@pytest.mark.parametrize(("stages", "replicas"), [(1, 1), (1, 3), (2, 2), (3, 1), (3, 2)])
def test_patterns_of_live_machines_have_the_binomial_law(stages, replicas):
    live, down = Fraction(3, 4), Fraction(1, 8)
    outage = 1 - (1 - down) * (1 - (1 - live) ** replicas)
    exact = [float(binomial(stages, outage, count)) for count in range(stages + 1)]
    law = redundancy.pattern_law(stages, replicas, float(live), float(down))
    np.testing.assert_allclose(law, exact, rtol=1e-14)


def drawn_slowly(stages, replicas, availability, domain_outage, rounds, seed, domains):
    """The same draws, counted one by one: first those of all domains, then those of replicas."""
    rng = np.random.Generator(np.random.SFC64(seed))
    domain, replica = rng.random((rounds, domains)), rng.random((rounds, stages, replicas))
    share = stages // domains
    return [
        sum(
            domain[t, s // share] < domain_outage or min(replica[t, s]) >= availability
            for s in range(stages)
        )
        for t in range(rounds)
    ]


@pytest.mark.parametrize("pools", [None, 2, 3, 6])
def test_dead_stages_are_those_without_a_domain_or_a_replica(pools):
    counts = redundancy.dead_stages(6, 2, 0.4, 0.3, rounds=200, seed=5, pools=pools)
    assert counts.dtype == np.int64
    assert counts.tolist() == drawn_slowly(6, 2, 0.4, 0.3, 200, 5, pools or 6)


def test_stages_of_a_pool_die_together():
    counts = redundancy.dead_stages(6, 1, 1.0, 0.5, rounds=500, seed=1, pools=2)
    assert np.unique(counts).tolist() == [0, 3, 6]


def test_a_draw_at_the_probability_itself_is_not_below_it():
    rng = np.random.Generator(np.random.SFC64(3))
    domain, replica = rng.random((1, 1))[0, 0], rng.random((1, 1, 1))[0, 0, 0]
    one = partial(redundancy.dead_stages, 1, 1, rounds=1, seed=3)
    assert one(1.0, domain).tolist() == [0]
    assert one(replica, 0.0).tolist() == [1]


def exact_tail(stages, outage, skips):
    return sum(binomial(stages, outage, count) for count in range(skips + 1, stages + 1))


@pytest.mark.parametrize("outage", [Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)])
@pytest.mark.parametrize(("stages", "skips"), [(1, 0), (2, 0), (2, 1), (7, 0), (7, 3), (7, 6)])
def test_precise_tails_are_the_sums_of_fractions(stages, skips, outage):
    exact = exact_tail(stages, outage, skips)
    assert redundancy.precise_drop(stages, float(outage), skips) == float(exact)
    logarithm = redundancy.precise_drop(stages, float(outage), skips, log=True)
    assert logarithm == pytest.approx(math.log(exact), rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("stages", "outage", "skips", "tail"),
    [(4, 0, 0, 0), (4, 0, 3, 0), (4, 1, 0, 1), (4, 1, 3, 1), (4, 1, 4, 0), (4, 0.5, 4, 0)],
)
def test_precise_tails_at_the_edges(stages, outage, skips, tail):
    assert redundancy.precise_drop(stages, outage, skips) == tail
    logarithm = redundancy.precise_drop(stages, outage, skips, log=True)
    assert logarithm == (0 if tail else -math.inf)


def test_precise_tails_are_precise_where_a_sum_would_cancel():
    """1 - P is 2^-130 here, which fifty digits still see."""
    logarithm = redundancy.precise_drop(2, 1 - 2.0**-40, 0, log=True)
    assert logarithm == pytest.approx(-(2.0**-80), rel=1e-12, abs=0)
    assert redundancy.precise_drop(20, 1e-40, 9, log=True) == pytest.approx(
        10 * math.log(1e-40) + math.log(math.comb(20, 10)), rel=1e-14, abs=0
    )


@pytest.fixture
def steps(monkeypatch):
    """The steps of all loops over a range."""
    seen = []

    def counting(*bounds):
        for value in range(*bounds):
            seen.append(value)
            yield value

    monkeypatch.setattr(redundancy, "range", counting, raising=False)
    return seen


def test_the_sum_of_a_tail_ends_once_its_terms_are_too_small_to_count(steps):
    tail = redundancy.precise_drop(10**6, 1e-9, 4)
    assert tail == pytest.approx(math.comb(10**6, 5) * 1e-45 * (1 - 1e-3 * 5 / 6), rel=1e-6, abs=0)
    assert 0 < len(steps) < 20


@pytest.mark.parametrize(("outage", "skips"), [(0, 0), (1, 0), (0.5, 50)])
def test_nothing_is_added_up_where_the_tail_is_nought_or_one(steps, outage, skips):
    redundancy.precise_drop(50, outage, skips)
    assert steps == []


def test_precise_least_tries_one_replica_more_each_time(monkeypatch):
    calls = []
    monkeypatch.setattr(redundancy, "precise_drop", recorder(calls, [1.0, 0.0, 1.0, 1.0, 0.0]))
    assert redundancy.precise_least(6, 0.5, 0.25, 2, 0.0) == 3
    assert calls == [((6, outage, 2), {}) for outage in (0.5, 0, 0.5, 0.25, 0.125)]


@pytest.mark.parametrize(
    ("stages", "availability", "target", "skips", "domain_outage", "least"),
    [
        (1, 0.5, 0.25, 0, 0.0, 2),  # met exactly
        (1, 0.5, 0.2, 0, 0.0, 3),
        (1, 0.5, 1.0, 0, 0.0, 1),
        (1, 0.75, 0.25, 0, 0.0, 1),  # met exactly
        (4, 0.75, 0.01, 1, 0.0, 3),  # 6 q^2 - 8 q^3 + 3 q^4 at q = 1/16, 1/64
        (2, 0.5, 0.25, 1, 0.25, 3),  # q^2 with q = 1/4 + 3/4 / 2^r at most 1/2, met at r = 2
        (1, 0.5, 0.25, 0, 0.25, math.inf),  # the domains alone drop as much
        (1, 0.5, 0.2, 0, 0.25, math.inf),
        (1, 1.0, 0.25, 0, 0.25, 1),  # one replica drops no more than the domains do
        (2, 0.5, 0.0, 2, 0.25, 1),  # all may be skipped
    ],
)
def test_precise_least_is_the_first_that_meets_the_target(
    stages, availability, target, skips, domain_outage, least
):
    def tail(replicas):
        down, dead = Fraction(domain_outage), 1 - Fraction(availability)
        return exact_tail(stages, down + (1 - down) * dead**replicas, skips)

    found = redundancy.precise_least(stages, availability, target, skips, domain_outage)
    assert isinstance(found, float)
    if least == math.inf:
        assert found == math.inf
        assert tail(100) > target or exact_tail(stages, Fraction(domain_outage), skips) >= target
    else:
        assert tail(int(found)) <= target
        assert found == 1 or tail(int(found) - 1) > target


def exact_cost(stages, replicas, skips, availability, loss):
    outage = (1 - availability) ** replicas
    useful = sum(
        binomial(stages, outage, count) * (1 - loss) ** count for count in range(skips + 1)
    )
    return float(stages * replicas / useful)


@pytest.mark.parametrize("stages", [3, 30])
def test_the_table_of_costs_holds_each_design(stages):
    availability, loss = Fraction(3, 4), Fraction(1, 8)
    table = redundancy.cost_table(stages, 0.75, 0.125)
    assert table.shape == (60, min(24, stages) + 1)
    for replicas, skips in product((1, 2, 5), (0, 1, 2, 3)):
        exact = exact_cost(stages, replicas, skips, availability, loss)
        assert table[replicas - 1, skips] == pytest.approx(exact, rel=1e-14, abs=0)
    assert redundancy.cost_table(5, 0.75, 0.125, most_replicas=2, most_skips=1).shape == (2, 2)


def test_failure_rates_come_from_a_share_lost_or_from_counts(monkeypatch):
    runs = {
        "a": {"name": "A", "hourly_loss": {"value": 0.25}},
        "b": {"name": "B", "failures": {"value": 6}, "hours": {"value": 4}},
    }
    runs["b"]["machines"] = {"value": 3}
    monkeypatch.setattr(constants, "load", lambda: {"reliability": runs})
    rates = redundancy.failure_rates()
    assert rates.keys() == {"A", "B"}
    assert rates["A"] == pytest.approx(-math.log(0.75), rel=1e-15)
    assert rates["B"] == 0.5


# --- redundancy: the claims -------------------------------------------------------------------


@pytest.mark.parametrize(("cap", "most_skips"), [(24, 24), (None, 128)])
def test_gains_are_those_of_the_table_of_all_designs(cap, most_skips):
    exact = []
    for length, loss in product((16, 48, 128), (0.02, 0.1, 0.4)):
        table = redundancy.cost_table(length, 0.9, loss, most_skips=most_skips)
        exact.append(table[:, 0].min() / table.min())
    np.testing.assert_allclose(redundancy._gains(cap), exact, rtol=1e-12)


# The tails of 1 + 2 + 3 + 4 + 5 stages, at three pairs of availability and domain outage.
TAILS = (1 + 2 + 3 + 4 + 5) * 3
LAW = cache(redundancy.pattern_law)


@pytest.mark.parametrize(
    ("factor", "where", "count"),
    [
        (1 + 3e-12, lambda *case: True, TAILS),
        (1 + 0.3e-12, lambda *case: True, 0),
        (2, lambda *case: case[:2] == (1, 1), 1 * 3),
        (2, lambda *case: case[:2] == (2, 3), 2 * 3),
        (2, lambda *case: case[:2] == (3, 2), 3 * 3),
        (2, lambda *case: case[:2] == (4, 3), 4 * 3),
        (2, lambda *case: case[:2] == (5, 2), 5 * 3),
        (2, lambda *case: case[2:] == (0.9, 0.0), 15),
        (2, lambda *case: case[2:] == (0.9, 1e-3), 15),
        (2, lambda *case: case[2:] == (0.5, 0.2), 15),
    ],
)
def test_every_tail_that_deviates_is_counted(monkeypatch, factor, where, count):
    monkeypatch.setattr(redundancy, "pattern_law", times(LAW, factor, where))
    assert redundancy._deviating_patterns() == count


@pytest.mark.parametrize(("factor", "count"), [(1 + 3e-12, TAILS), (1 - 3e-12, TAILS), (1, 0)])
def test_every_wrong_tail_of_the_library_is_counted(monkeypatch, factor, count):
    monkeypatch.setattr(redundancy, "pattern_law", LAW)
    monkeypatch.setattr(redundancy, "drop_probability", times(redundancy.drop_probability, factor))
    assert redundancy._deviating_patterns() == count


STAGES, OUTAGES, REPLICAS = (1, 16, 48, 1000), (1e-6, 1e-3, 0.1), range(1, 41)
PIPELINES = 4 * 3


def success_off_by(relative, replicas=REPLICAS):
    """An outage that makes the success without skips differ from its ceiling by so much."""

    def outage(availability, counts, *, domain_outage):
        assert availability == 0.9
        assert counts.ravel().tolist() == list(REPLICAS)
        assert domain_outage.tolist() == [[down] * len(STAGES) for down in OUTAGES]
        exact = 1 - (1 - domain_outage) * (1 + relative) ** (1 / np.array(STAGES))
        plain = redundancy_outage(0.9, counts, domain_outage=domain_outage)
        return np.where(np.isin(counts, replicas), exact, plain)

    return outage


redundancy_outage = redundancy.stage_outage


@pytest.mark.parametrize(
    ("relative", "replicas", "count"),
    [
        (3e-12, REPLICAS, 40 * PIPELINES),
        (0.3e-12, REPLICAS, 0),
        (3e-9, [40], 2 * PIPELINES),  # above the ceiling, and away from it
        (0.3e-9, [40], 1 * PIPELINES),  # above it only
        (-3e-9, [40], PIPELINES),  # away only
        (-0.3e-9, [40], 0),
        (-0.5, [39], 0),  # only the largest number need be near the ceiling
    ],
)
def test_every_success_above_its_ceiling_or_away_from_it_is_counted(
    monkeypatch, relative, replicas, count
):
    monkeypatch.setattr(redundancy, "stage_outage", success_off_by(relative, replicas))
    assert redundancy._above_the_ceiling() == count


def test_a_success_at_the_tolerance_itself_is_not_above_the_ceiling(monkeypatch):
    def outage(availability, counts, *, domain_outage):
        plain = redundancy_outage(availability, counts, domain_outage=domain_outage)
        at_most = (1 - domain_outage) * (1 + 1e-12)
        return np.where((np.array(STAGES) == 1) & (at_most < 1), 1 - at_most, plain)

    monkeypatch.setattr(redundancy, "stage_outage", outage)
    assert redundancy._above_the_ceiling() == 0


@pytest.mark.parametrize(
    ("factor", "count"),
    [(1 + 3e-9, PIPELINES), (1 - 3e-9, PIPELINES), (1 + 0.3e-9, 0), (1 - 0.3e-9, 0)],
)
def test_every_floor_away_from_the_ceiling_is_counted(monkeypatch, factor, count):
    monkeypatch.setattr(redundancy, "success_floor", times(redundancy.success_floor, factor))
    assert redundancy._above_the_ceiling() == count


def test_a_pipeline_away_on_both_counts_is_counted_once(monkeypatch):
    monkeypatch.setattr(redundancy, "success_floor", times(redundancy.success_floor, 0.5))
    monkeypatch.setattr(redundancy, "stage_outage", success_off_by(-0.5, [40]))
    assert redundancy._above_the_ceiling() == PIPELINES


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("down", OUTAGES)
def test_each_pipeline_is_compared_with_its_ceiling(monkeypatch, stages, down):
    floor = redundancy.success_floor

    def wrong(lengths, outages):
        return floor(lengths, outages) * np.where((lengths == stages) & (outages == down), 2, 1)

    monkeypatch.setattr(redundancy, "success_floor", wrong)
    assert redundancy._above_the_ceiling() == 1


def test_r3_is_computed_at_the_parameters_it_prints(monkeypatch):
    calls = []
    monkeypatch.setattr(redundancy, "min_replicas", recorder(calls, [7.0, 5.0]))
    assert redundancy._r3() == (Found(7, "d"), Found(5, "d"))
    assert calls == [
        ((48, 0.9, 0.01), {"domain_outage": 1e-3}),
        ((48, 0.9, 0.01), {"domain_outage": 1e-3, "skips": 1}),
    ]


def test_r3_says_nought_where_no_number_is_enough():
    assert redundancy._r3()[0] == Found(0, "d")
    with pytest.raises(InfeasibleError):
        redundancy.min_replicas(48, 0.9, 0.01, domain_outage=1e-3)


def test_r4_is_computed_at_the_parameters_it_prints(monkeypatch):
    calls = []
    monkeypatch.setattr(redundancy, "min_replicas", recorder(calls, [5.0, 2.0]))
    assert redundancy._r4() == (Found(240, "d"), Found(96, "d"))
    assert calls == [((48, 0.9, 1e-3), {"skips": skips}) for skips in (0, 4)]


def test_r5_takes_the_extremes_with_the_cap_and_one_design_without(monkeypatch):
    gains = {24: np.array([2.0, 3.0, 1.5]), None: np.arange(10.0, 19.0)}
    monkeypatch.setattr(redundancy, "_gains", gains.__getitem__)
    row = [(length, loss) for length in (16, 48, 128) for loss in (0.02, 0.1, 0.4)]
    third = 10.0 + row.index((128, 0.02))
    assert redundancy._r5() == (Found(3.0, ".2f"), Found(1.5, ".3f"), Found(third, ".4f"))


# --- partition: the experiments ---------------------------------------------------------------


def test_pools_have_log_normal_speeds():
    speeds = np.exp(0.5 * np.random.default_rng(7).standard_normal((3, 2)))
    np.testing.assert_allclose(partition.pools(3, 2, 0.5, seed=7), speeds, rtol=1e-14)


def test_the_aware_price_is_the_bottleneck_over_the_bound():
    price = partition.aware_price(np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 2.0]]), 5)
    np.testing.assert_allclose(price, [3 * 2 / 5, 4 / 3 * 4 / 5, 3 / 2 * 4 / 5], rtol=1e-15)


@pytest.mark.parametrize(
    ("slack", "price"),
    [
        ({}, 3.0),  # the fast device holds 1.3 * 2 * 2 / 3 = 1.7 layers
        ({"slack": 1.5}, 2.0),  # exactly 2
        ({"slack": 2.25}, 1.0),  # exactly 3, as many as are best
    ],
)
def test_memory_inflates_the_bottleneck_if_fast_devices_hold_little(slack, price):
    speeds = np.array([[1.0, 3.0], [2.0, 6.0], [1.0, 1.0]])
    assert partition.memory_inflation(speeds, 4, **slack).tolist() == [price, price, 1.0]


def test_the_loss_of_rounding_is_the_mean_over_chains_and_pools():
    rng, speeds = np.random.default_rng(4), np.random.default_rng(5).standard_normal((3, 8))
    ratios = []
    for pool in np.exp(0.5 * speeds):
        chain = np.exp(0.7 * rng.standard_normal(20))
        rounded = partition.proportional_split(chain, pool).bottleneck
        ratios.append(rounded / partition.dynamic_programme(chain, pool))
    mean, error = partition.rounding_loss(20, 0.7, draws=3, seed=4)
    assert mean == pytest.approx(sum(ratios) / 3, rel=1e-14)
    spread = sum((ratio - mean) ** 2 for ratio in ratios) / 2
    assert error == pytest.approx(math.sqrt(spread / 3), rel=1e-13)


def test_the_mean_and_its_error():
    mean, error = partition.mean_and_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert error == pytest.approx(math.sqrt(14 / 3 / 4), rel=1e-15)


@pytest.mark.parametrize(
    ("stages", "microbatches", "time"),
    [([3], 4, 12), ([3, 1], 2, 7), ([1, 3], 2, 7), ([2, 5, 3], 3, 20), ([5, 2, 1], 1, 8)],
)
def test_the_flow_shop_takes_the_sum_and_the_longest_stage_again(stages, microbatches, time):
    assert partition.flow_shop(stages, microbatches) == time
    assert time == sum(stages) + (microbatches - 1) * max(stages)


def all_bottlenecks(costs, speeds, memory=None, capacity=None, overhead=None):
    """The longest stage of each cut that the capacities allow, in the order given."""
    for inner in combinations_with_replacement(range(len(costs) + 1), len(speeds) - 1):
        cut = (0, *inner, len(costs))
        blocks = list(pairwise(cut))
        if capacity is None or all(
            sum(memory[a:b]) <= room for (a, b), room in zip(blocks, capacity, strict=True)
        ):
            yield max(
                (sum(costs[a:b]) / speeds[j] + (overhead[j] if overhead is not None else 0))
                if a < b
                else 0
                for j, (a, b) in enumerate(blocks)
            )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"overhead": [1.0, 0.5, 2.0]},
        {"memory": [2.0, 1.0, 3.0, 1.0], "capacity": [3.0, 3.0, 2.0]},  # met exactly
        {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [0.5, 4.0, 1.0]},
        {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [1.0, 1.0, 1.0]},  # no cut
        {"memory": [1.0, 9.0, 1.0, 1.0], "capacity": [8.0, 8.0, 8.0], "overhead": [0.0, 0.0, 1.0]},
        {"memory": [3.0, 1.0, 1.0, 1.0], "capacity": [2.0, 3.0, 3.0], "overhead": [0.0, 8.0, 0.5]},
    ],
)
@pytest.mark.parametrize("costs", [[4.0, 1.0, 1.0, 2.0], [1.0, 0.0, 2.0, 8.0]])
def test_the_dynamic_programme_is_the_best_of_all_cuts(costs, options):
    speeds = [1.0, 4.0, 2.0]
    best = min(all_bottlenecks(costs, speeds, **options), default=math.inf)
    arrays = {name: np.array(value) for name, value in options.items()}
    assert partition.dynamic_programme(np.array(costs), np.array(speeds), **arrays) == best


def test_no_device_has_no_overhead_that_it_need_not_bear():
    """An overhead counts only on devices that hold a layer."""
    costs, speeds = np.array([1.0]), np.array([1.0, 1.0])
    assert partition.dynamic_programme(costs, speeds, overhead=np.array([9.0, 0.5])) == 1.5


def test_random_chains_cover_the_sizes_and_half_of_them_have_caps():
    chains = list(partition.random_chains(4000, seed=3))
    assert len(chains) == 4000
    assert {costs.size for costs, _ in chains} == set(range(1, 40))
    assert {case["speeds"].size for _, case in chains} == set(range(1, 9))
    for index, (costs, case) in enumerate(chains):
        caps = {"memory": costs.size, "capacity": case["speeds"].size} if index % 2 else {}
        sizes = {"speeds": case["speeds"].size} | caps
        assert {name: value.size for name, value in case.items()} == sizes


def test_random_chains_are_log_normal_with_uniform_caps():
    chains = list(partition.random_chains(4000, seed=3))
    capped = [case for _, case in chains[1::2]]
    samples = {
        "costs": (1.0, np.log(np.concatenate([costs for costs, _ in chains]))),
        "speeds": (1.0, np.log(np.concatenate([case["speeds"] for _, case in chains]))),
        "memory": (0.5, np.log(np.concatenate([case["memory"] for case in capped]))),
    }
    for sigma, sample in samples.values():
        assert abs(sample.mean()) < 4 * sigma / math.sqrt(sample.size)
        assert abs(sample.std() / sigma - 1) < 4 / math.sqrt(2 * sample.size)
    shares = np.concatenate(
        [case["capacity"] * case["speeds"].size / case["memory"].sum() for case in capped]
    )
    assert 0.5 <= shares.min() < 0.502
    assert 2.498 < shares.max() <= 2.5
    assert abs(shares.mean() - 1.5) < 4 * 2 / math.sqrt(12 * shares.size)


def test_random_chains_come_from_their_seed():
    one, again, other = (list(partition.random_chains(5, seed=seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, again, strict=True))
    assert not any(np.array_equal(a[0], b[0]) for a, b in zip(one, other, strict=True))


# --- partition: the claims --------------------------------------------------------------------


HOPELESS = 3  # of the 60 chains below; none of their cuts keeps to the capacities


@pytest.mark.parametrize(
    ("name", "wrong", "count"),
    [
        ("dynamic_programme", lambda optimum: optimum * (1 + 4e-12), 60 - HOPELESS),
        ("dynamic_programme", lambda optimum: optimum * (1 - 2e-12), 60 - HOPELESS),
        ("dynamic_programme", lambda optimum: math.inf, 60 - HOPELESS),
        ("fits", lambda answer: True, 60),
        ("fits", lambda answer: False, 60 - HOPELESS),
        ("fits", lambda answer: not answer, 60),
        ("fits", lambda answer: answer, 0),
    ],
)
def test_every_disagreement_with_the_greedy_test_is_counted(monkeypatch, name, wrong, count):
    right = getattr(partition, name)
    monkeypatch.setattr(partition, name, lambda *args, **rest: wrong(right(*args, **rest)))
    assert partition.greedy_disagreements(60, seed=11) == count


@pytest.mark.parametrize("accepted", ["optimum", "below"])
def test_the_greedy_test_must_accept_the_optimum_and_refuse_less(monkeypatch, accepted):
    chain, optimum = np.ones(3), 2.5
    below = 2.5 * (1 - 2e-12)
    seeds = []

    def chains(count, *, seed):
        seeds.append((count, seed))
        return [(chain, {"speeds": "v", "capacity": "M"})] * count

    def fit(costs, *, target, speeds, capacity):
        assert (costs is chain, speeds, capacity) == (True, "v", "M")
        assert target in (optimum, below)
        return target == {"optimum": optimum, "below": below}[accepted]

    monkeypatch.setattr(partition, "random_chains", chains)
    monkeypatch.setattr(partition, "dynamic_programme", lambda costs, speeds, capacity: 2.5)
    monkeypatch.setattr(partition, "fits", fit)
    assert partition.greedy_disagreements(4, seed=9) == (0 if accepted == "optimum" else 4)
    assert seeds == [(4, 9)]


def test_where_no_partition_exists_the_greedy_test_is_asked_without_a_target(monkeypatch):
    def fit(costs, *, target, speeds):
        return (costs, target, speeds) == ("w", math.inf, "v")

    monkeypatch.setattr(partition, "random_chains", lambda n, *, seed: [("w", {"speeds": "v"})] * n)
    monkeypatch.setattr(partition, "dynamic_programme", lambda costs, speeds: math.inf)
    monkeypatch.setattr(partition, "fits", fit)
    assert partition.greedy_disagreements(3, seed=1) == 3


@pytest.mark.parametrize("devices", [2, 3, 5])
@pytest.mark.parametrize("options", [{}, {"layers": 3}])
def test_the_multiple_is_proved_for_each_number_of_layers(monkeypatch, devices, options):
    calls = []
    monkeypatch.setattr(partition, "bound_holds", recorder(calls, [True] * 99))
    assert partition.sharp_multiple(devices, **options) == devices - 1
    sizes = range(1, options.get("layers", 8) + 1)
    assert calls == [((size, devices), {}) for size in sizes]


@pytest.mark.parametrize("refuted", [1, 4, 8])
def test_the_multiple_is_withdrawn_if_a_proof_fails(monkeypatch, refuted):
    monkeypatch.setattr(partition, "bound_holds", lambda layers, devices: layers != refuted)
    with pytest.raises(AssertionError):
        partition.sharp_multiple(4)


@pytest.mark.parametrize("factor", [1 + 1e-15, 0.5, 2])
@pytest.mark.parametrize("name", ["bottleneck", "lower_bound"])
def test_the_multiple_is_withdrawn_if_equal_layers_do_not_attain_it(monkeypatch, name, factor):
    monkeypatch.setattr(partition, "bound_holds", lambda layers, devices: True)
    monkeypatch.setattr(partition, name, times(getattr(partition, name), factor))
    with pytest.raises(AssertionError):
        partition.sharp_multiple(4)


@pytest.mark.parametrize("name", ["lower_bound", "equal_split"])
@pytest.mark.parametrize(
    ("factor", "count"),
    [(1 + 3e-12, 50), (1 - 3e-12, 50), (1 + 0.3e-12, 0), (1 - 0.3e-12, 0)],
)
def test_every_pool_with_another_price_of_blindness_is_counted(monkeypatch, name, factor, count):
    right = getattr(partition, name)

    def wrong(chain, pool):
        assert chain.tolist() == [1.0] * 240
        if name == "lower_bound":
            return right(chain, pool) * factor
        return SimpleNamespace(bottleneck=right(chain, pool).bottleneck * factor)

    monkeypatch.setattr(partition, name, wrong)
    assert partition.blind_disagreements(50, seed=13) == count


def test_the_pools_of_the_price_of_blindness_are_those_of_the_claim(monkeypatch):
    calls = []
    monkeypatch.setattr(partition, "pools", recorder(calls, [np.ones((2, 8))]))
    assert partition.blind_disagreements(2, seed=13) == 0
    assert calls == [((2, 8, 1.0), {"seed": 13})]


def test_p4_is_the_price_of_eight_devices_and_its_deviation(monkeypatch):
    calls = []
    monkeypatch.setattr(partition, "expected_blind_price", recorder(calls, [np.float64(2.5)]))
    monkeypatch.setattr(partition, "blind_price_std", recorder(calls, [np.float64(0.5)]))
    found = partition._p4(0.75)
    assert found == Found(2.5, ".4f", deviation=0.5)
    assert type(found.value) is type(found.deviation) is float
    assert calls == [((8, 0.75), {})] * 2


def test_a_count_is_printed_as_a_whole_number():
    assert exactly(lambda: 7)() == (Found(7, "d"),)


# --- ordering ---------------------------------------------------------------------------------


def test_chains_and_pools_have_the_spreads_of_the_source():
    costs, speeds = ordering.draw(3, 2, np.random.default_rng(6))
    normal = np.random.default_rng(6).standard_normal(5)
    np.testing.assert_allclose(costs, np.exp(0.6 * normal[:3]), rtol=1e-14)
    np.testing.assert_allclose(speeds, np.exp(0.8 * normal[3:]), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_three_partition_separates_the_groups_by_heavy_layers(count):
    groups = [[3, 2, 4], [1, 5, 3], [2, 2, 5]][:count]
    costs, speeds, heavy = ordering.three_partition(groups)
    assert heavy == 10
    assert costs == ([1] * 9 + [10]) * (count - 1) + [1] * 9
    assert speeds == sorted(n for group in groups for n in group) + [10] * (count - 1)


def test_all_cuts_are_listed_with_their_sum_and_their_largest():
    costs, speeds = np.array([3.0, 1.0]), np.array([2.0, 1.0])
    total, longest = ordering.all_cuts(costs, speeds)
    # In the order 1, 2 and in the order 2, 1: nothing, one layer, both on the first device.
    pairs = [(0, 2), (0, 4), (3, 0.5), (1.5, 1), (4, 0), (2, 0)]
    assert sorted(zip(total, longest, strict=True)) == sorted((a + b, max(a, b)) for a, b in pairs)


def test_equal_orders_are_listed_once():
    total, _ = ordering.all_cuts(np.ones(3), np.array([1.0, 2.0, 1.0]))
    assert total.size == 3 * math.comb(5, 2)


def test_the_orders_of_the_claims_are_those_that_they_print(monkeypatch):
    calls = []
    monkeypatch.setattr(ordering, "order_ratios", recorder(calls, ["ratios"]))
    assert ordering._p6() == "ratios"
    assert calls == [((14, 6, 800, 6), {})]


# --- machines ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "bytes_each", "reserve", "tokens"),
    [
        ({}, 16, 0.05, 4096),
        ({"state": 12}, 12, 0.05, 4096),
        ({"reserve": 0.25}, 16, 0.25, 4096),
        ({"tokens": 1000}, 16, 0.05, 1000),
    ],
)
def test_the_job_costs_layers_and_devices_as_its_docstring_says(
    options, bytes_each, reserve, tokens
):
    pool = ("h100-sxm", "mi300x", "a100-sxm-80")
    job = machines.llama_job(pool, **options)
    shape = transformers.model("llama-3-70b")
    run = partial(transformers.layers, shape, sequence_length=tokens, causal=True)
    kept, working = run(recompute=True, bytes_per_parameter=bytes_each), run()
    assert job.tokens == tokens
    assert job.layers.flops.tolist() == job.costs.tolist() == kept.flops.tolist()
    copies = [3] * (len(kept.flops) - 1) + [1]
    held = zip(kept.parameter_bytes.tolist(), copies, kept.activation_bytes.tolist(), strict=True)
    assert job.memory.dtype == np.int64
    assert job.memory.tolist() == [weights + n * each for weights, n, each in held]
    offered = [devices.device(name) for name in pool]
    assert job.speeds.tolist() == [device.compute for device in offered]
    np.testing.assert_allclose(
        job.capacity,
        [
            device.memory - reserve * device.memory - working.activation_bytes[1]
            for device in offered
        ],
        rtol=1e-15,
    )


def test_the_whole_pool_is_the_default():
    job = machines.llama_job()
    assert job.speeds.tolist() == [devices.device(name).compute for name in machines.POOL]
    assert job.within == {"memory": job.memory, "capacity": job.capacity}


# --- proofs: the statements, at numbers -------------------------------------------------------
#
# A formula is worth what it says: with numbers for its variables it must be true exactly where
# plain arithmetic or the library finds so.


def says(formula, **numbers):
    """The truth of a formula at numbers: w costs, v speeds, k lost work, q sizes, M capacities."""
    pairs = []
    for name, values in numbers.items():
        if np.ndim(values):
            pairs += [(z3.Real(f"{name}__{i}"), z3.RealVal(str(x))) for i, x in enumerate(values)]
        else:
            pairs.append((z3.Real(name), z3.RealVal(str(values))))
    truth = z3.simplify(z3.substitute(formula, *pairs))
    assert z3.is_true(truth) or z3.is_false(truth), truth
    return z3.is_true(truth)


WAYS = [{"memory": m, "overhead": o} for m in (False, True) for o in (False, True)]


@pytest.mark.parametrize("options", WAYS)
def test_a_block_fits_up_to_the_limits_themselves(options):
    case = proofs._Instance(3, 2, **options)
    costs, lost, sizes = (2, 3, 4), (1, 2), (5, 1, 3)
    for device, start, end in product((0, 1), range(4), range(4)):
        if start > end:
            continue
        time = sum(costs[start:end]) + lost[device] * options["overhead"]
        size = sum(sizes[start:end])
        for speed, room in product((time - 1, time, time + 1), (size - 1, size, size + 1)):
            numbers = {"w": costs, "v": [100] * 2, "k": lost, "q": sizes, "M": [100] * 2}
            numbers["v"][device], numbers["M"][device] = speed, room
            expected = start == end or (time <= speed and (size <= room or not options["memory"]))
            assert says(case.fits(device, start, end), **numbers) == expected


def test_a_plain_instance_has_neither_memory_nor_overhead():
    plain = proofs._Instance(1, 1)
    assert says(plain.fits(0, 0, 1), w=[3], v=[3])
    assert (plain.memory, plain.sizes, plain.caps) == (False, [], [])


@pytest.mark.parametrize("options", WAYS)
def test_costs_may_vanish_and_speeds_may_not(options):
    domain = z3.And(*proofs._Instance(2, 2, **options).domain)
    least = {"w": [0, 0], "v": ["1/1000"] * 2, "k": [0, 0], "q": [0, 0], "M": [0, 0]}
    assert says(domain, **least)
    bounded = "wv" + "qM" * options["memory"] + "k" * options["overhead"]
    for name, place in product(least, (0, 1)):
        lower = list(least[name])
        lower[place] = 0 if name == "v" else "-1/1000"
        assert says(domain, **(least | {name: lower})) == (name not in bounded)


@pytest.mark.parametrize(("layers", "count"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 3)])
def test_all_cuts_are_tried_in_the_proofs(layers, count):
    cuts = list(proofs._Instance(layers, count).cuts())
    every = [
        cut
        for cut in product(range(layers + 1), repeat=count + 1)
        if cut[0] == 0 and cut[-1] == layers and list(cut) == sorted(cut)
    ]
    assert sorted(cuts) == every
    assert len(cuts) == len(set(cuts)) == math.comb(layers + count - 1, count - 1)


def instances(layers, count, draws=40, seed=2):
    """Small whole numbers, speeds powers of 2: no rounding, and many ties."""
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield {
            "w": rng.integers(0, 4, layers).tolist(),
            "v": (2 ** rng.integers(0, 4, count)).tolist(),
            "k": rng.integers(0, 3, count).tolist(),
            "q": rng.integers(0, 4, layers).tolist(),
            "M": rng.integers(0, 7, count).tolist(),
        }


def as_arguments(numbers, *, memory, overhead):
    """The arguments of the library for these numbers."""
    given = {"costs": numbers["w"], "speeds": numbers["v"]}
    if memory:
        given |= {"memory": numbers["q"], "capacity": numbers["M"]}
    if overhead:
        given["overhead"] = [k / v for k, v in zip(numbers["k"], numbers["v"], strict=True)]
    return given


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 1), (1, 2), (3, 2), (4, 3)])
def test_the_walk_and_the_cuts_of_the_proof_are_those_of_the_library(layers, count, options):
    case = proofs._Instance(layers, count, **options)
    walk, cuts = case.greedy_fails(), list(case.cuts())
    some_cut = z3.Or(*(case.meets(cut) for cut in cuts))
    answers = set()
    for numbers in instances(layers, count):
        answer = fits(target=1, **as_arguments(numbers, **options))
        answers.add(answer)
        assert says(walk, **numbers) != answer
        assert says(some_cut, **numbers) == answer
    assert answers == {False, True}


def stated(monkeypatch, proof, *args, **options):
    """The negation that a proof hands to the solver."""
    seen = []

    def catch(*negation):
        seen.append(z3.And(*negation))
        return "answer"

    with monkeypatch.context() as patch:
        patch.setattr(proofs, "_holds_for_all", catch)
        assert proof(*args, **options) == "answer"
    return seen[0]


NEGATIVE = {"w": [-1, 0, 0], "v": [8, 8], "k": [0, 0], "q": [0, 0, 0], "M": [1, 1]}


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("forgotten", ["greedy_fails", "meets"])
def test_the_proof_of_the_walk_opposes_the_walk_to_the_cuts(monkeypatch, options, forgotten):
    """With one side always true the negation says what the other side says."""
    monkeypatch.setattr(proofs._Instance, forgotten, lambda *_: z3.BoolVal(True))
    negation = stated(monkeypatch, proofs.greedy_is_exact, 3, 2, **options)
    for numbers in instances(3, 2):
        answer = fits(target=1, **as_arguments(numbers, **options))
        assert says(negation, **numbers) == (answer == (forgotten == "greedy_fails"))
    if forgotten == "greedy_fails":
        assert says(negation, **(NEGATIVE | {"w": [0, 0, 0]}))
        assert not says(negation, **NEGATIVE)


def test_the_proof_of_the_walk_is_plain_by_default(monkeypatch):
    monkeypatch.setattr(proofs._Instance, "greedy_fails", lambda *_: z3.BoolVal(True))
    assert says(stated(monkeypatch, proofs.greedy_is_exact, 1, 1), w=[3], v=[3])


def on_the_scale(numbers, multiple, *, overhead):
    """The same costs, speeds and lost work in units in which the bound and V are 1."""
    costs, lost = numbers["w"], numbers["k"] if overhead else []
    whole = sum(costs) + sum(lost) + multiple * max(costs)
    units = {"w": whole, "k": whole, "v": sum(numbers["v"])}
    point = {name: [Fraction(x, unit) for x in numbers[name]] for name, unit in units.items()}
    return point | {"w_max": max(point["w"])}


@pytest.mark.parametrize("overhead", [False, True])
@pytest.mark.parametrize(("multiple", "answers"), [(0, {False, True}), (1, {False}), (2, {False})])
def test_the_proof_of_the_bound_states_the_bound(monkeypatch, multiple, answers, overhead):
    """The negation says that every cut takes more than the bound; on the scale, nothing else."""
    options = {"multiple": lambda m: multiple, "overhead": overhead}
    negation = stated(monkeypatch, proofs.bound_holds, 3, 2, **options)
    found = set()
    for numbers in instances(3, 2, draws=30):
        if max(numbers["w"]) == 0:
            continue
        point = on_the_scale(numbers, multiple, overhead=overhead)
        spare = [k / v for k, v in zip(point["k"], point["v"], strict=True)]
        limits = {"overhead": spare} if overhead else {}
        answer = min(all_bottlenecks(point["w"], point["v"], **limits)) > 1
        assert says(negation, **point) == answer
        assert not says(negation, **(point | {"v": [v / 2 for v in point["v"]]}))
        assert not says(negation, **(point | {"w": [2 * w for w in point["w"]]}))
        assert not says(negation, **(point | {"w_max": point["w_max"] / 2}))
        found.add(answer)
    assert found == answers


def test_the_bound_of_the_theorem_is_the_default(monkeypatch):
    """With m = 3: 2 w_max, and no overhead."""
    negation = stated(monkeypatch, proofs.bound_holds, 1, 3)
    monkeypatch.setattr(proofs._Instance, "meets", lambda *_: z3.BoolVal(False))
    no_cut = stated(monkeypatch, proofs.bound_holds, 1, 3)
    third = Fraction(1, 3)
    point = {"w": [third], "v": [third] * 3, "w_max": third}
    assert says(no_cut, **point)
    assert not says(negation, **point)


def test_costs_below_nought_are_outside_the_bound(monkeypatch):
    monkeypatch.setattr(proofs._Instance, "meets", lambda *_: z3.BoolVal(False))
    no_cut = stated(monkeypatch, proofs.bound_holds, 2, 2)
    half = Fraction(1, 2)
    assert says(no_cut, w=[half, 0], v=[half, half], w_max=half)
    assert not says(no_cut, w=[1, -1], v=[half, half], w_max=1)


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 1), (1, 2), (3, 2), (3, 3)])
def test_the_subset_programme_of_the_proof_is_the_library(monkeypatch, layers, count, worst):
    """Without cuts the other side is false, and the negation says what the programme says."""
    monkeypatch.setattr(proofs._Instance, "cuts", lambda self: iter(()))
    options = {"worst": True} if worst else {}
    programme = stated(monkeypatch, proofs.subset_programme_is_exact, layers, count, **options)
    join, answers = (all if worst else any), set()
    for numbers in instances(layers, count):
        answer = join(
            fits(target=1, **as_arguments(in_order(numbers, order), memory=True, overhead=True))
            for order in permutations(range(count))
        )
        answers.add(answer)
        assert says(programme, **numbers) == answer
    assert answers == {False, True}
    numbers = {"w": [0] * layers, "v": [1] * count, "k": [0] * count}
    numbers |= {"q": [0] * layers, "M": [0] * count}
    assert says(programme, **numbers)
    assert not says(programme, **(numbers | {"w": [-1] * layers}))


def in_order(numbers, order):
    ordered = {name: [numbers[name][d] for d in order] for name in ("v", "k", "M")}
    return numbers | ordered


@pytest.mark.parametrize("worst", [False, True])
def test_the_subset_programme_is_opposed_to_the_cuts_of_all_orders(monkeypatch, worst):
    """Where the whole negation is false and the programme right, the cuts are right."""
    options = {"worst": worst} if worst else {}
    negation = stated(monkeypatch, proofs.subset_programme_is_exact, 3, 2, **options)
    assert not any(says(negation, **numbers) for numbers in instances(3, 2))


# --- proofs: what is wrong is refuted ---------------------------------------------------------


def test_a_statement_holds_if_nothing_satisfies_its_negation():
    x = z3.Real("x")
    assert proofs._holds_for_all(x > 0, x < 0) is True
    assert proofs._holds_for_all(x > 0) is False
    assert proofs._holds_for_all(x < 0) is False


def test_an_undecided_statement_is_an_error(monkeypatch):
    class Tired(z3.Solver):
        def check(self):
            return z3.unknown

        def reason_unknown(self):
            return "it is late"

    monkeypatch.setattr(z3, "Solver", Tired)
    with pytest.raises(RuntimeError, match=r"^z3 could not decide: it is late$"):
        proofs._holds_for_all(z3.Real("x") > 0)


def refutation(monkeypatch, proof, layers, count, **options):
    """The numbers that refute a statement; they must exist."""
    assert not proof(layers, count, **options)
    solver = z3.Solver()
    solver.add(stated(monkeypatch, proof, layers, count, **options))
    assert solver.check() == z3.sat
    model = solver.model()

    def values(name, size):
        found = (model.eval(z3.Real(f"{name}__{i}"), model_completion=True) for i in range(size))
        return [x.as_fraction() for x in found]

    sizes = {"w": layers, "v": count, "k": count, "q": layers, "M": count}
    return {name: values(name, size) for name, size in sizes.items()}


def exact_best(numbers, *, memory, overhead):
    """The best bottleneck over all cuts, in fractions."""
    given = as_arguments(numbers, memory=memory, overhead=overhead)
    return min(all_bottlenecks(**given), default=math.inf)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("overhead", [False, True])
@pytest.mark.parametrize("less", [lambda m: m - 1.01, lambda m: 0.99 * (m - 1)])
def test_a_smaller_multiple_is_refuted_by_a_chain(monkeypatch, count, overhead, less):
    options = {"multiple": less, "overhead": overhead}
    numbers = refutation(monkeypatch, proofs.bound_holds, count + 1, count, **options)
    assert sum(numbers["v"]) == 1
    best = exact_best(numbers, memory=False, overhead=overhead)
    assert best > 1
    floats = {name: [float(x) for x in values] for name, values in numbers.items()}
    given = as_arguments(floats, memory=False, overhead=overhead)
    assert bottleneck(**given) == pytest.approx(float(best), rel=1e-12)


def test_a_bound_that_forgets_the_overhead_is_refuted_with_overhead_only(monkeypatch):
    """Let a stage bear its overhead twice: only chains with overhead notice."""
    right = proofs._Instance.fits

    def twice(self, device, start, end):
        once = right(self, device, start, end)
        extra = z3.Sum(self.costs[start:end]) + 2 * self.lost[device] <= self.speeds[device]
        return once if start == end else z3.And(once, extra)

    monkeypatch.setattr(proofs._Instance, "fits", twice)
    assert proofs.bound_holds(2, 2)
    assert not proofs.bound_holds(2, 2, overhead=True)


def ignoring(option):
    """Cuts that meet the target if one of the limits is forgotten."""
    plain = proofs._Instance.meets

    def meets(self, boundaries):
        kept, lost = self.memory, self.lost
        if option == "memory":
            self.memory = False
        else:
            self.lost = [z3.RealVal(0)] * self.devices
        formula = plain(self, boundaries)
        self.memory, self.lost = kept, lost
        return formula

    return meets


@pytest.mark.parametrize("option", ["memory", "overhead"])
@pytest.mark.parametrize("also", [False, True])
def test_cuts_that_ignore_a_limit_are_refuted_if_there_is_one(monkeypatch, option, also):
    other = {"memory": "overhead", "overhead": "memory"}[option]
    monkeypatch.setattr(proofs._Instance, "meets", ignoring(option))
    assert proofs.greedy_is_exact(3, 2, **{other: also})
    options = {option: True, other: also}
    numbers = refutation(monkeypatch, proofs.greedy_is_exact, 3, 2, **options)
    assert exact_best(numbers, **options) > 1
    assert exact_best(numbers, **(options | {option: False})) <= 1


@pytest.mark.parametrize("options", WAYS)
def test_a_walk_that_may_not_skip_a_device_is_refuted(monkeypatch, options):
    right = proofs._Instance.greedy_fails

    def stubborn(self):
        return z3.Or(right(self), z3.Not(self.fits(0, 0, 1)))

    monkeypatch.setattr(proofs._Instance, "greedy_fails", stubborn)
    numbers = refutation(monkeypatch, proofs.greedy_is_exact, 2, 2, **options)
    assert exact_best(numbers, **options) <= 1
    first = {name: values[:1] for name, values in numbers.items()}
    assert exact_best(first, **options) > 1


@pytest.mark.parametrize("worst", [False, True])
def test_a_single_order_is_no_match_for_the_subset_programme(monkeypatch, worst):
    """Try the cuts of the order given only: the solver finds devices that another order decides."""
    monkeypatch.setattr(proofs, "permutations", lambda devices: [tuple(devices)])
    numbers = refutation(monkeypatch, proofs.subset_programme_is_exact, 2, 2, worst=worst)
    options = {"memory": True, "overhead": True}
    given, swapped = numbers, in_order(numbers, (1, 0))
    if worst:
        given, swapped = swapped, given
    assert exact_best(given, **options) > 1 >= exact_best(swapped, **options)


@pytest.mark.parametrize("worst", [False, True])
def test_a_programme_that_forgets_a_cut_is_refuted(monkeypatch, worst):
    right = proofs._Instance.cuts
    monkeypatch.setattr(
        proofs._Instance, "cuts", lambda self: (cut for cut in right(self) if 1 not in cut)
    )
    assert not proofs.subset_programme_is_exact(2, 2, worst=worst)


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 3)])
def test_the_theorems_hold_at_the_sizes_of_these_tests(size):
    assert all(proofs.greedy_is_exact(*size, **options) for options in WAYS)
    assert proofs.bound_holds(*size)
    assert proofs.bound_holds(*size, overhead=True)
    assert proofs.subset_programme_is_exact(*size)
    assert proofs.subset_programme_is_exact(*size, worst=True)
