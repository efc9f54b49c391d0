"""Marks of the test tiers, and a cache of compiled kernels for all test workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# One for all processes, which take turns (`medoids.engine.compile`), and apart from what is beside the sources.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "numba"))
# Fixtures that show what a test needs.
_MARKS_OF_FIXTURES = {"browser": "browser", "medoids": "command", "program": "command", "client": "dask"}


def pytest_configure() -> None:
    """Listen to Ctrl-C, for tests that send it: a shell starts what runs in the background with it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need, so that none can forget to say so."""
    for item in items:
        for name in getattr(item, "fixturenames", ()):
            if name in _MARKS_OF_FIXTURES:
                item.add_marker(_MARKS_OF_FIXTURES[name])
        # The search over shards, with Dask or in one process: several fits of thousands of rows for each test.
        if item.path.name == "test_dask.py" or item.path.parent.name == "cluster" or item.name.endswith("[cluster.md]"):
            item.add_marker("dask")
