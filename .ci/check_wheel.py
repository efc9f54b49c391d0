"""What an installation without any extra must be able to do; run by `make dist` in a fresh environment."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import medoids
from medoids import KMedoids, certify, k_medoids

# Not the sources of a checkout, and nothing that only an extra installs.
assert Path(sys.prefix) in Path(medoids.__file__).parents, medoids.__file__
assert (Path(medoids.__file__).parent / "py.typed").exists()
for name in ("typer", "matplotlib", "rapidfuzz", "dask", "pyarrow", "pandas"):
    assert find_spec(name) is None, f"{name} is installed, but no extra was asked for"
assert all("github.com/medoids/medoids" in url for url in distribution("medoids").metadata.get_all("Project-URL"))

X = load_digits().data
model = KMedoids(n_clusters=10, random_state=0).fit(X)
assert model.predict(X).tolist() == model.labels_.tolist()
assert np.isclose(model.transform(X).min(axis=1).sum(), model.inertia_)
large = KMedoids(5, algorithm="pairedpam", random_state=0).fit(np.repeat(X, 3, axis=0))  # compiled kernels
assert large.converged_
words = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]
found = k_medoids(words, 2, metric=lambda a, b: len(set(a) ^ set(b)))
assert [words[i] for i in found.medoid_indices] == ["ape", "zebra"]
assert certify(model, X).swap is None

# What is missing is named, with the command that installs it.
message = ""
try:
    k_medoids(words, 2, metric="levenshtein")
except ImportError as error:
    message = str(error)
assert 'pip install "medoids[strings]"' in message, message
command = subprocess.run([Path(sys.executable).with_name("medoids"), "--help"], capture_output=True, text=True)
assert command.returncode == 1, command
assert "medoids[cli]" in command.stderr, command.stderr
print(f"medoids {medoids.__version__} fits and predicts in an environment that has only it")
