"""A call on arrays is the array of the calls; arrays that do not fit together are refused."""

import dataclasses
import itertools
import re

import numpy as np
import pytest
from numpydoc.docscrape import FunctionDoc
from tests.library.test_validation import GOOD, public

# Of one shape, whatever the others' are.
WHOLE = {
    "costs", "speeds", "memory", "capacity", "overhead", "counts", "stage_times", "pool_of_stage"
}  # fmt: skip


def arrays_of(module, function):
    """The arguments of a function that may have more axes than in its good call."""
    call, found = GOOD[module][function], []
    described = {
        name.strip(): parameter.type
        for parameter in FunctionDoc(public(module)[function])["Parameters"]
        for name in parameter.name.split(",")
    }
    for name, value in call.items():
        kind = described[name]
        one = re.search(r"shape \(\w+,\)|^int(, optional)?$|^float(?! or)|^bool|callable|^\{", kind)
        if isinstance(value, (str, bool)) or callable(value) or one or name in WHOLE:
            continue
        found.append(name)
    return found


def another(value):
    """A value near `value`, which is as good."""
    near = np.asarray(value)
    if near.dtype.kind == "i":
        return near + 1 + np.arange(near.size).reshape(near.shape)
    return near * (1 - 0.07 / (1 + np.arange(near.size).reshape(near.shape)))


VECTORISED = {
    (module, function): arrays
    for module, functions in GOOD.items()
    for function in functions
    if module != "machines" and (arrays := arrays_of(module, function))
}


def answers(answer):
    """The arrays of an answer, by name."""
    if dataclasses.is_dataclass(answer):
        return {f.name: np.asarray(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    return {"answer": np.asarray(answer)}


@pytest.mark.parametrize(("module", "function"), VECTORISED)
def test_arrays_are_taken_entry_by_entry(module, function):
    """Each argument varies along an axis of its own; then every call is made by itself."""
    call, arrays = GOOD[module][function], VECTORISED[module, function]
    law = public(module)[function]
    pairs = {name: (np.asarray(call[name]), another(call[name])) for name in arrays}
    spread = {}
    for axis, (name, pair) in enumerate(pairs.items()):
        outer = [2 if axis == other else 1 for other in range(len(pairs))]
        spread[name] = np.stack(pair).reshape(*outer, *pair[0].shape)
    together = answers(law(**call | spread))
    for index in itertools.product((0, 1), repeat=len(pairs)):
        chosen = {name: pair[i] for i, (name, pair) in zip(index, pairs.items(), strict=True)}
        for name, alone in answers(law(**call | chosen)).items():
            assert together[name][index].shape == alone.shape
            np.testing.assert_allclose(together[name][index], alone, rtol=1e-14, strict=False)


@pytest.mark.parametrize(
    ("module", "function", "pair"),
    [
        (*function, pair)
        for function, arrays in VECTORISED.items()
        for pair in itertools.combinations(arrays, 2)
    ],
)
def test_arrays_that_do_not_fit_are_refused(module, function, pair):
    call = GOOD[module][function]
    wrong = {
        name: np.stack([np.asarray(call[name])] * size)
        for name, size in zip(pair, (2, 3), strict=True)
    }
    with pytest.raises(ValueError, match=r"must broadcast, (but the|got) shapes") as caught:
        public(module)[function](**call | wrong)
    assert all(re.search(rf"\b{name}\b", str(caught.value)) for name in pair)
    assert re.search(r"\((2,.*\(3|3,.*\(2),", str(caught.value))
