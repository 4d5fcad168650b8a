"""The experiments and the claims of the page: they compute what they say, and they can fail."""

import math
from fractions import Fraction
from functools import cache, partial
from itertools import product

import numpy as np
import pytest

from decentral.errors import InfeasibleError
from decentral.machines import constants
from papers.claims import Found
from papers.sources import redundancy


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
