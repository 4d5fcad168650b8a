"""The experiments and the claims of the page: they compute what they say, and they can fail."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.numerics.oracle import race
from tests.sampling.oracle import ESTIMATORS, estimator_mse_float

from papers.claims import Found
from papers.sources import all_sets, stragglers


def scale(monkeypatch, name, factor):
    law = getattr(stragglers, name)
    monkeypatch.setattr(stragglers, name, lambda *args, **options: factor * law(*args, **options))


@pytest.mark.parametrize(
    ("count", "law", "tolerance", "points"),
    [
        ("_deviating_exponentials", "exponential_round_time", 1e-13, 20 * 21 // 2),
        ("_deviating_exponentials", "exponential_round_variance", 1e-13, 210),
        # Of four times 210 quorums the means of 17 * 18 / 2, 19 * 20 / 2, 210, 210 are finite.
        ("_deviating_paretos", "pareto_round_time", 1e-12, 153 + 190 + 2 * 210),
        # All quorums below sixteen; waiting for all is not biased.
        ("_deviating_biases", "selection_bias", 1e-11, 15),
    ],
)
def test_a_law_off_by_more_than_its_tolerance_is_counted_at_every_point(
    monkeypatch, count, law, tolerance, points
):
    with monkeypatch.context() as patch:
        scale(patch, law, 1 + 0.7 * tolerance)
        assert getattr(stragglers, count)() == 0
    scale(monkeypatch, law, 1 + 1.3 * tolerance)
    assert getattr(stragglers, count)() == points


@pytest.mark.parametrize(
    ("count", "law", "value", "points"),
    [
        ("_deviating_exponentials", "exponential_round_time", 0.0, 210),
        ("_deviating_paretos", "pareto_round_time", 0.5, 4 * 210),
        ("_deviating_paretos", "pareto_round_time", math.inf, 4 * 210 - 57 - 20),
    ],
)
def test_means_that_exist_wrongly_are_counted(monkeypatch, count, law, value, points):
    monkeypatch.setattr(stragglers, law, lambda *_, **__: value)
    assert getattr(stragglers, count)() == points


def test_the_tails_tried_are_those_that_the_claim_names(monkeypatch):
    tails = []
    monkeypatch.setattr(
        stragglers, "pareto_round_time", lambda *_, tail: (tails.append(tail), math.inf)[1]
    )
    stragglers._deviating_paretos()
    assert dict.fromkeys(tails) == dict.fromkeys([1 / 3, 1, 3 / 2, 7])


def test_errors_of_both_moments_add_up(monkeypatch):
    for law in ("exponential_round_time", "exponential_round_variance"):
        scale(monkeypatch, law, 2)
    assert stragglers._deviating_exponentials() == 2 * 210


@pytest.mark.parametrize(("error", "points"), [(0.7e-13, 0), (1.5e-13, 1), (1.0, 16)])
def test_a_bias_of_waiting_for_all_is_counted(monkeypatch, error, points):
    law = stragglers.selection_bias
    monkeypatch.setattr(stragglers, "selection_bias", lambda *args: law(*args) + error)
    assert stragglers._deviating_biases() == points


def test_the_biases_are_those_of_the_fleet_of_the_claim(monkeypatch):
    tried = []
    law = stragglers.selection_bias
    monkeypatch.setattr(
        stragglers, "selection_bias", lambda p, goal: [tried.append(goal), law][1](p, goal)
    )
    stragglers._deviating_biases()
    z = np.linspace(-1.5, 1.5, 16)
    assert np.allclose(tried, [np.exp(0.7 * z) - z] * 16, rtol=1e-14)


def harmonic_time(quorum, shift):
    return shift + math.fsum(1 / j for j in range(65 - quorum, 65))


def test_the_round_times_are_sums_of_spacings():
    expected = [harmonic_time(quorum, 3) for quorum in range(1, 65)]
    assert np.allclose(stragglers.round_times(3), expected, rtol=1e-14)


def test_moments_by_minima_are_sums_over_the_spacings():
    mean, variance = stragglers._moments_by_minima(3, 2)
    assert (mean, variance) == (Fraction(1, 3) + Fraction(1, 2), Fraction(1, 9) + Fraction(1, 4))


def test_the_least_of_pareto_times_has_a_lighter_tail():
    assert stragglers._least_pareto(Fraction(3, 2), 2) == Fraction(3, 2)
    assert stragglers._least_pareto(Fraction(3), 3) == Fraction(9, 8)


def test_leaf_times_are_power_laws_through_the_published_quantiles():
    chances = [0.5, math.sqrt(0.5 * 0.05), 0.05, math.sqrt(0.05 * 0.01), 0.01, 0.002]
    times = [1, math.sqrt(5), 5, math.sqrt(50), 10, 20]
    assert np.allclose(stragglers.leaf_times(np.array(chances)), times, rtol=1e-14)
    assert stragglers.leaf_times(np.array([0.5 * 10])) == pytest.approx([1 / 5], rel=1e-14)


def test_leaf_times_count_in_medians(monkeypatch):
    names = ("median", "quantile_95", "quantile_99")
    leaf = {name: {"value": value} for name, value in zip(names, (2.0, 8.0, 32.0), strict=True)}
    constants = {"stragglers": {"leaf-requests": leaf}}
    monkeypatch.setattr(stragglers.constants, "load", lambda: constants)
    times = stragglers.leaf_times(np.array([0.5, 0.05, 0.01]))
    assert np.allclose(times, [1, 4, 16], rtol=1e-14)


def rounds_by_hand(quorum, *, whole):
    """Return the rounds until x^2 is at most 0.05, from 1, with step 0.2 and noise 2 / k."""
    keep = (1 - 0.2) ** 2
    floor = 0.2**2 * 2 / quorum / (1 - keep)
    if floor >= 0.05:
        return math.inf
    rounds = math.log((0.05 - floor) / (1 - floor)) / math.log(keep)
    return math.ceil(rounds) if whole else rounds


def least_time(shift, *, whole):
    return min(
        rounds_by_hand(k, whole=whole) * harmonic_time(k, shift)
        for k in range(1, 65)
        if math.isfinite(rounds_by_hand(k, whole=whole))
    )


@pytest.mark.parametrize("shift", [0, 2, 32])
def test_the_speedup_is_that_of_the_best_of_all_quorums(shift):
    for whole in (True, False):
        everyone = rounds_by_hand(64, whole=whole) * harmonic_time(64, shift)
        expected = everyone / least_time(shift, whole=whole)
        assert stragglers.speedup(shift, whole=whole) == pytest.approx(expected, rel=1e-12)
    assert stragglers.speedup(shift) == stragglers.speedup(shift, whole=True)
    assert stragglers.speedup(shift) != stragglers.speedup(shift, whole=False)


@pytest.mark.parametrize("shift", [0, 2, 8])
def test_with_the_best_step_a_single_round_of_38_workers_is_enough(shift):
    expected = least_time(shift, whole=True) / harmonic_time(38, shift)
    assert stragglers.further_gain(shift) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("best", "outside"), [(30.0, True), (30.01, False), (63.99, False), (64.0, True)]
)
def test_an_optimum_is_inside_if_it_is_neither_the_least_nor_the_largest(
    monkeypatch, best, outside
):
    shifts = []

    def rounds(quorums, **options):
        assert np.allclose(quorums, 1 + 0.01 * np.arange(6301), rtol=1e-14)
        goal = {"curvature": 1.0, "noise": 2.0, "start": 1.0, "accuracy": 0.05}
        assert options == {"step": 0.2, "whole": False, "infeasible": "inf", **goal}
        return np.where(quorums < 29.995, math.inf, 2.0)

    def time(workers, quorums, shift):
        assert workers == 64
        shifts.append(shift)
        return 1 + np.abs(quorums - best)

    monkeypatch.setattr(stragglers, "rounds_to_accuracy", rounds)
    monkeypatch.setattr(stragglers, "exponential_round_time", time)
    assert stragglers._without_an_optimum_inside() == 7 * outside
    assert shifts == [0, 1, 2, 4, 8, 16, 32]


def test_the_time_of_the_optimum_is_rounds_times_the_time_of_each(monkeypatch):
    monkeypatch.setattr(stragglers, "rounds_to_accuracy", lambda quorums, **_: 1 / quorums)
    monkeypatch.setattr(stragglers, "exponential_round_time", lambda _, k, shift: k + 1000 / k)
    assert stragglers._without_an_optimum_inside() == 7, "1 + 1000 / k^2 is least at the end"


def replay(rounds, quorum, *, shift, copies, seed, workers):
    """Descend with the same draws, one worker after the other: x^2, and the whole time."""
    rng = np.random.Generator(np.random.SFC64(seed))
    x, time = [math.sqrt(3.0)] * copies, [0.0] * copies
    for _ in range(rounds):
        finish = rng.exponential(size=(copies, workers)).tolist()
        noise = rng.standard_normal((copies, workers)).tolist()
        for copy in range(copies):
            first = sorted(range(workers), key=finish[copy].__getitem__)[:quorum]
            mean = sum(2 * x[copy] + math.sqrt(2) * noise[copy][i] for i in first) / quorum
            x[copy] -= stragglers.STEP * mean
            time[copy] += shift + finish[copy][first[-1]]
    return [value**2 for value in x], time


def contrary(values, place, axis=-1):
    """Partition as NumPy promises to, but with each part in falling order."""
    order = np.argsort(values, axis=axis)
    return np.hstack([order[:, :place][:, ::-1], order[:, [place]], order[:, place + 1 :][:, ::-1]])


@pytest.mark.parametrize(("rounds", "quorum"), [(0, 2), (1, 3), (3, 1), (3, 20), (2, 40)])
def test_the_descent_takes_the_gradients_of_the_first(monkeypatch, rounds, quorum):
    monkeypatch.setattr(np, "argpartition", contrary)
    monkeypatch.setattr(stragglers, "WORKERS", 40)
    monkeypatch.setattr(stragglers, "GOAL", {"curvature": 2.0, "noise": 2.0, "start": 3.0})
    options = {"shift": 0.5, "copies": 40, "seed": 3}
    squares, times = stragglers.descend(rounds, quorum, **options)
    expected = replay(rounds, quorum, **options, workers=40)
    assert np.allclose(squares, expected[0], rtol=1e-11)
    assert np.allclose(times, expected[1], rtol=1e-14)


# Three workers, two of which are waited for: the chances of their sets by hand.
SMALL = np.array([1.0, 1.0, 2.0])
SETS = [(0, 1), (0, 2), (1, 2)]
CHANCES = [1 / 6, 5 / 12, 5 / 12]
WEIGHTS = {
    "plain": [[1 / 2, 1 / 2, 0], [1 / 2, 0, 1 / 2], [0, 1 / 2, 1 / 2]],
    "horvitz-thompson": [[4 / 7, 4 / 7, 0], [4 / 7, 0, 2 / 5], [0, 4 / 7, 2 / 5]],
    "hajek": [[1 / 2, 1 / 2, 0], [10 / 17, 0, 7 / 17], [0, 10 / 17, 7 / 17]],
}
GOAL = np.array([-1.0, 0.5, 2.0])


@pytest.fixture
def small_fleet(monkeypatch):
    monkeypatch.setattr(stragglers, "RATES", SMALL)
    monkeypatch.setattr(stragglers, "_SPREAD", GOAL)


def test_the_optima_fall_with_the_speed():
    assert np.allclose(stragglers.optima(2.0), np.linspace(3, -3, 16), rtol=1e-14)


def test_the_race_of_three_workers():
    member, chance = all_sets.race(SMALL, 2)
    assert [tuple(np.flatnonzero(row)) for row in member] == SETS
    assert np.allclose(chance, CHANCES, rtol=1e-15)


def test_the_race_is_not_changed_by_what_is_done_with_it():
    for array in all_sets.race(SMALL, 2):
        array[:] = 0
    member, chance = all_sets.race(SMALL, 2)
    assert member.sum() == 6
    assert math.isclose(chance.sum(), 1, rel_tol=1e-15)


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_weights_of_the_estimators(name):
    chance, weights = all_sets.estimator_weights(SMALL, 2, name)
    assert np.allclose(chance, CHANCES, rtol=1e-15)
    assert np.allclose(weights, WEIGHTS[name], rtol=1e-15)


def means_over_sets(name, value):
    """Return the mean over the sets of a function of the sum of weights, the bias, the noise."""
    return math.fsum(
        chance * value(sum(row), math.fsum(row * (GOAL - 0.5)), math.fsum(w * w for w in row))
        for chance, row in zip(CHANCES, WEIGHTS[name], strict=True)
    )


@pytest.mark.parametrize("noise", [1.0, 3.0])
@pytest.mark.parametrize("name", WEIGHTS)
def test_the_error_is_bias_and_noise(name, noise):
    expected = math.fsum(
        chance * ((row @ GOAL - 0.5) ** 2 + noise * (row @ row))
        for chance, row in zip(CHANCES, map(np.array, WEIGHTS[name]), strict=True)
    )
    assert all_sets.exact_error(SMALL, 2, GOAL, name, noise) == pytest.approx(expected, rel=1e-14)


def test_the_noise_is_1_if_not_given():
    for error, options in (("exact_error", ()), ("settled_error", (0.5,))):
        law = getattr(all_sets, error)
        plain = law(SMALL, 2, GOAL, "plain", *options)
        assert plain == law(SMALL, 2, GOAL, "plain", *options, noise=1.0)


@pytest.mark.parametrize(("rate", "noise"), [(0.5, 1.0), (0.25, 3.0)])
@pytest.mark.parametrize("name", WEIGHTS)
def test_the_settled_error_is_where_the_moments_stay(name, rate, noise):
    """Apply the round z -> (1 - rate W) z + rate e to the moments of z, again and again."""
    bias = means_over_sets(name, lambda _, b, __: b)
    stays = means_over_sets(name, lambda total, *_: 1 - rate * total)
    square = means_over_sets(name, lambda _, b, w: b * b + noise * w)
    mixed = means_over_sets(name, lambda total, b, _: (1 - rate * total) * b)
    keeps = means_over_sets(name, lambda total, *_: (1 - rate * total) ** 2)
    first = second = 0.0
    for _ in range(300):
        second = keeps * second + 2 * rate * mixed * first + rate**2 * square
        first = stays * first + rate * bias
    ours = all_sets.settled_error(SMALL, 2, GOAL, name, rate, noise)
    assert ours == pytest.approx(second, rel=1e-13)


@pytest.mark.usefixtures("small_fleet")
@pytest.mark.parametrize("coupling", [0.0, 2.0])
def test_the_gain_is_that_over_all_sets(coupling):
    plain, weighted = (
        all_sets.exact_error(SMALL, 2, -coupling * GOAL, name)
        for name in ("plain", "horvitz-thompson")
    )
    assert stragglers.gain(2, coupling) == pytest.approx(1 - weighted / plain, rel=1e-12)


@pytest.mark.usefixtures("small_fleet")
@pytest.mark.parametrize("coupling", [0.0, 1.0, 2.0])
def test_the_deviation_of_a_gain_is_that_of_its_terms_by_quadrature(coupling):
    """Three nodes in each direction integrate the squares of quadratic terms exactly."""
    goal = -coupling * GOAL
    nodes = list(zip((-math.sqrt(3), 0, math.sqrt(3)), (1 / 6, 2 / 3, 1 / 6), strict=True))
    terms = []  # probability, and the squared errors of both estimators
    for i, chance in enumerate(CHANCES):
        for noises in itertools.product(nodes, repeat=3):
            values = goal + [node for node, _ in noises]
            errors = [
                (WEIGHTS[name][i] @ values - goal.mean()) ** 2
                for name in ("plain", "horvitz-thompson")
            ]
            terms.append((chance * math.prod(weight for _, weight in noises), *errors))
    plain, weighted = (math.fsum(term[0] * term[i] for term in terms) for i in (1, 2))
    quotient = weighted / plain
    variance = math.fsum(p * (b - quotient * a) ** 2 for p, a, b in terms)
    expected = math.sqrt(variance) / plain
    assert stragglers.gain_deviation(2, coupling) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("without_coupling", "no_worse"),
    [(lambda _: 0.0, 15), (lambda _: -0.5, 0), (lambda quorum: 1 - quorum, 1)],
)
def test_the_claim_on_reweighting_counts_the_quorums_below_all(
    monkeypatch, without_coupling, no_worse
):
    monkeypatch.setattr(stragglers, "gain", lambda k, c: k / 100 + c if c else without_coupling(k))
    monkeypatch.setattr(stragglers, "gain_deviation", lambda k, c: k * c)
    assert stragglers._w7() == (
        Found(no_worse, "d"),
        Found(1.08, ".1%", deviation=8),
        Found(1.12, ".1%", deviation=12),
    )


def test_the_race_is_the_oracles():
    rates = np.array([7.0, 5, 3, 2, 1])
    for quorum in range(1, 6):
        member, chance = all_sets.race(rates, quorum)
        exact = race([int(rate) for rate in rates], quorum)
        ours = {
            frozenset(np.flatnonzero(row).tolist()): c
            for row, c in zip(member, chance, strict=True)
        }
        assert ours.keys() == exact.keys()
        assert all(math.isclose(ours[chosen], exact[chosen], rel_tol=1e-14) for chosen in exact)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_over_all_sets_are_the_oracles(name):
    goal = stragglers.optima(1.0) + 0.5
    for quorum in (1, 8, 15):
        exact = estimator_mse_float(name, stragglers.RATES.tolist(), quorum, goal.tolist(), 2.0)
        ours = all_sets.exact_error(stragglers.RATES, quorum, goal, name, noise=2.0)
        assert ours == pytest.approx(exact, rel=1e-12)


def test_means_by_minima_are_those_of_the_spacings():
    for quorum in (1, 7, 20):
        ours = stragglers.mean_by_minima(20, quorum, lambda size: Fraction(1, size))
        assert ours == sum(Fraction(1, j) for j in range(21 - quorum, 21))
