"""One good call of each public function, with all its arguments."""

MODE = {"curvature": 1.0, "step": 0.2}
MODES = {"curvatures": [1.0, 0.1], "step": 0.2, "inner_steps": [1, 4]}

CALLS = {
    "best_inner_steps": {**MODE, "sync_cost": 4.0},
    "best_weights": {**MODES, "target": 0.1, "noise": 1.0},
    "contraction": {**MODE, "inner_steps": 4},
    "displacement_variance": {**MODE, "inner_steps": 4, "noise": 1.0},
    "equal_weights": {"inner_steps": [1, 4]},
    "information": {**MODE, "inner_steps": 4, "noise": 1.0},
    "information_limit": {**MODE, "noise": 1.0},
    "information_weights": {"inner_steps": [1, 4], **MODE},
    "loss_floor": {**MODES, "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0},
    "matched_outer_step": {**MODES, "weights": [0.5, 0.5], "target": 0.1},
    "simulate": {
        **MODES, "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0, "rounds": 2,
        "replicas": 3, "literal": True, "seed": 0,
    },
    "stationary_variance": {
        **MODE, "inner_steps": [1, 4], "weights": [0.5, 0.5], "noise": 1.0, "outer_step": 1.0
    },
    "step_weights": {"inner_steps": [1, 4]},
    "weight_penalty": {**MODE, "inner_steps": [1, 4], "weights": [0.5, 0.5]},
}  # fmt: skip
