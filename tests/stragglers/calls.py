"""One good call of each public function, with all its arguments."""

GOAL = {"curvature": 1.0, "noise": 1.0, "start": 1.0, "accuracy": 0.05}
WORKERS = {"workers": 8, "quorum": 6}

CALLS = {
    "best_quorum": {"round_times": [1.0, 2.0, 3.0], **GOAL, "step": 0.05, "whole": True},
    "best_quorum_and_step": {"round_times": [1.0, 2.0, 3.0], **GOAL},
    "best_step": {"quorum": 4, **GOAL},
    "exponential_round_time": {**WORKERS, "shift": 1.0, "rate": 2.0},
    "exponential_round_variance": {**WORKERS, "rate": 2.0},
    "gradients_needed": GOAL,
    "min_quorum": {"curvature": 1.0, "step": 0.2, "noise": 1.0, "accuracy": 0.05},
    "pareto_round_time": {**WORKERS, "tail": 2.0, "scale": 1.0},
    "round_time": {"quantile": lambda share: share, **WORKERS, "upper_tail": False},
    "rounds_to_accuracy": {
        "quorum": 4, **GOAL, "step": 0.2, "whole": True, "infeasible": "raise"
    },
    "squared_error": {
        "rounds": 3, "quorum": 4, "curvature": 1.0, "step": 0.2, "noise": 1.0, "start": 1.0
    },
    "unequal_round_time": {"rates": [1.0, 2.0, 3.0], "quorum": 2, "shift": 1.0},
}  # fmt: skip
