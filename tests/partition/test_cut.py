"""decentral.partition against oracles, hand-worked cases and bad input."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import dynamic_programme, enumerate_cuts

from decentral import InfeasibleError
from decentral.partition import (
    bidding,
    bottleneck,
    equal_split,
    evaluate,
    fits,
    partition,
    proportional_split,
)
from decentral.partition.chain import build

# --- random instances -----------------------------------------------------------------------


def _costs(rng, layers):
    return [
        lambda: np.ones(layers),
        lambda: rng.integers(0, 4, layers).astype(float),
        lambda: rng.lognormal(size=layers),
        lambda: rng.pareto(0.5, layers),
        lambda: 10.0 ** rng.uniform(-300, 0, layers),
        lambda: rng.lognormal(size=layers) * rng.integers(0, 2, layers),
        lambda: np.full(layers, 0.1),
    ][rng.integers(7)]()


def _speeds(rng, devices):
    return [
        lambda: np.ones(devices),
        lambda: rng.integers(1, 4, devices).astype(float),
        lambda: rng.lognormal(size=devices),
        lambda: 10.0 ** rng.uniform(-6, 6, devices),
    ][rng.integers(4)]()


def _instance(rng, layers, devices):
    """Costs, speeds and options of a random instance; each option is there half of the time."""
    costs, speeds = _costs(rng, layers), _speeds(rng, devices)
    options = {}
    if rng.integers(2):
        sizes = rng.integers(0, 5, layers)
        options["memory"] = sizes.tolist()
        most = max(1, int(2.5 * sizes.sum() / devices))
        options["capacity"] = rng.integers(0, most + 1, devices).tolist()
    if rng.integers(2):
        scale = costs.sum() / speeds.sum()
        options["overhead"] = scale * rng.choice([0, 0.1, 1, 3], devices)
    if rng.integers(2):
        options["nonempty"] = True
    return costs, speeds, options


def attains(found, least):
    """The documented rule: the least bottleneck, to a relative 1e-12."""
    return least <= found <= least * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_equals_dynamic_programme_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    feasible = 0
    for _ in range(400):
        costs, speeds, options = _instance(rng, rng.integers(1, 61), rng.integers(1, 9))
        exact = dynamic_programme(costs, speeds, **options)
        found = bidding.optimum(build(costs, speeds, **options))
        assert (math.inf if found is None else found[0]) == exact, (costs, speeds, options)
        assert attains(bottleneck(costs, speeds, **options), exact)
        if exact < math.inf:
            feasible += 1
            assert attains(partition(costs, speeds, **options).bottleneck, exact)
    assert 150 < feasible < 400  # both outcomes are tested


@pytest.mark.parametrize("seed", range(4))
def test_small_chains_against_all_cuts(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(300):
        costs, speeds, options = _instance(rng, rng.integers(1, 8), rng.integers(1, 5))
        best, cuts = enumerate_cuts(costs, speeds, **options)
        if best == math.inf:
            with pytest.raises(InfeasibleError):
                partition(costs, speeds, **options)
            continue
        found = partition(costs, speeds, **options)
        assert attains(found.bottleneck, best)
        assert tuple(found.counts) in cuts
        # The documented tie rule: every boundary as far along as in any optimal cut.
        furthest = np.max(np.cumsum(cuts, axis=1), axis=0)
        np.testing.assert_array_equal(found.boundaries[1:], furthest)
        # The greedy test accepts the optimum and refuses what does not count as equal.
        assert fits(costs, speeds, best, **options)
        assert best == 0 or not fits(costs, speeds, best * (1 - 2e-12), **options)
        # A hand-made copy of the cut is valid and takes the same times.
        copy = evaluate(costs, speeds, found.counts, **options)
        np.testing.assert_array_equal(copy.stage_times, found.stage_times)


@given(
    costs=st.lists(st.floats(0, 1e6) | st.just(1e-250), min_size=1, max_size=25),
    speeds=st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6),
    nonempty=st.booleans(),
)
def test_property_equals_dynamic_programme(costs, speeds, nonempty):
    exact = dynamic_programme(costs, speeds, nonempty=nonempty)
    assert attains(bottleneck(costs, speeds, nonempty=nonempty), exact)


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


# --- cases from people who do this job ------------------------------------------------------


def test_memory_can_be_tighter_than_rounding_allows():
    cut = partition([1] * 60, [1] * 4, memory=[6.5] * 60, capacity=[105, 105, 211, 19])
    assert cut.bottleneck == 26
    assert np.all(cut.counts <= [16, 16, 32, 2])


@pytest.mark.parametrize(
    ("layers", "speeds", "counts", "time"),
    [
        (40, [0.36, 0.64], [14, 26], 40.625),
        (40, [0.61, 0.39], [25, 15], 25 / 0.61),
        (5, [0.5, 0.5], None, 6),
        (7, [0.5, 0.5], None, 8),
        (5, [1] * 4, None, 2),
        (30, [1] * 4, None, 8),
        (40, [1] * 16, None, 3),
        (10, [3, 2, 1, 1], [5, 3, 1, 1], 5 / 3),
    ],
)
def test_unit_layers(layers, speeds, counts, time):
    cut = partition([1] * layers, speeds)
    assert cut.bottleneck == time
    assert cut.counts.sum() == layers  # layers are never dropped
    if counts:
        assert cut.counts.tolist() == counts


def test_no_empty_stage():
    best, cuts = enumerate_cuts([1] * 5, [1] * 4, nonempty=True)
    assert (best, len(cuts)) == (2, 4)
    assert partition([1] * 5, [1] * 4, nonempty=True).counts.tolist() == [2, 1, 1, 1]


def test_a_device_without_memory_is_skipped_or_named():
    options = {"memory": [1] * 10, "capacity": [10, 0, 10]}
    assert partition([1] * 10, [1] * 3, **options).counts.tolist() == [5, 0, 5]
    with pytest.raises(InfeasibleError, match=r"device 1.* 1 short") as failure:
        partition([1] * 10, [1] * 3, nonempty=True, **options)
    assert (failure.value.device, failure.value.shortfall) == (1, 1)


def test_ninety_four_layers():
    cut = partition([1] * 94, [1] * 3, memory=[2.5] * 94, capacity=[256, 64, 48])
    assert cut.bottleneck == 50
    assert np.all(cut.counts <= [102, 25, 19])


def test_greedy_strands_itself_without_empty_stages():
    cut = partition([1, 1, 9, 1], [3, 1, 10], nonempty=True)
    assert cut.bottleneck == 1


def test_the_result_in_full():
    cut = partition([1, 2, 3, 4], [1, 2], overhead=[0.5, 0.25])
    assert cut.boundaries.tolist() == [0, 2, 4]
    assert cut.counts.tolist() == [2, 2]
    assert cut.stage_costs.tolist() == [3, 7]
    assert cut.stage_times.tolist() == [3.5, 3.75]
    assert (cut.bottleneck, cut.latency) == (3.75, 7.25)
    with pytest.raises(AttributeError):
        cut.bottleneck = 1
    with pytest.raises(ValueError, match="read-only"):
        cut.counts[0] = 9


def test_scaling_changes_nothing():
    rng = np.random.default_rng(5)
    for _ in range(100):
        costs, speeds = rng.lognormal(size=30), rng.lognormal(size=5)
        best = partition(costs, speeds)
        small = partition(costs * 2.0**-300, speeds)
        assert small.bottleneck == best.bottleneck * 2.0**-300
        np.testing.assert_array_equal(small.counts, best.counts)


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


def test_fitting_is_true_or_false():
    assert fits([1], [1, 1], 9.0) is True
    assert fits([1], [1, 1], 9.0, nonempty=True) is False
    assert fits([1], [1, 1], 0.5) is False


def test_the_stated_shortfall_is_what_is_missing():
    rng = np.random.default_rng(6)
    tried = 0
    while tried < 100:
        sizes, caps = rng.integers(1, 9, 8).tolist(), rng.integers(5, 15, 3).tolist()
        options = {"memory": sizes, "capacity": caps}
        try:
            partition([1] * 8, [1] * 3, **options)
        except InfeasibleError as error:
            tried += 1
            caps[error.device] += error.shortfall
            if "in order" in str(error):  # that much on the device named makes it fit
                assert bottleneck([1] * 8, [1] * 3, **options) < math.inf
                caps[error.device] -= 1
                assert bottleneck([1] * 8, [1] * 3, **options) == math.inf


def test_a_layer_too_large_for_all():
    with pytest.raises(InfeasibleError, match=r"layer 1 .* 0\.5 more") as failure:
        partition([1, 1], [1, 1], memory=[1, 2], capacity=[1.5, 1])
    assert (failure.value.layer, failure.value.shortfall) == (1, 0.5)


def test_more_devices_than_layers():
    with pytest.raises(InfeasibleError, match="3 of them and the number of layers is 2"):
        partition([1, 1], [1, 1, 1], nonempty=True)
    assert partition([1, 1], [1, 1, 1]).counts.tolist() == [1, 1, 0]


# --- searches that once hung ----------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("problem", "message", "where"),
    [
        (
            {"speeds": [1, 1], "memory": [1, 1, 1, 1], "capacity": [2, 1]},
            "layer 3 does not fit once every device is filled in order: device 1 would need 1 more "
            "capacity to hold all layers from 2 on",
            (3, 1, 1),
        ),
        (
            {"speeds": [1], "memory": [1, 1], "capacity": [1]},
            "layer 1 does not fit once every device is filled in order: device 0 would need 1 more "
            "capacity to hold all layers from 0 on",
            (1, 0, 1),
        ),
        (
            {"speeds": [1, 1, 1], "memory": [1, 1], "capacity": [1, 1, 1], "nonempty": True},
            "nonempty asks for a layer on each of the devices, but there are 3 of them and the "
            "number of layers is 2",
            (None, 2, 1),
        ),
        (
            {"speeds": [1, 1], "memory": [1, 1, 3], "capacity": [5, 0], "nonempty": True},
            "nonempty asks for a layer on device 1, but its capacity is 3 short of the least it "
            "would have to take",
            (None, 1, 3),
        ),
    ],
)
def test_what_is_said_where_there_is_no_partition(problem, message, where):
    with pytest.raises(InfeasibleError) as caught:
        partition([1] * len(problem["memory"]), **problem)
    error = caught.value
    assert (str(error), error.layer, error.device, error.shortfall) == (message, *where)


def test_a_device_of_infinite_capacity_holds_all():
    found = partition([1, 1, 1], [1, 1], memory=[1, 2, 3], capacity=[math.inf, 0])
    assert found.counts.tolist() == [3, 0]


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
    most = {"even": 264, "lumpy": 265, "overhead": 549, "memory": 509, "nonempty": 569}
    assert most.keys() == probes.keys()
    assert {kind: count for kind, count in probes.items() if count > most[kind]} == {}


# --- other splits ---------------------------------------------------------------------------


def test_hand_made_counts():
    with pytest.raises(ValueError, match=r"sum to 1 .* 20"):
        evaluate([1] * 20, [1, 1], [1, 0])
    with pytest.raises(ValueError, match="sum to 18446744073709551618"):
        evaluate([1, 2], [1] * 2049, [2**53] * 2048 + [2])
    with pytest.raises(InfeasibleError, match="device 1 has 2 less capacity") as failure:
        evaluate([1] * 4, [1, 1], [1, 3], memory=[2] * 4, capacity=[8, 4])
    assert (failure.value.device, failure.value.shortfall) == (1, 2)
    with pytest.raises(InfeasibleError, match=r"counts\[1\] is 0") as failure:
        evaluate([1] * 4, [1, 1], [4, 0], nonempty=True)
    assert (failure.value.device, failure.value.shortfall) == (1, 1)
    with pytest.raises(InfeasibleError, match=r"0.5 less capacity than its counts\[1\] = 3 layers"):
        evaluate([1] * 4, [1, 1], [1, 3], memory=[1.5] * 4, capacity=[8, 4])


def test_everything_fits_without_a_limit_of_time():
    assert fits([1, 2], [1], math.inf)
    assert not fits([1, 2], [1], math.inf, memory=[1, 1], capacity=[1])


def test_equal_split():
    assert equal_split([1] * 11, [4, 2, 1, 1]).counts.tolist() == [3, 3, 3, 2]
    assert equal_split([1] * 32, [4, 2, 1, 1]).bottleneck == 8


@given(
    layers=st.integers(1, 60),
    speeds=st.lists(st.integers(1, 30), min_size=1, max_size=8),
)
def test_proportional_split_is_hamiltons_method(layers, speeds):
    counts = proportional_split([1] * layers, speeds).counts.tolist()
    shares = [Fraction(layers * speed, sum(speeds)) for speed in speeds]
    assert sum(counts) == layers
    rounded_up = [count - math.floor(share) for count, share in zip(counts, shares, strict=True)]
    assert set(rounded_up) <= {0, 1}
    key = [(share - math.floor(share), -i) for i, share in enumerate(shares)]
    ups = [k for k, up in zip(key, rounded_up, strict=True) if up]
    downs = [k for k, up in zip(key, rounded_up, strict=True) if not up]
    assert not ups or not downs or min(ups) > max(downs)


# --- bad input ------------------------------------------------------------------------------

GOOD = {"costs": [1.0, 2.0], "speeds": [1.0, 3.0]}
BAD = [
    ({"speeds": [1, 0]}, r"speeds must be positive, but speeds\[1\] is 0"),
    ({"speeds": [0, 0]}, r"speeds must be positive, but speeds\[0\] is 0"),
    ({"speeds": [1, -2]}, r"speeds must be positive, but speeds\[1\] is -2"),
    ({"speeds": [1, math.inf]}, r"speeds must be finite, but speeds\[1\] is inf"),
    ({"speeds": []}, "speeds must have at least one entry"),
    ({"costs": [1, math.nan]}, r"costs must be non-negative, but costs\[1\] is nan"),
    ({"costs": [1, -1]}, r"costs must be non-negative, but costs\[1\] is -1"),
    ({"costs": [[1, 2], [3, 4]]}, r"costs must be one-dimensional, got shape \(2, 2\)"),
    ({"costs": [[1], [2, 3]]}, "costs must be real numbers in a regular shape"),
    ({"costs": 3.0}, r"costs must be one-dimensional, got shape \(\)"),
    ({"costs": "12"}, "costs must be real numbers"),
    ({"costs": None}, "costs must be real numbers"),
    ({"costs": [None, 1]}, "costs must be real numbers"),
    ({"costs": [True, False]}, "costs must be real numbers"),
    ({"costs": [1j, 2]}, "costs must be real numbers"),
    ({"costs": np.array([b"5"], dtype=object)}, "costs must be real numbers"),
    ({"costs": np.ma.masked_array([1, 2], [0, 1])}, "costs must not be a masked array"),
    ({"costs": [10**400]}, "costs must be finite in double precision"),
    ({"costs": [10**5000]}, "costs must be finite in double precision"),
    ({"costs": [np.finfo(np.longdouble).max]}, r"costs must be finite, but costs\[0\] is inf"),
    (
        {"costs": [1e308, 1e308]},
        "^costs, speeds and overhead must give finite stage times, but the costs sum to inf, the "
        "speeds to 4, and the slowest speed is 1; rescale the units$",
    ),
    ({"costs": [1], "speeds": [5e-324]}, "must give finite stage times"),
    ({"speeds": [1e308, 1e308]}, "must give finite stage times"),
    ({"overhead": [1e308, 1e308]}, "must give finite stage times"),
    ({"memory": [1, -1], "capacity": [1, 1]}, r"memory must be non-negative, but memory\[1\]"),
    ({"memory": [1, 1]}, "memory and capacity must be given together, got memory alone"),
    ({"capacity": [1, 1]}, "memory and capacity must be given together, got capacity alone"),
    ({"memory": [1], "capacity": [1, 1]}, "memory must have length 2, got 1"),
    ({"memory": [1, 1], "capacity": [1]}, "capacity must have length 2, got 1"),
    ({"memory": [1, 1], "capacity": [1, math.nan]}, r"capacity must be non-negative"),
    ({"overhead": [0, -1]}, r"overhead must be non-negative, but overhead\[1\] is -1"),
    ({"overhead": [1, 2, 3]}, "overhead must have length 2, got 3"),
    ({"nonempty": "no"}, "nonempty must be True or False, got 'no'"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input(change, message):
    arguments = GOOD | change
    calls = [
        partition,
        bottleneck,
        lambda **kw: fits(target=1.0, **kw),
        lambda **kw: evaluate(counts=[1] * np.size(kw["speeds"]), **kw),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message) as failure:
            call(**arguments)
        assert not isinstance(failure.value, InfeasibleError)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1.5, 0.5], r"counts must be a whole number, but counts\[0\] is 1.5"),
        ([3, -1], r"counts must be non-negative, but counts\[1\] is -1"),
        ([2], "counts must have length 2, got 1"),
    ],
)
def test_bad_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        evaluate(**GOOD, counts=counts)


@pytest.mark.parametrize("target", [math.nan, -1, [1], "1"])
def test_bad_target(target):
    with pytest.raises(ValueError, match="target must be"):
        fits(**GOOD, target=target)


def test_inputs_are_neither_changed_nor_kept():
    costs, speeds = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])
    cut = partition(costs, speeds)
    before = cut.stage_times.tolist()
    costs[:], speeds[:] = 9, 9
    assert cut.stage_times.tolist() == before
