"""What a worker knows after some steps, and how many steps are best."""

import math

import mpmath
import numpy as np
import pytest
from tests.inner_steps import oracle
from tests.numerics.precision import close

from decentral import InfeasibleError
from decentral.inner_steps import (
    best_inner_steps,
    contraction,
    displacement_variance,
    information,
    information_limit,
)

RTOL = 1e-12


def test_information_tends_to_its_limit():
    for a, eta, noise in ((1.0, 0.2, 1.0), (0.01, 0.5, 3.0), (5.0, 0.2, 0.1)):
        limit = information_limit(a, eta, noise=noise)
        assert math.isclose(information(a, eta, 10**7, noise=noise), limit, rel_tol=RTOL)
        steps = np.arange(1, 60)
        known = information(a, eta, steps, noise=noise)
        assert np.all(np.diff(known) >= 0)
        decay = -math.log1p(-a * eta) if a * eta < 1 else math.inf
        np.testing.assert_allclose(known, limit * np.tanh(decay * steps / 2), rtol=RTOL)


def test_the_shares_of_the_ceiling():
    """From the claims: H = 8 carries 20 % of it, H = 64 carries 93 %."""
    shares = information(0.25, 0.2, [8, 64]) / information_limit(0.25, 0.2)
    assert [f"{share:.0%}" for share in shares] == ["20%", "93%"]


STEPS = [
    (1, 10, "9.8267364105905145722"),
    (0.25, 10, "27.4393303749965079"),
    (0.05, 100, "172.30788021911310816"),
    (1e-6, 1, "53132.824917419103603"),
    (1e-12, 1, "531329284.49127009858"),
    (1, 1e9, "89.254083314092350121"),
    (1, 1e-9, ".0049392481701316439498"),
    (4.999, 1, ".37006603281606414229"),
    (1.0, 1e-30, "4.9392482701316387783e-10"),  # found by attack, like the next
    (1e-50, 1, "1.1447142425533318196e+34"),
]


@pytest.mark.parametrize(("a", "cost", "steps"), STEPS)
def test_best_inner_steps(a, cost, steps):
    assert close(best_inner_steps(a, 0.2, cost), steps)


def test_best_inner_steps_by_search():
    for a, cost in ((0.3, 5.0), (2.0, 40.0), (0.01, 1.0)):
        assert close(best_inner_steps(a, 0.2, cost), oracle.best_inner_steps(a, 0.2, cost))
    assert best_inner_steps(0.3, 0.2, 0) == 0


@pytest.mark.parametrize(
    "y", [2e-4, 1e-3, 0.1, 0.3, 0.4, 0.4999, 0.5001, 0.7, 2.0, 9.0, 60.0, 690.0]
)
def test_best_inner_steps_to_the_last_digits(y):
    """Where y = lambda H, from all ranges of sinh y - y."""
    a, eta = 0.7, 0.3
    with mpmath.workdps(40):
        decay = -mpmath.log1p(-mpmath.mpf(a) * mpmath.mpf(eta))
        cost = float((mpmath.sinh(y) - y) / decay)
        root = mpmath.findroot(lambda y: (mpmath.sinh(y) - y) / (decay * cost) - 1, y)
        assert abs(float(best_inner_steps(a, eta, cost)) * decay / root - 1) < 3e-15


def test_steps_where_the_goal_of_the_equation_underflows():
    """There sinh y - y is y**3/6, so that H is the cube root of 6C/lambda**2."""
    assert math.isclose(best_inner_steps(1e-60, 1, 1e-300), np.cbrt(6e-180), rel_tol=1e-15)


def test_communication_of_any_cost_has_an_answer_or_is_refused():
    assert math.isfinite(best_inner_steps(1 - 2e-12, 1, 1e300))
    with pytest.raises(ValueError, match=r"sync_cost must be at most 1e\+300"):
        best_inner_steps(1, 0.2, 1e308)


def test_steps_at_the_borders_are_refused_however_they_are_rounded():
    for a in range(1, 200):
        with pytest.raises(ValueError, match="step must be below 1/curvature"):
            best_inner_steps(a, 1 / a, 1)
        with pytest.raises(ValueError, match="step must be below 2/curvature"):
            contraction(a, 2 / a, 1)


MODES = [1.0, 0.25, 0.05]
BAD = [
    (contraction, (0, 0.2, 1), {}, "curvature must be positive, but it is 0"),
    (contraction, (1, -0.2, 1), {}, "step must be positive"),
    (contraction, (10, 0.2, 1), {}, "step must be below 2/curvature .* product is 2"),
    (contraction, (1, 0.2, 0), {}, "inner_steps must be at least 1, but it is 0"),
    (contraction, (1, 0.2, 1.5), {}, "inner_steps must be a whole number"),
    (contraction, (1e-200, 0.2, 1), {}, "curvature must be between 1e-60 and 1e\\+60"),
    (contraction, (1e300, 1e300, 1), {}, "curvature must be between 1e-60 and 1e\\+60"),
    (contraction, ([1, 2], [0.1, 0.2, 0.3], 1), {}, r"curvature \(2,\), step \(3,\)"),
    (displacement_variance, (1, 0.2, 1), {"noise": 0}, "noise must be positive"),
    (information, (1, 0.2, math.nan), {}, "inner_steps must be finite, but it is nan"),
    (information_limit, (1, math.inf), {}, "step must be finite"),
    (best_inner_steps, (5, 0.2, 1), {}, "step must be below 1/curvature"),
    (best_inner_steps, (1, 0.2, -1), {}, "sync_cost must be non-negative"),
]


@pytest.mark.parametrize(("law", "arguments", "options", "message"), BAD)
def test_bad_input(law, arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        law(*arguments, **options)
    assert not isinstance(caught.value, InfeasibleError)
