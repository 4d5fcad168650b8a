"""The prices of blindness that `test_bounds.py` holds against, from their definition."""

import mpmath
import pytest
from tests.partition.oracle import blind_price_mpmath
from tests.partition.test_bounds import BLIND_PRICES


@pytest.mark.parametrize(("devices", "sigma", "mean", "deviation"), BLIND_PRICES)
def test_the_prices_are_those_of_the_oracle(devices, sigma, mean, deviation):
    exact = blind_price_mpmath(devices, sigma)
    assert [mpmath.nstr(number, 20) for number in exact] == [mean, deviation]
