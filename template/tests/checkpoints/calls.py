"""One good call of each function, for the tests of all functions in tests/library."""

CALLS = {
    "best_interval": {"save_time": 2.0, "time_between_failures": 240.0},
    "expected_time": {"interval": 30.0, "save_time": 2.0, "time_between_failures": 240.0},
}
