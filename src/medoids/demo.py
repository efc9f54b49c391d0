"""Ten medoids of the 1,797 handwritten digits that scikit-learn includes, and a report.

Run by ``medoids demo`` or ``python -m medoids.demo``.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits

from medoids import __version__, k_medoids, report
from medoids.engine.arrays import Float64s
from medoids.result import Clustering

__all__ = ["run_demo"]


def _gallery(found: Clustering, images: Float64s) -> list[str]:
    """Draw 8 x 8 images with values from 0 to 16 as text: the medoids, five per line, with the sizes of clusters."""
    lines, sizes = [], np.bincount(found.labels)
    shades = np.array(list("  ..::--==++**##%%@@")).reshape(10, 2)
    for start in range(0, len(found.medoid_indices), 5):
        rows = found.medoid_indices[start : start + 5]
        lines.append("  ".join(f"row {row}, {sizes[start + at]} points".ljust(20) for at, row in enumerate(rows)))
        drawn = shades[(images[rows] * 9 / 16).astype(int)].swapaxes(0, 1)
        lines += ["  ".join("".join(line.ravel()).ljust(20) for line in levels).rstrip() for levels in drawn]
    return lines


def run_demo(path: str | os.PathLike[str] = "medoids-demo.html") -> None:
    """Cluster the digits, print a summary, and write the report."""
    digits = load_digits()
    X, n = digits.data, len(digits.data)
    began = perf_counter()
    found = k_medoids(X, 10, random_state=0)
    seconds = perf_counter() - began
    built = [record for record in found.trace if record.phase == "build"][-1]
    pure = sum(np.bincount(digits.target[found.labels == j]).max() for j in range(10)) / n
    page = report(found, X, path, title=f"Ten medoids of {n:,} handwritten digits", command="medoids demo")
    for line in (
        f"medoids {__version__}: the ten most typical of {n:,} handwritten digits (8 x 8 pixels, euclidean distance)",
        "",
        *_gallery(found, digits.images),
        "",
        f"loss       {found.loss:.4f} mean distance from a digit to its medoid (after BUILD: {built.loss:.4f})",
        f"swaps      {found.n_swaps}, after which no swap of a medoid for another digit lowers the loss",
        f"time       {seconds:.2f} s with {found.algorithm}: {found.reason}",
        f"distances  {found.n_evaluations:,} computed, {found.n_evaluations / n**2:.0%} of all {n:,} x {n:,}",
        f"labels     {pure:.0%} of the digits are of the most common kind in their cluster (labels were not used)",
        f"report     {page.resolve()}",
    ):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    run_demo()
