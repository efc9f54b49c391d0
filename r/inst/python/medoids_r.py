"""The Python side of the R package: jobs in a thread that R watches, and calls in terms that R can convert."""

import ctypes
import inspect
import sys
import threading
import warnings
from queue import Empty, SimpleQueue
from time import monotonic

import numpy as np

import medoids

# Rows that become the medoids of one model when all pairs are wanted.
_ROWS = 1000
# Seconds between two attempts to stop a job: an exception may arrive where Python drops it, in a finalizer or the
# callback of a weak reference, of which Numba has many while it compiles. That need not be printed.
_AGAIN = 0.5


class Job:
    """A call in a thread of its own, so that R keeps the main thread for interrupts, messages and its own functions.

    Parameters
    ----------
    function : callable
    arguments : dict
    steps : bool
        Whether each step of the fit becomes an event.
    asks : bool
        Whether the metric is a function of R: each pair that it is wanted for becomes an event.
    """

    def __init__(self, function, arguments, steps=False, asks=False):
        self.value = self.error = None
        self.warnings = []
        self._events, self._answers = SimpleQueue(), SimpleQueue()
        self._cancelled, self._steps = False, steps
        if asks:
            arguments = {**arguments, "metric": self._ask}
        if "callback" in arguments:
            arguments = {**arguments, "callback": self._step}
        self._thread = threading.Thread(target=self._run, args=(function, arguments), daemon=True)
        self._thread.start()

    def _run(self, function, arguments):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.value = function(**arguments)
            except BaseException as error:
                notes = getattr(error, "__notes__", [])
                self.error = {"type": type(error).__name__, "message": "\n".join([str(error), *notes])}
        self.warnings = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
        self._events.put({"event": "done"})

    def _step(self, record):
        if self._steps:
            row_in, row_out = record.medoid_in, record.medoid_out
            self._events.put(
                {
                    "event": "step",
                    "phase": record.phase,
                    "medoid_in": -1 if row_in is None else int(row_in),
                    "medoid_out": -1 if row_out is None else int(row_out),
                    "loss": float(record.loss),
                    "n_evaluations": float(record.n_evaluations),
                    "seconds": float(record.seconds),
                }
            )
        return self._cancelled

    def _ask(self, i, j):
        self._events.put({"event": "pair", "i": int(i), "j": int(j)})
        value = self._answers.get()
        if self._cancelled:
            raise KeyboardInterrupt
        return value

    def wait(self, seconds):
        """Return the next event, or what happened in its place."""
        try:
            return self._events.get(timeout=seconds)
        except Empty:
            return {"event": "none"}
        except KeyboardInterrupt:
            return {"event": "interrupt"}

    def answer(self, value, seconds):
        """Give the distance that was asked for, and wait for the next event."""
        self._answers.put(value)
        return self.wait(seconds)

    def cancel(self, seconds):
        """Stop, and return whether the thread ended in time; otherwise it ends at the next chance."""
        self._cancelled = True
        self._answers.put(None)
        end, again, hook = monotonic() + seconds, 0.0, sys.unraisablehook
        sys.unraisablehook = lambda dropped: dropped.exc_type is KeyboardInterrupt or hook(dropped)
        try:
            while self._thread.is_alive() and monotonic() < end:
                if monotonic() >= again:
                    thread = ctypes.c_ulong(self._thread.ident)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(KeyboardInterrupt))
                    again = monotonic() + _AGAIN
                self._thread.join(0.05)
        except KeyboardInterrupt:
            pass
        finally:
            sys.unraisablehook = hook
        return not self._thread.is_alive()


def keywords():
    """Names of the settings of a fit."""
    return list(inspect.signature(medoids.k_medoids).parameters)[2:]


def versions():
    """Versions of what a fit needs."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("medoids", "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "rapidfuzz", "matplotlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def metrics():
    """Return the columns of a table of metrics."""
    rows = medoids.available_metrics()
    return {
        "name": [row.name for row in rows],
        "kind": [row.kind for row in rows],
        "aliases": [", ".join(row.aliases) for row in rows],
        "formula": [row.formula for row in rows],
        "parameters": [", ".join(f"{name} = {value!r}" for name, value in row.parameters.items()) for row in rows],
        "extra": [row.extra or "" for row in rows],
    }


# --- data ---------------------------------------------------------------------------------------------------------


def sparse(data, indices, pointers, shape):
    """Return a CSR array of the slots of a dgCMatrix."""
    from scipy.sparse import csc_array

    return csc_array((data, indices, pointers), shape=tuple(int(size) for size in shape)).tocsr()


def labelled(columns):
    """Return a table of objects, one column of numbers or texts after the other, with None where a value is missing."""
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for at, column in enumerate(columns):
        table[:, at] = [None if value is None or value != value else value for value in column]
    return table


def gaps(metric):
    """Return a distance over rows (values, known) that leaves out what is missing and scales up the rest, as daisy."""
    from numba import njit

    if metric == "manhattan":

        @njit
        def manhattan(a, b):
            p = len(a) // 2
            total, known = 0.0, 0
            for c in range(p):
                if a[p + c] * b[p + c] > 0:
                    known += 1
                    total += abs(a[c] - b[c])
            return total * p / known if known else np.nan

        return manhattan

    @njit
    def euclidean(a, b):
        p = len(a) // 2
        total, known = 0.0, 0
        for c in range(p):
            if a[p + c] * b[p + c] > 0:
                known += 1
                total += (a[c] - b[c]) ** 2
        return np.sqrt(total * p / known) if known else np.nan

    return euclidean


# --- fits ---------------------------------------------------------------------------------------------------------


def described(found):
    """Return what was found as numbers and arrays."""
    trace = found.trace
    gap = getattr(found, "gap", None)
    return {
        "medoids": np.asarray(found.medoid_indices, dtype=np.int32),
        "labels": np.asarray(found.labels, dtype=np.int32),
        "distances": np.asarray(found.distances, dtype=np.float64),
        "loss": float(found.loss),
        "inertia": float(found.inertia),
        "n_swaps": int(found.n_swaps),
        "converged": bool(found.converged),
        "algorithm": found.algorithm,
        "reason": found.reason,
        "n_evaluations": float(found.n_evaluations),
        "gap": float("nan") if gap is None else float(gap),
        "trace": {
            "phase": [record.phase for record in trace],
            "medoid_in": [-1 if record.medoid_in is None else int(record.medoid_in) for record in trace],
            "medoid_out": [-1 if record.medoid_out is None else int(record.medoid_out) for record in trace],
            "loss": [float(record.loss) for record in trace],
            "n_evaluations": [float(record.n_evaluations) for record in trace],
            "seconds": [float(record.seconds) for record in trace],
            "references": [float(record.references) for record in trace],
            "candidates": [float(record.candidates) for record in trace],
        },
    }


def distances_from(rows, m, X, metric, metric_params):
    """Return distances from the first m rows to those of X, of shape (X, m); more rows only set ranges of columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no swap is wanted, and rows may repeat
        model = medoids.KMedoids(m, metric=metric, metric_params=metric_params, init=np.arange(m), max_iter=0).fit(rows)
    return model.transform(X)


def pairwise(X, metric, metric_params, ranges=None):
    """Return all distances, d(i, j) at [i, j]."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    out = np.empty((n, n))
    for start in range(0, n, _ROWS):
        rows = X[start : start + _ROWS]
        m = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if ranges is not None:
            rows = np.vstack([rows, ranges])
        out[start : start + m] = distances_from(rows, m, X, metric, metric_params).T
    return out


def sampled_silhouette(found, X, samples, seed):
    """Return the silhouettes of some rows, each compared with all rows."""
    silhouette = medoids.silhouette(found, X, samples=samples, random_state=seed)
    return {
        "rows": np.asarray(silhouette.rows, dtype=np.int32),
        "widths": np.asarray(silhouette.samples, dtype=np.float64),
        "value": float(silhouette.value),
        "error": float(silhouette.error),
    }


def stored(path, columns=None):
    """Return rows that stay on disk, and the names of their columns."""
    from pathlib import Path

    rows = medoids.open_parquet(path, columns=columns)
    from pyarrow.parquet import read_schema

    names = columns or read_schema(next(Path(path).rglob("*.parquet"), path)).names
    return {"rows": rows, "names": list(names), "shape": list(rows.shape)}


def stored_rows(X, rows):
    """Return some rows that are on disk."""
    return np.vstack([X[row : row + 1] for row in np.asarray(rows).tolist()])


def scored(path):
    """Return what a path of clusterings holds as numbers and arrays."""
    return {
        "scores": {name: np.asarray(values, dtype=np.float64) for name, values in path.scores.items()},
        "fits": [described(found) for found in path.clusterings.values()],
        "build": np.asarray(path.build, dtype=np.int32),
        "algorithm": path.algorithm,
        "reason": path.reason,
        "n_evaluations": float(path.n_evaluations),
    }


def suggest(path, criterion):
    """Return a number of clusters, and why in one sentence."""
    return {"k": int(path.suggest(criterion)), "why": path.explain(criterion)}


def certified(**arguments):
    """Return a certificate as numbers."""
    found = medoids.certify(**arguments)
    return {
        "loss": found.loss,
        "swap": [-1, -1] if found.swap is None else [int(row) for row in found.swap],
        "gain": found.gain,
        "exact": found.exact,
        "error_probability": found.error_probability,
        "lower_bound": found.lower_bound,
        "bound_probability": found.bound_probability,
        "gap": found.gap,
        "n_evaluations": float(found.n_evaluations),
        "seconds": found.seconds,
    }


def write_report(fields, trace, X, path, options):
    """Write the page of a clustering that R has."""
    steps = [medoids.TraceRecord(**dict(zip(trace, step, strict=True))) for step in zip(*trace.values(), strict=True)]
    names = set(inspect.signature(medoids.Clustering).parameters)
    fields = {**fields, "trace": steps, "counts": {}}
    found = medoids.Clustering(**{name: value for name, value in fields.items() if name in names})
    return str(medoids.report(found, X, path, **options))
