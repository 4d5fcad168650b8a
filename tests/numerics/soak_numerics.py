"""More tails and more races against their oracles."""

import pytest
from tests.numerics import test_binomial, test_races


@pytest.mark.parametrize("stages", [3, 7, 100, 10**4, 999_999, 3 * 10**6])
def test_more_tails_against_fifty_digits(stages):
    test_binomial.test_tails_against_fifty_digits(stages, 200)


@pytest.mark.parametrize(
    ("stages", "q", "skips"), [(99_999_993, 0.95, 95_081_504), (99_999_937, 0.9, 90_112_143)]
)
def test_more_tails_that_just_underflow(stages, q, skips):
    test_binomial.test_logarithms_where_the_tail_of_many_likely_outages_just_underflows(
        stages, q, skips
    )


def test_a_tail_of_a_hundred_million_stages_of_one_half():
    test_binomial.test_tails_of_a_hundred_million_stages(0.5, 50_150_000)


@pytest.mark.parametrize("seed", range(100, 110))
def test_more_races_of_up_to_twelve(seed):
    test_races.test_inclusion_against_the_exact_race(seed, 12)
    test_races.test_unequal_rates_against_the_exact_race(seed, 12)


@pytest.mark.parametrize("worker", [0, 250, 480, 999])
def test_more_of_a_thousand_workers(worker):
    test_races.test_a_thousand_workers_over_ten_orders_of_magnitude(worker)
