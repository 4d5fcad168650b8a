import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from papers.pages import SHARED

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


# The files that take longest. Who begins with them has short ones left when the other is done.
LONGEST = [
    *("test_browser.py", "test_order.py", "test_template.py", "test_build.py"),
    *("test_navigation.py", "test_properties.py", "ordering.ipynb"),
    *("stragglers.ipynb", "test_own_numbers.py", "test_bounds.py"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files; the order within a file stays."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of a run, and the notebooks, share what they find of the claims."""
    if SHARED not in os.environ:
        os.environ[SHARED] = config.judgements = tempfile.mkdtemp()


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "judgements"):
        shutil.rmtree(config.judgements)
        del os.environ[SHARED]
