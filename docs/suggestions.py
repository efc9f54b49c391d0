"""Make the table of suggestions in choosing-k.md: ``python docs/suggestions.py``, with MEDOIDS_DATA set for DNA."""

from __future__ import annotations

import lzma
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import scale

from medoids import k_path
from medoids.quality.k_path import CRITERIA

DATA = Path(os.environ.get("MEDOIDS_DATA", Path(__file__).parents[2] / "shared" / "data"))


def sets() -> Iterator[tuple[str, Any, str, int, range]]:
    for k, deviation in ((3, 1.0), (5, 1.0), (8, 1.0), (8, 2.0), (15, 0.7)):
        X, _ = make_blobs(1500, centers=k, cluster_std=deviation, random_state=k)
        yield f"{k} Gaussian blobs on a plane, deviation {deviation:g}", X, "l2", k, range(2, 21)
    grid = [(6 * i, 6 * j) for i in range(3) for j in range(3)]
    X, _ = make_blobs(1500, centers=grid, random_state=0)
    yield "9 Gaussian blobs on a grid, 6 deviations apart", X, "l2", 9, range(2, 21)
    X, _ = make_blobs(1500, n_features=20, centers=10, cluster_std=3.0, random_state=0)
    yield "10 Gaussian blobs in 20 dimensions, deviation 3", X, "l2", 10, range(2, 21)
    yield "iris, three species", load_iris().data, "l2", 3, range(2, 11)
    yield "wine, three growers, standardised", scale(load_wine().data), "l2", 3, range(2, 11)
    yield "digits, ten classes", load_digits().data, "l2", 10, range(2, 21)
    yield "digits, ten classes", load_digits().data, "cosine", 10, range(2, 21)
    dna = DATA / "dna_splice_3186x60.tsv.xz"
    if dna.exists():
        with lzma.open(dna, "rt") as file:
            strings = [line.split("\t")[0] for line in file]
        yield "DNA around splice sites, three classes", strings, "normalized_hamming", 3, range(2, 11)


def main() -> None:
    print("| data, and the known k | metric | k tried | " + " | ".join(c.replace("_", " ") for c in CRITERIA) + " |")
    print("|---" * (3 + len(CRITERIA)) + "|")
    for name, X, metric, known, ks in sets():
        path = k_path(X, ks, metric=metric, random_state=0)
        found = [path.suggest(criterion) for criterion in CRITERIA]
        cells = " | ".join(f"**{k}**" if k == known else str(k) for k in found)
        print(f"| {name} ({known}) | {metric} | {ks[0]}-{ks[-1]} | {cells} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
