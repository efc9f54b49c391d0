"""What X may be under each kind of metric: every check of it, and every message.

May import ``storage``, ``distances`` and ``engine``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_array, validate_data

from medoids.distances import Degrees, kind_of, names_of_kind, takes_gaps
from medoids.engine.arrays import Floats
from medoids.engine.mapped import is_mapped, release
from medoids.places import crs_of, is_places, points_of
from medoids.storage.parquet_zarr import is_stored, unpacked

__all__ = ["check_columns_of_init", "check_data"]

# Rows whose sum is checked at a time: a few hundred columns of them stay in the cache of a core.
_ROWS_PER_SUM = 4096
# Rows after which the pages of a memory-mapped file are given back, a multiple of the former.
_ROWS_PER_RELEASE = 1 << 18


def check_data(X: Any, metric: Any, estimator: Any = None, *, reset: bool = True, kind: str | None = None) -> Any:
    """Return X in the form that the metric takes.

    A 2-D array of finite numbers for vectors, a matrix or coordinates; a CSR array for sparse data; a frame or 2-D
    array for a table; a list of strings (or sequences of tokens), of frozensets, of trees; an array or a list of arrays
    for series; any sequence for a callable.

    Parameters
    ----------
    X, metric
        As the user passed them.
    estimator : KMedoids, optional
        If given, scikit-learn stores or compares the number and names of its features.
    reset : bool
        False for new data.
    kind : str, optional
        The kind of data of the fit; by default it follows from metric and X.
    """
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError("X is a lazy frame, whose rows are not loaded yet; pass X.collect()")
    if hasattr(X, "obsm") and hasattr(X, "obs"):
        raise TypeError(
            "X is an AnnData object; use medoids.anndata.kmedoids(adata, k, use_rep=...), or pass adata.X or "
            "adata.obsm['X_pca']"
        )
    if hasattr(X, "to_pylist") and not hasattr(X, "columns"):  # an array of pyarrow, which may hold text
        values = X.to_numpy(zero_copy_only=False)
        X = X.to_pylist() if values.dtype == object else values
    if estimator is not None and reset:
        estimator.__dict__.pop("_crs", None)
    if is_places(X):
        return _check_places(X, metric, estimator, reset=reset)
    if is_stored(X):
        X = unpacked(X)
    kind = kind_of(metric, X) if kind is None else kind
    if issparse(X) and kind != "sparse":
        raise TypeError(
            f"X is a sparse matrix, but {_name(metric)} is not available on sparse data; use one of "
            f"{names_of_kind('sparse')}, or convert it with X.toarray() if that fits in memory"
        )
    if kind == "series":
        return _check_series(X, metric)
    if kind == "table":
        return _check_table(X, estimator, reset=reset)
    is_tabular = len(getattr(X, "shape", ())) == 2
    if kind in _CHECKS_OF_ITEMS or (kind == "objects" and not (is_tabular and _text_column(X) is None)):
        if estimator is not None and reset:
            # A sequence of objects has no features; those of an earlier fit no longer apply.
            for name in ("n_features_in_", "feature_names_in_"):
                estimator.__dict__.pop(name, None)
        return _check_items(X, metric, kind) if kind in _CHECKS_OF_ITEMS else _check_objects(X)
    return _check_numbers(X, metric, kind, estimator, reset=reset)


def check_columns_of_init(init: Any, X: Any) -> None:
    """Refuse a frame of initial medoids that has the columns of X in another order."""
    if not hasattr(init, "columns"):
        return
    names, wanted = ([*map(str, getattr(data, "column_names", getattr(data, "columns", ())))] for data in (init, X))
    if names != wanted and sorted(names) == sorted(wanted):
        raise ValueError(f"init has the columns {names}, but X has {wanted}; pass them in the same order")


def _check_places(X: Any, metric: Any, estimator: Any, *, reset: bool) -> Any:
    """Check points of GeoPandas, which an estimator converts to the CRS of its fit."""
    points = points_of(X, metric, None if reset else getattr(estimator, "_crs", None))
    checked = check_data(points, metric, estimator, reset=reset, kind=kind_of(metric, points))
    if estimator is not None and reset and X.crs is not None:
        estimator._crs = crs_of(X)
    return checked.view(Degrees) if isinstance(points, Degrees) else checked


def _name(metric: Any) -> str:
    return f"metric={metric!r}"


def _first_row(X: Any) -> Any:
    return X[0] if isinstance(X, (list, tuple)) and len(X) else None


def _refuse_value(place: str, value: Any, remedy: str) -> NoReturn:
    raise ValueError(f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}: {place} is {value}. {remedy}")


# --- numbers ------------------------------------------------------------------------------------------------------


def _check_numbers(X: Any, metric: Any, kind: str, estimator: Any, *, reset: bool) -> Any:
    """Check vectors, sparse rows, a matrix, coordinates, or rows of an array for a callable."""
    options: dict[str, Any] = {"ensure_all_finite": False, "accept_sparse": "csr" if kind == "sparse" else False}
    if kind == "objects":
        options["dtype"] = None
    else:
        _refuse_text(X, metric)
        _refuse_columns(X, metric)
        _refuse_ragged(X, metric)
        if getattr(X, "ndim", 0) == 3 or getattr(_first_row(X), "ndim", 0) == 2:
            raise ValueError(
                f"Found array with dim 3, but {_name(metric)} takes rows of numbers; flatten series of several "
                "channels with np.reshape(X, (len(X), -1)), or use metric='dtw'"
            )
    if kind == "matrix" and reset and np.ndim(X) == 1:
        X = _squared(X)
    X = check_array(X, **options) if estimator is None else validate_data(estimator, X, reset=reset, **options)
    if kind != "objects" and X.dtype.kind not in "iufb":
        raise ValueError(f"X has dtype {X.dtype}, but {_name(metric)} takes numbers; convert it to float first")
    if kind == "sparse":
        _check_finite_sparse(X)
        return csr_array(X)
    if not X.dtype.isnative:
        X = _converted(X, X.dtype.newbyteorder("="))
    if X.dtype.kind in "iufb":
        if X.dtype.kind == "b" or X.dtype in (np.float16, np.longdouble):
            X = _converted(X, np.float64)  # the kernels do not support these types
        if takes_gaps(metric):
            _check_known(X)
        elif X.dtype.kind == "f":
            _check_finite(X, kind)
        release(X)
    return X


def _squared(X: Any) -> Any:
    """Return the square matrix of condensed distances, as scipy's pdist returns them."""
    condensed = np.asarray(X)
    n = int(np.ceil(np.sqrt(2 * len(condensed))))
    if condensed.dtype.kind not in "iuf" or len(condensed) == 0 or n * (n - 1) // 2 != len(condensed):
        raise ValueError(
            "metric='precomputed' takes a square matrix (Expected 2D array), or condensed distances of n rows, a 1-D "
            "array of n (n - 1) / 2 numbers as scipy.spatial.distance.pdist returns it; got "
            f"{len(condensed)} values of dtype {condensed.dtype}"
        )
    return squareform(condensed, checks=False)


def _converted(X: Any, dtype: Any) -> Any:
    """Return X in another type; what is on disk stays on disk."""
    return unpacked(X, dtype) if is_mapped(X) else X.astype(dtype)


def _refuse_text(X: Any, metric: Any) -> None:
    first = _first_row(X)
    if isinstance(first, (set, frozenset)):
        raise ValueError(f"{_name(metric)} takes rows of numbers, but row 0 of X is a set; use metric='jaccard'")
    text = getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S")
    if isinstance(first, (str, bytes)) or text or (getattr(X, "ndim", 2) == 1 and _text_column(X) is not None):
        value = first if first is not None else np.asarray(X).flat[0]
        raise ValueError(
            f"could not convert string to float: {_name(metric)} takes rows of numbers, but row 0 of X is {value!r}; "
            "pass metric=f with your own f(a, b) for any objects, or metric='levenshtein' and the like for text"
        )


def _refuse_columns(X: Any, metric: Any) -> None:
    """Refuse the first column of a frame that does not hold numbers."""
    if not hasattr(X, "columns"):
        return
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # columns with the same name do no harm if they hold numbers
        return
    if not isinstance(frame, nw.DataFrame):
        return
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        kind = column.dtype
        unlike_text = kind == nw.Object and not any(isinstance(v, (str, bytes)) for v in column.head(1000).to_list())
        if kind.is_numeric() or kind in (nw.Boolean, nw.Unknown) or unlike_text:
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
    first = _first_row(X)
    if not hasattr(first, "__len__"):
        return
    for row, values in enumerate(X):
        size = len(values) if hasattr(values, "__len__") else "no"
        if size != len(first):
            raise ValueError(
                f"row {row} of X has {size} values, but row 0 has {len(first)}: {_name(metric)} takes rows of one "
                "length; use metric='dtw' for series of unequal lengths, or metric=f with your own f(a, b)"
            )


def _check_finite(X: Floats, kind: str) -> None:
    for start in range(0, len(X), _ROWS_PER_SUM):
        part = X[start : start + _ROWS_PER_SUM]
        if start % _ROWS_PER_RELEASE == 0:
            release(X)
        # A sum is finite only if all of its terms are. It may overflow, so each term is checked after that.
        with np.errstate(all="ignore"):
            if np.isfinite(part.sum()):
                continue
        wrong = np.argwhere(~np.isfinite(part))
        if len(wrong):
            row, column = wrong[0]
            remedy = (
                "Distances must be finite: use a large number instead, or remove the row and its column"
                if kind == "matrix"
                else "Remove such rows, or fill them, for example with sklearn.impute.SimpleImputer; "
                "metric='nan_euclidean' takes NaN"
            )
            _refuse_value(f"X[{start + row}, {column}]", part[row, column], remedy)


def _check_known(X: Floats) -> None:
    """Check numbers of which some may be missing."""
    wrong = np.argwhere(np.isinf(X))
    if len(wrong):
        row, column = wrong[0]
        _refuse_value(f"X[{row}, {column}]", X[row, column], "Replace it by NaN, which stands for a missing value")
    blank = np.isnan(X).all(axis=1)
    if blank.any():
        raise ValueError(f"Input X contains NaN in every column of row {int(np.argmax(blank))}; remove such rows")


def _check_finite_sparse(X: Any) -> None:
    wrong = np.flatnonzero(~np.isfinite(X.data))
    if len(wrong):
        row = int(np.searchsorted(X.indptr, wrong[0], side="right")) - 1
        _refuse_value(f"X[{row}, {X.indices[wrong[0]]}]", X.data[wrong[0]], "Remove such rows, or fill them")


# --- sequences ----------------------------------------------------------------------------------------------------


def _check_objects(X: Any) -> Any:
    """Check any sequence, for a callable: a list, a 1-D array, a column of a frame."""
    _refuse_scalars(X)
    if (column := _text_column(X)) is not None:
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
    """Return the values of a column of a frame, or of a frame with one column, that does not hold numbers."""
    if len(X.columns) != 1 if hasattr(X, "columns") else not hasattr(X, "to_numpy"):
        return None
    import narwhals as nw

    data = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(data, nw.DataFrame):
        data = next(data.iter_columns())
    if not isinstance(data, nw.Series) or data.dtype.is_numeric() or data.dtype == nw.Boolean:
        return None
    return list(data.to_list())


def _to_list(X: Any, metric: Any) -> list[Any]:
    """Return the rows of a list, a 1-D array, a column of a frame, or a 2-D array as a list."""
    if hasattr(X, "columns") and len(X) and _text_column(X) is None:
        raise ValueError(
            f"{_name(metric)} takes one column, but X has {len(X.columns)}: {list(X.columns)}; pass one of them, such "
            f"as X[{X.columns[0]!r}]"
        )
    X = _check_objects(X)
    if not isinstance(X, np.ndarray):
        return list(X)
    single = X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUS"
    return list((X[:, 0] if single else X).tolist())


def _check_items(X: Any, metric: Any, kind: str) -> list[Any]:
    """Check strings, sets or trees, one by one."""
    items = _to_list(X, metric)
    for row, item in enumerate(items):
        if item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and item != item):
            raise ValueError(f"row {row} of X is missing ({item}); {_name(metric)} needs a value in every row")
    return [_CHECKS_OF_ITEMS[kind](item, row, metric) for row, item in enumerate(items)]


def _refuse_unhashable(things: Iterable[Any], row: int, word: str) -> None:
    for thing in things:
        try:
            hash(thing)
        except TypeError:
            raise TypeError(
                f"row {row} of X has the {word} {thing!r}, which is not hashable; use a string, a number or a tuple"
            ) from None


def _check_members(item: Any, row: int, metric: Any, types: Any, wanted: str, word: str) -> Any:
    """Check a collection of hashable members; a 1-D array counts as a list."""
    members: Any = item.tolist() if isinstance(item, np.ndarray) and item.ndim == 1 else item
    if not isinstance(members, types):
        raise TypeError(
            f"row {row} of X is {item!r:.80}, of type {type(item).__name__}; {_name(metric)} takes {wanted}"
        )
    _refuse_unhashable(members, row, word)
    return members


def _check_string(item: Any, row: int, metric: Any) -> Any:
    """Check a string, or a sequence of hashable tokens."""
    if isinstance(item, str):
        return str(item)
    return _check_members(item, row, metric, (list, tuple, bytes), "strings, or lists of hashable tokens", "token")


def _check_set(item: Any, row: int, metric: Any) -> frozenset[Any]:
    hint = f", such as set({item!r:.40}.split())" if isinstance(item, str) else ""
    return frozenset(_check_members(item, row, metric, (set, frozenset, list, tuple), f"sets{hint}", "member"))


def _check_tree(item: Any, row: int, metric: Any) -> Any:
    """Check a node of ``ast``, or (label, child, child, ...) with hashable labels."""
    stack = [item]
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
    return item


_CHECKS_OF_ITEMS: dict[str, Callable[[Any, int, Any], Any]] = {
    "strings": _check_string,
    "sets": _check_set,
    "trees": _check_tree,
}


# --- series and tables --------------------------------------------------------------------------------------------


def _check_series(X: Any, metric: Any) -> Any:
    """Check an array of two or three dimensions, or a list of arrays of any lengths; the metric knows their layout."""
    _refuse_text(X, metric)
    _refuse_columns(X, metric)
    if hasattr(X, "columns"):
        X = np.asarray(X)
    _refuse_scalars(X)
    is_block = isinstance(X, np.ndarray) and X.dtype != object
    if is_block and X.ndim not in (2, 3):
        raise ValueError(
            f"{_name(metric)} takes an array of shape (n, length) or (n, length, channels), or a list of arrays; got "
            f"shape {X.shape}"
        )
    series = [_check_one_series(item, row) for row, item in enumerate(X)]
    return X if is_block else series


def _check_one_series(item: Any, row: int) -> Floats:
    try:
        one = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"row {row} of X is not a series of numbers: {item!r:.80}") from None
    if one.ndim not in (1, 2) or one.size == 0:
        raise ValueError(
            f"row {row} of X has shape {one.shape}; a series is an array of shape (length,) or (length, channels), "
            "with at least one sample"
        )
    wrong = np.argwhere(~np.isfinite(one))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        _refuse_value(f"X[{row}][{', '.join(map(str, at))}]", one[at], "Fill it, or cut the series")
    return one


def _check_table(X: Any, estimator: Any, *, reset: bool) -> Any:
    """Check a frame, or a 2-D array of anything."""
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
