"""Checks, text, figures and proofs: what they promise, and that they can fail."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from matplotlib.figure import Figure
from tests import oracles
from tests.stragglers import oracle as stragglers_oracle

from decentral.ordering import best_order
from papers import figures, proofs
from papers.checks import agree, grid, must_fail, z_score
from papers.sources import all_sets, ordering, stragglers
from papers.sources.partition import dynamic_programme, flow_shop
from papers.text import number

X = sp.Symbol("x", positive=True)


# --- checks ---------------------------------------------------------------------------------


def test_agree_reports_what_it_did():
    report = agree(
        grid(x=[0.5, 1.0], n=[1, 2]), rtol=1e-12, derived=X**2, library=lambda x, n: x * x
    )
    assert repr(report) == "derived = library at 4 points, to a relative 1e-12"
    exact = agree({"x": [0.5]}, rtol=0, a=[math.inf], b=[math.inf])
    assert repr(exact) == "a = b at 1 point, bit for bit"


def test_agree_names_the_worst_point():
    with pytest.raises(AssertionError, match=r"a and b differ by a relative 5.0e-01 at x = 2"):
        agree({"x": [1, 2, 3]}, rtol=0.1, a=[1, 1, 1], b=[1.05, 2, 1])


@pytest.mark.parametrize(
    "wrong",
    [[1 + 1e-11, 2], [1, math.nan], [1, math.inf], [0, 2], [1, -2]],
)
def test_agree_fails(wrong):
    with pytest.raises(AssertionError):
        agree({"x": [1, 2]}, rtol=1e-12, a=[1, 2], b=wrong)


def test_agree_has_no_absolute_tolerance():
    with pytest.raises(AssertionError):
        agree({"x": [1]}, rtol=1e-3, a=[1e-300], b=[2e-300])
    with pytest.raises(AssertionError):
        agree({"x": [1]}, rtol=1e-3, a=[0.0], b=[1e-300])


@pytest.mark.parametrize(
    ("points", "sources", "message"),
    [
        ({"x": []}, {"a": [], "b": []}, "one positive length"),
        ({"x": [1]}, {"a": [1]}, "at least two"),
        ({"x": [1]}, {"a": [1], "b": [1, 2]}, "must give 1 values"),
        ({"x": [1]}, {"a": [1], "b": sp.Symbol("y")}, "value for every symbol"),
        ({"x": [1], "y": [1, 2]}, {"a": [1], "b": [1]}, "one positive length"),
    ],
)
def test_agree_refuses_what_it_cannot_compare(points, sources, message):
    with pytest.raises(ValueError, match=message):
        agree(points, rtol=1e-12, **sources)


def test_z_score():
    assert z_score(1.3, 0.1, 1.0) == pytest.approx(3)
    assert z_score(1.3, 0.3, 1.0, exact_error=0.4) == pytest.approx(0.6)
    for estimate in (1.41, 0.59, math.nan):
        with pytest.raises(AssertionError, match="allowed are 4"):
            z_score(estimate, 0.1, 1.0)
    with pytest.raises(ValueError, match="standard_error must be positive"):
        z_score(1, 0, 1)


def test_must_fail(capsys):
    with must_fail():
        agree({"x": [1]}, rtol=1e-12, a=[1], b=[1.01])
    assert "differ by a relative 9.9e-03" in capsys.readouterr().out
    with pytest.raises(AssertionError, match="passed although"), must_fail():
        agree({"x": [1]}, rtol=1e-12, a=[1], b=[1])


# --- text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "spec", "error", "text"),
    [
        (2.3729, ".2f", 0.005, "2.37"),
        (0.0137, ".1%", 0, "1.4%"),
        (1234567, ",d", 0, "1,234,567"),
        (np.float64(1e-9), ".1e", 1e-10, "1.0e-09"),
        (np.int64(7), "d", 0, "7"),
        (0.0, ".1f", 0, "0.0"),
        (123.0, ".0f", 1, "123"),
    ],
)
def test_number(value, spec, error, text):
    assert number(value, spec, error=error) == text


# --- figures --------------------------------------------------------------------------------


def _draw(seed=0):
    canvas = Figure(figsize=(3, 2))
    axes = canvas.subplots()
    points = np.random.default_rng(seed).random(50)
    axes.plot(points, color=figures.BLUE, label="noise")
    axes.fill_between(range(50), points, alpha=0.3, color=figures.ORANGE)
    axes.bar([1, 2], [0.5, 1], color=figures.GREEN, label="bars")
    return canvas


def test_equal_figures_give_equal_bytes():
    assert figures.svg(_draw()) == figures.svg(_draw())
    assert figures.svg(_draw()) != figures.svg(_draw(1))


def test_figures_follow_the_scheme():
    text = figures.svg(_draw())
    assert "@media (prefers-color-scheme:dark)" in text
    body = text[text.index("</style>") :]
    # Outside the style sheet a colour stands only as the fallback of a variable.
    loose = re.sub(r"var\(--figure-\w+, #[0-9a-f]{6}\)", "", body)
    assert "var(--figure-blue, #0065a8)" in body
    for light, _ in figures.PALETTE.values():
        assert light not in loose
    assert "<dc:date>" not in text


def _contrast(one, two):
    def luminance(colour):
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["ink", "muted", "blue", "orange", "green", "purple"])
@pytest.mark.parametrize("scheme", [0, 1])
def test_labels_are_legible(name, scheme):
    paper = figures.PALETTE["paper"][scheme]
    assert _contrast(figures.PALETTE[name][scheme], paper) > 4.5


def test_the_summary_tells_of_changed_data():
    assert figures.summary(_draw()) != figures.summary(_draw(1))
    assert "bars: 2 bars, 0.5 to 1" in figures.summary(_draw())


# --- proofs ---------------------------------------------------------------------------------

SIZES = [(L, m) for m in (1, 2, 3, 4) for L in (1, 3, 5, 8)]


@pytest.mark.parametrize(("layers", "devices"), SIZES)
def test_the_theorems_hold_for_all_reals(layers, devices):
    assert proofs.greedy_is_exact(layers, devices)
    assert proofs.greedy_is_exact(layers, devices, memory=True, overhead=True)
    assert proofs.bound_holds(layers, devices)
    assert proofs.bound_holds(layers, devices, overhead=True)


@pytest.mark.parametrize("devices", [2, 3, 4])
def test_the_solver_finds_counterexamples(devices):
    """A smaller multiple is refuted; so is a greedy walk that may not skip a device."""
    assert not proofs.bound_holds(devices + 1, devices, multiple=lambda m: m - 1.01)
    assert not proofs.bound_holds(devices + 1, devices, multiple=lambda m: 0.99 * (m - 1))


@pytest.mark.parametrize(("layers", "devices"), [(1, 2), (3, 2), (3, 3), (5, 3)])
def test_the_subset_programme_holds_for_all_reals(layers, devices):
    assert proofs.subset_programme_is_exact(layers, devices)
    assert proofs.subset_programme_is_exact(layers, devices, worst=True)


# --- experiments ----------------------------------------------------------------------------


def test_all_cuts_in_all_orders():
    costs, speeds = np.array([1.0, 3, 2, 5, 1]), np.array([3.0, 1, 2])
    total, longest = ordering.all_cuts(costs, speeds)
    assert total.size == longest.size == 6 * math.comb(5 + 2, 2)
    assert longest.min() == best_order(costs, speeds).partition.bottleneck
    assert total.min() == costs.sum() / 3


def test_three_partition():
    costs, speeds, heavy = ordering.three_partition([[30, 35, 40], [28, 36, 41]])
    assert costs == [1] * 105 + [106] + [1] * 105
    assert speeds == [28, 30, 35, 36, 40, 41, 106]
    assert heavy == 106
    assert best_order(costs, speeds).partition.bottleneck == 1
    # No triples of equal sum: the numbers sum to 210, but three of them never to 105.
    none, pool, _ = ordering.three_partition([[30, 34, 41], [32, 34, 39]])
    assert best_order(none, pool).partition.bottleneck == 1
    pool[0], pool[1] = 29, 33
    assert best_order(none, pool).partition.bottleneck > 1


def test_sampled_orders_lie_within_the_extremes():
    extremes = ordering.order_ratios(14, 4, 20, 3, swaps=False)["worst"]
    sampled = ordering.sampled_penalty(14, 4, 30, 20, 3)
    assert np.all(sampled >= 1)
    assert sampled.mean() <= extremes.mean()


def test_the_flow_shop_of_the_page():
    assert flow_shop([2, 4, 8, 8], 10) == 94


def test_the_dynamic_programme_of_the_page():
    rng = np.random.default_rng(1)
    for _ in range(50):
        costs, speeds = rng.lognormal(size=12), rng.lognormal(size=3)
        extra = rng.lognormal(size=3)
        assert dynamic_programme(costs, speeds, overhead=extra) == oracles.dynamic_programme(
            costs, speeds, overhead=extra
        )


# --- experiments on stragglers ---------------------------------------------------------------


def test_the_race_is_the_oracles():
    rates = np.array([7.0, 5, 3, 2, 1])
    for quorum in range(1, 6):
        member, chance = all_sets.race(rates, quorum)
        exact = stragglers_oracle.race([int(rate) for rate in rates], quorum)
        ours = {
            frozenset(np.flatnonzero(row).tolist()): c
            for row, c in zip(member, chance, strict=True)
        }
        assert ours.keys() == exact.keys()
        assert all(math.isclose(ours[chosen], exact[chosen], rel_tol=1e-14) for chosen in exact)


@pytest.mark.parametrize("name", stragglers_oracle.ESTIMATORS)
def test_errors_over_all_sets_are_the_oracles(name):
    goal = stragglers.optima(1.0) + 0.5
    for quorum in (1, 8, 15):
        exact = stragglers_oracle.estimator_mse_float(
            name, stragglers.RATES.tolist(), quorum, goal.tolist(), 2.0
        )
        ours = all_sets.exact_error(stragglers.RATES, quorum, goal, name, noise=2.0)
        assert ours == pytest.approx(exact, rel=1e-12)


def test_means_by_minima_are_those_of_the_spacings():
    for quorum in (1, 7, 20):
        ours = stragglers.mean_by_minima(20, quorum, lambda size: Fraction(1, size))
        assert ours == sum(Fraction(1, j) for j in range(21 - quorum, 21))


def test_the_deviation_of_a_simulated_gain():
    """Draw sets and noise, and compare the spread of the gain over many short simulations."""
    rng, goal, rounds, quorum = np.random.default_rng(8), stragglers.optima(1.0), 1500, 8
    chance, plain = all_sets.estimator_weights(stragglers.RATES, quorum, "plain")
    _, inverse = all_sets.estimator_weights(stragglers.RATES, quorum, "horvitz-thompson")
    gains = []
    for _ in range(300):
        drawn = rng.choice(chance.size, rounds, p=chance / chance.sum())
        values = goal + rng.standard_normal((rounds, goal.size))
        errors = [(((w[drawn] * values).sum(axis=1)) ** 2).mean() for w in (plain, inverse)]
        gains.append(1 - errors[1] / errors[0])
    spread, expected = np.std(gains), stragglers.gain_deviation(quorum, 1.0) / math.sqrt(rounds)
    assert abs(spread / expected - 1) < 4 / math.sqrt(2 * 300)
    assert abs(np.mean(gains) - stragglers.gain(quorum, 1.0)) < 4 * expected / math.sqrt(300) + 1e-3


def test_the_leaves_have_the_published_quantiles():
    times = stragglers.leaf_times(np.array([0.5, 0.05, 0.01, 0.002]))
    assert np.allclose(times, [1, 5, 10, 20], rtol=1e-14)
