"""From the options of a command to what is fitted, and from what was found to the page."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medoids.cli.failures import WrongUsage
from medoids.cli.options import check_choice
from medoids.cli.read_options import ReadOptions
from medoids.cli.selecting import Selection

if TYPE_CHECKING:
    from medoids.cli.features import Features
    from medoids.quality.k_path import KPath
    from medoids.result import Clustering

__all__ = ["load", "names_as_text", "prediction_rows", "write_report"]


def load(
    file: str, how: ReadOptions, selection: Selection, metric: str | None, precomputed: bool, scale: str
) -> Features:
    import pyarrow

    from medoids.cli.features import features, kinds_of
    from medoids.cli.reading import read

    check_choice("--scale", scale, ("none", "standard", "robust"))
    if precomputed:
        if metric not in (None, "precomputed"):
            raise WrongUsage(f"--precomputed and --metric {metric} exclude each other")
        metric = "precomputed"
    if metric is not None:
        kinds_of(metric)
    contents = read(file, names_as_text(how, selection.id))
    found = features(contents, selection, metric, scale)
    del contents
    # What was needed to read a large file, given back before the fit needs it.
    pyarrow.default_memory_pool().release_unused()
    return found


def names_as_text(how: ReadOptions, *columns: str | None) -> ReadOptions:
    """Keep the cells of some columns as they are: 007 names a row that 7 does not."""
    return replace(how, texts=tuple(name for name in columns if name is not None))


def prediction_rows(model: Any, contents: Any, id: str | None) -> Features:
    from medoids.cli.features import Features

    if id is not None and (contents.kind != "table" or id not in contents.values.column_names):
        raise WrongUsage(f"--id {id}: {contents.name} has no such column")
    ids = contents.values[id].to_pylist() if id is not None else None
    X = model.data_of(contents)
    return Features(X, model.body["kind"], model.body["metric"], X, ids=ids, id_name=id or "row")


def write_report(
    draft: Path, found: Features, clustering: Clustering | KPath, file: str, shape: tuple[int, ...] | None
) -> None:
    from medoids.reporting import report
    from medoids.result import Clustering

    name = "standard input" if file == "-" else Path(file).name
    title = f"How many clusters in {name}?"
    if isinstance(clustering, Clustering):
        title = f"{len(clustering.medoid_indices)} medoids of {name}"
    report(
        clustering,
        found.X,
        draft,
        title=title,
        feature_names=found.names if found.kind in ("vectors", "sparse") else None,
        ids=found.ids,
        image_shape=shape,
        shown=found.original if found.scaling is not None else None,
        sample_weight=found.weights,
        command=shlex.join(["medoids", *sys.argv[1:]]),
    )
