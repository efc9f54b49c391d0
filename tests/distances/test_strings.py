"""Edit distances of strings and of sequences of tokens, pair by pair as rapidfuzz has them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import data
import oracle
from medoids import KMedoids, k_medoids
from medoids.distances import dissimilarity
from medoids.distances.strings import STRING_METRICS
from medoids.inputs import check_data

rapidfuzz = pytest.importorskip("rapidfuzz.distance")

WHOLE = slice(None)
NAMES = [prefix + name for name in STRING_METRICS for prefix in ("", "normalized_")]
NASTY = [
    "",
    "a",
    "ab",
    "ba",
    "abcd",
    "a" * 300,
    "äöü",
    "日本語",
    "日本",
    "e\u0301",
    "é",
    "🙂🙃",
    "a b\tc\n",
    "ABC",
    "ca",
    "abc",
]
EQUAL = ["karolin", "kathrin", "kerstin", "äöü日本語🙂", "       ", "karolin"]


def scorer(name: str) -> Any:
    module = getattr(rapidfuzz, STRING_METRICS[name.removeprefix("normalized_")][0])
    return module.normalized_distance if name.startswith("normalized_") else module.distance


def texts_for(name: str) -> list[str]:
    letters = np.random.default_rng(0).choice(list("abcé日"), size=(20, 7))
    if name.endswith("hamming"):
        return EQUAL + ["".join(row) for row in letters]
    return NASTY + ["".join(row[: 1 + i % 7]) for i, row in enumerate(letters)]


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_is_as_rapidfuzz_has_it(name: str) -> None:
    texts, score = texts_for(name), scorer(name)
    expected = np.array([[score(a, b) for b in texts] for a in texts], dtype=float)
    distance = dissimilarity(check_data(texts, name), name)
    np.testing.assert_allclose(distance.block(WHOLE, WHOLE), expected, rtol=1e-15, atol=1e-15)
    rows = np.array([5, 0, 3])
    np.testing.assert_allclose(distance.exact_block(rows, slice(1, 4)), expected[rows, 1:4], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(distance.take(rows).cross(texts), expected[rows], rtol=1e-15, atol=1e-15)
    assert distance.symmetric
    np.testing.assert_array_equal(expected, expected.T)


def test_by_hand() -> None:
    # kitten to sitting: k to s, e to i, and a g; without substitutions 2 + 2 + 1; the longest common part is "ittn".
    for name, value in {"levenshtein": 3, "indel": 5, "lcs": 7 - 4, "normalized_levenshtein": 3 / 7}.items():
        assert dissimilarity(["kitten", "sitting"], name).block(WHOLE, WHOLE)[0, 1] == pytest.approx(value)
    # ca to abc: one may swap to ac and then insert b only if a part may be edited twice.
    assert dissimilarity(["ca", "abc"], "osa").block(WHOLE, WHOLE)[0, 1] == 3
    assert dissimilarity(["ca", "abc"], "damerau_levenshtein").block(WHOLE, WHOLE)[0, 1] == 2
    assert dissimilarity(["karolin", "kathrin"], "hamming").block(WHOLE, WHOLE)[0, 1] == 3


def test_counts_take_little_memory() -> None:
    assert dissimilarity(["ape", "zebra"], "levenshtein").dtype == np.uint8
    assert dissimilarity(["ape", "zebra" * 100], "levenshtein").dtype == np.uint16
    assert dissimilarity(["", "a" * 200], "indel").block(WHOLE, WHOLE).tolist() == [[0, 200], [200, 0]]
    assert dissimilarity(["a" * 200, "b" * 200], "indel").block(WHOLE, WHOLE)[0, 1] == 400
    assert dissimilarity(["a" * 200], "indel").cross(["b" * 70_000]).tolist() == [[70_200]]
    assert dissimilarity(["ape", "zebra"], "jaro").dtype == np.float64


def test_weights_of_levenshtein() -> None:
    # From medoid to point: "ab" becomes "abc" by an insertion, which costs 2; back by a deletion, which costs 5.
    distance = dissimilarity(["ab", "abc"], "levenshtein", {"weights": (2, 5, 1)})
    assert distance.block(WHOLE, WHOLE).tolist() == [[0, 2], [5, 0]]
    assert not distance.symmetric
    found = k_medoids(["ab", "abc", "abcd"], 1, metric="levenshtein", metric_params={"weights": (2, 5, 1)})
    assert (found.medoid_indices.tolist(), found.inertia) == ([0], 2 + 4)
    with pytest.raises(ValueError, match=r"weights.*three whole numbers"):
        k_medoids(["ab", "abc"], 1, metric="levenshtein", metric_params={"weights": (1, 0.5, 1)})


def test_the_prefix_weight_of_jaro_winkler() -> None:
    expected = rapidfuzz.JaroWinkler.distance("martha", "marhta", prefix_weight=0.2)
    distance = dissimilarity(["martha", "marhta"], "jaro_winkler", {"prefix_weight": 0.2})
    assert distance.block(WHOLE, WHOLE)[0, 1] == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"prefix_weight.*0 to 0\.25"):
        dissimilarity(["a"], "jaro_winkler", {"prefix_weight": 2})


# --- tokens --------------------------------------------------------------------------------------------------------

SENTENCES = [["to", "be", "or", "not"], ("to", "be"), [], ["or", ("not", 1)], ["not", "or", "be", "to"], ["to", "be"]]


def edits(a: Any, b: Any) -> int:
    """Levenshtein's distance by its definition."""
    if not a or not b:
        return len(a) + len(b)
    return min(edits(a[1:], b) + 1, edits(a, b[1:]) + 1, edits(a[1:], b[1:]) + (a[0] != b[0]))


def test_sequences_of_tokens() -> None:
    expected = [[edits(list(a), list(b)) for b in SENTENCES] for a in SENTENCES]
    distance = dissimilarity(check_data(SENTENCES, "levenshtein"), "levenshtein")
    assert distance.block(WHOLE, WHOLE).tolist() == expected
    new = [["be", "quick"], ["to", "quick"]]
    assert distance.cross(new).tolist() == [[edits(list(a), b) for b in new] for a in SENTENCES]


def test_tokens_are_compared_and_not_their_hashes() -> None:
    assert hash(-1) == hash(-2)
    assert dissimilarity(check_data([[-1], [-2]], "indel"), "indel").block(WHOLE, WHOLE)[0, 1] == 2
    assert dissimilarity(check_data([[-1]], "indel"), "indel").cross([[-2], [-1]]).tolist() == [[2, 0]]


def test_text_against_tokens_goes_by_characters() -> None:
    model = KMedoids(1, metric="levenshtein").fit(["ape", "ape"])
    assert model.transform([["a", "p", "x"], "ape", b"ape"]).tolist() == [[1], [0], [3]]  # bytes are numbers


def test_more_tokens_than_characters() -> None:
    many = sys.maxunicode + 10
    long = list(range(many))
    distance = dissimilarity([long[:3], long[-3:], [*long[-3:-1], 0], long], "lcs")
    # Of three tokens each: none, and two, in common; numbers beyond the last character are told apart as well.
    assert distance.block(slice(0, 3), slice(0, 3)).tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]


def test_rows_of_an_array_of_integers_are_sequences() -> None:
    rows = np.array([[1, 2, 3], [2, 3, 4]])
    assert dissimilarity(check_data(rows, "levenshtein"), "levenshtein").block(WHOLE, WHOLE)[0, 1] == 2
    # hamming on numbers is the vectors' share of places, on text the number of places.
    assert dissimilarity(check_data(rows, "hamming"), "hamming").block(WHOLE, WHOLE)[0, 1] == 1
    assert dissimilarity(check_data(["123", "124"], "hamming"), "hamming").block(WHOLE, WHOLE)[0, 1] == 1
    assert dissimilarity(check_data([["x", "y"], ["x", "z"]], "hamming"), "hamming").block(WHOLE, WHOLE)[0, 1] == 1


# --- what X may be -------------------------------------------------------------------------------------------------

WORDS = ["ape", "apes", "tape", "zebra", "zebras", "cobra"]


@pytest.mark.parametrize(
    "pack",
    [
        list,
        tuple,
        np.array,
        lambda words: np.array(words, dtype=object),
        lambda words: np.array(words)[:, None],
        pd.Series,
        lambda words: pd.Series(words, dtype=object, index=range(10, 16)),
        lambda words: pd.Series(words, dtype="category"),
        lambda words: pd.DataFrame({"word": words}),
        pl.Series,
        lambda words: pl.DataFrame({"word": words}),
        lambda words: pl.Series(words, dtype=pl.Categorical),
    ],
)
def test_strings_in_any_container(pack: Any) -> None:
    model = KMedoids(2, metric="levenshtein").fit(pack(WORDS))
    assert sorted(model.cluster_centers_) == ["ape", "zebra"]
    # ape: apes and tape at 1; zebra: zebras at 1, cobra at 2 (c, o for z, e).
    assert model.inertia_ == 1 + 1 + 1 + 2
    assert model.predict(pack(WORDS)).tolist() == model.labels_.tolist()
    assert k_medoids(pack(WORDS), 2, metric="osa").inertia == 5


@pytest.mark.parametrize("pack", [list, pd.Series, pl.Series, lambda rows: pd.DataFrame({"a": rows})])
def test_a_missing_string_is_named(pack: Any) -> None:
    with pytest.raises(ValueError, match=r"row 1 of X is missing .*'levenshtein' needs a value in every row"):
        k_medoids(pack(["ape", None, "bee"]), 1, metric="levenshtein")


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (["ape", 3], TypeError, r"row 1 of X is 3, of type int; metric='levenshtein' takes strings, or lists"),
        ([["a"], [["b"]]], TypeError, r"row 1 of X has the token \['b'\], which is not hashable"),
        (
            pd.DataFrame({"a": ["x"], "b": ["y"]}),
            ValueError,
            r"takes one column, but X has 2: \['a', 'b'\]; .*X\['a'\]",
        ),
        ("word", TypeError, r"sequence of objects.*got str"),
        ([], ValueError, r"0 sample\(s\)"),
    ],
)
def test_bad_strings(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        k_medoids(rows, 1, metric="levenshtein")


def test_unequal_lengths_under_hamming_name_the_two_rows() -> None:
    with pytest.raises(ValueError, match=r"row 0 of X has 3 and row 2 has 4 characters; pad them, or use metric='lev"):
        k_medoids(["ape", "bee", "bees", "x"], 1, metric="hamming")
    model = KMedoids(1, metric="normalized_hamming").fit(["ape", "bee"])
    with pytest.raises(ValueError, match=r"has 3 and query 1 of X has 5 characters"):
        model.predict(["owl", "zebra"])


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from medoids.distances import strings

    strings._scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "medoids\[strings\]"'):
        k_medoids(["ape"], 1, metric="levenshtein")
    strings._scorer.cache_clear()


# --- real data -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hamming", "levenshtein"])
def test_pams_medoids_of_dna(name: str) -> None:
    texts = data.dna()
    from rapidfuzz.process import cdist

    D = cdist(texts, list(texts), scorer=scorer(name), dtype=np.float64)
    expected = oracle.pam_by_columns(D, 3)
    for algorithm in ("auto", "pairedpam"):
        found = k_medoids(texts, 3, metric=name, algorithm=algorithm, random_state=0)
        assert {texts[i] for i in found.medoid_indices} == {texts[i] for i in expected}  # strings repeat
        assert found.inertia == D[expected].min(axis=0).sum()


@pytest.mark.slow
def test_words_without_a_matrix() -> None:
    texts = data.words(2000)
    exact = k_medoids(texts, 10, metric="levenshtein", algorithm="fastpam1")
    found = k_medoids(texts, 10, metric="levenshtein", algorithm="pairedpam", memory_limit="3MB", random_state=0)
    assert found.inertia == exact.inertia
    assert found.medoid_indices.tolist() == exact.medoid_indices.tolist()


@pytest.mark.slow
def test_the_loss_of_words_is_no_higher_than_that_of_fasterpam() -> None:
    kmedoids = pytest.importorskip("kmedoids")
    texts = data.words(5000)
    from rapidfuzz.process import cdist

    D = cdist(texts, list(texts), scorer=rapidfuzz.Levenshtein.distance, dtype=np.int32)
    other = min(kmedoids.fasterpam(D, 50, random_state=seed).loss for seed in range(2))
    found = k_medoids(texts, 50, metric="levenshtein", init="random", n_init=2, random_state=0)
    assert found.inertia == D[found.medoid_indices].min(axis=0).sum() <= other
