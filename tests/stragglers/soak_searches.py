"""More random problems against the recursion and the searches."""

import pytest
from tests.stragglers import test_accuracy, test_quorum

SEEDS = range(100, 130)


@pytest.mark.parametrize("seed", SEEDS)
def test_more_rounds_against_the_recursion(seed):
    test_accuracy.test_rounds_are_the_least_that_the_recursion_needs(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_more_fleets_against_the_searches(seed):
    test_quorum.test_best_quorum_against_a_search(seed)
    test_quorum.test_best_quorum_and_step_against_a_search(seed)
