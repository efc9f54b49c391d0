"""The report as a browser shows it, and the figures in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

from medoids import KMedoids, k_medoids, k_path, report

DIGITS = load_digits().data
EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = k_medoids(DIGITS, 10, random_state=0)
    return report(found, DIGITS, tmp_path_factory.mktemp("report") / "digits.html", title="Digits")


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_at_both_widths(browser: Any, digits: Path, width: int, scheme: str) -> None:
    browser.open(digits, width=width, scheme=scheme)
    assert browser.errors() == []
    assert browser.requests() == []
    assert browser.count("svg.map .points use") == 1797
    assert browser.count("svg.map .medoid") == 10
    assert browser.count("[data-medoid]") == browser.count("img.medoid") == 10
    assert browser.run("return [...document.images].every(i => i.complete && i.naturalWidth > 0)")
    # Nothing sticks out, and the page is dark when it should be.
    assert browser.run("return document.documentElement.scrollWidth") == width
    colour = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 64) == (scheme == "dark")
    # Text can be read: at least 4.5 : 1 against the card behind it (WCAG AA).
    ratio = browser.run(CONTRAST)
    assert min(ratio) >= 4.5
    # What is drawn as a mark: at least 3 : 1.
    assert min(browser.run(MARKS)) >= 3


CONTRAST = """
const linear = x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4;
const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => linear(x / 255));
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
const back = light(getComputedStyle(document.querySelector('.panel')).backgroundColor);
return ['h1', '.about', '.tiles dt', '.tiles small', '.facts', 'thead th', 'td', '.eyebrow', 'footer']
    .map(s => ratio(light(getComputedStyle(document.querySelector(s)).color), back));
"""
MARKS = CONTRAST.replace(
    CONTRAST[CONTRAST.index("return ['h1'") :],
    "return [...document.querySelectorAll('.legend .mark')].map(m => ratio(light(getComputedStyle(m).fill), back));",
)


def test_hover_text_and_the_choice_of_a_cluster(browser: Any, digits: Path) -> None:
    found = k_medoids(DIGITS, 10, random_state=0)
    browser.open(digits)
    browser.run("document.querySelector('svg.map').scrollIntoView({block: 'center'})")
    move = """
    const use = document.querySelectorAll('svg.map .points use')[arguments[0]], box = use.getBoundingClientRect();
    const at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true};
    document.querySelector('svg.map').dispatchEvent(new PointerEvent('pointermove', at));
    const tip = document.getElementById('tip');
    return tip.hidden ? null : [...tip.children].map(c => c.textContent);
    """
    # The first point that is drawn is the first of cluster 0.
    row = int(np.flatnonzero(found.labels == 0)[0])
    _, name, where = browser.run(move, 0)
    assert name == f"row {row:,}"
    assert where == f"cluster 0, distance {found.distances[row]:.4g}"
    assert browser.run(
        "return document.querySelector('#tip i').style.backgroundImage.startsWith('url(\"data:image/png')"
    )
    browser.run("document.querySelector('.legend button[data-focus=\"3\"]').click()")
    shown = browser.run("return [...document.querySelectorAll('.map g.on')].map(g => g.dataset.cluster)")
    assert set(shown) == {"3"}
    # What focus() does in a window; a headless browser never has the focus.
    browser.run("document.querySelector('.medoid[data-cluster=\"7\"]').dispatchEvent(new FocusEvent('focus'))")
    text = browser.run("return document.getElementById('tip').textContent")
    assert f"row {found.medoid_indices[7]:,}" in text


def test_it_prints_on_white(browser: Any, digits: Path) -> None:
    browser.open(digits, scheme="dark", medium="print")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pdf = browser.chromium.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert len(pdf) > 10_000


def test_text_from_the_data_never_runs(browser: Any, tmp_path: Path) -> None:
    words = [EVIL, "plain", "<b>plan", "plane", EVIL + "!", EVIL + "?"]
    found = k_medoids(words, 2, metric="levenshtein")
    assert 0 in found.medoid_indices  # one edit from either of the others like it; they come later
    page = report(found, words, tmp_path / "r.html", title=EVIL, ids=words, command=EVIL)
    browser.open(page)
    assert browser.run("return document.title") == EVIL
    assert browser.errors() == []
    assert browser.count("pre.text b") == 0
    assert EVIL in browser.run("return [...document.querySelectorAll('pre.text')].map(e => e.textContent)")
    frame = pd.DataFrame({EVIL: [1.0, 2, 8, 9], "kind": [EVIL, "<i>", EVIL, "<i>"]})
    page = report(k_medoids(frame, 2, metric="gower"), frame, tmp_path / "t.html")
    browser.open(page)
    assert browser.run("return document.title") == "2 medoids of 4 points"
    assert browser.errors() == []
    assert browser.count("main script") == browser.count("main i:not(.bar):not(.swatch):not([style])") == 0


def test_at_most_5000_points_are_drawn(browser: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(6990, 3)), random.normal(50, 1, size=(10, 3))])
    found = k_medoids(X, 3, algorithm="clara", random_state=0, init=[0, 1, 6995])
    browser.open(report(found, X, tmp_path / "r.html"))
    assert browser.count("svg.map .points use") == 5000
    # All ten of the small cluster: a share of 5,000 would have left seven.
    small = int(found.labels[6995])
    assert browser.count(f"svg.map .points[data-cluster='{small}'] use") == 10
    assert browser.errors() == []


# --- without a browser ---------------------------------------------------------------------------------------------


def test_needs_nothing_from_elsewhere(digits: Path) -> None:
    text = digits.read_text()
    assert not re.findall(r"https?://", text)
    assert "default-src 'none'" in text


def test_figures_by_hand(tmp_path: Path) -> None:
    # 0, 1, 3 and 20, 21, 25: medoids 1 and 21, distances 1 + 0 + 2 and 1 + 0 + 4.
    line = np.array([[0.0], [1.0], [3.0], [20.0], [21.0], [25.0]])
    found = k_medoids(line, 2)
    text = report(found, line, tmp_path / "r.html").read_text()
    assert "6" in _tile(text, "points")
    assert _tile(text, "mean distance to the medoid").startswith("1.333")  # 8 / 6
    # 1 - d1 / d2 over the six points.
    near, far = np.array([1, 0, 2, 1, 0, 4]), np.array([21, 20, 18, 19, 20, 24])
    assert _tile(text, "medoid silhouette").startswith(f"{np.mean(1 - near / far):.3f}")
    assert _tile(text, "swaps").startswith(str(found.n_swaps))


def _tile(text: str, name: str) -> str:
    match = re.search(rf"<dt>{name}</dt><dd>(.*?)</dd>", text)
    assert match
    return match[1]


def test_the_features_that_set_a_cluster_apart(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    X[:20, 3] += 100
    names = ["a", "b", "c", "tell-tale", "e"]
    found = k_medoids(X, 2)
    cards = report(found, X, tmp_path / "r.html", feature_names=names).read_text().split('class="card ')[1:]
    for card in cards:
        assert re.findall(r'<th scope="row">(.*?)</th>', card)[0] == "tell-tale"


def test_frames_bring_their_names_and_categories(tmp_path: Path) -> None:
    frame = pl.DataFrame({"size": [1, 2, 3, 90, 91, None], "colour": ["red", "red", "red", "blue", "blue", "blue"]})
    found = k_medoids(frame, 2, metric="gower")
    text = report(found, frame, tmp_path / "r.html").read_text()
    assert "&#x27;blue&#x27;: 100% here, 50% overall" in text
    assert ">colour<" in text


def test_a_frame_without_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"shape": list("aabbcc"), "colour": ["red"] * 3 + ["blue"] * 3})
    text = report(k_medoids(frame, 2, metric="gower"), frame, tmp_path / "r.html").read_text()
    assert "&#x27;blue&#x27;: 100% here, 50% overall" in text


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "series", "sets", "one cluster", "one point", "constant"])
def test_every_kind_of_data(tmp_path: Path, kind: str) -> None:
    random = np.random.default_rng(0)
    X: Any = random.poisson(0.3, size=(40, 30)).astype(float)
    k, options = 3, {}
    if kind == "sparse":
        X, options = scipy.sparse.csr_array(X), {"metric": "manhattan"}
    elif kind == "precomputed":
        X, options = cdist(X, X), {"metric": "precomputed"}
    elif kind == "series":
        X, options = [row[: 5 + i % 7] for i, row in enumerate(X)], {"metric": "dtw"}
    elif kind == "sets":
        X, options = [frozenset(np.flatnonzero(row).tolist()) for row in X], {"metric": "jaccard"}
    elif kind == "one cluster":
        k = 1
    elif kind == "one point":
        X, k = X[:1], 1
    elif kind == "constant":
        X, k = np.ones((10, 4)), 1
    found = k_medoids(X, k, **options)
    text = report(found, X, tmp_path / "r.html").read_text()
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    assert text.count("<use href") >= n
    assert text.count("data-medoid=") == k
    assert "nan" not in re.sub(r"<script.*?</script>|base64,[^\"]*", "", text, flags=re.DOTALL)


def test_a_fitted_estimator_gives_the_same_page(tmp_path: Path) -> None:
    X = load_iris().data
    one = report(k_medoids(X, 3, random_state=0), X, tmp_path / "a.html").read_text()
    other = report(KMedoids(3, random_state=0).fit(X), X, tmp_path / "b.html").read_text()

    def part(text: str) -> str:
        return text[text.index('<section id="medoids">') : text.index('<section id="loss">')]

    assert part(one) == part(other)


def test_image_shapes(tmp_path: Path) -> None:
    found = k_medoids(DIGITS, 3)
    assert report(found, DIGITS, tmp_path / "a.html", image_shape=(4, 16)).read_text().count('class="medoid ink') == 3
    genes = [f"gene {a}{b}" for a in "abcdefgh" for b in "stuvwxyz"]
    assert "<img" not in report(found, DIGITS, tmp_path / "b.html", feature_names=genes).read_text()
    with pytest.raises(ValueError, match=r"image_shape=\(9, 9\) does not fit rows of 64"):
        report(found, DIGITS, tmp_path / "c.html", image_shape=(9, 9))
    assert not (tmp_path / "c.html").exists()


def test_values_that_have_no_mean(tmp_path: Path) -> None:
    found = k_medoids(np.arange(6.0)[:, None], 2)
    shown = np.column_stack([np.arange(6.0), np.full(6, np.nan), [np.inf, 0, 0, 0, 0, -np.inf]])
    text = report(found, np.arange(6.0)[:, None], tmp_path / "r.html", shown=shown).read_text()
    # Clusters 0, 1, 2 and 3, 4, 5 with means 1 and 4; the overall mean is 2.5.
    assert "mean 1 here, 2.5 overall" in text
    assert "mean 4 here, 2.5 overall" in text
    assert "missing overall" in text
    assert "infinite" in text


def test_the_model_comes_first(tmp_path: Path) -> None:
    X = np.random.RandomState(0).normal(size=(30, 2))
    for model, name in ((k_medoids(X, 2), "Clustering"), (k_path(X, range(2, 4)), "KPath")):
        with pytest.raises(TypeError, match=rf"^the model comes first: .* followed by X; got ndarray and {name}$"):
            report(X, model, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_wrong_data_is_refused(tmp_path: Path) -> None:
    found = k_medoids(DIGITS, 3)
    with pytest.raises(ValueError, match="X has 1796 rows, but the clustering has 1797"):
        report(found, DIGITS[:-1], tmp_path / "r.html")
    with pytest.raises(ValueError, match="ids has 3 entries"):
        report(found, DIGITS, tmp_path / "r.html", ids=["a", "b", "c"])
