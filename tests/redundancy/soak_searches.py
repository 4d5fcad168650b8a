"""More random problems against exhaustive searches."""

import pytest
from tests.redundancy import test_allocation, test_design, test_outage


@pytest.mark.parametrize("seed", range(100, 120))
def test_more_problems_against_exhaustive_searches(seed):
    test_outage.test_replicas_against_a_linear_search(seed)
    test_design.test_designs_against_exhaustion(seed)
    test_allocation.test_allocations_against_enumeration(seed)
