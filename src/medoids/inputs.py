"""What X may be under each kind of metric: every check of it, and every message."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, validate_data

from medoids.distances import Floats, is_mapped, kind_of, names_of_kind, release
from medoids.storage.parquet_zarr import is_stored, unpacked

__all__ = ["check_data"]


def check_data(X: Any, metric: Any, estimator: Any = None, *, reset: bool = True, kind: str | None = None) -> Any:
    """Return X as the metric takes it.

    A 2-D array of finite numbers for vectors, a matrix or coordinates; a CSR array for sparse data; a frame or 2-D
    array for a table; a list of strings (or sequences of tokens), of frozensets, of trees; an array or a list of arrays
    for series; any sequence for a callable.

    Parameters
    ----------
    X, metric
        As the user passed them.
    estimator : KMedoids, optional
        Then also what scikit-learn does: remember or compare the number and names of features.
    reset : bool
        False for new data.
    kind : str, optional
        Of the fit; by default what metric and X are.
    """
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError("X is a lazy frame, whose rows are not there yet; pass X.collect()")
    if is_stored(X):
        X = unpacked(X)
    kind = kind_of(metric, X) if kind is None else kind
    if issparse(X) and kind != "sparse":
        _refuse_sparse(metric)
    if kind in _SEQUENCES:
        if estimator is not None and reset:
            _forget_features(estimator)
        return _SEQUENCES[kind](_plain(X, metric), metric)
    if kind == "series":
        return _check_series(X, metric)
    if kind == "table":
        return _check_table(X, estimator, reset=reset)
    if kind == "objects" and not (_is_tabular(X) and _text_column(X) is None):
        if estimator is not None and reset:
            _forget_features(estimator)
        return _check_objects(X)
    return _check_numbers(X, metric, kind, estimator, reset=reset)


def _is_tabular(X: Any) -> bool:
    return hasattr(X, "shape") and len(X.shape) == 2


def _forget_features(estimator: Any) -> None:
    """A sequence of objects has no features; those of an earlier fit are no longer true."""
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)


def _name(metric: Any) -> str:
    return f"metric={metric!r}"


# --- numbers ------------------------------------------------------------------------------------------------------


def _check_numbers(X: Any, metric: Any, kind: str, estimator: Any, *, reset: bool) -> Any:
    """Vectors, sparse rows, a matrix, coordinates, or rows of an array for a callable."""
    if kind != "objects":
        _refuse_text(X, metric)
        _refuse_sets(X, metric)
        _refuse_columns(X, metric)
        _refuse_ragged(X, metric)
        _refuse_cubes(X, metric)
    if kind == "matrix" and getattr(X, "ndim", 2) == 1:
        raise ValueError(
            "metric='precomputed' needs a square matrix; got a 1-D array. Expected 2D array: turn condensed distances "
            "into one with scipy.spatial.distance.squareform(X)"
        )
    options: dict[str, Any] = {"ensure_all_finite": False, "dtype": None if kind == "objects" else "numeric"}
    if kind == "objects":
        options["ensure_min_features"] = 1
    if kind == "sparse":
        options["accept_sparse"] = "csr"
    if estimator is not None:
        X = validate_data(estimator, X, reset=reset, **options)
    else:
        X = check_array(X, **options)
    if kind != "objects" and X.dtype.kind not in "iufb":
        raise ValueError(f"X has dtype {X.dtype}, but {_name(metric)} takes numbers; convert it to float first")
    if kind == "sparse":
        X = csr_array(X)
        _check_finite_sparse(X)
        return X
    if not X.dtype.isnative:
        X = _converted(X, X.dtype.newbyteorder("="))
    if X.dtype.kind in "iufb":
        if X.dtype.kind == "b" or X.dtype in (np.float16, np.longdouble):
            X = _converted(X, np.float64)  # types that kernels do not know
        _check_finite(X, kind)
        release(X)
    if kind == "matrix" and reset:
        _check_square(X)
    return X


def _converted(X: Any, dtype: Any) -> Any:
    """Return X in another type; what is on disk stays there."""
    return unpacked(X, dtype) if is_mapped(X) else X.astype(dtype)


def _refuse_sparse(metric: Any) -> None:
    raise TypeError(
        f"X is a sparse matrix, but {_name(metric)} is not available on sparse data; use one of "
        f"{names_of_kind('sparse')}, or convert it with X.toarray() if that fits in memory"
    )


def _refuse_text(X: Any, metric: Any) -> None:
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    text = getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S")
    if isinstance(first, (str, bytes)) or text or (getattr(X, "ndim", 2) == 1 and _text_column(X) is not None):
        value = first if first is not None else np.asarray(X).flat[0]
        raise ValueError(
            f"could not convert string to float: {_name(metric)} takes rows of numbers, but row 0 of X is {value!r}; "
            "pass metric=f with your own f(a, b) for any objects, or metric='levenshtein' and the like for text"
        )


def _refuse_sets(X: Any, metric: Any) -> None:
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (set, frozenset)):
        raise ValueError(f"{_name(metric)} takes rows of numbers, but row 0 of X is a set; use metric='jaccard'")


def _refuse_columns(X: Any, metric: Any) -> None:
    """Name the first column of a frame that holds no numbers."""
    if not hasattr(X, "columns"):
        return
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # columns of one name are no trouble as long as they are numbers
        return
    if not isinstance(frame, nw.DataFrame):
        return
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        kind = column.dtype
        known = [value for value in column.head(1000).to_list() if value is not None] if kind == nw.Object else []
        text = next((value for value in known if isinstance(value, (str, bytes))), None)
        if kind.is_numeric() or kind in (nw.Boolean, nw.Unknown) or (kind == nw.Object and text is None):
            continue
        word = "text" if kind in (nw.String, nw.Object) else str(kind).lower().split("(")[0]
        value = column.head(1).to_list()
        raise ValueError(
            f"could not convert string to float: column {name!r} of X holds {word} ({value[0]!r} in row 0), but "
            f"{_name(metric)} takes numbers; drop or encode it, or use metric='gower', which takes mixed tables"
            if value
            else f"column {name!r} of X holds {word}, but {_name(metric)} takes numbers"
        )


def _refuse_ragged(X: Any, metric: Any) -> None:
    if not isinstance(X, (list, tuple)) or not X or not hasattr(X[0], "__len__"):
        return
    width = len(X[0])
    for row, values in enumerate(X):
        size = len(values) if hasattr(values, "__len__") else None
        if size != width:
            found = "no values" if size is None else f"{size} values"
            raise ValueError(
                f"row {row} of X has {found}, but row 0 has {width}: {_name(metric)} takes rows of one length; use "
                "metric='dtw' for series of unequal lengths, or metric=f with your own f(a, b)"
            )


def _refuse_cubes(X: Any, metric: Any) -> None:
    first = X[0] if isinstance(X, (list, tuple)) and X else X
    if getattr(first, "ndim", 0) == (3 if first is X else 2):
        raise ValueError(
            f"Found array with dim 3, but {_name(metric)} takes rows of numbers; flatten series of several channels "
            "with np.reshape(X, (len(X), -1)), or use metric='dtw'"
        )


def _check_finite(X: Floats, kind: str) -> None:
    if X.dtype.kind != "f":
        return
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        if start % (1 << 18) == 0:
            release(X)
        # A sum is finite only if all of its terms are (it may overflow, so a look at each follows).
        with np.errstate(all="ignore"):
            if np.isfinite(part.sum()):
                continue
        wrong = ~np.isfinite(part)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            value = part[row, column]
            word = "NaN" if np.isnan(value) else "infinity"
            remedy = (
                "Distances must be finite: put a large number there, or remove the row and its column"
                if kind == "matrix"
                else "Remove such rows, or fill them, for example with sklearn.impute.SimpleImputer"
            )
            raise ValueError(f"Input X contains {word}: X[{start + row}, {column}] is {value}. {remedy}")


def _check_finite_sparse(X: Any) -> None:
    wrong = ~np.isfinite(X.data)
    if wrong.any():
        at = int(np.argmax(wrong))
        row, value = int(np.searchsorted(X.indptr, at, side="right")) - 1, X.data[at]
        word = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(
            f"Input X contains {word}: X[{row}, {X.indices[at]}] is {value}. Remove such rows, or fill them"
        )


def _check_square(X: Floats) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances between the samples; got shape {X.shape}"
        )


# --- sequences ----------------------------------------------------------------------------------------------------


def _check_objects(X: Any) -> Any:
    """Any sequence, for a callable: a list, a 1-D array, a column of a frame."""
    _refuse_scalars(X)
    column = _text_column(X)
    if column is not None:
        return column
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "to_numpy"):
        values = X.to_numpy()
        return values if values.dtype.kind != "O" else list(X)
    if not hasattr(X, "__getitem__") or isinstance(X, dict):
        raise TypeError(f"X must be a sequence that can be indexed by row number; got {type(X).__name__}")
    return X


def _refuse_scalars(X: Any) -> None:
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(
            f"X must be an array or a sequence of objects, one for each row; got {type(X).__name__}. "
            "Pass list(X) for a generator or a set"
        )
    if hasattr(X, "shape") and len(X.shape) == 0:
        raise ValueError(f"X must be an array or a sequence of objects; got a scalar, {X!r}")
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s): X is empty; pass at least one object")


def _text_column(X: Any) -> list[Any] | None:
    """Return the values of a column of a frame, or of a frame of one column, that holds no numbers."""
    if len(X.columns) != 1 if hasattr(X, "columns") else not hasattr(X, "to_numpy"):
        return None
    import narwhals as nw

    data = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(data, nw.DataFrame):
        data = next(data.iter_columns())
    if not isinstance(data, nw.Series) or data.dtype.is_numeric() or data.dtype == nw.Boolean:
        return None
    return list(data.to_list())


def _plain(X: Any, metric: Any) -> list[Any]:
    """Return the rows of a list, a 1-D array, a column of a frame, or a 2-D array as a list."""
    _refuse_scalars(X)
    column = _text_column(X)
    if column is not None:
        return column
    if hasattr(X, "columns"):
        raise ValueError(
            f"{_name(metric)} takes one column, but X has {len(X.columns)}: {list(X.columns)}; pass one of them, such "
            f"as X[{X.columns[0]!r}]"
        )
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUS":
            X = X[:, 0]
        return list(X.tolist())
    if hasattr(X, "to_list"):
        return list(X.to_list())
    if not hasattr(X, "__getitem__") or isinstance(X, dict):
        raise TypeError(f"X must be a sequence that can be indexed by row number; got {type(X).__name__}")
    return list(X)


def _refuse_missing(item: Any, row: int, metric: Any) -> None:
    if item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and item != item):
        raise ValueError(f"row {row} of X is missing ({item}); {_name(metric)} needs a value in every row")


def _refuse_unhashable(things: Any, row: int, word: str) -> None:
    for thing in things:
        try:
            hash(thing)
        except TypeError:
            raise TypeError(
                f"row {row} of X has the {word} {thing!r}, which is not hashable; use a string, a number or a tuple"
            ) from None


def _check_strings(rows: list[Any], metric: Any) -> list[Any]:
    """Strings, or sequences of hashable tokens."""
    out: list[Any] = []
    for row, item in enumerate(rows):
        if isinstance(item, str):
            out.append(str(item))
            continue
        _refuse_missing(item, row, metric)
        if isinstance(item, np.ndarray) and item.ndim == 1:
            item = item.tolist()
        if not isinstance(item, (list, tuple, bytes)):
            raise TypeError(
                f"row {row} of X is {item!r:.80}, of type {type(item).__name__}; {_name(metric)} takes strings, or "
                "lists of hashable tokens"
            )
        _refuse_unhashable(item, row, "token")
        out.append(item)
    return out


def _check_sets(rows: list[Any], metric: Any) -> list[frozenset[Any]]:
    out = []
    for row, item in enumerate(rows):
        _refuse_missing(item, row, metric)
        if isinstance(item, np.ndarray) and item.ndim == 1:
            item = item.tolist()
        if not isinstance(item, (set, frozenset, list, tuple)):
            hint = f", such as set({item!r:.40}.split())" if isinstance(item, str) else ""
            raise TypeError(
                f"row {row} of X is {item!r:.80}, of type {type(item).__name__}; {_name(metric)} takes sets{hint}"
            )
        _refuse_unhashable(item, row, "member")
        out.append(frozenset(item))
    return out


def _check_trees(rows: list[Any], metric: Any) -> list[Any]:
    """Nodes of ``ast``, or (label, child, child, ...) with labels that are hashable."""
    for row, tree in enumerate(rows):
        _refuse_missing(tree, row, metric)
        stack = [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.AST):
                continue
            if isinstance(node, (tuple, list)):
                if len(node) == 0:
                    raise ValueError(
                        f"row {row} of X has a node without a label, {node!r}; a tree is (label, child, child, ...)"
                    )
                stack.extend(node[1:])
                node = node[0]
            _refuse_unhashable([node], row, "label")
    return rows


_SEQUENCES: dict[str, Callable[[list[Any], Any], list[Any]]] = {
    "strings": _check_strings,
    "sets": _check_sets,
    "trees": _check_trees,
}


# --- series and tables --------------------------------------------------------------------------------------------


def _check_series(X: Any, metric: Any) -> Any:
    """An array of two or three dimensions, or a list of arrays of any lengths; the metric knows their layout."""
    _refuse_text(X, metric)
    _refuse_columns(X, metric)
    if hasattr(X, "columns"):
        X = np.asarray(X)
    _refuse_scalars(X)
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim not in (2, 3):
        raise ValueError(
            f"{_name(metric)} takes an array of shape (n, length) or (n, length, channels), or a list of arrays; got "
            f"shape {X.shape}"
        )
    series = []
    for row, item in enumerate(X):
        try:
            one = np.asarray(item, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"row {row} of X is no series of numbers: {item!r:.80}") from None
        if one.ndim not in (1, 2) or one.size == 0:
            raise ValueError(
                f"row {row} of X has shape {one.shape}; a series is an array of shape (length,) or (length, channels), "
                "with at least one sample"
            )
        if not np.isfinite(one).all():
            at = tuple(np.argwhere(~np.isfinite(one))[0].tolist())
            word = "NaN" if np.isnan(one[at]) else "infinity"
            place = f"X[{row}][{', '.join(map(str, at))}]"
            raise ValueError(f"Input X contains {word}: {place} is {one[at]}. Fill it, or cut the series")
        series.append(one)
    return X if isinstance(X, np.ndarray) and X.dtype != object else series


def _check_table(X: Any, estimator: Any, *, reset: bool) -> Any:
    """A frame, or a 2-D array of anything."""
    if not hasattr(X, "columns"):
        _refuse_scalars(X)
        _refuse_ragged(X, "gower")
        X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if X.ndim != 2:
            raise ValueError(
                f"metric='gower' takes a frame or a 2-D array, a row for each sample; got shape {X.shape}. Expected 2D "
                "array: for one column pass a frame of one column"
            )
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s): X is empty")
    if estimator is not None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X
