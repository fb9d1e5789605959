"""What all tests share: one thread, Hypothesis without a stopwatch, browser tests last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Before anything imports torch. Small tensors on busy cores are slower with two threads than with one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test asserts on seconds, so no example has a deadline. In continuous integration every run tries the same examples.
settings.register_profile("regard", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("regard")

BROWSER_TESTS = Path(__file__).parent / "browser"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs browser tests last: they are the slowest, and Playwright keeps an event loop running in the main thread."""
    items.sort(key=lambda item: BROWSER_TESTS in item.path.parents)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository's root folder."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def copy_folder(repository: Path) -> Path:
    """The copy checkpoint that ships."""
    return repository / "checkpoints" / "copy"
