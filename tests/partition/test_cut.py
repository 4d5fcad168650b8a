"""decentral.partition.cut against all cuts, hand-worked cases, ties and bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.partition.chains import attains, instance
from tests.partition.oracle import enumerate_cuts

from decentral import InfeasibleError
from decentral.partition import (
    bottleneck,
    equal_split,
    evaluate,
    fits,
    partition,
    proportional_split,
)


@pytest.mark.parametrize("seed", range(4))
def test_small_chains_against_all_cuts(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(120):
        costs, speeds, options = instance(rng, rng.integers(1, 8), rng.integers(1, 5))
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


def chains(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        layers, devices = rng.integers(3, 14), rng.integers(2, 5)
        yield rng.integers(1, 30, layers), rng.integers(1, 8, devices)


SCALES = [(10, 1), (10, 10), (1, 10), (3, 7), (1000, 3)]


@pytest.mark.parametrize("scale", SCALES)
def test_decimals_are_cut_as_whole_numbers_are(scale):
    for costs, speeds in chains(60):
        whole, part = partition(costs, speeds), partition(costs / scale[0], speeds / scale[1])
        np.testing.assert_array_equal(part.counts, whole.counts)
        assert part.bottleneck == pytest.approx(whole.bottleneck * scale[1] / scale[0], rel=1e-12)
        split = proportional_split(costs / scale[0], speeds / scale[1])
        np.testing.assert_array_equal(split.counts, proportional_split(costs, speeds).counts)


def test_a_target_that_is_typed_in_decimals_is_met():
    assert fits([0.1] * 6, [1, 1], 0.3)
    assert not fits([0.1] * 6, [1, 1], 0.3 * (1 - 2e-12))
    assert fits([0.1] * 10, [0.7, 0.3], 1.0)


def test_what_is_left_over_goes_to_the_first_of_equal_parts():
    assert proportional_split([1] * 5, [0.1, 0.2, 0.7]).counts.tolist() == [1, 1, 3]
    assert proportional_split([1] * 3, [1 / 6, 1 / 2, 1 / 3]).counts.tolist() == [1, 1, 1]
