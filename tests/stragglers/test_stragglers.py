"""decentral.stragglers against an oracle that shares no code with it, and by hand."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats
from tests.stragglers import oracle

from decentral import InfeasibleError
from decentral.redundancy import drop_probability
from decentral.stragglers import (
    best_quorum,
    best_quorum_and_step,
    best_step,
    descent,
    exponential_round_time,
    exponential_round_variance,
    gradients_needed,
    min_quorum,
    pareto_round_time,
    round_time,
    rounds_to_accuracy,
    squared_error,
    unequal_round_time,
)
from decentral.stragglers import quorum as searches

GOAL = {"curvature": 1, "noise": 2, "start": 1, "accuracy": 0.05}
SIZES = [1, 2, 3, 10, 64, 1000, 10**6]


def close(value, exact, rtol=1e-12):
    """Whether a float lies within a relative distance of a number of any precision."""
    with mpmath.workdps(60):
        if isinstance(exact, Fraction):
            exact = mpmath.mpf(exact.numerator) / exact.denominator
        exact = mpmath.mpf(exact)
        return abs(mpmath.mpf(float(value)) - exact) <= rtol * abs(exact)


def quorums(n):
    """Whole and fractional quorums of n workers, from the least to all."""
    return sorted({k for k in (1, 2, n // 2, n - 1, n, 0.5, n / 3, n - 0.25) if 0 < k <= n})


# --- round times ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_exponential_times_to_full_precision(n):
    for k in quorums(n):
        assert close(exponential_round_time(n, k), oracle.exponential_mean(n, k, 0, 1), 4e-15)
        assert close(exponential_round_variance(n, k), oracle.exponential_variance(n, k, 1), 4e-15)
    assert close(
        exponential_round_time(n, n, shift=0.8, rate=5), oracle.exponential_mean(n, n, 0.8, 5)
    )
    assert close(exponential_round_variance(n, 1, rate=5), oracle.exponential_variance(n, 1, 5))


def test_exponential_times_of_more_workers_than_could_be_summed():
    with mpmath.workdps(60):
        for n in (10**9, 10**12, 2**53):
            for k in (1, 1000, n // 2, n):
                gap = mpmath.digamma(n + 1) - mpmath.digamma(n - k + 1)
                squares = mpmath.polygamma(1, n - k + 1) - mpmath.polygamma(1, n + 1)
                assert close(exponential_round_time(n, k), gap, 4e-15)
                assert close(exponential_round_variance(n, k), squares, 4e-15)


@pytest.mark.parametrize("k", [1, 2, 7, 12])
def test_exponential_times_from_the_density(k):
    assert close(
        exponential_round_time(12, k, shift=3, rate=0.5),
        oracle.exponential_mean_by_density(12, k, 3, 0.5),
    )
    assert close(
        exponential_round_variance(12, k, rate=0.5),
        oracle.exponential_variance_by_density(12, k, 0.5),
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("tail", [0.01, 0.3, 0.9, 1.0, 1.5, 3.0, 100.0])
def test_pareto_times_to_full_precision(n, tail):
    for k in quorums(n):
        exact = oracle.pareto_mean(n, k, tail, 2.5)
        ours = pareto_round_time(n, k, tail=tail, scale=2.5)
        if math.isinf(exact):
            assert math.isinf(ours)
        else:
            assert close(ours, exact, 3e-15 * (1 + math.log(n) / tail))


def test_pareto_times_from_the_density():
    for k in (1, 5, 11, 12):
        assert close(
            pareto_round_time(12, k, tail=1.5), oracle.pareto_mean_by_density(12, k, 1.5, 1)
        )


def test_a_pareto_mean_exists_just_where_it_should():
    # n - k + 1 > 1/alpha
    assert np.isinf(pareto_round_time(10, 10, tail=1.0))
    assert np.isinf(pareto_round_time(10, [8, 9, 10], tail=[1 / 3, 0.5, 0.99])).all()
    assert np.isfinite(pareto_round_time(10, [7, 8, 9, 10], tail=[1 / 3, 0.5, 0.99, 1.01])).all()
    assert pareto_round_time(2, 1, tail=0.5 + 1e-9) > 1e8


def test_pareto_times_close_to_the_border():
    # 1/alpha is rounded; alpha (n - k + 1) - 1 is as if it were exact, and 0 if it is below 1e-12.
    for n, k, tail in ((64, 64, 1.0000000001), (64, 64, 1.0001), (64, 63, 0.50001)):
        assert close(pareto_round_time(n, k, tail=tail), oracle.pareto_mean(n, k, tail, 1), 1e-13)
    for n in range(2, 400):
        for tail in (np.nextafter(1 / n, 0), 1 / n, float(f"{1 / n:.14g}"), np.nextafter(1 / n, 1)):
            assert math.isinf(pareto_round_time(n, 1, tail=tail))
        tail = 1 / n * (1 + 2e-12)
        exact = oracle.pareto_mean(n, 1, tail, 1)
        assert close(pareto_round_time(n, 1, tail=tail), exact, 1e-14 * (1 + math.log(n) / tail))


def test_quorums_that_are_not_whole_close_to_the_border():
    assert math.isfinite(pareto_round_time(1, 1 - 2e-12, tail=1))
    assert math.isinf(pareto_round_time(1, np.nextafter(1, 0), tail=1))
    assert math.isinf(pareto_round_time(5, 1.5380767429137487, tail=0.2241186014151721))
    tail = 0.523377422638784 * (1 + 2e-12)
    exact = oracle.pareto_mean(1, 0.08933294264364233, tail, 1)
    assert close(pareto_round_time(1, 0.08933294264364233, tail=tail), exact, 1e-12)


def test_a_small_scale_keeps_a_large_mean_finite():
    ours = pareto_round_time(2**53, 2**53 - 30, tail=0.045, scale=1e-60)
    assert ours == pytest.approx(3.33e266, rel=2e-3)


def test_the_case_from_the_field():
    # Quorum 60 of 64 with 37 workers alive is an error; before that it has a time.
    assert exponential_round_time(64, 60) == pytest.approx(2.660557, abs=1e-6)
    assert exponential_round_time(64, 64) == pytest.approx(4.743891, abs=1e-6)
    with pytest.raises(ValueError, match=r"quorum is 60.* there are 37 workers"):
        exponential_round_time(37, 60)


def test_laws_broadcast():
    n, k = np.array([[4], [8]]), np.array([1, 2, 4])
    table = exponential_round_time(n, k, shift=[1, 2, 3], rate=2)
    assert table.shape == (2, 3)
    assert table[1, 2] == exponential_round_time(8, 4, shift=3, rate=2)
    assert exponential_round_variance(n, k).shape == (2, 3)
    assert pareto_round_time(n, k, tail=[[2], [3]]).shape == (2, 3)
    assert round_time(np.sqrt, n, k).shape == (2, 3)
    assert unequal_round_time(np.ones((2, 1, 4)), k, shift=[[1], [2]]).shape == (2, 3)
    assert isinstance(exponential_round_time(4, 2), float)


# --- any law through its quantile function ---------------------------------------------------

LAWS = {
    "weibull": (lambda v: (-np.log(v)) ** 2.5, lambda v: (-mpmath.log(v)) ** 2.5),
    "pareto": (lambda v: v**-0.5, lambda v: mpmath.mpf(v) ** -0.5),
    "log-logistic": (lambda v: (1 / v - 1) ** 0.3, lambda v: (1 / v - 1) ** mpmath.mpf("0.3")),
    "uniform": (lambda v: 1 - v, lambda v: 1 - v),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (64, 60), (64, 64), (1000, 500)])
def test_round_time_of_any_law(law, n, k):
    ours, exact = LAWS[law]
    truth = oracle.order_statistic_mean(exact, n, k, digits=25)
    assert close(round_time(ours, n, k, upper_tail=True), truth, 2e-13)


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
    for _ in range(150):
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
    with pytest.raises(ValueError, match="too much of it lies beyond"):
        round_time(stats.lognorm(25).isf, 1, 1, upper_tail=True)
    for sigma in (6, 8, 12):
        with pytest.raises(ValueError, match="try its upper tail"):
            round_time(stats.lognorm(sigma).ppf, 1, 1)
    for sigma in (27, 30):
        with pytest.raises(ValueError, match="too much of it lies beyond"):
            round_time(stats.lognorm(sigma).isf, 1, 1, upper_tail=True)


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
    with pytest.raises(ValueError, match="must not fall when the probability rises"):
        round_time(lambda u: 1 - u, 4, 2)
    with pytest.raises(ValueError, match="must not rise with it"):
        round_time(lambda v: v, 4, 2, upper_tail=True)
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


# --- unequal rates --------------------------------------------------------------------------


def test_unequal_rates_against_the_exact_race():
    rng = np.random.default_rng(1)
    for _ in range(40):
        n = int(rng.integers(1, 13))
        k = int(rng.integers(1, n + 1))
        rates = 10 ** rng.uniform(-5, 5, n) * 10.0 ** rng.integers(-15, 15)
        exact = oracle.race_mean_mp([float(r) for r in rates], k, 0)
        assert close(unequal_round_time(rates, k), exact, 1e-13)


def test_equal_rates_are_the_exponential_law():
    for n, k in ((1, 1), (2, 2), (64, 60), (1000, 500), (1000, 1000)):
        ours = unequal_round_time(np.full(n, 3.0), k, shift=0.5)
        assert close(ours, float(exponential_round_time(n, k, shift=0.5, rate=3)))


def test_a_simulation_of_unequal_rates():
    rates = np.exp(0.7 * np.linspace(-1.5, 1.5, 16))
    mean, error = oracle.simulate_round_times(
        lambda rng, shape: rng.exponential(size=shape) / rates, 16, 12, 40000, 3
    )
    assert abs(float(unequal_round_time(rates, 12)) - mean) < 4 * error


# --- accuracy -------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 0.2, 0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("k", [1, 5, 64])
def test_squared_error_is_the_recursion(step, k):
    path = oracle.error_path(60, k, 0.75, step, 2, 3)
    ours = squared_error(np.arange(61), k, curvature=0.75, step=step, noise=2, start=3)
    assert all(close(a, b) for a, b in zip(ours, path, strict=True))


def test_squared_error_where_little_has_happened():
    # 1 - rho^(2t) cancels in the plain formula.
    law = {"curvature": 1e-9, "step": 1e-6, "noise": 1, "start": 1e-30}
    with mpmath.workdps(60):
        left = (1 - mpmath.mpf(1e-9) * mpmath.mpf(1e-6)) ** 2
        settled = mpmath.mpf(1e-6) ** 2 / (1 - left)
        exact = left**3 * mpmath.mpf(1e-30) + settled / 7 * (1 - left**3)
    assert close(squared_error(3, 7, **law), exact, 1e-14)


def test_rounds_are_the_least_that_the_recursion_needs():
    rng = np.random.default_rng(2)
    for _ in range(120):
        law = {
            "curvature": float(rng.uniform(0.1, 2)),
            "step": float(rng.uniform(0.02, 0.95)),
            "noise": float(10 ** rng.uniform(-2, 1)),
            "start": float(10 ** rng.uniform(-1, 2)),
            "accuracy": float(10 ** rng.uniform(-2, 0)),
        }
        k = int(rng.integers(1, 40))
        exact = oracle.rounds_needed(k, most=5000, **law)
        ours = rounds_to_accuracy(k, **law, infeasible="inf")
        if exact is None:
            assert math.isinf(ours)
            assert math.isinf(rounds_to_accuracy(k, **law, whole=False, infeasible="inf"))
        else:
            assert ours == exact
            real = rounds_to_accuracy(k, **law, whole=False)
            assert exact - 1 < real <= exact or exact <= 1
            if real > 0:
                args = {name: law[name] for name in ("curvature", "step", "noise", "start")}
                assert close(squared_error(real, k, **args), law["accuracy"], 1e-10)


def test_rounds_at_either_side_of_a_tie():
    # rho = 1/2 and phi = 1/4, so the errors are binary fractions.
    law = {"curvature": 1.0, "step": 0.5, "noise": 0.75, "start": 16.25}
    for t, error in enumerate([4.25, 1.25, 0.5, 0.3125, 0.265625], start=1):
        assert close(squared_error(t, 1, **law), error, 1e-15)
        assert rounds_to_accuracy(1, **law, accuracy=error * (1 - 0.9e-12)) == t
        assert rounds_to_accuracy(1, **law, accuracy=error * (1 - 1.1e-12)) == t + 1


def test_rounds_at_the_borders():
    assert rounds_to_accuracy(4, curvature=1, step=0.2, noise=2, start=0.04, accuracy=0.05) == 0
    # A step of 1/a forgets the start in one round, however far, and then errs by just phi/k.
    newton = {"curvature": 1, "step": 1, "noise": 0.25, "start": 1e9}
    for whole in (True, False):
        assert rounds_to_accuracy(64, **newton, accuracy=0.05, whole=whole) == 1
        assert rounds_to_accuracy(4, **newton, accuracy=0.0625, whole=whole) == 1
    assert math.isinf(rounds_to_accuracy(3, **newton, accuracy=0.0625, infeasible="inf"))
    assert min_quorum(curvature=1, step=1, noise=0.25, accuracy=0.0625) == 4
    with pytest.raises(
        InfeasibleError, match=r"accuracy must be above 0.05\d*, where .* quorum of 4"
    ):
        rounds_to_accuracy(4, step=0.2, **GOAL)
    with pytest.raises(InfeasibleError) as caught:
        rounds_to_accuracy([5, 4], step=0.2, **GOAL)
    assert caught.value.floor == pytest.approx(1 / 18)
    assert caught.value.shortfall == pytest.approx(1 / 18 - 0.05)
    with pytest.raises(ValueError, match="infeasible must be 'raise' or 'inf', got 'nan'"):
        rounds_to_accuracy(4, step=0.2, **GOAL, infeasible="nan")


def test_min_quorum_is_the_pole():
    rng = np.random.default_rng(3)
    law = dict(
        zip(("curvature", "noise", "accuracy"), 10 ** rng.uniform(-3, 1, (3, 300)), strict=True)
    )
    law["step"] = rng.uniform(0.01, 1.99, 300) / law["curvature"]
    least = min_quorum(**law)
    start = 10 * law["accuracy"]
    assert np.isfinite(rounds_to_accuracy(least, start=start, **law)).all()
    more = least > 1
    fewer = {name: value[more] for name, value in law.items()}
    assert np.isinf(
        rounds_to_accuracy(least[more] - 1, start=start[more], **fewer, infeasible="inf")
    ).all()
    assert more.sum() > 100


def test_min_quorum_at_exact_ties_and_beyond_reach():
    # phi = 1/4 exactly: the error settles at the accuracy itself with k = 4, so 5 are needed.
    assert min_quorum(curvature=1, step=0.5, noise=0.75, accuracy=1 / 16) == 5
    assert min_quorum(curvature=1, step=0.5, noise=0.75, accuracy=1) == 1
    with pytest.raises(InfeasibleError, match=r"within reach of 2\*\*53 workers"):
        min_quorum(curvature=1, step=0.5, noise=1, accuracy=1e-30)
    with pytest.raises(InfeasibleError, match=r"within reach of 2\*\*53 workers"):
        min_quorum(curvature=1, step=1, noise=2.0**54, accuracy=1)


# --- the best quorum ------------------------------------------------------------------------


def fleets(seed, number):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, 40))
        times = np.sort(10 ** rng.uniform(-1, 1) + rng.exponential(size=n))
        if rng.random() < 0.2:
            times[-1] = np.inf
        yield (
            times,
            {
                "curvature": float(rng.uniform(0.1, 2)),
                "noise": float(10 ** rng.uniform(-1, 1)),
                "start": float(10 ** rng.uniform(-1, 2)),
                "accuracy": float(10 ** rng.uniform(-2, 0)),
            },
            float(rng.uniform(0.02, 0.95)),
        )


def test_best_quorum_against_a_search():
    feasible = 0
    for times, law, step in fleets(4, 60):
        exact = oracle.best_quorum(times.tolist(), step=step, most=800, **law)
        if exact is None:
            with pytest.raises(InfeasibleError):
                best_quorum(times, step=step, **law)
        else:
            feasible += 1
            ours = best_quorum(times, step=step, **law)
            assert (ours.quorum, ours.rounds) == exact[:2]
            assert ours.time == pytest.approx(exact[2], rel=1e-12)
    assert feasible > 30


def test_best_quorum_and_step_against_a_search():
    several = 0
    for times, law, _ in fleets(5, 25):
        if np.isinf(times).all():
            continue
        exact = oracle.best_quorum_and_step(times.tolist(), most=20000, **law)
        ours = best_quorum_and_step(times, **law)
        assert (ours.quorum, ours.rounds) == exact[:2]
        assert ours.time == pytest.approx(exact[2], rel=1e-12)
        if ours.rounds:
            several += ours.rounds > 1
            args = {name: law[name] for name in ("curvature", "noise", "start")}
            reached = squared_error(ours.rounds, ours.quorum, step=ours.step, **args)
            assert reached <= law["accuracy"] * (1 + 1e-14)
    assert several > 8


def test_best_step_against_a_search():
    for k, law in (
        (4, GOAL),
        (20, GOAL),
        (37.5, GOAL),
        (1, {"curvature": 0.3, "noise": 5, "start": 40, "accuracy": 0.5}),
        (3, {"curvature": 2, "noise": 0.1, "start": 1, "accuracy": 0.01}),
    ):
        ours = best_step(k, **law)
        args = {name: law[name] for name in ("curvature", "noise", "start")}
        t = int(ours.rounds)
        error, step = oracle.best_step_error(t, k, **args)
        assert close(ours.step, step, 1e-7)
        assert close(squared_error(t, k, step=ours.step, **args), error, 1e-13)
        assert error <= law["accuracy"]
        assert t == 1 or oracle.best_step_error(t - 1, k, **args)[0] > law["accuracy"]


def test_best_step_is_exact_at_one_round():
    # k = 38 gradients are just enough for one round, and then the step is x0/(x0 + s).
    assert gradients_needed(**GOAL) == pytest.approx(38, rel=1e-14)
    best = best_step([38, 37], **GOAL)
    assert best.rounds.tolist() == [1, 2]
    assert best.step[0] == pytest.approx(0.95, rel=1e-13)
    assert best_step(1, **{**GOAL, "start": 0.04}).rounds == 0


def test_best_step_at_exact_ties():
    """The accuracy is what a whole number of rounds just reaches; the estimate is often one off."""
    rng, corrected = np.random.default_rng(0), 0
    for _ in range(300):
        rounds, quorum_ = np.array([rng.integers(3, 60)], float), int(rng.integers(1, 40))
        start, noise = 10 ** rng.uniform(0, 3, 1), 10 ** rng.uniform(-1, 1)
        shaken = np.array([noise / quorum_])
        rate = searches._sharpest(rounds, start, shaken)
        just = descent.error(rounds, rate, rate / (2 - rate) * shaken, start)
        found = best_step(quorum_, curvature=1, noise=noise, start=start, accuracy=just)
        assert found.rounds == rounds
        corrected += (np.ceil(searches._fewest_rounds(start, just, shaken)) != rounds).item()
    assert corrected > 30


def test_no_step_or_schedule_needs_fewer_gradients():
    k = np.arange(1, 40)
    needed = float(gradients_needed(**GOAL))
    best = best_step(k, **GOAL)
    assert np.all(best.rounds * k >= needed * (1 - 1e-12))
    for quorum in (1, 4, 19, 37):
        rounds = oracle.best_schedule_gradients(1, 2, 1, Fraction(1, 20), quorum)
        assert rounds == math.ceil(Fraction(38, quorum))


def test_gradients_needed_keeps_its_digits():
    exact = Fraction(3) / 4 * (1 / Fraction(1.0) - 1 / Fraction(1 + 1e-12))
    assert close(
        gradients_needed(curvature=2, noise=3, start=1 + 1e-12, accuracy=1.0), exact, 1e-14
    )
    assert gradients_needed(curvature=2, noise=3, start=1, accuracy=1.0) == 0


def test_searches_broadcast():
    times = np.stack([exponential_round_time(8, np.arange(1, 9), shift=s) for s in (0, 2, 8)])
    law = {**GOAL, "accuracy": np.array([0.1, 0.2, 0.3]), "step": 0.2}
    both = best_quorum(times, **law)
    for i in range(3):
        one = best_quorum(times[i], **{**law, "accuracy": law["accuracy"][i]})
        assert (both.quorum[i], both.rounds[i], both.time[i]) == (one.quorum, one.rounds, one.time)
        assert type(one.quorum) is int
        assert type(one.time) is float
    law.pop("step")
    tuned = best_quorum_and_step(times[:, None], **law)
    assert tuned.step.shape == tuned.quorum.shape == (3, 3)
    one = best_quorum_and_step(times[1], **{**law, "accuracy": 0.3})
    assert (tuned.quorum[1, 2], tuned.step[1, 2]) == (one.quorum, one.step)


def test_impossible_quorums_and_targets():
    times = exponential_round_time(4, np.arange(1, 5))
    with pytest.raises(InfeasibleError, match=r"accuracy must be above 0.0555556, .*quorum of 4"):
        best_quorum(times, step=0.2, **GOAL)
    heavy = pareto_round_time(5, np.arange(1, 6), tail=1.0)
    with pytest.raises(InfeasibleError, match="round_times must be finite for some quorum"):
        best_quorum(heavy, step=0.2, **GOAL)
    assert best_quorum_and_step(heavy, **GOAL).quorum < 5
    with pytest.raises(InfeasibleError, match="round_times must be finite"):
        best_quorum_and_step([np.inf, np.inf], **GOAL)
    with pytest.raises(ValueError, match=r"round_times must not fall .* from 2.0 to 1.0"):
        best_quorum([1.0, 2.0, 1.0], step=0.2, **GOAL)
    with pytest.raises(ValueError, match="round_times must have one entry for each quorum"):
        best_quorum(1.0, step=0.2, **GOAL)


BAD = [
    (lambda: exponential_round_time(0, 1), "workers must be at least 1, but it is 0"),
    (lambda: exponential_round_time(2.5, 1), "workers must be a whole number"),
    (lambda: exponential_round_time(4, 0), "quorum must be positive, but it is 0"),
    (lambda: exponential_round_time(4, np.nan), "quorum must be positive, but it is nan"),
    (lambda: exponential_round_time([4, 4], [4, 5]), "quorum is 5.* there are 4 workers"),
    (lambda: exponential_round_time([4, 3], [4, 4]), "quorum is 4.* there are 3 workers"),
    (lambda: exponential_round_time(4, 2, shift=-1), "shift must be non-negative, but it is -1"),
    (lambda: exponential_round_time(4, 2, rate=0), "rate must be positive, but it is 0"),
    (lambda: exponential_round_variance(4, 5), "quorum must be at most the number of workers"),
    (lambda: pareto_round_time(4, 2, tail=0), "tail must be positive"),
    (lambda: pareto_round_time(4, 2, tail=1e-9), "tail must be at least 1e-06"),
    (lambda: pareto_round_time(4, 2, tail=1, scale=np.inf), "scale must be finite"),
    (lambda: pareto_round_time([1, 2], [1, 1, 1], tail=1), "must broadcast"),
    (lambda: unequal_round_time([1, 0], 1), r"rates must be positive, but rates\[1\] is 0"),
    (lambda: unequal_round_time([1, 2], 3), "quorum is 3 and there are 2 workers"),
    (lambda: unequal_round_time([1, 2], 1.5), "quorum must be a whole number"),
    (lambda: unequal_round_time(1.0, 1), "rates must have one entry for each worker"),
    (lambda: unequal_round_time(np.ones(10**5), 5 * 10**4), "would take minutes"),
    (
        lambda: squared_error(-1, 4, curvature=1, step=0.2, noise=2, start=1),
        "rounds must be non-negative, but it is -1",
    ),
    (
        lambda: squared_error(1, 4, curvature=1, step=2, noise=2, start=1),
        "step must be below 2/curvature",
    ),
    (
        lambda: squared_error(1, 4, curvature=1, step=0.2, noise=-2, start=1),
        "noise must be positive, but it is -2",
    ),
    (lambda: rounds_to_accuracy(4, step=0.2, **GOAL, whole=1), "whole must be True or False"),
    (lambda: min_quorum(curvature=1, step=0.2, noise=2, accuracy=0), "accuracy must be positive"),
    (lambda: gradients_needed(**{**GOAL, "start": "x"}), "start must be real numbers"),
    (lambda: best_step(0, **GOAL), "quorum must be positive"),
    (lambda: best_step(1e-300, **GOAL), r"quorum must be between 1e-60 and 1e\+60"),
    (lambda: exponential_round_time(4, 1e-300), "quorum must be between"),
    (
        lambda: squared_error(1e308, 1, curvature=1, step=0.2, noise=2, start=1),
        r"rounds must be at most 1e\+60",
    ),
    (
        lambda: best_quorum([1e308, 1.1e308], step=0.2, **GOAL),
        r"round_times must be between 1e-60 and 1e\+60, or infinite",
    ),
    (
        lambda: best_quorum(1 - 0.9e-9 * np.arange(1000), step=0.2, **GOAL),
        "round_times must not fall with the quorum",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
