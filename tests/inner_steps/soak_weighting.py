"""More random fleets against the bound by convexity."""

import pytest
from tests.inner_steps import test_weighting


@pytest.mark.parametrize("seed", range(100, 120))
def test_more_best_weights_are_optimal(seed):
    test_weighting.test_best_weights_are_optimal(seed)
