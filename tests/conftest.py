"""Each test worker has its own cache of compiled kernels: Numba's is not safe between processes that write at once."""

from __future__ import annotations

import os
from pathlib import Path

_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / f"numba-{_WORKER}"))
