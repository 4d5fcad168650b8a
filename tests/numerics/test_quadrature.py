"""Integrals panel by panel: jumps, and more panels than are halved at once."""

import numpy as np
import pytest

from decentral.numerics import quadrature


def test_a_jump_at_nought_is_not_followed_for_ever():
    """Around 0 doubles are so dense that a jump there could be followed a thousand times."""
    total = quadrature.integrate(lambda x: x > 0, np.array([-1.0, 2.0]), rtol=1e-40, base=0.0)
    assert float(total) == pytest.approx(2, rel=1e-15)


def test_an_integral_over_more_panels_than_are_halved_at_once():
    panels = 3000  # each of which has to be halved: 6000 halves are more than 4096
    total = quadrature.integrate(
        lambda x: np.sqrt(x % 1), np.arange(panels + 1.0), rtol=1e-13, base=0.0
    )
    assert float(total) == pytest.approx(panels * 2 / 3, rel=1e-9)
