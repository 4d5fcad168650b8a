"""Properties that hold for all cutting and filling: bounds, monotony, invariances, limits."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from tests.library.strategies import close, few, leq, lists, twos

from decentral import partition

chains = st.tuples(lists(0.01, 10, 1, 8), lists(0.1, 10, 1, 4))


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
