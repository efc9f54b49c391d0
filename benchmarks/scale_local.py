"""``python -m benchmarks.scale_local [ROWS ...]``: time, memory and distances as n grows, from a memory map.

Points are float32 from 50 Gaussian centres in 20 dimensions. Each size runs in a process of its own, with a
``memory_limit`` of 2,000 bytes a point (200 MB for 100,000), or the one that ``--memory-limit`` gives.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine

__all__ = ["main", "write_blobs"]

_BYTES_A_POINT = 2000
_CHUNK = 100_000

_FIT = """
import json, sys
from time import perf_counter
import numpy as np
from medoids import k_medoids

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key)) * 1024

path, limit, k, algorithm = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
k_medoids(np.random.RandomState(0).rand(4000, 20).astype(np.float32), 3, algorithm=algorithm)  # compiled
X = np.load(path, mmap_mode="r")
base, steps = status("VmRSS"), []

def tell(step):
    steps.append({"phase": step.phase, "seconds": step.seconds, "references": step.references,
                  "candidates": step.candidates, "memory": status("VmRSS")})
    print(f"{step.seconds:8.1f} s  {step.phase}  loss {step.loss:.5f}  {step.references:,} references, "
          f"{step.candidates:,} left, {status('VmRSS') / 2**20:,.0f} MiB", file=sys.stderr, flush=True)

began = perf_counter()
found = k_medoids(X, k, algorithm=algorithm, memory_limit=limit, random_state=0, callback=tell,
                  verbose=1 if sys.stderr.isatty() else 0)
print(json.dumps({
    "seconds": perf_counter() - began, "loss": found.loss, "swaps": found.n_swaps, "algorithm": found.algorithm,
    "distances": found.n_evaluations / len(X), "base": base, "peak": status("VmHWM"), "steps": steps,
    "counts": {phase: count.computed / len(X) for phase, count in found.counts.items()},
}))
"""


def write_blobs(path: Path, n: int, p: int = 20, centres: int = 50, seed: int = 0) -> None:
    """Write n points around some centres, of unequal sizes, as a .npy file, a chunk at a time."""
    random = np.random.RandomState(seed)
    middle = random.normal(size=(centres, p)) * 3
    share = random.dirichlet(np.full(centres, 2.0))
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, p))
    for start in range(0, n, _CHUNK):
        count = min(_CHUNK, n - start)
        which = random.choice(centres, count, p=share)
        X[start : start + count] = middle[which] + random.normal(size=(count, p))
    X.flush()


def measure(n: int, k: int, algorithm: str, limit: int, folder: Path) -> dict[str, Any]:
    """Fit n points in a new process."""
    path = folder / f"{n}.npy"
    if not path.exists():
        write_blobs(path, n)
    command = [sys.executable, "-c", _FIT, str(path), str(limit), str(k), algorithm]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {"n": n, "limit": limit, **json.loads(done.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scale_local", description=__doc__)
    parser.add_argument("rows", nargs="*", type=float, default=[1e5, 1e6, 5e6])
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--algorithm", default="pairedpam")
    parser.add_argument("--memory-limit", type=int, help="bytes; by default 2,000 a point")
    parser.add_argument("--folder", type=Path, help="where the points are kept; by default they are not")
    options = parser.parse_args()
    print("| rows | memory_limit, MB | seconds | distances a point | swaps | loss | peak, MiB | before the fit, MiB |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for rows in options.rows:
            limit = options.memory_limit or int(rows) * _BYTES_A_POINT
            one = measure(int(rows), options.k, options.algorithm, limit, options.folder or Path(scratch))
            found.append(one)
            print(
                f"| {one['n']:,} | {limit / 1e6:,.0f} | {one['seconds']:.1f} | {one['distances']:,.0f} | "
                f"{one['swaps']} | {one['loss']:.5f} | {one['peak'] / 2**20:,.0f} | {one['base'] / 2**20:,.0f} |",
                flush=True,
            )
            print(f"  by phase: { {phase: round(count) for phase, count in one['counts'].items()} }", file=sys.stderr)
    if len(found) > 1:
        slope = np.polyfit(np.log([one["n"] for one in found]), np.log([one["seconds"] for one in found]), 1)[0]
        print(f"\nTime grows as n^{slope:.2f}. {machine()}")


if __name__ == "__main__":
    main()
