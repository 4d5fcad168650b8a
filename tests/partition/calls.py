"""One good call of each public function, with all its arguments."""

CHAIN = {"costs": [3.0, 1.0, 2.0, 1.0], "speeds": [2.0, 1.0]}
BOUND = {"memory": [1.0, 1.0, 1.0, 1.0], "capacity": [4.0, 4.0], "overhead": [0.5, 0.0]}

CALLS = {
    "blind_price_std": {"devices": 4, "sigma": 0.5},
    "bottleneck": {**CHAIN, **BOUND, "nonempty": False},
    "bubble_fraction": {"stage_times": [1.0, 2.0], "microbatches": 4},
    "equal_split": CHAIN,
    "evaluate": {**CHAIN, "counts": [3, 1], **BOUND, "nonempty": False},
    "expected_blind_price": {"devices": 4, "sigma": 0.5},
    "fits": {**CHAIN, "target": 3.0, **BOUND, "nonempty": False},
    "lower_bound": {**CHAIN, "overhead": [0.5, 0.0], "nonempty": False},
    "makespan": {"stage_times": [1.0, 2.0], "microbatches": 4},
    "partition": {**CHAIN, **BOUND, "nonempty": False},
    "proportional_split": CHAIN,
    "upper_bound": {**CHAIN, "overhead": [0.5, 0.0], "leave_idle": False},
}  # fmt: skip
