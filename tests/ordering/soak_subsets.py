"""Thousands of random pools against the enumeration of their orders."""

import pytest
from tests.ordering import test_subsets

COUNTS = {1: 200, 2: 600, 3: 600, 4: 500, 5: 200, 6: 40, 7: 6}


@pytest.mark.parametrize(("devices", "count"), COUNTS.items())
def test_best_and_worst_of_more_pools(devices, count):
    test_subsets.test_the_best_order_equals_full_enumeration(devices, count)
    test_subsets.test_the_worst_order_equals_full_enumeration(devices, count)
