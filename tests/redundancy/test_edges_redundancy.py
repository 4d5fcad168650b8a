"""What decentral.redundancy promises at its edges: ties, limits, defaults, types, refusals."""

import math

import mpmath
import numpy as np
import pytest
from tests.redundancy import oracle

from decentral import InfeasibleError
from decentral.numerics import binomial
from decentral.redundancy import (
    allocation,
    best_allocation,
    best_design,
    cost_per_yield,
    drop_probability,
    log_drop_probability,
    min_replicas,
    shared_pool_drop_probability,
    stage_outage,
    success_floor,
    unequal_drop_probability,
    useful_yield,
)

# --- tails ----------------------------------------------------------------------------------


def test_by_default_nothing_is_skipped():
    assert shared_pool_drop_probability(2, 0.5, 1, pool_outages=[0], pool_of_stage=[0, 0]) == 0.75
    assert drop_probability(2, 0.5) == 0.75
    assert log_drop_probability(2, 0.5) == math.log(0.75)
    assert unequal_drop_probability([0.5, 0.5]) == 0.75


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


@pytest.mark.parametrize(
    ("stages", "q", "skips"),
    [
        (99_999_993, 0.9, 90_112_193),
        (99_999_993, 0.95, 95_081_504),
        (99_999_937, 0.9, 90_112_143),
        (10**8, 0.7, 70_171_388),
    ],
)
def test_logarithms_where_the_tail_of_many_likely_outages_just_underflows(stages, q, skips):
    exact = oracle.log_drop(stages, q, skips)
    assert -720 < exact < math.log(1e-300)
    found = log_drop_probability(stages, q, skips=skips)
    assert abs(mpmath.mpf(float(found)) / exact - 1) < 1e-10


# --- replicas -------------------------------------------------------------------------------


def test_no_replicas_rule_out_a_drop_that_underflows():
    """A drop rate of (2**-53)**26 rounds to 0, but the target 0 is not met."""
    q = 2.0**-53
    assert drop_probability(30, q, skips=25) == 0
    with pytest.raises(InfeasibleError, match=r"target 0: .* and not reached"):
        min_replicas(30, 1 - q, 0.0, skips=25)


def test_the_most_replicas_that_are_given():
    """One stage, half of it allowed to fail: (1 - a)^r = 1/2."""
    enough = math.log(2) / 2**52
    r = min_replicas(1, enough * (1 + 1e-9), 0.5)
    assert math.isclose(r, 2**52, rel_tol=2e-9)
    assert r < 2**52
    with pytest.raises(ValueError, match=r"fewer than 2\*\*52 replicas .*, but it is 1.5391e-16"):
        min_replicas(1, enough * (1 - 1e-9), 0.5)
    with pytest.raises(ValueError, match=r"fewer than 2\*\*52 replicas .*, but it is 1e-17"):
        min_replicas(1, [0.1, 1e-17, 0.2], 0.5)


def test_a_floor_leaves_room_for_many_replicas():
    """Half of 0.6 - 0.5 stays for the stages: (1 - a)^r = 0.2."""
    r = min_replicas(1, 4e-16, 0.6, domain_outage=0.5)
    assert math.isclose(r, math.log(5) / 4e-16, rel_tol=1e-11)


@pytest.fixture
def looks(monkeypatch):
    """All calls of the tail of the binomial law."""
    tail, calls = binomial.tail, []
    monkeypatch.setattr(binomial, "tail", lambda *law: (calls.append(law), tail(*law))[1])
    return calls


def test_the_closed_form_needs_no_search(looks):
    """One look at r = 1, one at the floor, one at the closed form, one at the number below it."""
    rng = np.random.default_rng(0)
    for stages, depth in zip(10 ** rng.uniform(0, 6, 100), rng.uniform(1, 250, 100), strict=True):
        live, skips = float(rng.uniform(0.01, 0.9)), int(rng.integers(0, 4))
        for down in (0.0, 10 ** (-1.5 * depth / (skips + 1)) / stages):
            looks.clear()
            options = {"skips": skips, "domain_outage": down, "infeasible": "inf"}
            found = min_replicas(int(stages), live, 10**-depth, **options)
            assert len(looks) == 4 or found == 1 or found == np.inf


@pytest.mark.parametrize(
    ("stages", "live", "down", "target", "skips", "away"),
    [
        (28_234, 5.385263738010877e-05, 5.966026215272608e-12, 5.996046826155509e-113, 39, 11),
        (1545, 2.223411559801767e-10, 0, 5.187587310360156e-103, 12, 25),
        (5_011_103, 5.142479975796598e-15, 0, 0.6876055932330373, 6, 30),
        (1_248_525, 1.6307205954280037e-13, 0, 9.248709449575534e-282, 5, 1435),
        (6_282_310, 3.0434269201199615e-14, 0, 2.5610896600295214e-251, 6, 39_921),
    ],
)
def test_where_the_closed_form_is_a_few_replicas_off(
    stages, live, down, target, skips, away, looks
):
    least = min_replicas(stages, live, target, skips=skips, domain_outage=down)
    assert 4 < len(looks) <= 8 + 3 * math.log2(away)
    outage = stage_outage(live, [least, least - 1], domain_outage=down)
    enough, too_few = drop_probability(stages, outage, skips=skips)
    assert enough <= target * (1 + 1e-12) < too_few


def test_whether_a_floor_is_met_or_missed_is_said():
    with pytest.raises(InfeasibleError, match=r"set by the failure domains$"):
        min_replicas(1, 0.5, 0.125, domain_outage=0.25)
    with pytest.raises(InfeasibleError, match=r"^no number of replicas meets target 0\.125: the"):
        min_replicas(1, 0.5, 0.125, domain_outage=0.25)


# --- yield, cost, design --------------------------------------------------------------------


def test_no_yield_where_every_stage_is_out_and_skips_take_all():
    np.testing.assert_array_equal(useful_yield(3, 1.0, 1.0, skips=[0, 1, 2, 3]), 0)


def test_costs_beyond_what_a_double_holds_are_infinite():
    """The yield of 1e-310 and a bit is not 0, but its inverse exceeds 1.8e308."""
    down = 1 - 10**-0.31
    assert 0 < useful_yield(1000, down, 1.0) < 1e-309
    assert cost_per_yield(1000, 1.0, 1, 1.0, domain_outage=down) == math.inf
    with pytest.raises(InfeasibleError, match="it exceeds 1e308"):
        best_design(1000, 0.9, 1.0, domain_outage=down)


def test_the_cost_of_very_many_workers():
    """More of them than a whole number of 64 bits holds."""
    assert cost_per_yield(10**8, 1.0, 2**53, 0.0) == 1e8 * 2.0**53


@pytest.mark.parametrize("kappa", [0.0, 0.02, 0.1, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("a", [0.5, 0.9, 0.999])
def test_the_skips_of_a_design_are_the_fewest_that_lose_nothing(a, kappa):
    """With one skip fewer, dropping takes more than 2**-54 of the yield."""
    stages = 60
    found = best_design(stages, a, kappa)
    q = mpmath.mpf(float(stage_outage(a, found.replicas)))
    whole = (1 - mpmath.mpf(kappa) * q) ** stages
    kept = [
        mpmath.binomial(stages, d) * q**d * (1 - q) ** (stages - d) * (1 - mpmath.mpf(kappa)) ** d
        for d in range(stages + 1)
    ]

    def lost(skips):
        return mpmath.fsum(kept[skips + 1 :]) / whole

    assert lost(found.skips) <= 2.0**-54
    assert found.skips == 0 or lost(found.skips - 1) > 2.0**-54


def test_a_loss_of_exactly_the_last_bit_counts_as_none():
    assert best_design(2, 1 - 2.0**-27, 0.0).skips == 1


def test_a_design_of_domains_that_are_hardly_ever_up():
    """The outage rounds to 1, and still one microbatch in 2**54 is useful, without any skip."""
    found = best_design(1, 0.5, 1.0, domain_outage=1 - 2.0**-53)
    assert (found.replicas, found.skips) == (1, 0)
    assert math.isclose(found.cost, 2.0**54, rel_tol=1e-12)


@pytest.mark.parametrize("skips", [0, 1, 2, 3, 4])
def test_the_floor_of_few_stages(skips):
    exact = float(1 - oracle.drop_by_fraction(3, 0.125, skips))
    assert math.isclose(success_floor(3, 0.125, skips=skips), exact, rel_tol=1e-15)


def test_the_skips_of_unlike_designs_do_not_disturb_each_other():
    stages, a = np.array([5, 128, 1, 3000]), np.array([1.0, 0.9, 0.5, 0.99])
    many = best_design(stages, a, 0.5)
    for i in range(stages.size):
        assert many.skips[i] == best_design(int(stages[i]), float(a[i]), 0.5).skips


def test_many_designs_are_of_whole_numbers():
    many = best_design([5, 128], 0.9, 0.5)
    assert many.replicas.dtype == np.int64
    assert many.skips.dtype == np.int64


@pytest.mark.parametrize(
    ("a", "kappa"),
    [
        (0.42169104960597104, 0.8353321042849997),
        (0.2994645550957117, 0.7642956458481514),
        (0.08937127407635803, 0.6886435006622891),
        (0.49341491169741325, 0.8937632226545129),
    ],
)
def test_of_designs_that_cost_the_same_the_least(a, kappa):
    """Two stages, one skip, kappa = (1 + 1/(b(b+2)))/2 with b = 1 - a: r = 2 is as good as 1."""
    b = 1 - a
    assert math.isclose(kappa, (1 + 1 / (b * (b + 2))) / 2, rel_tol=1e-15)
    one, two = cost_per_yield(2, a, [1, 2], kappa, skips=1)
    assert one == two
    assert best_design(2, a, kappa, max_skips=1).replicas == 1


# --- unequal stages -------------------------------------------------------------------------


def test_a_probability_never_exceeds_one():
    rows = np.random.default_rng(0).random((1000, 60))
    for skips in range(3):
        assert unequal_drop_probability(rows, skips=skips).max() == 1


@pytest.mark.parametrize("skips", [0, 1, 2])
def test_an_allocation_is_of_whole_numbers(skips):
    assert best_allocation([0.9, 0.5, 0.5], 9, skips=skips).dtype == np.int64


def test_workers_are_all_given_even_where_everything_is_dropped():
    assert best_allocation([0.0, 0.0, 0.9, 0.9], 10, skips=1).sum() == 10


@pytest.mark.parametrize("rare", [1e-16, 1e-18, 1e-300, 5e-324])
def test_a_stage_that_is_hardly_ever_live_gets_nearly_all_workers(rare):
    """With r replicas it is live with probability ra; so r (1 - 2**-(1000 - r)) is to be large."""
    most = max(range(1, 1000), key=lambda r: r * (1 - 2.0 ** -(1000 - r)))
    np.testing.assert_array_equal(best_allocation([rare, 0.5], 1000), [most, 1000 - most])


@pytest.mark.parametrize(("rare", "workers"), [(1e-20, 20), (1e-12, 21), (1e-200, 33)])
def test_stages_that_are_hardly_ever_live_share_alike(rare, workers):
    """The success is nearly the product of all r a, whatever the availabilities are."""
    live = rare * np.array([1.0, 1e4, 1e7])
    found = best_allocation(live, workers)
    assert sorted(found) == [(workers + i) // 3 for i in range(3)]


@pytest.mark.parametrize(("first", "others"), [(0.999, 0.3), (0.9, 0.05), (0.5, 0.01)])
def test_workers_left_over_among_equal_stages_go_to_these(first, others):
    live = np.array([first, *[others] * 4])
    for workers in range(5, 60):
        found = best_allocation(live, workers)
        assert found.sum() == workers
        options = [
            [count, *sorted((workers - count + i) // 4 for i in range(4))]
            for count in range(1, workers - 3)
        ]
        outages = stage_outage(live, options)
        success = np.log1p(-outages).sum(axis=1).max()
        assert math.isclose(np.log1p(-stage_outage(live, found)).sum(), success, rel_tol=1e-12)


def test_a_search_that_would_take_minutes_says_how_many_steps():
    """Kinds of stages times (workers to spare + 1)^2 times (skips + 1)^2."""
    live = [0.5] * 2000 + [0.6] * 2000
    message = r"for 2 kinds of stages and 2999 skips, .* would take 4e\+09 steps"
    with pytest.raises(ValueError, match=message):
        best_allocation(live, 4014, skips=2999)
    with pytest.raises(ValueError, match=r"would take 3e\+11 steps"):
        best_allocation([0.9, 0.5, 0.7], 10**5, skips=2)


def test_a_search_keeps_no_more_states_than_it_can_extend(monkeypatch):
    """The work on one kind of stages is states x (workers to spare + 1) x (skips + 2)^2."""
    kinds = np.array([0.661, 0.694, 0.697, 0.972, 0.987])
    search = allocation._Search(kinds, np.ones(5, dtype=np.int64), 15, 2)
    monkeypatch.setattr("decentral.redundancy.allocation._BEAM", 1)
    monkeypatch.setattr("decentral.redundancy.allocation._MOST_WORK", 400)
    with pytest.raises(ValueError, match="would keep more than 2 states"):  # 2 x 11 x 16 < 400
        search.best()


def test_a_sweep_says_whether_it_left_anything_out():
    """Two kinds of stages share eight workers to spare in nine ways."""
    search = allocation._Search(np.array([0.5, 0.9]), np.array([1, 2]), 11, 1)
    assert search._sweep(math.inf, 9)[2]
    assert not search._sweep(math.inf, 8)[2]


def test_a_narrow_sweep_keeps_what_is_best():
    search = allocation._Search(np.array([0.5, 0.7, 0.9]), np.array([2, 2, 2]), 46, 1)
    wide, narrow = search._sweep(math.inf, 10_000), search._sweep(math.inf, 5)
    assert wide[2]
    assert not narrow[2]
    assert narrow[0] == wide[0]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 20])
def test_batches_make_no_difference_to_a_sweep(monkeypatch, width):
    search = allocation._Search(np.array([0.3, 0.5, 0.7, 0.9]), np.array([1, 2, 1, 2]), 20, 2)
    whole = search._sweep(math.inf, width)
    monkeypatch.setattr("decentral.redundancy.allocation._BATCH", 1)
    batches = search._sweep(math.inf, width)
    assert batches[0] == whole[0]
    assert batches[2] == whole[2]
