"""What the properties of all pages draw from, and how they compare."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

RTOL = 1e-11
few = settings(max_examples=settings.default.max_examples * 3 // 10)  # the slow ones
twos = st.integers(-8, 8).map(lambda n: 2.0**n)
shares = st.floats(0.01, 0.99)


def lists(low, high, least, most):
    return st.lists(st.floats(low, high), min_size=least, max_size=most)


def leq(small, large):
    """At most, up to rounding."""
    return np.all(np.asarray(small) <= np.asarray(large) * (1 + RTOL) + 1e-300)


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=RTOL, atol=1e-300)
    return True
