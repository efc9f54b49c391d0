"""Small random problems with their optima by brute force, and published instances."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from data import path
from medoids.optimal.instance import Instance


@dataclass
class Small:
    D: np.ndarray
    k: int
    weights: np.ndarray | None
    allowed: np.ndarray | None
    frozen: list[int]

    def instance(self, **rest) -> Instance:
        return Instance.of(self.D, self.k, weights=self.weights, allowed=self.allowed, frozen=self.frozen, **rest)

    def optimum(self) -> float:
        """The lowest loss, by looking at all choices."""
        w = np.ones(self.D.shape[1]) if self.weights is None else self.weights
        rows = range(len(self.D)) if self.allowed is None else sorted({*np.flatnonzero(self.allowed), *self.frozen})
        free = [i for i in rows if i not in self.frozen]
        return min(
            float(w @ self.D[[*self.frozen, *chosen]].min(axis=0))
            for chosen in combinations(free, self.k - len(self.frozen))
        )


def draw(number: int) -> Small:
    """A problem of one of many kinds: rounded or not, rectangular or not, with what may come on top."""
    random = np.random.default_rng(number)
    n, candidates = int(random.integers(3, 15)), int(random.integers(3, 12))
    kind = number % 5
    if kind == 0:  # points of a plane
        X, C = random.normal(size=(n, 2)), random.normal(size=(candidates, 2))
        D = np.sqrt(((C[:, None] - X) ** 2).sum(axis=2))
    elif kind == 1:  # few integers: many ties
        D = random.integers(0, 5, size=(candidates, n)).astype(float)
    elif kind == 2:  # asymmetric, candidates are the points
        D = random.exponential(size=(n, n))
        np.fill_diagonal(D, 0)
    elif kind == 3:  # points several times
        X = random.integers(0, 3, size=(n, 2)).astype(float)
        D = np.abs(X[:, None] - X).sum(axis=2)
    else:  # float32, of any sign
        D = random.normal(size=(candidates, n)).astype(np.float32)
    candidates = len(D)
    weights = None
    if number % 3 == 1:
        weights = random.integers(0, 4, size=D.shape[1]).astype(float)
        weights[0] += 1
    elif number % 3 == 2:
        weights = random.exponential(size=D.shape[1])
    k = int(random.integers(1, min(5, candidates) + 1))
    frozen = (
        random.choice(candidates, int(random.integers(0, k + 1)), replace=False).tolist() if number % 4 == 3 else []
    )
    allowed = None
    if number % 7 in (2, 5):
        allowed = random.random(candidates) < 0.7
        allowed[random.choice(candidates, k, replace=False)] = True
    return Small(D, k, weights, allowed, frozen)


def orlib(name: str) -> tuple[np.ndarray, int]:
    """Shortest paths of a graph of OR-Library, and p; of a repeated edge the last line counts."""
    with tarfile.open(path("pmedian/orlib_pmed1-40.tar.xz")) as archive:
        member = next(one for one in archive.getmembers() if one.name.rsplit("/")[-1] == f"{name}.txt")
        numbers = np.array(archive.extractfile(member).read().split(), dtype=int)
    n, edges, p = numbers[:3]
    graph = np.zeros((n, n))
    for i, j, cost in numbers[3 : 3 + 3 * edges].reshape(-1, 3):
        graph[i - 1, j - 1] = graph[j - 1, i - 1] = cost
    return shortest_path(csr_array(graph), directed=False), int(p)


def tsplib(name: str) -> np.ndarray:
    """Euclidean distances, rounded down, as in the published results."""
    lines = path(f"pmedian/{name}.tsp").read_text().split("NODE_COORD_SECTION")[1].split("EOF")[0].strip().splitlines()
    X = np.array([line.split()[1:3] for line in lines], dtype=float)
    return np.floor(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)))
