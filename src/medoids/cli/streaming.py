"""``medoids cluster - --stream``: medoids that follow standard input, batch by batch, in bounded memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

import numpy as np

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.features import Features, make_features
from medoids.cli.messages import Failure, WrongUsage, print_json, print_notes, truncated
from medoids.cli.reading import read
from medoids.cli.workflow import claimed
from medoids.wording import counted

__all__ = ["follow"]

# Lines of a batch.
_BATCH_LINES = 1000
# Characters of a medoid that are shown.
_SHOWN = 60


def follow(
    file: str,
    outputs: dict[str, str | None],
    how: ReadOptions,
    selection: Selection,
    metric: str | None,
    settings: dict[str, Any],
    *,
    save: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Cluster lines of standard input as they come; write row, cluster and distance of each, then the medoids.

    ``outputs`` are the options that name files, of which a stream writes the model only, to ``save``; ``settings`` are
    keywords of `KMedoids`.
    """
    if file != "-":
        raise WrongUsage(f"--stream follows standard input; write - for {file}, or leave --stream out")
    for option, path in outputs.items():
        if path is not None and (option, path) != ("--output", "-"):
            raise WrongUsage(f"--stream writes to standard output; leave {option} out, or --save the model")
    with claimed({} if save is None else {"save": save}, file) as drafts:
        model = _cluster(how, selection, metric, settings, as_json=as_json, quiet=quiet)
        if save is not None:
            model.export(drafts["save"])


def _cluster(
    how: ReadOptions,
    selection: Selection,
    metric: str | None,
    settings: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> Any:
    """Take up all batches, and return the fitted estimator."""
    from medoids.estimator import KMedoids

    model: KMedoids | None = None
    resumed = settings["checkpoint"] is not None and Path(settings["checkpoint"]).exists()
    for found in _batches(sys.stdin.buffer, how, selection, metric):
        if model is None:
            print_notes([f"{found.metric} distance, in batches of {_BATCH_LINES:,} lines"], quiet)
            model = KMedoids(metric=found.metric, **settings)
            if not as_json:
                sys.stdout.write("row,cluster,distance\n")
        model.partial_fit(found.X, sample_weight=found.weights)
        first = model._stream.offered - len(model.labels_)
        if resumed:
            number = counted(first or model.n_samples_seen_, "row")
            then = "before; new rows count from there" if first else "before, and are only labelled again"
            print_notes([f"resumed: {number} were taken up {then}"], quiet)
            resumed = False
        if not as_json:
            pairs = zip(model.labels_.tolist(), model.distances_.tolist(), strict=True)
            sys.stdout.writelines(f"{first + s},{label},{distance!r}\n" for s, (label, distance) in enumerate(pairs))
            sys.stdout.flush()
    if model is None:
        raise Failure("standard input is empty")
    centers = model.cluster_centers_ if isinstance(model.cluster_centers_, list) else model.cluster_centers_.tolist()
    result = {"n": model.n_samples_seen_, "loss": model.loss_, "medoids": model.medoid_indices_.tolist()}
    if as_json:
        print_json({**result, "centers": centers})
    else:
        notes = [
            f"medoid {j}: row {row}, {truncated(str(center), _SHOWN)}"
            for j, (row, center) in enumerate(zip(result["medoids"], centers, strict=True))
        ]
        print_notes([*notes, f"{counted(result['n'], 'row')}, mean distance about {result['loss']:.6g}"], quiet)
    if found.from_table and found.kind == "vectors":
        model.feature_names_in_ = np.array(found.names, dtype=object)  # for `predict`, which takes columns by name
    return model


def _batches(lines: BinaryIO, how: ReadOptions, selection: Selection, metric: str | None) -> Iterator[Features]:
    """Yield the rows of standard input, each batch read as the first one was."""
    header, like = b"", None
    while batch := b"".join(islice(lines, _BATCH_LINES)):
        # A file, because that is what is read in every format.
        with NamedTemporaryFile(delete=False) as file:
            file.write(header + batch)
        try:
            contents = read(file.name, how, like=like)
        finally:
            os.unlink(file.name)
        contents.name = "standard input"
        if like is None:
            like = contents.how
            if like.format in ("csv", "tsv") and like.header:
                header = batch.split(b"\n", 1)[0] + b"\n"
        found = make_features(contents, selection, metric, "none")
        metric = found.metric
        yield found
