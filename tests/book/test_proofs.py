"""The proofs state what they say, at numbers, and refute what is wrong."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import z3
from tests.partition.oracle import all_bottlenecks

from decentral.partition import bottleneck, fits
from papers import proofs

SIZES = [(L, m) for m in (1, 2, 3, 4) for L in (1, 3, 5, 8)]


@pytest.mark.parametrize(("layers", "devices"), SIZES)
def test_the_theorems_hold_for_all_reals(layers, devices):
    assert proofs.greedy_is_exact(layers, devices)
    assert proofs.greedy_is_exact(layers, devices, memory=True, overhead=True)
    assert proofs.bound_holds(layers, devices)
    assert proofs.bound_holds(layers, devices, overhead=True)


@pytest.mark.parametrize(("layers", "devices"), [(1, 2), (3, 2), (3, 3), (5, 3)])
def test_the_subset_programme_holds_for_all_reals(layers, devices):
    assert proofs.subset_programme_is_exact(layers, devices)
    assert proofs.subset_programme_is_exact(layers, devices, worst=True)


#
# A formula is worth what it says: with numbers for its variables it must be true exactly where
# plain arithmetic or the library finds so.
def says(formula, **numbers):
    """The truth of a formula at numbers: w costs, v speeds, k lost work, q sizes, M capacities."""
    pairs = []
    for name, values in numbers.items():
        if np.ndim(values):
            pairs += [(z3.Real(f"{name}__{i}"), z3.RealVal(str(x))) for i, x in enumerate(values)]
        else:
            pairs.append((z3.Real(name), z3.RealVal(str(values))))
    truth = z3.simplify(z3.substitute(formula, *pairs))
    assert z3.is_true(truth) or z3.is_false(truth), truth
    return z3.is_true(truth)


WAYS = [{"memory": m, "overhead": o} for m in (False, True) for o in (False, True)]


@pytest.mark.parametrize("options", WAYS)
def test_a_block_fits_up_to_the_limits_themselves(options):
    case = proofs._Instance(3, 2, **options)
    costs, lost, sizes = (2, 3, 4), (1, 2), (5, 1, 3)
    for device, start, end in product((0, 1), range(4), range(4)):
        if start > end:
            continue
        time = sum(costs[start:end]) + lost[device] * options["overhead"]
        size = sum(sizes[start:end])
        for speed, room in product((time - 1, time, time + 1), (size - 1, size, size + 1)):
            numbers = {"w": costs, "v": [100] * 2, "k": lost, "q": sizes, "M": [100] * 2}
            numbers["v"][device], numbers["M"][device] = speed, room
            expected = start == end or (time <= speed and (size <= room or not options["memory"]))
            assert says(case.fits(device, start, end), **numbers) == expected


@pytest.mark.parametrize("options", WAYS)
def test_costs_may_vanish_and_speeds_may_not(options):
    domain = z3.And(*proofs._Instance(2, 2, **options).domain)
    least = {"w": [0, 0], "v": ["1/1000"] * 2, "k": [0, 0], "q": [0, 0], "M": [0, 0]}
    assert says(domain, **least)
    bounded = "wv" + "qM" * options["memory"] + "k" * options["overhead"]
    for name, place in product(least, (0, 1)):
        lower = list(least[name])
        lower[place] = 0 if name == "v" else "-1/1000"
        assert says(domain, **(least | {name: lower})) == (name not in bounded)


@pytest.mark.parametrize(("layers", "count"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 3)])
def test_all_cuts_are_tried_in_the_proofs(layers, count):
    cuts = list(proofs._Instance(layers, count).cuts())
    every = [
        cut
        for cut in product(range(layers + 1), repeat=count + 1)
        if cut[0] == 0 and cut[-1] == layers and list(cut) == sorted(cut)
    ]
    assert sorted(cuts) == every
    assert len(cuts) == len(set(cuts)) == math.comb(layers + count - 1, count - 1)


def instances(layers, count, draws=40, seed=2):
    """Small whole numbers, speeds powers of 2: no rounding, and many ties."""
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield {
            "w": rng.integers(0, 4, layers).tolist(),
            "v": (2 ** rng.integers(0, 4, count)).tolist(),
            "k": rng.integers(0, 3, count).tolist(),
            "q": rng.integers(0, 4, layers).tolist(),
            "M": rng.integers(0, 7, count).tolist(),
        }


def as_arguments(numbers, *, memory, overhead):
    """The arguments of the library for these numbers."""
    given = {"costs": numbers["w"], "speeds": numbers["v"]}
    if memory:
        given |= {"memory": numbers["q"], "capacity": numbers["M"]}
    if overhead:
        given["overhead"] = [k / v for k, v in zip(numbers["k"], numbers["v"], strict=True)]
    return given


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 1), (1, 2), (3, 2), (4, 3)])
def test_the_walk_and_the_cuts_of_the_proof_are_those_of_the_library(layers, count, options):
    case = proofs._Instance(layers, count, **options)
    walk, cuts = case.greedy_fails(), list(case.cuts())
    some_cut = z3.Or(*(case.meets(cut) for cut in cuts))
    answers = set()
    for numbers in instances(layers, count):
        answer = fits(target=1, **as_arguments(numbers, **options))
        answers.add(answer)
        assert says(walk, **numbers) != answer
        assert says(some_cut, **numbers) == answer
    assert answers == {False, True}


def stated(monkeypatch, proof, *args, **options):
    """The negation that a proof hands to the solver."""
    seen = []

    def catch(*negation):
        seen.append(z3.And(*negation))
        return "answer"

    with monkeypatch.context() as patch:
        patch.setattr(proofs, "_holds_for_all", catch)
        assert proof(*args, **options) == "answer"
    return seen[0]


NEGATIVE = {"w": [-1, 0, 0], "v": [8, 8], "k": [0, 0], "q": [0, 0, 0], "M": [1, 1]}


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("forgotten", ["greedy_fails", "meets"])
def test_the_proof_of_the_walk_opposes_the_walk_to_the_cuts(monkeypatch, options, forgotten):
    """With one side always true the negation says what the other side says."""
    monkeypatch.setattr(proofs._Instance, forgotten, lambda *_: z3.BoolVal(True))
    negation = stated(monkeypatch, proofs.greedy_is_exact, 3, 2, **options)
    for numbers in instances(3, 2):
        answer = fits(target=1, **as_arguments(numbers, **options))
        assert says(negation, **numbers) == (answer == (forgotten == "greedy_fails"))
    if forgotten == "greedy_fails":
        assert says(negation, **(NEGATIVE | {"w": [0, 0, 0]}))
        assert not says(negation, **NEGATIVE)


def on_the_scale(numbers, multiple, *, overhead):
    """The same costs, speeds and lost work in units in which the bound and V are 1."""
    costs, lost = numbers["w"], numbers["k"] if overhead else []
    whole = sum(costs) + sum(lost) + multiple * max(costs)
    units = {"w": whole, "k": whole, "v": sum(numbers["v"])}
    point = {name: [Fraction(x, unit) for x in numbers[name]] for name, unit in units.items()}
    return point | {"w_max": max(point["w"])}


@pytest.mark.parametrize("overhead", [False, True])
@pytest.mark.parametrize(("multiple", "answers"), [(0, {False, True}), (1, {False}), (2, {False})])
def test_the_proof_of_the_bound_states_the_bound(monkeypatch, multiple, answers, overhead):
    """The negation says that every cut takes more than the bound; on the scale, nothing else."""
    options = {"multiple": lambda m: multiple, "overhead": overhead}
    negation = stated(monkeypatch, proofs.bound_holds, 3, 2, **options)
    found = set()
    for numbers in instances(3, 2, draws=30):
        if max(numbers["w"]) == 0:
            continue
        point = on_the_scale(numbers, multiple, overhead=overhead)
        spare = [k / v for k, v in zip(point["k"], point["v"], strict=True)]
        limits = {"overhead": spare} if overhead else {}
        answer = min(all_bottlenecks(point["w"], point["v"], **limits)) > 1
        assert says(negation, **point) == answer
        assert not says(negation, **(point | {"v": [v / 2 for v in point["v"]]}))
        assert not says(negation, **(point | {"w": [2 * w for w in point["w"]]}))
        assert not says(negation, **(point | {"w_max": point["w_max"] / 2}))
        found.add(answer)
    assert found == answers


def test_the_bound_of_the_theorem_is_the_default(monkeypatch):
    """With m = 3: 2 w_max, and no overhead."""
    negation = stated(monkeypatch, proofs.bound_holds, 1, 3)
    monkeypatch.setattr(proofs._Instance, "meets", lambda *_: z3.BoolVal(False))
    no_cut = stated(monkeypatch, proofs.bound_holds, 1, 3)
    third = Fraction(1, 3)
    point = {"w": [third], "v": [third] * 3, "w_max": third}
    assert says(no_cut, **point)
    assert not says(negation, **point)


def test_costs_below_nought_are_outside_the_bound(monkeypatch):
    monkeypatch.setattr(proofs._Instance, "meets", lambda *_: z3.BoolVal(False))
    no_cut = stated(monkeypatch, proofs.bound_holds, 2, 2)
    half = Fraction(1, 2)
    assert says(no_cut, w=[half, 0], v=[half, half], w_max=half)
    assert not says(no_cut, w=[1, -1], v=[half, half], w_max=1)


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 1), (1, 2), (3, 2), (3, 3)])
def test_the_subset_programme_of_the_proof_is_the_library(monkeypatch, layers, count, worst):
    """Without cuts the other side is false, and the negation says what the programme says."""
    monkeypatch.setattr(proofs._Instance, "cuts", lambda self: iter(()))
    options = {"worst": True} if worst else {}
    programme = stated(monkeypatch, proofs.subset_programme_is_exact, layers, count, **options)
    join, answers = (all if worst else any), set()
    for numbers in instances(layers, count):
        answer = join(
            fits(target=1, **as_arguments(in_order(numbers, order), memory=True, overhead=True))
            for order in permutations(range(count))
        )
        answers.add(answer)
        assert says(programme, **numbers) == answer
    assert answers == {False, True}
    numbers = {"w": [0] * layers, "v": [1] * count, "k": [0] * count}
    numbers |= {"q": [0] * layers, "M": [0] * count}
    assert says(programme, **numbers)
    assert not says(programme, **(numbers | {"w": [-1] * layers}))


def in_order(numbers, order):
    ordered = {name: [numbers[name][d] for d in order] for name in ("v", "k", "M")}
    return numbers | ordered


@pytest.mark.parametrize("worst", [False, True])
def test_the_subset_programme_is_opposed_to_the_cuts_of_all_orders(monkeypatch, worst):
    """Where the whole negation is false and the programme right, the cuts are right."""
    options = {"worst": worst} if worst else {}
    negation = stated(monkeypatch, proofs.subset_programme_is_exact, 3, 2, **options)
    assert not any(says(negation, **numbers) for numbers in instances(3, 2))


def test_a_statement_holds_if_nothing_satisfies_its_negation():
    x = z3.Real("x")
    assert proofs._holds_for_all(x > 0, x < 0) is True
    assert proofs._holds_for_all(x > 0) is False
    assert proofs._holds_for_all(x < 0) is False


def test_an_undecided_statement_is_an_error(monkeypatch):
    class Tired(z3.Solver):
        def check(self):
            return z3.unknown

        def reason_unknown(self):
            return "it is late"

    monkeypatch.setattr(z3, "Solver", Tired)
    with pytest.raises(RuntimeError, match=r"^z3 could not decide: it is late$"):
        proofs._holds_for_all(z3.Real("x") > 0)


def refutation(monkeypatch, proof, layers, count, **options):
    """The numbers that refute a statement; they must exist."""
    assert not proof(layers, count, **options)
    solver = z3.Solver()
    solver.add(stated(monkeypatch, proof, layers, count, **options))
    assert solver.check() == z3.sat
    model = solver.model()

    def values(name, size):
        found = (model.eval(z3.Real(f"{name}__{i}"), model_completion=True) for i in range(size))
        return [x.as_fraction() for x in found]

    sizes = {"w": layers, "v": count, "k": count, "q": layers, "M": count}
    return {name: values(name, size) for name, size in sizes.items()}


def exact_best(numbers, *, memory, overhead):
    """The best bottleneck over all cuts, in fractions."""
    given = as_arguments(numbers, memory=memory, overhead=overhead)
    return min(all_bottlenecks(**given), default=math.inf)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("overhead", [False, True])
@pytest.mark.parametrize("less", [lambda m: m - 1.01, lambda m: 0.99 * (m - 1)])
def test_a_smaller_multiple_is_refuted_by_a_chain(monkeypatch, count, overhead, less):
    options = {"multiple": less, "overhead": overhead}
    numbers = refutation(monkeypatch, proofs.bound_holds, count + 1, count, **options)
    assert sum(numbers["v"]) == 1
    best = exact_best(numbers, memory=False, overhead=overhead)
    assert best > 1
    floats = {name: [float(x) for x in values] for name, values in numbers.items()}
    given = as_arguments(floats, memory=False, overhead=overhead)
    assert bottleneck(**given) == pytest.approx(float(best), rel=1e-12)


def test_a_bound_that_forgets_the_overhead_is_refuted_with_overhead_only(monkeypatch):
    """Let a stage bear its overhead twice: only chains with overhead notice."""
    right = proofs._Instance.fits

    def twice(self, device, start, end):
        once = right(self, device, start, end)
        extra = z3.Sum(self.costs[start:end]) + 2 * self.lost[device] <= self.speeds[device]
        return once if start == end else z3.And(once, extra)

    monkeypatch.setattr(proofs._Instance, "fits", twice)
    assert proofs.bound_holds(2, 2)
    assert not proofs.bound_holds(2, 2, overhead=True)


def ignoring(option):
    """Cuts that meet the target if one of the limits is forgotten."""
    plain = proofs._Instance.meets

    def meets(self, boundaries):
        kept, lost = self.memory, self.lost
        if option == "memory":
            self.memory = False
        else:
            self.lost = [z3.RealVal(0)] * self.devices
        formula = plain(self, boundaries)
        self.memory, self.lost = kept, lost
        return formula

    return meets


@pytest.mark.parametrize("option", ["memory", "overhead"])
@pytest.mark.parametrize("also", [False, True])
def test_cuts_that_ignore_a_limit_are_refuted_if_there_is_one(monkeypatch, option, also):
    other = {"memory": "overhead", "overhead": "memory"}[option]
    monkeypatch.setattr(proofs._Instance, "meets", ignoring(option))
    assert proofs.greedy_is_exact(3, 2, **{other: also})
    options = {option: True, other: also}
    numbers = refutation(monkeypatch, proofs.greedy_is_exact, 3, 2, **options)
    assert exact_best(numbers, **options) > 1
    assert exact_best(numbers, **(options | {option: False})) <= 1


@pytest.mark.parametrize("options", WAYS)
def test_a_walk_that_may_not_skip_a_device_is_refuted(monkeypatch, options):
    right = proofs._Instance.greedy_fails

    def stubborn(self):
        return z3.Or(right(self), z3.Not(self.fits(0, 0, 1)))

    monkeypatch.setattr(proofs._Instance, "greedy_fails", stubborn)
    numbers = refutation(monkeypatch, proofs.greedy_is_exact, 2, 2, **options)
    assert exact_best(numbers, **options) <= 1
    first = {name: values[:1] for name, values in numbers.items()}
    assert exact_best(first, **options) > 1


@pytest.mark.parametrize("worst", [False, True])
def test_a_single_order_is_no_match_for_the_subset_programme(monkeypatch, worst):
    """Try the cuts of the order given only: the solver finds devices that another order decides."""
    monkeypatch.setattr(proofs, "permutations", lambda devices: [tuple(devices)])
    numbers = refutation(monkeypatch, proofs.subset_programme_is_exact, 2, 2, worst=worst)
    options = {"memory": True, "overhead": True}
    given, swapped = numbers, in_order(numbers, (1, 0))
    if worst:
        given, swapped = swapped, given
    assert exact_best(given, **options) > 1 >= exact_best(swapped, **options)


@pytest.mark.parametrize("worst", [False, True])
def test_a_programme_that_forgets_a_cut_is_refuted(monkeypatch, worst):
    right = proofs._Instance.cuts
    monkeypatch.setattr(
        proofs._Instance, "cuts", lambda self: (cut for cut in right(self) if 1 not in cut)
    )
    assert not proofs.subset_programme_is_exact(2, 2, worst=worst)
