"""One good call of each public function, with all its arguments."""

CALLS = {
    "hajek": {"values": [1.0, 2.0], "inclusion": [0.5, 0.5]},
    "horvitz_thompson": {"values": [1.0, 2.0], "inclusion": [0.5, 0.5], "workers": 3},
    "inclusion_probabilities": {"rates": [1.0, 2.0, 3.0], "quorum": 2},
    "joint_inclusion_probabilities": {"rates": [1.0, 2.0, 3.0], "quorum": 2},
    "mean_squared_error": {
        "estimator": "plain", "rates": [1.0, 2.0, 3.0], "quorum": 2,
        "optima": [0.0, 1.0, 2.0], "noise": 1.0,
    },
    "plain_mean": {"values": [1.0, 2.0]},
    "selection_bias": {"inclusion": [0.5, 0.7, 0.8], "optima": [0.0, 1.0, 2.0]},
}  # fmt: skip
