"""The exact search for the best cut, against a dynamic programme and where it once hung."""

import math
from collections import Counter

import numpy as np
import pytest
from tests.partition.chains import attains, instance
from tests.partition.oracle import dynamic_programme, enumerate_cuts

from decentral.ordering import best_order
from decentral.partition import bidding, bottleneck, evaluate, fits, partition
from decentral.partition.chain import build


@pytest.mark.parametrize("seed", range(3))
def test_equals_dynamic_programme_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    feasible = 0
    for _ in range(300):
        costs, speeds, options = instance(rng, rng.integers(1, 61), rng.integers(1, 9))
        exact = dynamic_programme(costs, speeds, **options)
        found = bidding.optimum(build(costs, speeds, **options))
        assert (math.inf if found is None else found[0]) == exact, (costs, speeds, options)
        assert attains(bottleneck(costs, speeds, **options), exact)
        if exact < math.inf:
            feasible += 1
            assert attains(partition(costs, speeds, **options).bottleneck, exact)
    assert 100 < feasible < 300  # both outcomes are tested


@pytest.mark.parametrize(
    ("costs", "speeds"),
    [
        (
            [
                0.5825534314291531, 9.848070041458634e-17, 1.4080260789092967,
                2.7632793870983127e-16, 3.201515353024098e-17,
            ],
            [0.2926551933308989, 0.7073448066853606],
        ),
        (
            [
                0.947992806975475, 1.193997157003765e-16, 1.0954328703409972e-16,
                1.0032499441739735, 2.3611424135987178e-17,
            ],
            [0.4858405275726211, 0.514159473129099],
        ),
        ([6.03162317877539e-308, 3.413075938431064e-308], [8138760816564951.0, 4605428404316074.0]),
    ],
)  # fmt: skip
def test_the_best_cut_takes_less_than_the_rounded_mean(costs, speeds):
    """All work over all speed, the bound from below, rounds to more than the best bottleneck."""
    best, _ = enumerate_cuts(costs, speeds)
    assert best < math.fsum(costs) / math.fsum(speeds)
    assert bidding.optimum(build(costs, speeds))[0] == best


def test_long_chain_uses_the_same_arithmetic():
    """Above the size at which the search moves from lists to buffers."""
    rng = np.random.default_rng(9)
    costs, speeds = rng.lognormal(size=6000), rng.lognormal(size=40)
    best = bottleneck(costs, speeds)
    assert fits(costs, speeds, best)
    assert not fits(costs, speeds, best * (1 - 2e-12))
    assert partition(costs, speeds).counts.sum() == 6000
    capped = bottleneck(costs, speeds, memory=np.ones(6000), capacity=np.full(40, 200))
    assert capped == dynamic_like(costs, speeds, 200) > best


def dynamic_like(costs, speeds, most):
    """Least float target that a plain walk with a cap on counts accepts, by bisection of floats."""
    ends = np.concatenate(([0.0], np.cumsum(costs)))

    def works(target):
        start = 0
        for speed in speeds:
            times = (ends[start : start + most + 1] - ends[start]) / speed
            start += int(np.searchsorted(times, target, side="right")) - 1
        return start == len(costs)

    low, high = 0.0, float(ends[-1] / min(speeds))
    while math.nextafter(low, math.inf) < high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


@pytest.mark.parametrize("layers", [10, 2600, 5000])
def test_layers_left_over_may_cost_nothing(layers):
    costs, sizes = [1] * layers + [0], [1] * layers + [10**6]
    options = {"memory": sizes, "capacity": [layers, layers, 10**6], "overhead": [0, 0, 1e6]}
    assert bottleneck(costs, [1, 1, 1], **options) == 1e6


def test_overheads_of_a_long_pipeline():
    devices = 1030
    ones = [1] * devices
    options = {"memory": ones, "capacity": ones, "overhead": range(1, devices + 1)}
    assert bottleneck([0] * devices, ones, **options) == devices


def _chains_of_all_kinds():
    """Sixty chains of each kind: layers alike or not, where memory decides or an overhead does."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        layers, devices = rng.integers(20, 200), rng.integers(2, 9)
        costs, speeds = rng.uniform(1, 3, layers), rng.uniform(1, 9, devices)
        lumpy = costs.copy()
        lumpy[rng.integers(layers)] = 10.0 ** rng.integers(2, 9)
        room = np.ceil(rng.dirichlet(np.ones(devices)) * layers * rng.uniform(1.5, 3))
        yield "even", (costs, speeds), {}
        yield "lumpy", (lumpy, speeds), {}
        yield "overhead", (costs, speeds), {"overhead": rng.uniform(0, 50, devices)}
        yield "memory", (costs, speeds**4), {"memory": np.ones(layers), "capacity": room}
        yield "nonempty", (costs, speeds**4), {"nonempty": True}


def test_few_probes_are_enough(monkeypatch):
    """Where to look does not change the answer, but bisecting all doubles takes 64 probes."""
    probe, probes = bidding.probe, Counter()
    for kind, chain, options in _chains_of_all_kinds():

        def counted(*arguments, kind=kind):
            probes[kind] += 1
            return probe(*arguments)

        monkeypatch.setattr(bidding, "probe", counted)
        partition(*chain, **options)
    assert {kind for kind, count in probes.items() if count > 10 * 60} == set()


# --- memory is exact ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "capacity", "counts"),
    [
        ([0.1] * 3, [0.1] * 3, [1, 1, 1]),
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [1, 1, 1]),
        ([2**53 + 1] * 2, [2**53 + 1, math.inf], [1, 1]),
        ([2**70, 1], [2**70, 1], [1, 1]),
    ],
)
def test_memory_that_just_fits(memory, capacity, counts):
    ones = [1] * len(memory)
    cut = partition(ones, ones, memory=memory, capacity=capacity)
    assert cut.counts.tolist() == counts


@pytest.mark.parametrize(
    ("memory", "capacity"),
    [
        ([1e17, 1.0], [1e17, 0]),
        ([2**63, 1], [2**63]),
        ([2**53 + 1], [2**53]),
        ([2**62, 1, 2**62], [2**62] * 2),
        (np.array([np.int64(2**53 + 1)], dtype=object), [2**53]),
    ],
)
@pytest.mark.parametrize("nonempty", [False, True])
def test_memory_that_just_does_not_fit(memory, capacity, nonempty):
    layers, devices = [1] * len(memory), [1] * len(capacity)
    options = {"memory": memory, "capacity": capacity, "nonempty": nonempty}
    assert bottleneck(layers, devices, **options) == math.inf


MEMORIES = {
    "two of 80": ([1.6] * 100, [80, 80], [50, 50]),
    "room on the second": ([1.6] * 100, [80, 90], [50, 50]),
    "four of 44": ([2.2] * 80, [44] * 4, [20] * 4),
    "decimals of the capacity": ([1] * 6, [0.1 + 0.2 + 2.7, 3], [3, 3]),
    "sixths": ([5 / 6] * 12, [5, 5], [6, 6]),
}


@pytest.mark.parametrize("case", MEMORIES)
def test_memory_that_is_typed_in_decimals_fits(case):
    memory, capacity, counts = MEMORIES[case]
    chain = [1] * len(memory), [1] * len(capacity)
    limits = {"memory": memory, "capacity": capacity}
    assert partition(*chain, **limits).counts.tolist() == counts
    assert evaluate(*chain, counts, **limits).counts.tolist() == counts
    assert best_order(*chain, **limits).partition.counts.tolist() == counts
    less = [(1 - 1e-11) * x for x in capacity]
    assert bottleneck(*chain, memory=memory, capacity=less) > max(counts)


def test_whole_bytes_are_compared_exactly():
    full = 2**52
    assert bottleneck([1, 1], [1, 1], memory=[full, 1], capacity=[full, 1]) == 1
    assert bottleneck([1, 1], [1, 1], memory=[full, 1], capacity=[full - 1, full - 1]) == math.inf
    huge = 2**60
    assert bottleneck([1, 1], [1, 1], memory=[huge, huge], capacity=[huge, huge - 1]) == math.inf
