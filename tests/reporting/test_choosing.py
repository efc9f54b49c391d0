"""The page of a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.datasets import load_digits

from medoids import k_path, report


def test_images_curves_and_scores_of_every_k(tmp_path: Path) -> None:
    X = load_digits().data[:200]
    path = k_path(X, range(1, 5), random_state=0)
    page = report(path, X, tmp_path / "k.html", title="a <b>", command="medoids choose-k").read_text()
    assert page.count('class="card ') == 1 + 2 + 3 + 4
    assert "data:image/png" in page
    assert "a &lt;b&gt;" in page
    assert page.count('<svg class="chart"') == 2
    for k, column in zip(path.scores["k"], path.scores["medoid_silhouette"], strict=True):
        assert k == 1 or f">{column:.3f}</td>" in page
    assert path.explain() in page
    assert path.explain("elbow") in page
    assert "<script" not in page  # nothing to run


def test_one_number_has_nothing_to_suggest(tmp_path: Path) -> None:
    X = load_digits().data[:50]
    assert "suggested" in report(k_path(X, [1]), X, tmp_path / "one.html").read_text()


def test_ids_must_fit(tmp_path: Path) -> None:
    X = load_digits().data[:50]
    with pytest.raises(ValueError, match="ids has 2 entries, but the clustering has 50 points"):
        report(k_path(X, [2]), X, tmp_path / "k.html", ids=["a", "b"])
