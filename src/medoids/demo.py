"""The main job on data that comes with scikit-learn: ten medoids of 1,797 handwritten digits, and a report on them.

medoids demo, or python -m medoids.demo
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits

from medoids import __version__, k_medoids, report
from medoids.result import Clustering

__all__ = ["main"]

_SHADES = " .:-=+*#%@"


def _picture(pixels: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[str]:
    """Lines of text for an 8 x 8 image with values from 0 to 16."""
    return ["".join(_SHADES[int(v * 9 / 16)] * 2 for v in row) for row in pixels.reshape(8, 8)]


def _gallery(found: Clustering, images: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[str]:
    """Return the medoids side by side, five a line, each with its row and the size of its cluster."""
    lines = []
    sizes = np.bincount(found.labels)
    for start in range(0, len(found.medoid_indices), 5):
        rows = found.medoid_indices[start : start + 5]
        lines.append("  ".join(f"row {row}, {sizes[start + at]} points".ljust(20) for at, row in enumerate(rows)))
        pictures = [_picture(images[row]) for row in rows]
        lines += ["  ".join(picture[y].ljust(20) for picture in pictures).rstrip() for y in range(8)]
    return lines


def main(path: str | os.PathLike[str] = "medoids-demo.html") -> None:
    """Cluster the digits, tell what was found, and write the report."""
    digits = load_digits()
    X, n = digits.data, len(digits.data)
    began = perf_counter()
    found = k_medoids(X, 10, random_state=0)
    seconds = perf_counter() - began
    start = [record for record in found.trace if record.phase == "build"][-1]
    pure = sum(np.bincount(digits.target[found.labels == j]).max() for j in range(10)) / n
    lines = [
        f"medoids {__version__}: the ten most typical of {n:,} handwritten digits (8 x 8 pixels, euclidean distance)",
        "",
        *_gallery(found, digits.images),
        "",
        f"loss       {found.loss:.4f} mean distance from a digit to its medoid (after BUILD: {start.loss:.4f})",
        f"swaps      {found.n_swaps}, then no swap of a medoid for any other digit lowers the loss",
        f"time       {seconds:.2f} s with {found.algorithm}: {found.reason}",
        f"distances  {found.n_evaluations:,} computed, {found.n_evaluations / n**2:.0%} of all {n:,} x {n:,}",
        f"labels     {pure:.0%} of the digits are of the commonest kind in their cluster (labels were not used)",
    ]
    title = f"Ten medoids of {n:,} handwritten digits"
    page = report(found, X, path, title=title, command="medoids demo")
    lines.append(f"report     {Path(page).resolve()}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
