"""Round times of any law through its quantiles: jumps, heavy tails, and what is refused."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats
from tests.numerics.precision import close
from tests.stragglers import oracle

from decentral.redundancy import drop_probability
from decentral.stragglers import (
    exponential_round_time,
    pareto_round_time,
    round_time,
)

LAWS = {
    "weibull": (lambda v: (-np.log(v)) ** 2.5, lambda v: (-mpmath.log(v)) ** 2.5),
    "pareto": (lambda v: v**-0.5, lambda v: mpmath.mpf(v) ** -0.5),
    "log-logistic": (lambda v: (1 / v - 1) ** 0.3, lambda v: (1 / v - 1) ** mpmath.mpf("0.3")),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (64, 60), (64, 64), (1000, 500)])
def test_round_time_of_any_law(law, n, k):
    ours, exact = LAWS[law]
    truth = oracle.order_statistic_mean(exact, n, k, digits=25)
    assert close(round_time(ours, n, k, upper_tail=True), truth, 2e-13)


def test_round_times_of_the_uniform_law_are_quotients():
    for n, k in ((1, 1), (5, 3), (64, 60), (64, 64), (1000, 500)):
        ours = round_time(lambda exceeded: 1 - exceeded, n, k, upper_tail=True)
        assert close(ours, Fraction(k, n + 1), 2e-13)


@pytest.mark.parametrize("n", [1, 2, 64, 10**6])
def test_round_time_agrees_with_the_closed_forms(n):
    for k in {1, n // 2, n - 1, n} - {0}:
        exact = float(exponential_round_time(n, k))
        assert close(round_time(lambda v: -np.log(v), n, k, upper_tail=True), exact)
        assert close(round_time(lambda u: -np.log1p(-u), n, k), exact, 1e-10)
        for tail in (0.7, 1.0, 1.01, 4.0):
            exact = float(pareto_round_time(n, k, tail=tail))
            ours = round_time(lambda v, tail=tail: v ** (-1 / tail), n, k, upper_tail=True)
            assert ours == exact if math.isinf(exact) else close(ours, exact)


def test_round_time_takes_scipy_distributions():
    for law in (stats.lognorm(1.2), stats.gamma(0.3), stats.weibull_min(0.6), stats.expon(2, 3)):
        upper = round_time(law.isf, 64, [1, 32, 60, 64], upper_tail=True)
        assert np.allclose(upper, round_time(law.ppf, 64, [1, 32, 60, 64]), rtol=1e-7)
    assert np.allclose(upper, exponential_round_time(64, [1, 32, 60, 64], shift=2, rate=1 / 3))


@pytest.mark.parametrize("n", [2, 64, 1024])
def test_round_time_of_a_mixture_is_a_binomial_tail(n):
    # A share p of the rounds takes a worker five times as long: a jump of the quantile.
    k = np.array([1, n // 2, n - 2, n - 1, n])
    k = k[k > 0]
    ours = round_time(lambda v: np.where(v < 0.05, 5.0, 1.0), n, k, upper_tail=True)
    assert np.allclose(ours, 1 + 4 * drop_probability(n, 0.05, skips=n - k), rtol=1e-12)


def test_a_jump_is_found_wherever_it_is():
    rng = np.random.default_rng(10)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        k = int(rng.integers(1, n + 1))
        jump = float(rng.choice([rng.beta(k, n - k + 1), 0.5 + 10 ** rng.uniform(-6, -1)]))
        exact = 1 + 99 * float(stats.beta(k, n - k + 1).sf(jump))
        ours = round_time(lambda u, at=jump: np.where(u <= at, 1.0, 100.0), n, k)
        assert ours == pytest.approx(exact, rel=1e-11)


def test_a_steep_law_beside_an_end_of_a_panel():
    def steep(u):
        return 1 + (1e6 - 1) * special.expit((special.logit(u) - 0.000424) / 2e-7)

    assert round_time(steep, 1, 1) == pytest.approx(1 + (1e6 - 1) * 0.499894, rel=1e-9)


def test_round_time_of_many_steps():
    sample = np.sort(np.random.default_rng(11).exponential(size=2000))[::-1]
    ours = round_time(lambda v: sample[(v * 2000).astype(int)], 10, 8, upper_tail=True)
    edges = np.arange(2001) / 2000
    exact = (np.diff(stats.beta(3, 8).cdf(edges)) * sample).sum()
    assert ours == pytest.approx(exact, rel=2e-10)


def test_round_time_at_the_ends_of_double_precision():
    assert np.isfinite(round_time(lambda v: -np.log(v), 2**53, 9, upper_tail=True))
    late = round_time(lambda v: np.where(v < 1e-299, 1e300, 1e-300), 5, 3, upper_tail=True)
    assert close(late, 1e-300)
    light = round_time(lambda v: v**-100.0, 1000, 890, upper_tail=True)
    assert close(light, oracle.pareto_mean(1000, 890, 0.01, 1), 1e-9)
    for sigma in (6, 12):
        with pytest.raises(ValueError, match="try its upper tail"):
            round_time(stats.lognorm(sigma).ppf, 1, 1)


def test_a_bounded_law_whose_last_jumps_are_late():
    assert close(round_time(lambda u: np.where(u < 1 - 1e-12, 1.0, 1e4), 1, 1), 1 + 1e-8, 1e-10)
    assert round_time(lambda u: np.where(u < 1 - 1e-13, 0.0, 1.0), 100, 50) < 1e-100
    assert round_time(lambda u: 0 * u, 3, 3) == 0
    steps = round_time(
        lambda u: np.where(u < 1 - 1e-9, 1.0, np.where(u < 1 - 1e-12, 1e4, 1e8)), 64, 64
    )
    assert close(steps, 1 + 64 * (1e4 * 1e-9 + 1e8 * 1e-12), 1e-4)


def test_round_time_refuses_what_is_no_quantile():
    with pytest.raises(ValueError, match="quantile must be a function"):
        round_time(3.0, 4, 2)
    with pytest.raises(ValueError, match=r"quantile\(probabilities\) must be non-negative"):
        round_time(lambda u: u - 2, 4, 2)
    with pytest.raises(ValueError, match="one time for each probability"):
        round_time(lambda u: 1.0, 4, 2)
    with pytest.raises(ValueError, match=r"quantile\(probabilities\) must be real numbers"):
        round_time(lambda u: ["x"] * u.size, 4, 2)
    with pytest.raises(ValueError, match=r"quantile\(probabilities\) must not be a masked"):
        round_time(lambda u: np.ma.masked_less(u, 0.1), 4, 2)
    with pytest.raises(ValueError, match="upper_tail must be True or False"):
        round_time(np.sqrt, 4, 2, upper_tail=1)
    with pytest.raises(ValueError, match="quorum must be a whole number"):
        round_time(np.sqrt, 4, 1.5)


@pytest.mark.parametrize(("n", "tail"), [(1, 1.001), (1, 1.003), (2, 0.501), (2, 0.5003)])
def test_a_tail_just_light_enough_for_a_mean(n, tail):
    """Much of the mean lies beyond the last time of a double; the index of the tail tells it."""
    exact = float(pareto_round_time(n, 1, tail=tail))
    ours = round_time(lambda exceeded: exceeded ** (-1 / tail), n, 1, upper_tail=True)
    assert close(ours, exact, 1e-11)


def test_at_the_border_of_a_mean_nine_digits_are_right_until_it_is_refused():
    def time(tail):
        return round_time(lambda exceeded: exceeded ** (-1 / tail), 1, 1, upper_tail=True)

    for tail in (1.0003, 1.0002, 1.0001, 1.00003):
        assert close(time(tail), float(pareto_round_time(1, 1, tail=tail)), 1e-9)
    with pytest.raises(ValueError, match="too much of it lies beyond"):
        time(1.00001)


@pytest.mark.parametrize(
    ("index", "n", "k", "mean"),
    [
        (999_000.0, 10**6, 1, 1000),  # the times overflow while hardly a worker is through
        (59.450754601605, 64, 1, 64 / (64 - 59.450754601605)),
        (302.0, 10**4, 9999, math.inf),  # has no mean
        (2001.0, 10**4, 5000, None),  # about 1e712
        (999_997.9, 10**6, 3, None),
    ],
)
def test_powers_that_overflow_early(index, n, k, mean):
    def time(exceeded):
        return exceeded**-index

    if mean is None:
        with pytest.raises(ValueError, match=r"too much of it lies beyond the time 1\.7"):
            round_time(time, n, k, upper_tail=True)
    else:
        assert round_time(time, n, k, upper_tail=True) == pytest.approx(mean, rel=1e-10)


def test_a_law_whose_index_grows_until_it_overflows():
    """Of exp(1/v) nothing can be told beyond v = 1/709, where the index is still growing."""

    def time(exceeded):
        return np.exp(1 / exceeded)

    first = mpmath.quad(  # of a million, cut off where nothing is left
        lambda v: 10**6 * mpmath.exp((10**6 - 1) * mpmath.log(v) + 1 / v),
        [0.5, 1 - 1e-4, 1 - 1e-5, 1 - 1e-6, 1],
    )
    assert close(round_time(time, 10**6, 1, upper_tail=True), float(first), 1e-11)
    for late in (2000, 100):
        with pytest.raises(ValueError, match="too much of it lies beyond"):
            round_time(time, 10**6, 10**6 - late, upper_tail=True)


def broken_power(before, after, log_rest):
    """Times whose tail has one index up to a chance exp(-log_rest) to last longer, then another."""

    def time(exceeded):
        depth = -np.log(exceeded)
        return np.exp(
            before * np.minimum(depth, log_rest) + after * np.maximum(depth - log_rest, 0)
        )

    return time


def test_the_last_index_of_the_tail_decides():
    left = math.exp(-0.02 * 684)
    ours = round_time(broken_power(0.98, 0.5, 684), 1, 1, upper_tail=True)
    assert close(ours, (1 - left) / 0.02 + left / 0.5, 1e-11)


@pytest.mark.parametrize("log_rest", [682.9, 683.9, 685.9, 688.9, 689.0])
def test_a_tail_that_may_yet_become_light_has_no_known_mean(log_rest):
    """Its index falls from 1.02 to 1.01, somewhere in the last units that a double holds."""
    with pytest.raises(ValueError, match="too much of it lies beyond"):
        round_time(broken_power(1.02, 1.01, log_rest), 1, 1, upper_tail=True)
    assert round_time(broken_power(1.02, 1.01, 600), 1, 1, upper_tail=True) == math.inf


@pytest.mark.parametrize("never", [0.3, 0.01, 1e-6, 1e-14])
@pytest.mark.parametrize(("workers", "quorum"), [(1, 1), (2, 1), (5, 3), (2**53, 2**53)])
def test_where_a_worker_may_never_finish_the_mean_is_infinite(never, workers, quorum):
    def ppf(probability):
        return np.where(probability < 1 - never, 1.0, np.inf)

    assert round_time(ppf, workers, quorum) == math.inf

    def isf(exceeded):
        return np.where(exceeded > never, 1.0, np.inf)

    assert round_time(isf, workers, quorum, upper_tail=True) == math.inf


def test_even_if_it_hardly_ever_happens():
    law = broken_power(0.1, 0.2, 50)
    dying = round_time(lambda p: np.where(p > 1e-100, law(p), np.inf), 3, 2, upper_tail=True)
    assert dying == math.inf
    assert round_time(law, 3, 2, upper_tail=True) < math.inf


@pytest.mark.parametrize("power", [1, 2, 4, 8])
def test_times_that_overflow_are_not_infinite(power):
    """The root of an overflowing power; the least of two workers has a mean of 2.5."""
    tail = 5 / 6

    def time(exceeded):
        return (exceeded ** (-power / tail)) ** (1 / power)

    ours = round_time(time, 2, 1, upper_tail=True)
    assert close(ours, float(pareto_round_time(2, 1, tail=tail)), 1e-11)


@pytest.mark.parametrize("law", [stats.lognorm(25), stats.lognorm(27), stats.lognorm(30)])
def test_a_tail_beyond_double_precision_is_refused_with_its_last_time(law):
    message = "quantile must have a tail whose mean double precision can hold, but too much of it "
    with pytest.raises(ValueError, match=rf"^{message}lies beyond the time [\d.]+e\+30[78]$"):
        round_time(law.isf, 1, 1, upper_tail=True)
    with pytest.raises(ValueError, match=rf"^{message}.*; try its upper tail, with") as caught:
        round_time(stats.lognorm(8).ppf, 1, 1)
    last = float(stats.lognorm(8).ppf(special.expit(33.0)))
    assert str(caught.value).endswith(
        f"lies beyond the time {last:g}; try its upper tail, with upper_tail=True"
    )


def test_a_quantile_that_falls_is_refused_wherever_it_does():
    message = "quantile must not fall when the probability rises"
    for falling in (lambda u: 1 - u, lambda u: np.select([u < 0.5, u < 0.7], [1.0, 3.0], 2.0)):
        with pytest.raises(ValueError, match=f"^{message}$"):
            round_time(falling, 4, 2)
    message = re.escape(f"{message} (with upper_tail: must not rise with it)")
    with pytest.raises(ValueError, match=f"^{message}$"):
        round_time(lambda exceeded: exceeded, 4, 2, upper_tail=True)


def test_a_quantile_that_is_infinite_before_its_end_is_named():
    message = r"quantile\(probabilities\) must be finite, but quantile\(probabilities\)\[\d+\] is"
    with pytest.raises(ValueError, match=f"^{message} inf$"):
        round_time(lambda u: np.where(u < 0.5, np.inf, 1.0), 4, 2)
