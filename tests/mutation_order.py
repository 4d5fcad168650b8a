"""Pytest plugin of the mutation run: fast tests come first."""

import json
from pathlib import Path


def pytest_collection_modifyitems(items):
    if (stats := Path("mutmut-stats.json")).exists():  # once mutmut has timed the tests
        durations = json.loads(stats.read_text("utf-8"))["duration_by_test"]
        items.sort(key=lambda item: durations.get(item.nodeid, 0))
