"""What the library says when it refuses a call, word for word.

``python tests/test_messages.py`` writes the table anew; its difference is then to be read.
"""

import itertools
import re
from pathlib import Path

import numpy as np

from test_arrays import VECTORISED
from test_validation import BAD, GOOD, public

TABLE = Path(__file__).with_name("messages.txt")
BADLY = {kind: value for kind, value in BAD.items() if kind != "an object"} | {  # an address
    "three numbers, the last of them too small": [3, 2, -1],
    "a table with one number that is no whole one": [[1.0, 1.0], [1.0, 1.5]],
    "too many": np.ones(9),
    "an integer too long to print": 10**5000,
    "one of two is zero": [1.0, 0.0],
    "zeros": [0.0, 0.0],
}


def message(module, function, call):
    """What a call says, if it is refused."""
    try:
        public(module)[function](**call)
    except ValueError as error:
        return str(error)
    return None


def refused():
    """What each argument, or pair of arrays that do not fit, makes each function say."""
    for module, functions in GOOD.items():
        for function, call in functions.items():
            tries = {name: [{name: bad} for bad in BADLY.values()] for name in call}
            for pair in itertools.combinations(VECTORISED.get((module, function), ()), 2):
                tries[" with ".join(pair)] = [
                    {n: np.stack([call[n]] * k) for n, k in zip(pair, (2, 3), strict=True)}
                ]
            for name, wrong in tries.items():
                said = (message(module, function, call | change) for change in wrong)
                lines = dict.fromkeys(filter(None, said))
                yield f"{function}: {name}", [re.sub(rf"\b{name}\b", "_", x) for x in lines]


def table():
    """The text of the table: arguments that are refused in the same words stand together."""
    groups = {}
    for where, said in refused():
        groups.setdefault(tuple(said), []).append(where)
    return "\n".join(
        "\n".join([*names, *(f"    {line}" for line in said)]) + "\n"
        for said, names in groups.items()
    )


def test_the_messages_are_those_of_the_table():
    assert table().splitlines() == TABLE.read_text("utf-8").splitlines()


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
