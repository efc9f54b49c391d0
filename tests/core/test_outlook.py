"""What bounds say of the medoids that a limit leaves, against all swaps of these medoids."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from medoids import Clustering, k_medoids
from medoids.engine.arrays import Float64s

X = np.random.default_rng(1).normal(size=(1000, 3))
WEIGHTS = np.random.default_rng(2).integers(1, 4, 1000).astype(float)
INIT = np.arange(6)


def best_gain(D: Float64s, weights: Float64s, medoids: Any) -> float:
    """By how much the best of all swaps lowers the mean distance, from all distances."""
    own, near = D[medoids].argmin(axis=0), np.sort(D[medoids], axis=0)
    losses = [np.minimum(D, np.where(own == slot, near[1], near[0])).dot(weights).min() for slot in range(len(medoids))]
    return (float(near[0] @ weights) - min(losses)) / float(weights.sum())


def cut_off(rows: Float64s, k: int, share: float, **keywords: Any) -> tuple[Clustering, str]:
    """Fit with a share of the distances that the fit takes; return the result and the warning."""
    free = k_medoids(rows, k, random_state=0, **keywords)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = k_medoids(rows, k, random_state=0, max_evaluations=int(share * free.n_evaluations), **keywords)
    return found, str(caught[-1].message)


def check_bounds(found: Clustering, D: Float64s, weights: Float64s) -> None:
    assert found.outlook is not None
    assert best_gain(D, weights, found.medoid_indices) <= found.outlook.gain <= 0.2 * found.loss
    assert 0 < found.outlook.left <= len(D)
    assert not found.outlook.certain


@pytest.mark.parametrize(
    "keywords",
    [
        {"algorithm": "banditpam++"},
        {"algorithm": "banditpam+pic"},
        {"algorithm": "banditpam++", "sample_weight": WEIGHTS},
    ],
    ids=["banditpam++", "pairs", "weights"],
)
def test_no_swap_gains_more_than_the_bounds_say(keywords: dict[str, Any]) -> None:
    found, message = cut_off(X, 6, 0.9, init=INIT, **keywords)
    check_bounds(found, cdist(X, X), keywords.get("sample_weight", np.ones(1000)))
    assert found.outlook is not None
    share = f"{found.outlook.gain / found.loss:.2%}"
    assert message.startswith("stopped at max_evaluations; increase max_evaluations: by its bounds no single swap")
    for text in (message, found.reason):
        assert share in text
        assert f"{found.outlook.left:,} candidate" in text


@pytest.mark.slow
@pytest.mark.parametrize("keywords", [{"swap": "best"}, {"swap": "best", "weights": True}, {"swap": "eager"}])
def test_pairedpam_knows_it_once_all_arms_were_judged(keywords: dict[str, Any]) -> None:
    rows = np.random.default_rng(4).normal(size=(4500, 3))
    weights = np.resize([1.0, 2.0, 3.0], 4500) if keywords.pop("weights", False) else np.ones(4500)
    found, _ = cut_off(rows, 6, 0.98, algorithm="pairedpam", init=INIT, sample_weight=weights, **keywords)
    assert found.n_swaps > 5
    check_bounds(found, cdist(rows, rows), weights)


@pytest.mark.parametrize("algorithm", ["clara", "clarans"])
def test_without_bounds_it_is_said(algorithm: str) -> None:
    found, message = cut_off(X, 6, 0.8, algorithm=algorithm, init=INIT)
    assert found.outlook is None
    assert message.endswith(f"{algorithm} has no bounds, which would say how good the medoids are")
    assert found.reason.endswith(f"{algorithm} has no bounds, which would say how good the medoids are")


def test_a_start_that_is_not_complete_has_no_outlook() -> None:
    with pytest.warns(ConvergenceWarning, match="its bounds say nothing of these medoids yet"):
        found = k_medoids(X, 6, algorithm="pairedpam", swap="best", max_evaluations=100_000, random_state=0)
    assert found.outlook is None


def test_a_fit_that_converges_has_no_outlook() -> None:
    found = k_medoids(X, 6, algorithm="banditpam++", init=INIT, random_state=0)
    assert (found.converged, found.outlook, found.reason) == (True, None, "asked for")


def test_a_step_makes_earlier_bounds_void() -> None:
    """A fit that a callback stops right after a swap knows nothing of the new medoids."""
    found = k_medoids(
        X, 6, algorithm="banditpam++", init=INIT, random_state=0, callback=lambda step: step.phase == "swap"
    )
    assert (found.converged, found.outlook) == (False, None)
