"""decentral.partition.schedule against a literal simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.partition.oracle import flow_shop

from decentral.partition import bubble_fraction, makespan

RTOL = 1e-12


@given(
    times=st.lists(st.floats(0.001, 1000), min_size=1, max_size=8),
    microbatches=st.integers(1, 60),
)
def test_makespan_and_bubble_against_simulation(times, microbatches):
    run = flow_shop(times, microbatches)
    assert float(makespan(times, microbatches)) == pytest.approx(run, rel=RTOL, abs=0)
    busy = microbatches * sum(times) / (len(times) * run)
    assert 1 - float(bubble_fraction(times, microbatches)) == pytest.approx(busy, rel=RTOL, abs=0)


def test_equal_stages_follow_the_textbook():
    rounds = np.array([1, 2, 10, 1000])
    for stages in (1, 2, 7):
        textbook = (stages - 1) / (rounds + stages - 1)
        np.testing.assert_allclose(bubble_fraction([3.0] * stages, rounds), textbook, rtol=RTOL)


def test_shapes():
    assert makespan([2, 4, 8, 8], [[1, 10]]).tolist() == [[22, 94]]
    assert isinstance(makespan([1, 2], 3), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: makespan([1, -1], 1), r"stage_times must be non-negative, but stage_times\[1\]"),
        (lambda: makespan([], 1), "stage_times must have at least one entry"),
        (lambda: makespan([1], 0), "microbatches must be at least 1, but it is 0"),
        (lambda: makespan([1], 1.5), "microbatches must be a whole number"),
        (lambda: makespan([1e308, 1e308], 1), "must give a finite total"),
        (lambda: makespan([1e308], [1, 3]), "must give a finite total"),
        (lambda: bubble_fraction([0, 0], 1), "stage_times must not all be 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bubble_does_not_overflow():
    assert bubble_fraction([1e308, 1e307], 3) == pytest.approx(1 - 3.3 / 6.2, rel=RTOL)
