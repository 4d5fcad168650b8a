"""Properties that hold for all replicas and skips: bounds, monotony, invariances, limits."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.library.strategies import close, few, leq, shares

from decentral import redundancy


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
