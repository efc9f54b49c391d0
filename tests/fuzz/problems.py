"""Random problems, fitted by every algorithm and compared with plain loops.

A `Problem` is a handful of numbers and names from which everything follows, so that its ``repr`` reproduces a failure.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import oracle
from everything import ANY_METRIC
from fuzz.counts import COUNTS
from fuzz.objects import FAMILIES, Family, Random, matrix_of
from medoids import Clustering, KMedoids, k_medoids
from medoids.settings import EAGER, NEEDS_MATRIX

# A difference of losses below this share of sum w |d| is rounding.
SHARE = 1e-9
# Those whose answer no single swap improves, and those of them that follow PAM's own path.
LOCAL_OPTIMUM = frozenset(ANY_METRIC) - {"alternate", "clara", "clarans"}
PAM_PATH = ("auto", "pam", "fastpam1", "pairedpam")
# Rows up to which PAM's path is followed in plain loops.
FOLLOWED = 24

WEIGHTS = ("none", "equal", "uniform", "zeros", "1e-12", "1e12", "1e-12 to 1e12", "a few heavy", "pareto")
LIMITS = ("2GiB", 1, 64, 1000, 20_000)


@dataclass(frozen=True)
class Problem:
    """What to cluster, and how; ``frozen`` counts frozen medoids and ``init`` "rows" means random rows."""

    family: str
    sort: str
    n: int
    p: int
    seed: int
    k: int
    algorithm: str
    weights: str = "none"
    frozen: int = 0
    init: str = "build"
    swap: str = "best"
    memory_limit: Any = "2GiB"
    n_init: int = 1
    max_iter: int = 300
    cache_width: int = 1000
    n_jobs: int = 1


@st.composite
def problems(draw: st.DrawFn, most_rows: int = 40) -> Problem:
    family = draw(st.sampled_from(("matrix", "symmetric", "euclidean", "manhattan")) | st.sampled_from(list(FAMILIES)))
    algorithm = draw(st.sampled_from(("pairedpam", "fastpam")) | st.sampled_from(("auto", *ANY_METRIC)))
    # Mostly as few rows as plain loops can follow.
    n = draw(st.integers(1, FOLLOWED) | st.integers(1, most_rows))
    k = draw(st.integers(1, min(n, 6)) | st.integers(1, n))
    return Problem(
        family=family,
        sort=draw(st.sampled_from(FAMILIES[family].sorts)),
        n=n,
        p=draw(st.integers(1, 5)),
        seed=draw(st.integers(0, 2**32 - 1)),
        k=k,
        algorithm=algorithm,
        weights=draw(st.sampled_from(WEIGHTS)),
        frozen=draw(st.just(0) | st.integers(0, k)),
        init=draw(st.sampled_from(("build", "build", "lab", "random", "k-medoids++", "rows"))),
        swap=draw(st.sampled_from(("best", "eager"))) if algorithm in EAGER else "best",
        memory_limit=draw(st.just("2GiB") | st.sampled_from(LIMITS)),
        n_init=1 if algorithm == "optimal" else draw(st.sampled_from((1, 1, 2))),
        max_iter=draw(st.just(300) | st.integers(0, 3)),
        cache_width=draw(st.sampled_from((1000, 1000, 0, 1, 7))),
        n_jobs=draw(st.sampled_from((1, 2))),
    )


def weights_of(name: str, random: Random, n: int) -> Any:
    """Return weights of some kind; at least one is positive."""
    if name == "none":
        return None
    w = {
        "equal": np.ones(n),
        "uniform": random.uniform(0.1, 2.0, n),
        "zeros": random.randint(0, 3, n).astype(float),
        "1e-12": np.full(n, 1e-12),
        "1e12": np.full(n, 1e12),
        "1e-12 to 1e12": 10 ** random.uniform(-12, 12, n),
        "a few heavy": np.where(random.permutation(n) <= n // 250, 1e5, 1.0),
        "pareto": 1 + random.pareto(1.2, n),
    }[name]
    w[0] = max(w[0], 1e-12)
    return w


@dataclass(frozen=True)
class Case:
    """A problem's objects, plain distances, weights, and the keywords of the fit."""

    X: Any
    D: list[list[float]]
    w: list[float]
    k: int
    frozen: list[int]
    init: list[int] | None
    keywords: dict[str, Any]
    rounding: float

    def magnitude(self, medoids: list[int]) -> float:
        """Sum w |d| over the points: what rounding errors of the loss are a share of."""
        nearest = np.array(self.D)[medoids].min(axis=0)
        return float(np.array(self.w) @ abs(nearest))

    def slack(self, medoids: list[int]) -> float:
        return SHARE * self.magnitude(medoids) + self.rounding * sum(self.w)


def make_case(problem: Problem, family: Family) -> Case:
    random = Random(problem.seed)
    X = family.make(random, problem.n, problem.p, problem.sort)
    weights = weights_of(problem.weights, random, problem.n)
    w = [1.0] * problem.n if weights is None else weights.tolist()
    positive = random.permutation([row for row in range(problem.n) if w[row] > 0]).tolist()
    k = min(problem.k, len(positive))
    frozen = positive[: min(problem.frozen, k)]
    init = positive[:k] if problem.init == "rows" else None
    keywords = {
        "sample_weight": weights,
        "metric": family.metric,
        "metric_params": family.metric_params,
        "algorithm": problem.algorithm,
        "init": problem.init if init is None else init,
        "n_init": problem.n_init,
        "swap": problem.swap,
        "max_iter": problem.max_iter,
        "cache_width": problem.cache_width,
        "memory_limit": problem.memory_limit,
        "frozen_medoids": frozen or None,
        "random_state": problem.seed % 1000,
        "n_jobs": problem.n_jobs,
    }
    return Case(X, matrix_of(family, X), w, k, frozen, init, keywords, family.rounding)


def check(problem: Problem) -> None:
    """Fit a problem and fail if anything about the answer is wrong."""
    case = make_case(problem, FAMILIES[problem.family])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = k_medoids(case.X, case.k, **case.keywords)
            check_answer(found, case)
            check_optimum(found, case, problem)
            check_estimator(found, case, problem)
    except ValueError as error:
        if not _rightly_refused(str(error), problem):
            COUNTS.add("problems", problem.algorithm, "failed")
            raise
        COUNTS.add("problems", problem.algorithm, "refused")
    except BaseException:
        COUNTS.add("problems", problem.algorithm, "failed")
        raise
    else:
        COUNTS.add("problems", problem.algorithm, "passed")


def _rightly_refused(message: str, problem: Problem) -> bool:
    if "distance matrix" in message:
        return problem.algorithm in NEEDS_MATRIX and problem.memory_limit != "2GiB"
    if "rescale X" not in message:
        return False
    # Squares vanish: of the values where the metric is one, of the distances where an algorithm needs their spread.
    samples = problem.algorithm not in NEEDS_MATRIX and (problem.algorithm != "auto" or problem.memory_limit != "2GiB")
    return problem.sort == "huge" or (problem.sort == "tiny" and (problem.family == "sqeuclidean" or samples))


def check_answer(found: Clustering, case: Case) -> None:
    """Check the medoids, the labels, the distances and the loss against the plain distances."""
    D, w, medoids = np.array(case.D), np.array(case.w), found.medoid_indices.tolist()
    assert len(set(medoids)) == case.k, "a medoid is repeated"
    assert all(w[medoid] > 0 for medoid in medoids), "a row of weight 0 is a medoid"
    assert set(case.frozen) <= set(medoids), "a frozen medoid has left"
    plain, slack = oracle.loss(case.D, medoids, case.w), case.slack(medoids)
    assert abs(found.inertia - plain) <= slack, f"the loss is {plain}, and {found.inertia} is reported"
    assert abs(found.loss * w.sum() - plain) <= slack, "loss is not inertia over the total weight"
    own = D[np.array(medoids)[found.labels], np.arange(len(D))]
    nearest = D[medoids].min(axis=0)
    near = SHARE * abs(nearest) + case.rounding
    assert (own <= nearest + near).all(), "a label is not that of the nearest medoid"
    assert (abs(found.distances - own) <= near).all(), "a reported distance is wrong"
    for slot, medoid in enumerate(medoids):
        if D[medoid, medoid] <= nearest[medoid]:
            assert found.labels[medoid] == slot, "a medoid is not in its own cluster"
    losses = [step.loss for step in found.trace if step.phase == "swap"]
    assert all(later <= earlier for earlier, later in itertools.pairwise(losses)), "the loss rose"


def check_optimum(found: Clustering, case: Case, problem: Problem) -> None:
    """Check that no swap improves the answer of a swap algorithm, and that exact ones went PAM's way."""
    if not found.converged:
        limited = found.algorithm == "optimal" or found.n_swaps >= problem.max_iter
        assert limited, "the fit ended early and does not say why"
        return
    medoids = found.medoid_indices.tolist()
    if found.algorithm in LOCAL_OPTIMUM:
        gain, swap = best_swap(case, medoids)
        assert gain <= case.slack(medoids), f"{swap} lowers the loss by {gain}, and the fit says that it converged"
    own_start = problem.init in ("build", "rows")
    if problem.algorithm in PAM_PATH and problem.swap == "best" and own_start and problem.n <= FOLLOWED:
        expected = pam_path(case)
        if expected is not None:
            assert sorted(medoids) == sorted(expected), f"PAM ends at {sorted(expected)}, not at {sorted(medoids)}"


def check_estimator(found: Clustering, case: Case, problem: Problem) -> None:
    """Check that the estimator finds the same on another number of threads, and knows its own rows again."""
    keywords = {**case.keywords, "n_jobs": 3 - problem.n_jobs}
    weights = keywords.pop("sample_weight")
    model = KMedoids(case.k, **keywords).fit(case.X, sample_weight=weights)
    assert model.medoid_indices_.tolist() == found.medoid_indices.tolist(), "the second fit differs"
    assert model.labels_.tolist() == found.labels.tolist(), "the second fit's labels differ"
    X = np.asarray(case.X).T if model.metric == "precomputed" else case.X
    score, slack = model.score(X, sample_weight=weights), case.slack(found.medoid_indices.tolist())
    assert abs(score + found.inertia) <= slack, f"score(X) is {score}, and inertia {found.inertia}"
    rows, medoids = np.arange(problem.n), found.medoid_indices
    to_each = np.array(case.D)[medoids]
    predicted, labelled = to_each[model.predict(X), rows], to_each[found.labels, rows]
    # Which of several medoids that are equally near is told may differ.
    assert (abs(predicted - labelled) <= SHARE * abs(labelled) + case.rounding).all(), "predict(X) is not labels_"


def best_swap(case: Case, medoids: list[int]) -> tuple[float, str]:
    """Return how much the best single swap lowers the loss, and which it is."""
    D, w = np.array(case.D), np.array(case.w)
    now = w @ D[medoids].min(axis=0)
    free = [i for i in range(len(D)) if w[i] > 0 and i not in medoids]
    best = (-np.inf, "no swap")
    for slot, out in enumerate(medoids):
        if out in case.frozen or not free:
            continue
        rest = medoids[:slot] + medoids[slot + 1 :]
        remaining = D[rest].min(axis=0) if rest else np.full(len(D), np.inf)
        losses = np.minimum(D[free], remaining) @ w
        at = int(losses.argmin())
        best = max(best, (float(now - losses[at]), f"row {free[at]} for {out}"))
    return best


def pam_path(case: Case) -> list[int] | None:
    """Return where PAM ends, in plain loops; None if two choices are too close to tell on the way."""
    D, w, k = case.D, case.w, case.k
    rows = [row for row in range(len(D)) if w[row] > 0]
    medoids = list(case.frozen) if case.init is None else list(case.init)
    while len(medoids) < k:
        options = [(oracle.loss(D, [*medoids, i], w), [*medoids, i]) for i in rows if i not in medoids]
        chosen = _clear_lowest(options, case)
        if chosen is None:
            return None
        medoids = chosen
    while True:
        options = [(oracle.loss(D, medoids, w), medoids)]
        for slot, out in enumerate(medoids):
            if out not in case.frozen:
                swapped = [[*medoids[:slot], i, *medoids[slot + 1 :]] for i in rows if i not in medoids]
                options += [(oracle.loss(D, others, w), others) for others in swapped]
        chosen = _clear_lowest(options, case)
        if chosen is None or chosen == medoids:
            return chosen
        medoids = chosen


def _clear_lowest(options: list[tuple[float, list[int]]], case: Case) -> list[int] | None:
    ordered = sorted(options)
    if len(ordered) > 1 and ordered[1][0] - ordered[0][0] <= 10 * case.slack(ordered[0][1]):
        return None
    return ordered[0][1]
