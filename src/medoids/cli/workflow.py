"""What commands do around a fit: load the data, reserve the outputs, write the report."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.messages import Failure, WrongUsage, print_notes
from medoids.storage.files import Outputs
from medoids.wording import counted

if TYPE_CHECKING:
    from medoids.cli.features import Features
    from medoids.quality.k_path import KPath
    from medoids.result import Clustering

__all__ = ["claimed", "file_title", "load_features", "rows_like", "write_report"]


@contextmanager
def claimed(paths: dict[str, str], *inputs: str) -> Iterator[dict[str, Path]]:
    """Give each output, by its option without dashes, a draft to write to; drafts become files if the block succeeds.

    Writing over an input, or two outputs over each other, is an error.
    """
    taken = {os.path.realpath(path): f"the input {path}" for path in inputs if path != "-"}
    for option, path in paths.items():
        where = os.path.realpath(path)
        if where in taken:
            raise WrongUsage(f"--{option} {path} would be written over {taken[where]}; choose another name")
        taken[where] = f"--{option} {path}"
    with Outputs() as outputs:
        try:
            drafts = {option: outputs.claim(path) for option, path in paths.items()}
        except OSError as error:
            raise Failure(str(error)) from None
        yield drafts


def load_features(
    file: str,
    how: ReadOptions,
    selection: Selection,
    *,
    metric: str | None,
    precomputed: bool,
    scale: str,
    k: int,
    quiet: bool,
) -> Features:
    """Read a file for a fit with up to ``k`` clusters, and print what was found in it."""
    import pyarrow

    from medoids.cli.features import make_features, metric_kinds
    from medoids.cli.reading import read

    if precomputed and metric not in (None, "precomputed"):
        raise WrongUsage(f"--precomputed and --metric {metric} exclude each other")
    if (metric := "precomputed" if precomputed else metric) is not None:
        metric_kinds(metric)  # refuses an unknown one before the file is read
    # Names of rows are kept as they are: 007 is not 7.
    how = replace(how, texts=() if selection.id is None else (selection.id,))
    found = make_features(read(file, how), selection, metric, scale)
    # Return the memory that reading a large file took before the fit needs it.
    pyarrow.default_memory_pool().release_unused()
    print_notes(found.notes, quiet)
    if k > len(found):
        raise Failure(f"-k {k} is more than the {counted(len(found), 'row')} of {file}; ask for at most {len(found)}")
    return found


def rows_like(found: Features, path: Path) -> Any:
    """Return the rows of another file in the form of those that were loaded, with the same columns and scale."""
    from medoids.cli.features import make_features
    from medoids.cli.reading import read

    texts = [] if found.kind != "table" else [name for name in found.names or () if str(found.X[name].type) == "string"]
    contents = read(str(path), ReadOptions(texts=tuple(texts)), like=found.how)
    if contents.kind == "table" and found.from_table:
        names = found.names or []
        if missing := [name for name in names if name not in contents.values.column_names]:
            raise Failure(f"{path} has no column {missing[0]!r}; it needs those of the data: {', '.join(names)}")
        contents.values = contents.values.select(names)
    rows = make_features(contents, Selection(), found.metric, "none")
    if rows.kind != found.kind:
        raise Failure(f"{path} holds {rows.kind}, but the data are {found.kind}; rows of --init must be like them")
    return rows.X if found.scaling is None else found.scaling(rows.X)


def file_title(file: str) -> str:
    """Return the name of an input for titles."""
    return "standard input" if file == "-" else Path(file).name


def write_report(
    draft: Path, found: Features, result: Clustering | KPath, title: str, image_shape: tuple[int, ...] | None
) -> None:
    from medoids.reporting import report

    report(
        result,
        found.X,
        draft,
        title=title,
        feature_names=found.names if found.kind in ("vectors", "sparse") else None,
        ids=found.ids,
        image_shape=image_shape,
        shown=found.original if found.scaling is not None else None,
        sample_weight=found.weights,
        command=shlex.join(["medoids", *sys.argv[1:]]),
    )
