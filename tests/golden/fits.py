"""A table of fits whose every step is stored, so that a refactoring that changes a result is noticed.

``python -m golden.fits``, from the folder ``tests``, prints the steps of all fits as JSON, and with ``--write`` stores
those of the exact ones.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris

STORED = Path(__file__).with_name("golden.json")
# Sums of float32 products differ in the last digit between builds of BLAS, and with them what is sampled next.
SAMPLING = ("pairedpam", "banditpam++", "banditpam")


@cache
def data(name: str) -> Any:
    random = np.random.RandomState(7)
    if name == "iris":
        return load_iris().data
    if name == "digits":
        return load_digits().data
    if name == "table":  # few columns, outliers, repeated rows
        X = np.round(random.normal(size=(600, 3)) * [1, 10, 100] * (1 + 50 * (random.rand(600, 1) < 0.01)), 1)
        return np.vstack([X, X[:60]])
    if name == "matrix":  # asymmetric, with negative entries
        return random.randint(-3, 30, size=(150, 150)).astype(np.float64)
    if name == "large":
        centres = random.normal(size=(12, 10)) * 3
        return centres[random.randint(12, size=4000)] + random.normal(size=(4000, 10))
    raise KeyError(name)


# Name of the data, k, and further keywords; "weights" is the seed of the weights.
FITS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "iris pam": ("iris", 3, {"algorithm": "pam"}),
    "iris fastpam1": ("iris", 8, {"algorithm": "fastpam1", "metric": "cosine"}),
    "iris fasterpam random": ("iris", 5, {"algorithm": "fasterpam", "init": "random", "n_init": 3, "random_state": 4}),
    "iris frozen": ("iris", 6, {"algorithm": "fastpam1", "frozen_medoids": [3, 77]}),
    "iris alternate": ("iris", 4, {"algorithm": "alternate", "init": "k-medoids++", "random_state": 1}),
    "digits auto": ("digits", 10, {}),
    "digits fastpam": ("digits", 15, {"algorithm": "fastpam", "init": "lab", "random_state": 2}),
    "digits clara": ("digits", 10, {"algorithm": "clara", "random_state": 3}),
    "digits max_iter": ("digits", 30, {"algorithm": "fastpam1", "max_iter": 3, "metric": "manhattan"}),
    "table weights": ("table", 7, {"algorithm": "fastpam1", "weights": 5}),
    "table pam": ("table", 4, {"algorithm": "pam", "metric": "chebyshev", "weights": 6}),
    "table clarans": ("table", 5, {"algorithm": "clarans", "random_state": 8, "max_iter": 40}),
    "table init": ("table", 3, {"algorithm": "fasterpam", "init": [0, 1, 2], "random_state": 0}),
    "matrix fastpam1": ("matrix", 6, {"algorithm": "fastpam1", "metric": "precomputed"}),
    "matrix fasterpam": ("matrix", 9, {"algorithm": "fasterpam", "metric": "precomputed", "random_state": 1}),
    "matrix frozen weights": ("matrix", 5, {"metric": "precomputed", "frozen_medoids": [9], "weights": 2}),
    "digits pairedpam": ("digits", 10, {"algorithm": "pairedpam", "random_state": 0}),
    "digits eager": ("digits", 20, {"algorithm": "pairedpam", "swap": "eager", "random_state": 1}),
    "table pairedpam weights": ("table", 6, {"algorithm": "pairedpam", "random_state": 2, "weights": 3}),
    "large pairedpam": ("large", 10, {"algorithm": "pairedpam", "random_state": 3, "metric": "manhattan"}),
    "large pairedpam memory": ("large", 12, {"algorithm": "pairedpam", "random_state": 4, "memory_limit": "3MB"}),
    "large pairedpam frozen": ("large", 8, {"algorithm": "pairedpam", "random_state": 5, "frozen_medoids": [10, 20]}),
    "large eager": ("large", 25, {"algorithm": "pairedpam", "swap": "eager", "random_state": 6, "weights": 1}),
    "digits banditpam++": ("digits", 6, {"algorithm": "banditpam++", "random_state": 1}),
    "iris banditpam": ("iris", 4, {"algorithm": "banditpam", "random_state": 0, "weights": 4}),
    "matrix banditpam++": ("matrix", 4, {"algorithm": "banditpam++", "metric": "precomputed", "random_state": 3}),
}
EXACT = [name for name, (_, _, keywords) in FITS.items() if keywords.get("algorithm") not in SAMPLING]


def steps(name: str) -> dict[str, Any]:
    """Fit, and return the medoids that each step brought in and took out, its loss, and the distances computed."""
    from medoids import k_medoids

    of, k, keywords = FITS[name]
    keywords, X = dict(keywords), data(of)
    if "weights" in keywords:
        keywords["sample_weight"] = np.random.RandomState(keywords.pop("weights")).randint(0, 5, len(X)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = k_medoids(X, k, n_jobs=2, **keywords)
    return {
        "algorithm": found.algorithm,
        "steps": [[step.phase, step.medoid_in, step.medoid_out, step.loss] for step in found.trace],
        "medoids": found.medoid_indices.tolist(),
        "n_evaluations": found.n_evaluations,
    }


if __name__ == "__main__":
    write = "--write" in sys.argv
    found = {name: steps(name) for name in (EXACT if write else FITS)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    text = f"{{\n{lines}\n}}\n"
    if write:
        STORED.write_text(text)
    else:
        print(text, end="")
