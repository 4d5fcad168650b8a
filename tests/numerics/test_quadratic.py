"""A worker on a quadratic: its contraction and its variance, to full precision."""

import numpy as np
import pytest
from tests.inner_steps import oracle
from tests.numerics.precision import close

from decentral.inner_steps import (
    contraction,
    displacement_variance,
    information,
)

RTOL = 1e-12


# a, H, s, V at eta = 0.2: where double precision comes to its limits.
WORKERS = [
    (1e-12, 1000, "1.9999999998002000708e-10", "39.999999992008004442"),
    (1e-12, 10**9, "1.9998000133328667241e-4", "39992001.066568010573"),
    (1e-9, 10**9, ".18126924693839277568", "32967995.402414152585"),
    (1e-17, 1000, "1.9999999999999982561e-15", "39.999999999999924521"),
    (1, 10**9, "1", ".11111111111111111796"),
    (6, 3, "1.008", ".041664"),
    (6, 4, ".9984", ".04166656"),
    (9.9, 1, "1.98", ".04"),
    (9.9, 501, "1.0000402035054425669", "1.0101010084683709273"),
    (5, 7, "1", ".04"),
]


@pytest.mark.parametrize(("a", "steps", "shrink", "variance"), WORKERS)
def test_hard_workers(a, steps, shrink, variance):
    assert close(contraction(a, 0.2, steps), shrink)
    assert close(displacement_variance(a, 0.2, steps), variance)


def test_one_worker_against_iteration():
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, eta = float(10 ** rng.uniform(-6, 1)), float(10 ** rng.uniform(-3, 0))
        if a * eta >= 1.99:
            continue
        steps, noise = int(rng.integers(1, 300)), float(10 ** rng.uniform(-3, 3))
        shrink, variance = oracle.displacement(a, eta, steps, noise)
        assert close(contraction(a, eta, steps), shrink)
        assert close(displacement_variance(a, eta, steps, noise=noise), variance)
        assert close(information(a, eta, steps, noise=noise), shrink**2 / variance)


def test_the_largest_and_the_smallest_units():
    for curvature, step in ((1e60, 1e-60), (1e-60, 1e60)):
        assert contraction(curvature, step, 1) == pytest.approx(1, rel=1e-15)
    for extreme in (1.0001e60, 0.9999e-60):
        for curvature, step in ((extreme, 1 / extreme), (1 / extreme, extreme)):
            with pytest.raises(ValueError, match="must be between 1e-60 and 1e\\+60, but it is"):
                contraction(curvature, step, 1)
