"""Numbers that rounding may have told apart count as equal, and the first of them is taken."""

from fractions import Fraction

import numpy as np

from decentral.numerics import ties


def test_a_value_is_met_or_missed_beyond_a_millionth_of_a_millionth():
    assert ties.met(0.1 + 0.2, 0.3)
    assert not ties.met(0.3 * (1 + 2e-12), 0.3)
    assert not ties.below(0.3 * (1 - 0.5e-12), 0.3)
    assert ties.below(0.3 * (1 - 2e-12), 0.3)
    assert ties.equal(0.3 * (1 - 0.5e-12), 0.3)


def test_of_values_that_tie_for_the_least_the_first_is_taken():
    assert ties.first_least(np.array([[2, 0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2, 2]])).tolist() == [1, 0]


def test_of_scores_that_tie_for_the_last_place_the_first_is_taken():
    scores = [Fraction(1, 2), Fraction(3, 4), Fraction(1, 2) + Fraction(1e-13), Fraction(1, 2)]
    assert ties.largest(scores, 2, 1e-12) == [1, 0]
    assert ties.largest(scores, 0, 1e-12) == []
