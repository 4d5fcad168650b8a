"""decentral.stragglers and decentral.sampling at their borders: ties, extremes, single workers."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats
from tests.stragglers import oracle
from tests.stragglers.test_stragglers import GOAL, close

from decentral import InfeasibleError
from decentral.numerics import quadrature
from decentral.sampling import (
    hajek,
    horvitz_thompson,
    joint_inclusion_probabilities,
    mean_squared_error,
    plain_mean,
    selection_bias,
)
from decentral.stragglers import (
    best_quorum,
    best_quorum_and_step,
    best_step,
    min_quorum,
    order_statistics,
    pareto_round_time,
    round_time,
    rounds_to_accuracy,
    squared_error,
    unequal_round_time,
)

# --- accuracy -------------------------------------------------------------------------------


def test_after_as_many_rounds_as_are_allowed_the_error_has_settled():
    error = squared_error(1e60, 4, curvature=1, step=0.5, noise=3, start=100)
    assert error == pytest.approx(0.25, rel=1e-15)


def test_a_step_of_one_over_the_curvature_forgets_the_start_after_one_round_not_before():
    errors = squared_error([0, 1, 2], 4, curvature=2, step=0.5, noise=3, start=100)
    assert errors.tolist() == [100, 0.1875, 0.1875]


def test_a_start_that_is_just_accurate_enough_takes_no_round():
    for quorum in (1, 64):  # of which one never reaches the accuracy
        for whole in (True, False):
            assert rounds_to_accuracy(quorum, step=0.2, **GOAL | {"start": 0.05}, whole=whole) == 0


def test_a_start_beyond_the_accuracy_takes_a_round():
    law = {"curvature": 1, "step": 0.5, "noise": 3 * 2.0**-53, "accuracy": 0.3}
    assert rounds_to_accuracy(1, **law, start=0.3 * (1 + 2e-12)) == 1
    assert rounds_to_accuracy(1, **law, start=0.1 + 0.2) == 0


def test_an_error_that_settles_at_the_accuracy_itself_never_reaches_it():
    law = {"curvature": 1, "step": 0.5, "noise": 0.75, "start": 1, "accuracy": 1 / 16}
    for whole in (True, False):
        assert np.isinf(rounds_to_accuracy(4, **law, whole=whole, infeasible="inf"))
    with pytest.raises(InfeasibleError, match=r"accuracy must be above 0\.0625") as caught:
        rounds_to_accuracy(4, **law)
    assert caught.value.shortfall == 0


@pytest.mark.parametrize(
    ("step", "noise"), [(0.2, 1e-50), (0.3, 1e-14), (5e-6, 2.0), (2e-3, 1e-2), (1.9, 1e-14)]
)
def test_the_rounds_are_the_least_whose_error_is_small_enough(step, noise):
    """Just above and just below the error after so many rounds, which their logarithms blur."""
    law = {"curvature": 1, "step": step, "noise": 100 * noise, "start": 100}
    rounds = np.unique(np.geomspace(1, 11 / step if step < 1 else 60, 2000).round())
    error = squared_error(rounds, 1, **law)
    assert np.array_equal(rounds_to_accuracy(1, **law, accuracy=error * (1 - 0.9e-12)), rounds)
    after = rounds_to_accuracy(1, **law, accuracy=error * (1 - 1.1e-12))
    assert np.array_equal(after, rounds + 1)


def test_without_noise_the_rounds_agree_with_the_error():
    law = {"curvature": 1, "step": np.linspace(0.01, 0.9, 300), "noise": 1e-50, "start": 3}
    rounds = np.arange(1.0, 20)[:, None]
    error = squared_error(rounds, 1, **law)
    assert np.all(rounds_to_accuracy(1, **law, accuracy=error) == rounds)
    assert np.all(rounds_to_accuracy(1, **law, accuracy=error * (1 - 2e-12)) == rounds + 1)


def test_the_least_quorum_is_the_first_that_gets_there_however_its_quotient_is_rounded():
    accuracy = 1 + np.arange(200) * 2.0**-52
    for quorum in (3, 7, 15, 31, 2**20 - 1):
        noise = 3 * np.nextafter(quorum * accuracy, 0)  # with this step, the noise over 3 settles
        law = {"curvature": 1, "step": 0.5, "noise": noise, "accuracy": accuracy}
        least = min_quorum(**law)
        assert np.isfinite(rounds_to_accuracy(least, start=4, **law)).all()
        assert np.isinf(rounds_to_accuracy(least - 1, start=4, **law, infeasible="inf")).all()


def test_the_least_quorum_is_a_whole_number():
    law = {"curvature": 1, "step": 0.2, "noise": 2}
    assert type(min_quorum(**law, accuracy=0.05)) is int
    assert min_quorum(**law, accuracy=[0.05, 0.1]).dtype == np.int64


# --- the best quorum and step ---------------------------------------------------------------


def test_one_worker_is_a_fleet():
    best = best_quorum([3.0], step=0.2, **GOAL | {"accuracy": 0.5})
    tuned = best_quorum_and_step([3.0], **GOAL | {"accuracy": 0.5})
    step = best_step(1, **GOAL | {"accuracy": 0.5})
    assert (best.quorum, tuned.quorum) == (1, 1)
    assert (tuned.rounds, tuned.step, tuned.time) == (step.rounds, step.step, 3 * step.rounds)
    assert best.time == 3 * best.rounds


def test_round_times_may_span_the_whole_range():
    law = GOAL | {"accuracy": 0.5}
    best = best_quorum_and_step([1e-60, 1e60], **law)
    assert best.quorum == 1
    assert best.time == pytest.approx(1e-60 * best.rounds, rel=1e-15)
    for times, shown in (([1.0, 1.5e60], r"1.5e\+60"), ([0.9e-60, 1.0], "9e-61")):
        with pytest.raises(ValueError, match=rf"between 1e-60 and 1e\+60, .* but one is {shown};"):
            best_quorum_and_step(times, **law)


def test_waiting_for_more_workers_may_take_no_longer():
    # Equal times are in order, and so are those that only rounding has let fall.
    for times in ([2.0, 2.0, 2.0], [2.0, 2.0 - 1e-15, 2.0]):
        assert best_quorum(times, step=0.2, **GOAL | {"accuracy": 0.2}).rounds > 0


def test_each_fleet_of_a_table_is_in_order_by_itself():
    times = np.array([[10.0, 11, 12], [1, 2, 3]])
    both = best_quorum(times, step=0.2, **GOAL | {"accuracy": 0.2})
    for fleet, quorum in zip(times, both.quorum, strict=True):
        assert best_quorum(fleet, step=0.2, **GOAL | {"accuracy": 0.2}).quorum == quorum


def test_gradients_that_are_just_enough_for_one_round_take_one():
    for accuracy in 1 / (1 + np.arange(1.0, 100)):
        enough = math.ceil(1 / Fraction(float(accuracy)) - 1 - Fraction(1e-11))
        best = best_step(enough, curvature=1, noise=1, start=1, accuracy=accuracy)
        assert best.rounds == 1
        assert close(best.step, Fraction(enough, enough + 1), 1e-14)
    assert best_step(1, curvature=1, noise=1, start=1, accuracy=0.5).rounds == 1
    assert best_step(4, curvature=2, noise=16, start=1, accuracy=0.5).rounds == 1


def test_the_accuracy_of_the_best_step_takes_its_rounds_and_a_little_less_one_more():
    quorum = 2.0 ** np.arange(-6, 7)[:, None]  # with powers of two little else is rounded
    law = {"curvature": 1, "noise": 1, "start": np.geomspace(1e4, 1e10, 100)}
    for share in (0.01, 0.1, 0.4, 0.7, 0.9):
        best = best_step(quorum, **law, accuracy=share / quorum)
        error = squared_error(best.rounds, quorum, **law, step=best.step)
        assert np.all(error <= share / quorum * (1 + 1e-12))
        assert np.all(best.rounds > 1)
        assert np.array_equal(best_step(quorum, **law, accuracy=error).rounds, best.rounds)
        after = best_step(quorum, **law, accuracy=error * (1 - 2e-12))
        assert np.array_equal(after.rounds, best.rounds + 1)


def test_the_best_step_of_a_start_close_to_the_accuracy():
    law = {"curvature": 1, "noise": 1e4, "start": 1}
    best = best_step(1, **law, accuracy=0.999)
    error, step = oracle.best_step_error(int(best.rounds), 1, **law)
    assert close(best.step, step, 1e-7)
    assert close(squared_error(best.rounds, 1, **law, step=best.step), error, 1e-13)


def test_the_best_step_from_very_far_forgets_the_start_at_once():
    best = best_step(1, curvature=1, noise=1, start=1e40, accuracy=1)
    assert best.rounds == 1
    assert best.step == pytest.approx(1, rel=1e-15)


# --- round times ----------------------------------------------------------------------------


def test_the_heaviest_tail_that_is_allowed():
    for tail in (1e-6, 1.5e-6):
        exact = oracle.pareto_mean(2 * 10**6, 1, tail, 1)
        assert close(pareto_round_time(2 * 10**6, 1, tail=tail), exact, 1e-9)


def test_a_mean_beyond_what_a_double_holds_is_infinite():
    with np.errstate(over="raise"):
        assert np.isinf(pareto_round_time(10**4, 9700, tail=0.005))
        assert np.isfinite(pareto_round_time(10**4, 9000, tail=0.005))


def test_the_rounding_of_a_product_is_exact():
    rng = np.random.default_rng(12)
    for a, b in rng.uniform(1, 2, (2000, 2)):
        lost = order_statistics._rounding_of_product(a, b, a * b)
        assert Fraction(float(lost)) == Fraction(a) * Fraction(b) - Fraction(a * b)


@pytest.mark.parametrize(
    ("rates", "quorum", "mean"),
    [
        (np.ones(5000), 5000, special.digamma(5001) - special.digamma(1)),
        (np.ones(10**4), 9999, special.digamma(10**4 + 1) - special.digamma(2)),
        (np.ones(4000), 2000, special.digamma(4001) - special.digamma(2001)),
        (np.repeat([1e6, 1e-6], 500), 500, 6.792823426594e-6),
    ],
)
def test_large_fleets_are_answered(rates, quorum, mean):
    """Of the last the fast half alone counts, up to a millionth of a millionth."""
    assert unequal_round_time(rates, quorum) == pytest.approx(mean, rel=1e-11)


def test_the_most_work_that_is_answered():
    pairs = joint_inclusion_probabilities(np.ones(150), 75)
    np.testing.assert_allclose(pairs[0, 1:], 75 * 74 / (150 * 149), rtol=1e-12)
    with pytest.raises(ValueError, match="must not need minutes or gigabytes"):
        unequal_round_time(np.ones(20_000), 1500)


def test_one_round_may_be_what_the_best_step_takes():
    law = {"curvature": 1, "noise": 2, "start": 1}  # after one round at best 2/3 is left
    assert best_step(1, **law, accuracy=2 / 3).rounds == 1
    assert best_step(1, **law, accuracy=2 / 3 * (1 - 2e-12)).rounds == 2


# --- sampling -------------------------------------------------------------------------------


def test_one_worker_errs_by_its_noise():
    for name in ("plain", "horvitz-thompson", "hajek"):
        assert mean_squared_error(name, [3.0], 1, [7.0], noise=2.5) == 2.5


def test_errors_of_more_workers_than_pairs_are_known_of_are_refused():
    with pytest.raises(ValueError, match="at most 500 workers for pairs"):
        mean_squared_error("plain", np.ones(501), 501, np.zeros(501))


def test_the_largest_values_noise_and_the_rarest_worker_that_are_allowed():
    assert plain_mean([1e60, -1e60]) == 0
    assert selection_bias([0.5, 0.5], [1e60, 1e60]) == 0
    assert mean_squared_error("plain", [1, 1], 1, [0, 0], noise=1e60) == 1e60
    assert horvitz_thompson([1.0], [1e-60], 1) == pytest.approx(1e60, rel=1e-15)
    assert hajek([3.0, 5.0], [1e-60, 1.0]) == 3


def test_what_is_wrong_is_said_in_full():
    for call, message in (
        (
            lambda: best_quorum_and_step([np.inf, np.inf], **GOAL),
            "round_times must be finite for some quorum that reaches the accuracy; those that do "
            "take an infinite mean time",
        ),
        (
            lambda: selection_bias([0, 0], [1, 2]),
            "inclusion must not be 0 for all workers",
        ),
        (
            lambda: plain_mean([1, -2e60]),
            "values must be at most 1e+60 in size, but it is 2e+60; rescale the units",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            call()


@pytest.mark.parametrize("name", ["plain", "horvitz-thompson", "hajek"])
def test_every_estimator_takes_tables_of_fleets(name):
    rates = np.array([[1.0, 2, 3, 4], [5, 1, 1, 1], [2, 7, 1, 8]])
    optima = np.array([[0.0, 1, 2, 5], [3, -1, 0, 1], [1, 1, 2, 3]])
    noise = np.array([0.5, 2, 0])
    errors = mean_squared_error(name, rates, [1, 2, 3], optima, noise=noise)
    for i, error in enumerate(errors):
        alone = mean_squared_error(name, rates[i], i + 1, optima[i], noise=noise[i])
        assert error == pytest.approx(alone, rel=1e-14)


def test_pairs_that_would_take_gigabytes_are_refused_though_they_take_no_minutes():
    assert joint_inclusion_probabilities(np.ones(100), 2).shape == (100, 100)
    with pytest.raises(ValueError, match="400 workers of these rates with a quorum of 2 do"):
        joint_inclusion_probabilities(np.ones(400), 2)


# --- round times of any law -----------------------------------------------------------------


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


@pytest.mark.parametrize("law", [stats.lognorm(25), stats.lognorm(27)])
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


def test_panels_are_halved_sixty_times():
    """Around 0 doubles are so dense that a jump there could be followed a thousand times."""
    nodes = []
    total = quadrature.integrate(
        lambda x: (nodes.append(x), x > 0)[1], np.array([-1.0, 2.0]), rtol=1e-40, base=0.0
    )
    assert float(total) == pytest.approx(2, rel=1e-15)
    assert len(nodes) == 1 + 61  # the whole, its halves, and sixty times the halves of a half


def test_an_integral_over_more_panels_than_are_halved_at_once():
    panels = 3000  # each of which has to be halved: 6000 halves are more than 4096
    total = quadrature.integrate(
        lambda x: np.sqrt(x % 1), np.arange(panels + 1.0), rtol=1e-13, base=0.0
    )
    assert float(total) == pytest.approx(panels * 2 / 3, rel=1e-9)
