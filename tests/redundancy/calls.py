"""One good call of each public function, with all its arguments."""

STAGES = {"stages": 6, "availability": 0.9}

CALLS = {
    "best_allocation": {"availabilities": [0.9, 0.8], "workers": 4, "skips": 0},
    "best_design": {**STAGES, "skip_loss": 0.1, "domain_outage": 0.01, "max_skips": 2},
    "cost_per_yield": {
        **STAGES, "replicas": 2, "skip_loss": 0.1, "skips": 1, "domain_outage": 0.01
    },
    "drop_probability": {"stages": 6, "outage": 0.1, "skips": 1},
    "log_drop_probability": {"stages": 6, "outage": 0.1, "skips": 1},
    "min_replicas": {
        **STAGES, "target": 0.01, "skips": 1, "domain_outage": 1e-3, "infeasible": "raise"
    },
    "shared_pool_drop_probability": {
        "stages": 6, "availability": [0.9, 0.8, 0.9, 0.7, 0.6, 0.5],
        "replicas": [2, 2, 1, 3, 3, 4], "pool_outages": [0.01, 0.02],
        "pool_of_stage": [0, 0, 1, 1, 0, 1], "skips": 1,
    },
    "stage_outage": {"availability": 0.9, "replicas": 2, "domain_outage": 0.01},
    "success_floor": {"stages": 6, "domain_outage": 0.01, "skips": 1},
    "unequal_drop_probability": {"outages": [0.1, 0.2], "skips": 1},
    "useful_yield": {"stages": 6, "outage": 0.1, "skip_loss": 0.1, "skips": 1},
}  # fmt: skip
