"""Thousands of random chains against the dynamic programme."""

import pytest
from tests.partition.test_bidding import test_equals_dynamic_programme_bit_for_bit as check


@pytest.mark.parametrize("seed", range(3, 30))
def test_more_chains_against_the_dynamic_programme(seed):
    check(seed)
