"""One good call of each public function, with all its arguments."""

from tests.partition.calls import BOUND, CHAIN

CALLS = {
    "best_order": {**CHAIN, **BOUND, "nonempty": False, "progress": False},
    "sort_order": {"speeds": [2.0, 1.0], "kind": "fast-first"},
    "swap_search": {
        **CHAIN, "restarts": 1, "seed": 0, **BOUND, "nonempty": False, "progress": False
    },
    "worst_order": {**CHAIN, "overhead": [0.5, 0.0], "progress": False},
}  # fmt: skip
