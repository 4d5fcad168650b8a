"""The experiments and the claims of the page: they compute what they say, and they can fail."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.partition import oracle
from tests.partition.oracle import all_bottlenecks

from papers.claims import Found
from papers.sources import partition
from papers.sources.partition import dynamic_programme


def times(function, factor, where=lambda *args, **options: True):
    """Multiply what a function returns, at some arguments or at all."""

    def wrong(*args, **options):
        return function(*args, **options) * (factor if where(*args, **options) else 1)

    return wrong


def recorder(calls, answers):
    """Stand in for a function: note the arguments and give the next answer."""
    answers = iter(answers)

    def stand_in(*args, **options):
        calls.append((args, options))
        return next(answers)

    return stand_in


def test_pools_have_log_normal_speeds():
    speeds = np.exp(0.5 * np.random.default_rng(7).standard_normal((3, 2)))
    np.testing.assert_allclose(partition.pools(3, 2, 0.5, seed=7), speeds, rtol=1e-14)


def test_the_aware_price_is_the_bottleneck_over_the_bound():
    price = partition.aware_price(np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 2.0]]), 5)
    np.testing.assert_allclose(price, [3 * 2 / 5, 4 / 3 * 4 / 5, 3 / 2 * 4 / 5], rtol=1e-15)


@pytest.mark.parametrize(
    ("slack", "price"),
    [
        ({}, 3.0),  # the fast device holds 1.3 * 2 * 2 / 3 = 1.7 layers
        ({"slack": 1.5}, 2.0),  # exactly 2
        ({"slack": 2.25}, 1.0),  # exactly 3, as many as are best
    ],
)
def test_memory_inflates_the_bottleneck_if_fast_devices_hold_little(slack, price):
    speeds = np.array([[1.0, 3.0], [2.0, 6.0], [1.0, 1.0]])
    assert partition.memory_inflation(speeds, 4, **slack).tolist() == [price, price, 1.0]


def test_the_loss_of_rounding_is_the_mean_over_chains_and_pools():
    rng, speeds = np.random.default_rng(4), np.random.default_rng(5).standard_normal((3, 8))
    ratios = []
    for pool in np.exp(0.5 * speeds):
        chain = np.exp(0.7 * rng.standard_normal(20))
        rounded = partition.proportional_split(chain, pool).bottleneck
        ratios.append(rounded / partition.dynamic_programme(chain, pool))
    mean, error = partition.rounding_loss(20, 0.7, draws=3, seed=4)
    assert mean == pytest.approx(sum(ratios) / 3, rel=1e-14)
    spread = sum((ratio - mean) ** 2 for ratio in ratios) / 2
    assert error == pytest.approx(math.sqrt(spread / 3), rel=1e-13)


def test_the_mean_and_its_error():
    mean, error = partition.mean_and_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert error == pytest.approx(math.sqrt(14 / 3 / 4), rel=1e-15)


@pytest.mark.parametrize(
    ("stages", "microbatches", "time"),
    [([3], 4, 12), ([3, 1], 2, 7), ([1, 3], 2, 7), ([2, 5, 3], 3, 20), ([5, 2, 1], 1, 8)],
)
def test_the_flow_shop_takes_the_sum_and_the_longest_stage_again(stages, microbatches, time):
    assert partition.flow_shop(stages, microbatches) == time
    assert time == sum(stages) + (microbatches - 1) * max(stages)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"overhead": [1.0, 0.5, 2.0]},
        {"memory": [2.0, 1.0, 3.0, 1.0], "capacity": [3.0, 3.0, 2.0]},  # met exactly
        {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [0.5, 4.0, 1.0]},
        {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [1.0, 1.0, 1.0]},  # no cut
        {"memory": [1.0, 9.0, 1.0, 1.0], "capacity": [8.0, 8.0, 8.0], "overhead": [0.0, 0.0, 1.0]},
        {"memory": [3.0, 1.0, 1.0, 1.0], "capacity": [2.0, 3.0, 3.0], "overhead": [0.0, 8.0, 0.5]},
    ],
)
@pytest.mark.parametrize("costs", [[4.0, 1.0, 1.0, 2.0], [1.0, 0.0, 2.0, 8.0]])
def test_the_dynamic_programme_is_the_best_of_all_cuts(costs, options):
    speeds = [1.0, 4.0, 2.0]
    best = min(all_bottlenecks(costs, speeds, **options), default=math.inf)
    arrays = {name: np.array(value) for name, value in options.items()}
    assert partition.dynamic_programme(np.array(costs), np.array(speeds), **arrays) == best


def test_no_device_has_no_overhead_that_it_need_not_bear():
    """An overhead counts only on devices that hold a layer."""
    costs, speeds = np.array([1.0]), np.array([1.0, 1.0])
    assert partition.dynamic_programme(costs, speeds, overhead=np.array([9.0, 0.5])) == 1.5


def test_random_chains_cover_the_sizes_and_half_of_them_have_caps():
    chains = list(partition.random_chains(4000, seed=3))
    assert len(chains) == 4000
    assert {costs.size for costs, _ in chains} == set(range(1, 40))
    assert {case["speeds"].size for _, case in chains} == set(range(1, 9))
    for index, (costs, case) in enumerate(chains):
        caps = {"memory": costs.size, "capacity": case["speeds"].size} if index % 2 else {}
        sizes = {"speeds": case["speeds"].size} | caps
        assert {name: value.size for name, value in case.items()} == sizes


def test_random_chains_are_log_normal_with_uniform_caps():
    chains = list(partition.random_chains(4000, seed=3))
    capped = [case for _, case in chains[1::2]]
    samples = {
        "costs": (1.0, np.log(np.concatenate([costs for costs, _ in chains]))),
        "speeds": (1.0, np.log(np.concatenate([case["speeds"] for _, case in chains]))),
        "memory": (0.5, np.log(np.concatenate([case["memory"] for case in capped]))),
    }
    for sigma, sample in samples.values():
        assert abs(sample.mean()) < 4 * sigma / math.sqrt(sample.size)
        assert abs(sample.std() / sigma - 1) < 4 / math.sqrt(2 * sample.size)
    shares = np.concatenate(
        [case["capacity"] * case["speeds"].size / case["memory"].sum() for case in capped]
    )
    assert 0.5 <= shares.min() < 0.502
    assert 2.498 < shares.max() <= 2.5
    assert abs(shares.mean() - 1.5) < 4 * 2 / math.sqrt(12 * shares.size)


def test_random_chains_come_from_their_seed():
    one, again, other = (list(partition.random_chains(5, seed=seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, again, strict=True))
    assert not any(np.array_equal(a[0], b[0]) for a, b in zip(one, other, strict=True))


HOPELESS = 3  # of the 60 chains below; none of their cuts keeps to the capacities


@pytest.mark.parametrize(
    ("name", "wrong", "count"),
    [
        ("dynamic_programme", lambda optimum: optimum * (1 + 4e-12), 60 - HOPELESS),
        ("dynamic_programme", lambda optimum: optimum * (1 - 2e-12), 60 - HOPELESS),
        ("dynamic_programme", lambda optimum: math.inf, 60 - HOPELESS),
        ("fits", lambda answer: True, 60),
        ("fits", lambda answer: False, 60 - HOPELESS),
        ("fits", lambda answer: not answer, 60),
        ("fits", lambda answer: answer, 0),
    ],
)
def test_every_disagreement_with_the_greedy_test_is_counted(monkeypatch, name, wrong, count):
    right = getattr(partition, name)
    monkeypatch.setattr(partition, name, lambda *args, **rest: wrong(right(*args, **rest)))
    assert partition.greedy_disagreements(60, seed=11) == count


@pytest.mark.parametrize("accepted", ["optimum", "below"])
def test_the_greedy_test_must_accept_the_optimum_and_refuse_less(monkeypatch, accepted):
    chain, optimum = np.ones(3), 2.5
    below = 2.5 * (1 - 2e-12)
    seeds = []

    def chains(count, *, seed):
        seeds.append((count, seed))
        return [(chain, {"speeds": "v", "capacity": "M"})] * count

    def fit(costs, *, target, speeds, capacity):
        assert (costs is chain, speeds, capacity) == (True, "v", "M")
        assert target in (optimum, below)
        return target == {"optimum": optimum, "below": below}[accepted]

    monkeypatch.setattr(partition, "random_chains", chains)
    monkeypatch.setattr(partition, "dynamic_programme", lambda costs, speeds, capacity: 2.5)
    monkeypatch.setattr(partition, "fits", fit)
    assert partition.greedy_disagreements(4, seed=9) == (0 if accepted == "optimum" else 4)
    assert seeds == [(4, 9)]


def test_where_no_partition_exists_the_greedy_test_is_asked_without_a_target(monkeypatch):
    def fit(costs, *, target, speeds):
        return (costs, target, speeds) == ("w", math.inf, "v")

    monkeypatch.setattr(partition, "random_chains", lambda n, *, seed: [("w", {"speeds": "v"})] * n)
    monkeypatch.setattr(partition, "dynamic_programme", lambda costs, speeds: math.inf)
    monkeypatch.setattr(partition, "fits", fit)
    assert partition.greedy_disagreements(3, seed=1) == 3


@pytest.mark.parametrize("devices", [2, 3, 5])
@pytest.mark.parametrize("options", [{}, {"layers": 3}])
def test_the_multiple_is_proved_for_each_number_of_layers(monkeypatch, devices, options):
    calls = []
    monkeypatch.setattr(partition, "bound_holds", recorder(calls, [True] * 99))
    assert partition.sharp_multiple(devices, **options) == devices - 1
    sizes = range(1, options.get("layers", 8) + 1)
    assert calls == [((size, devices), {}) for size in sizes]


@pytest.mark.parametrize("refuted", [1, 4, 8])
def test_the_multiple_is_withdrawn_if_a_proof_fails(monkeypatch, refuted):
    monkeypatch.setattr(partition, "bound_holds", lambda layers, devices: layers != refuted)
    with pytest.raises(AssertionError):
        partition.sharp_multiple(4)


@pytest.mark.parametrize("factor", [1 + 1e-15, 0.5, 2])
@pytest.mark.parametrize("name", ["bottleneck", "lower_bound"])
def test_the_multiple_is_withdrawn_if_equal_layers_do_not_attain_it(monkeypatch, name, factor):
    monkeypatch.setattr(partition, "bound_holds", lambda layers, devices: True)
    monkeypatch.setattr(partition, name, times(getattr(partition, name), factor))
    with pytest.raises(AssertionError):
        partition.sharp_multiple(4)


@pytest.mark.parametrize("name", ["lower_bound", "equal_split"])
@pytest.mark.parametrize(
    ("factor", "count"),
    [(1 + 3e-12, 50), (1 - 3e-12, 50), (1 + 0.3e-12, 0), (1 - 0.3e-12, 0)],
)
def test_every_pool_with_another_price_of_blindness_is_counted(monkeypatch, name, factor, count):
    right = getattr(partition, name)

    def wrong(chain, pool):
        assert chain.tolist() == [1.0] * 240
        if name == "lower_bound":
            return right(chain, pool) * factor
        return SimpleNamespace(bottleneck=right(chain, pool).bottleneck * factor)

    monkeypatch.setattr(partition, name, wrong)
    assert partition.blind_disagreements(50, seed=13) == count


def test_the_pools_of_the_price_of_blindness_are_those_of_the_claim(monkeypatch):
    calls = []
    monkeypatch.setattr(partition, "pools", recorder(calls, [np.ones((2, 8))]))
    assert partition.blind_disagreements(2, seed=13) == 0
    assert calls == [((2, 8, 1.0), {"seed": 13})]


def test_p4_is_the_price_of_eight_devices_and_its_deviation(monkeypatch):
    calls = []
    monkeypatch.setattr(partition, "expected_blind_price", recorder(calls, [np.float64(2.5)]))
    monkeypatch.setattr(partition, "blind_price_std", recorder(calls, [np.float64(0.5)]))
    found = partition._p4(0.75)
    assert found == Found(2.5, ".4f", deviation=0.5)
    assert type(found.value) is type(found.deviation) is float
    assert calls == [((8, 0.75), {})] * 2


def test_the_dynamic_programme_of_the_page():
    rng = np.random.default_rng(1)
    for _ in range(50):
        costs, speeds = rng.lognormal(size=12), rng.lognormal(size=3)
        extra = rng.lognormal(size=3)
        assert dynamic_programme(costs, speeds, overhead=extra) == oracle.dynamic_programme(
            costs, speeds, overhead=extra
        )
