"""Properties that hold for all who is heard: bounds, monotony, invariances, limits."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.library.strategies import close, few, leq, lists, twos

from decentral import sampling

rates = lists(0.1, 10, 1, 6)


@few
@given(rates, st.integers(1, 6), twos)
def test_inclusion(paces, quorum, unit):
    assume(quorum <= len(paces))
    heard = sampling.inclusion_probabilities(paces, quorum)
    assert heard.min() > 0
    assert heard.max() <= 1
    np.testing.assert_allclose(heard.sum(), quorum, rtol=1e-9)
    order = np.argsort(paces, kind="stable")
    assert np.all(np.diff(heard[order]) >= -1e-10)
    scaled = sampling.inclusion_probabilities(np.array(paces) * unit, quorum)
    np.testing.assert_allclose(scaled, heard, rtol=1e-9)
    both = sampling.joint_inclusion_probabilities(paces, quorum)
    np.testing.assert_allclose(both, both.T, rtol=1e-9)
    np.testing.assert_allclose(np.diag(both), heard, rtol=1e-9)
    np.testing.assert_allclose(both.sum(axis=1), quorum * heard, rtol=1e-9)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.05, 1)), min_size=1, max_size=6), twos)
def test_estimates(pairs, unit):
    values, heard = map(np.array, zip(*pairs, strict=True))
    assert close(sampling.hajek(unit * values, heard), unit * sampling.hajek(values, heard))
    assert abs(sampling.hajek(values + 1, heard) - sampling.hajek(values, heard) - 1) < 1e-12
    assert values.min() - 1e-12 <= sampling.plain_mean(values) <= values.max() + 1e-12
    total = sampling.horvitz_thompson(values, heard, 10)
    assert close(sampling.horvitz_thompson(unit * values, heard, 10), unit * total)


@few
@given(st.lists(st.tuples(st.floats(0.2, 5), st.floats(-3, 3)), min_size=2, max_size=5), twos)
def test_errors_of_the_estimates(workers, unit):
    paces, optima = map(np.array, zip(*workers, strict=True))
    heard = sampling.inclusion_probabilities(paces, 1)
    bias = sampling.selection_bias(heard, optima)
    assert abs(sampling.selection_bias(heard, optima + 7) - bias) < 1e-9
    assert abs(sampling.selection_bias([1 / len(paces)] * len(paces), optima)) < 1e-12
    for estimator in ("plain", "horvitz-thompson", "hajek"):
        error = sampling.mean_squared_error(estimator, paces, 1, optima)
        more = sampling.mean_squared_error(estimator, paces, 1, optima, noise=2.0)
        assert 0 < error < more
        scaled = sampling.mean_squared_error(estimator, paces, 1, unit * optima, noise=unit**2)
        np.testing.assert_allclose(scaled, unit**2 * error, rtol=1e-8)
    assert leq(bias**2, sampling.mean_squared_error("plain", paces, 1, optima))
