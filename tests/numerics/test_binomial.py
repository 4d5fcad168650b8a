"""Tails of the binomial law to ten digits, wherever they lie."""

import math

import mpmath
import numpy as np
import pytest
from tests.numerics.precision import close
from tests.redundancy import oracle

from decentral.redundancy import (
    drop_probability,
    log_drop_probability,
    success_floor,
    useful_yield,
)

RTOL = 1e-12
TAIL_RTOL = 1e-10  # what the docstring promises up to L = 10**8


# L, q, s, drop, log drop: where double precision comes to its limits.
HARD = [
    (1, 0.5, 1, "0", "-inf"),
    (5, 0.0, 0, "0", "-inf"),
    (5, 1.0, 4, "1", "0"),
    (5, 1.0, 5, "0", "-inf"),
    (5, 5e-324, 0, None, "-742.8306340089471619395065"),
    (5, 5e-324, 1, None, "-1486.577558749768478944197"),
    (10**8, 5e-324, 0, None, "-726.0193911774288968419634"),
    (50, 0.9999999999999999, 48, "1", "-1.509929076399587544450203e-29"),
    (50, 0.9999999999999999, 49, "0.9999999999999944488848769", "-5.551115123125783010266949e-15"),
    (50, 1 - 2**-30, 40, "1", "-5.042757193027341882625101e-81"),
    (10**8, 1e-17, 0, "9.999999995000000767090906e-10", "-20.72326583744641107957783"),
    (10**8, 0.5, 5 * 10**7, "0.4999601057720595923021817", "-0.6932269721990942972292677"),
    (10**8, 0.5, 6 * 10**7, None, "-2013560.077642736781597461"),
    (10**8, 0.01, 2 * 10**6, None, "-391370.1410169036931616993"),
    (10**8, 0.9, 10**8 - 1, None, "-10536051.56578262765558782"),
    (10**8, 0.999, 10**8 - 1, None, "-100050.0333583534389210469"),
    (10**8, 1e-8, 50, "2.418160757611962487110599e-67", "-153.3901939969079147938214"),
    (10**6, 0.001, 5000, None, "-4061.774944187503767494424"),
    (10**5, 0.97, 96000, "1", "-4.892127989551011816423412e-70"),
]


@pytest.mark.parametrize(("stages", "q", "skips", "drop", "log_drop"), HARD)
def test_hard_tails(stages, q, skips, drop, log_drop):
    if drop is not None:
        assert close(drop_probability(stages, q, skips=skips), mpmath.mpf(drop), TAIL_RTOL)
    found = float(log_drop_probability(stages, q, skips=skips))
    if log_drop == "-inf":
        assert found == -math.inf
    else:
        assert close(found, mpmath.mpf(log_drop), TAIL_RTOL)


@pytest.mark.parametrize(
    ("stages", "count"),
    [(1, 60), (2, 60), (10, 60), (48, 60), (1000, 60), (10**5, 30), (10**6, 30)],
)
def test_tails_against_fifty_digits(stages, count):
    rng, deep, plain = np.random.default_rng(stages), 0, 0
    for _ in range(count):
        q = float(10 ** rng.uniform(-12, -0.01))
        mean, spread = stages * q, math.sqrt(stages * q * (1 - q))
        skips = int(min(stages - 1, max(0, mean + rng.uniform(-3, 60) * spread)))
        exact = oracle.drop(stages, q, skips)
        if exact > mpmath.mpf(10) ** -300:
            assert close(drop_probability(stages, q, skips=skips), exact, TAIL_RTOL), (q, skips)
            plain += 1
        else:
            deep += 1
        logarithm = oracle.log_drop(stages, q, skips)
        assert close(log_drop_probability(stages, q, skips=skips), logarithm, TAIL_RTOL)
    assert plain > count / 3
    assert deep > 0 or stages < 1000


@pytest.mark.parametrize(("q", "skips"), [(0.01, 1_030_000), (1e-6, 350), (1e-9, 40)])
def test_tails_of_a_hundred_million_stages(q, skips):
    exact = oracle.drop(10**8, q, skips)
    assert close(drop_probability(10**8, q, skips=skips), exact, TAIL_RTOL)


def test_tails_of_many_stages_near_one():
    """There SciPy's incomplete beta function is a hundred times less precise (found by attack)."""
    for q, skips in ((5.4375e-08, 4), (1.2e-8, 0), (9e-8, 6), (2e-6, 180)):
        exact = oracle.drop(10**8, q, skips)
        assert close(drop_probability(10**8, q, skips=skips), exact, TAIL_RTOL)
        yielded = useful_yield(10**8, q, 0.0, skips=skips)
        assert close(yielded, 1 - exact, TAIL_RTOL)
        assert close(success_floor(10**8, q, skips=skips), 1 - exact, TAIL_RTOL)


def test_one_log_for_tail_and_its_underflow():
    """Across the point where the method changes the logarithm stays smooth."""
    q = 10.0 ** -np.linspace(99.9, 100.1, 41)
    logs = log_drop_probability(3, q, skips=2)
    assert np.any(logs < math.log(1e-300))
    assert np.any(logs > math.log(1e-300))
    np.testing.assert_allclose(logs, 3 * np.log(q), rtol=1e-14)


def test_the_logarithm_of_a_certain_drop_is_not_minus_zero():
    assert str(log_drop_probability(5, 1.0, skips=4)) == "0.0"


@pytest.mark.parametrize("stages", [15, 16, 17, 18, 20, 25, 40, 100, 1000])
@pytest.mark.parametrize("left", [0, 1, 2, 3, 12])
def test_logarithms_of_deep_tails_of_few_stages(stages, left):
    """Far more precise than the docstring says: few stages cancel nothing."""
    skips = stages - 1 - left
    q = 10 ** (-330 / (skips + 1))
    exact = oracle.log_drop(stages, q, skips)
    assert exact < math.log(1e-300)
    found = log_drop_probability(stages, q, skips=skips)
    assert abs(mpmath.mpf(float(found)) / exact - 1) < 3e-12


# Of a hundred million stages, where the oracle is slow; `soak_numerics.py` tries more.
JUST_BELOW = [(99_999_993, 0.9, 90_112_193), (10**8, 0.7, 70_171_388)]


@pytest.mark.parametrize(("stages", "q", "skips"), JUST_BELOW)
def test_logarithms_where_the_tail_of_many_likely_outages_just_underflows(stages, q, skips):
    exact = oracle.log_drop(stages, q, skips)
    assert -720 < exact < math.log(1e-300)
    found = log_drop_probability(stages, q, skips=skips)
    assert abs(mpmath.mpf(float(found)) / exact - 1) < 1e-10
