"""The commands and their options. What they need is imported when they run, so that ``--help`` answers at once."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medoids._version import __version__
from medoids.cli.failures import Failure, WrongUsage

if TYPE_CHECKING:
    from medoids.cli.features import Features
    from medoids.clustering import Clustering
    from medoids.selection import KPath

__all__ = ["app", "run"]

app = typer.Typer(
    name="medoids",
    help="k-medoids clustering of anything: vectors, tables, texts, sparse counts, series, distance matrices.",
    epilog="Results go to standard output, messages to standard error. "
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_DATA, _FIT, _OUT = "What to read", "How to cluster", "What to write"
_MEMORY = "2GiB"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, NPY, NPZ, Matrix Market or plain text lines, also .gz, .xz or .bz2; "
        "- reads standard input.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="csv, tsv, parquet, jsonl, npy, npz, mtx or text.", rich_help_panel=_DATA),
]
Delimiter = Annotated[str | None, typer.Option(help="Between cells of a CSV; found by itself.", rich_help_panel=_DATA)]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line has names; found by itself.", rich_help_panel=_DATA
    ),
]
Array = Annotated[str, typer.Option(help="Which array of an NPZ file.", rich_help_panel=_DATA)]
Columns = Annotated[
    str | None,
    typer.Option(help="Columns to use: names with commas between, FIRST:LAST for a range.", rich_help_panel=_DATA),
]
Ignore = Annotated[str | None, typer.Option(help="Columns to leave out.", rich_help_panel=_DATA)]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.", rich_help_panel=_DATA)]
Weights = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=_DATA)]
Scale = Annotated[
    str,
    typer.Option(
        help="none, standard (mean 0, deviation 1) or robust (median 0, quartiles 1 apart), column by column.",
        rich_help_panel=_DATA,
    ),
]
Precomputed = Annotated[
    bool, typer.Option("--precomputed", help="FILE is a matrix of distances.", rich_help_panel=_DATA)
]
K = Annotated[int, typer.Option("-k", "--clusters", min=1, help="Number of clusters.", rich_help_panel=_FIT)]
Metric = Annotated[
    str | None,
    typer.Option(
        help="Distance; see 'medoids metrics'. By default euclidean for numbers, gower for tables with text, "
        "levenshtein for texts, dtw for series of unequal lengths.",
        rich_help_panel=_FIT,
    ),
]
MetricParam = Annotated[
    list[str] | None,
    typer.Option("--metric-param", metavar="NAME=VALUE", help="Such as p=3; may be repeated.", rich_help_panel=_FIT),
]
Frozen = Annotated[
    str | None, typer.Option(help="Rows that stay medoids: numbers with commas between.", rich_help_panel=_FIT)
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", rich_help_panel=_FIT)]
MaxIter = Annotated[int, typer.Option(min=0, help="Most swaps.", rich_help_panel=_FIT)]
MemoryLimit = Annotated[str, typer.Option(help="For stored distances.", rich_help_panel=_FIT)]
Jobs = Annotated[int | None, typer.Option(help="Threads; all cores by default.", rich_help_panel=_FIT)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no bar.", rich_help_panel=_OUT)]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"medoids {__version__}")
        raise typer.Exit


@app.callback()
def _medoids(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def cluster(
    file: File,
    k: K,
    metric: Metric = None,
    metric_param: MetricParam = None,
    algorithm: Annotated[
        str, typer.Option(help="auto chooses; pairedpam, fastpam1, clara, ...", rich_help_panel=_FIT)
    ] = "auto",
    columns: Columns = None,
    ignore: Ignore = None,
    id: Id = None,
    weights: Weights = None,
    scale: Scale = "none",
    precomputed: Precomputed = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    array: Array = "",
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = _MEMORY,
    jobs: Jobs = None,
    swap: Annotated[
        str,
        typer.Option(help="best, PAM's path; eager, several swaps at once with pairedpam.", rich_help_panel=_FIT),
    ] = "best",
    frozen: Frozen = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which no further swap is looked for; the best so far is kept.",
            rich_help_panel=_FIT,
        ),
    ] = None,
    keep_best: Annotated[
        bool,
        typer.Option("--keep-best", help="Ctrl-C ends the search and keeps the best so far.", rich_help_panel=_FIT),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Labels: .csv, .tsv, .parquet or .jsonl; - for CSV on standard output.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    medoids: Annotated[
        str | None, typer.Option(help="Medoids: .csv, .tsv, .parquet or .jsonl.", rich_help_panel=_OUT)
    ] = None,
    report: Annotated[str | None, typer.Option(help="A page to look at: .html.", rich_help_panel=_OUT)] = None,
    image_shape: Annotated[
        str | None, typer.Option(help="Rows are images, as 28x28 or 32x32x3, in the report.", rich_help_panel=_OUT)
    ] = None,
    save: Annotated[str | None, typer.Option(help="A model for 'medoids predict'.", rich_help_panel=_OUT)] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find k medoids in a file, and the cluster of each row. Rows count from 0.

    [dim]medoids cluster flowers.csv -k 3 --scale standard --report flowers.html[/dim]

    [dim]medoids cluster words.txt -k 20 --output labels.csv[/dim]
    """
    from medoids.cli.results import check_table_path, labels_table, medoids_table, summary, write_table
    from medoids.files import Outputs

    for option, path in (("--output", output), ("--medoids", medoids)):
        check_table_path(option, path)
    if as_json and output == "-":
        raise WrongUsage("--json and --output - both want standard output; name a file for one of them")
    shape = _image_shape(image_shape)
    wanted = {"--output": output, "--medoids": medoids, "--report": report, "--save": save}
    paths = {option: path for option, path in wanted.items() if path is not None and path != "-"}
    _check_places(paths, file)
    _check_algorithms([algorithm], memory_limit)
    _choice("--swap", swap, ("best", "eager"))
    rows = _rows("--frozen", frozen)
    with Outputs() as outputs:
        drafts = _claim(outputs, paths)
        found = _load(file, metric, precomputed, columns, ignore, id, weights, scale, format, delimiter, header, array)
        _tell(found.notes, quiet)
        _check_k(k, found, file)
        from medoids.functional import k_medoids

        began = perf_counter()

        def late(step: object) -> bool:
            return time_limit is not None and perf_counter() - began > time_limit

        clustering = k_medoids(
            found.X,
            k,
            sample_weight=found.weights,
            on_interrupt="return" if keep_best else "raise",
            metric=found.metric,
            metric_params=_parameters(metric_param),
            algorithm=algorithm,
            swap=swap,
            max_iter=max_iter,
            memory_limit=memory_limit,
            frozen_medoids=rows,
            callback=late,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        seconds = perf_counter() - began
        if output is not None:
            table = labels_table(found, clustering.labels, clustering.distances)
            if output == "-":
                write_table(table, sys.stdout.buffer, ".csv")
            else:
                write_table(table, drafts["--output"], Path(output).suffix)
        if medoids is not None:
            write_table(medoids_table(found, clustering), drafts["--medoids"], Path(medoids).suffix)
        if save is not None:
            from medoids.cli.model import save as save_model

            save_model(drafts["--save"], found, clustering)
        if report is not None:
            _report(drafts["--report"], found, clustering, file, shape)
    result = summary(found, clustering, seconds)
    result["files"] = {option.lstrip("-"): path for option, path in paths.items()}
    if as_json:
        if output is None:
            result["labels"] = clustering.labels.tolist()
        _print_json(result)
    elif output != "-":
        _print_clusters(found, clustering, result)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What 'medoids cluster --save' wrote.")],
    file: File,
    id: Id = None,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    array: Array = "",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Labels: .csv, .tsv, .parquet or .jsonl; standard output by default.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Give each row of a file to the nearest medoid of a saved model."""
    from medoids.cli.model import load
    from medoids.cli.reading import read
    from medoids.cli.results import check_table_path, labels_table, write_table
    from medoids.files import Outputs

    check_table_path("--output", output)
    paths = {"--output": output} if output is not None and output != "-" else {}
    _check_places(paths, file, model)
    with Outputs() as outputs:
        drafts = _claim(outputs, paths)
        loaded = load(model)
        contents = read(file, format=_format(format), delimiter=_delimiter(delimiter), header=header, array=array)
        _tell(contents.notes, quiet)
        found = _prediction_rows(loaded, contents, id)
        distances = loaded.distances(found.X)
        labels = distances.argmin(axis=0)
        table = labels_table(found, labels, distances.min(axis=0))
        if paths:
            write_table(table, drafts["--output"], Path(str(output)).suffix)
    if as_json:
        _print_json({"n": len(labels), "k": loaded.k, "labels": labels.tolist(), "files": paths})
    elif not paths:
        write_table(table, sys.stdout.buffer, ".csv")
    else:
        _tell([f"{len(labels):,} rows to {loaded.k} medoids: {output}"], quiet)


@app.command()
def compare(
    file: File,
    k: K,
    algorithms: Annotated[
        str, typer.Option(help="Names with commas between.", rich_help_panel=_FIT)
    ] = "fastpam1,fasterpam,pairedpam,clara",
    metric: Metric = None,
    metric_param: MetricParam = None,
    columns: Columns = None,
    ignore: Ignore = None,
    weights: Weights = None,
    scale: Scale = "none",
    precomputed: Precomputed = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    array: Array = "",
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = _MEMORY,
    jobs: Jobs = None,
    plot: Annotated[
        str | None, typer.Option(help="The same as a picture: .png, .svg or .pdf.", rich_help_panel=_OUT)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run several algorithms on the same data: loss, time and distances side by side."""
    from medoids.files import Outputs

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    _check_algorithms(names, memory_limit)
    if plot is not None and Path(plot).suffix not in (".png", ".svg", ".pdf"):
        raise WrongUsage(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    paths = {"--plot": plot} if plot is not None else {}
    _check_places(paths, file)
    with Outputs() as outputs:
        drafts = _claim(outputs, paths)
        found = _load(
            file, metric, precomputed, columns, ignore, None, weights, scale, format, delimiter, header, array
        )
        _tell(found.notes, quiet)
        _check_k(k, found, file)
        from medoids.cli.comparing import compare as run_each
        from medoids.cli.comparing import draw

        lines = run_each(
            found.X,
            k,
            names,
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=_parameters(metric_param),
            max_iter=max_iter,
            memory_limit=memory_limit,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        if plot is not None:
            title = f"{len(found):,} rows of {Path(file).name}, k = {k}, {found.metric}"
            draw(lines, drafts["--plot"], Path(plot).suffix[1:], title)
    if as_json:
        _print_json({"n": len(found), "k": k, "metric": found.metric, "algorithms": lines, "files": paths})
    else:
        _print_comparison(lines)


@app.command()
def choose_k(
    file: File,
    k: Annotated[
        str, typer.Option("-k", "--k", metavar="FIRST:LAST", help="Numbers of clusters, both ends included.")
    ] = "2:10",
    criterion: Annotated[
        str,
        typer.Option(
            help="medoid_silhouette, silhouette, elbow (of the loss) or stability (of fits on resampled data).",
            rich_help_panel=_FIT,
        ),
    ] = "medoid_silhouette",
    metric: Metric = None,
    metric_param: MetricParam = None,
    columns: Columns = None,
    ignore: Ignore = None,
    id: Id = None,
    weights: Weights = None,
    scale: Scale = "none",
    precomputed: Precomputed = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    array: Array = "",
    frozen: Frozen = None,
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = _MEMORY,
    jobs: Jobs = None,
    report: Annotated[str | None, typer.Option(help="A page to look at: .html.", rich_help_panel=_OUT)] = None,
    image_shape: Annotated[
        str | None, typer.Option(help="Rows are images, as 28x28 or 32x32x3, in the report.", rich_help_panel=_OUT)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster with every number of clusters in a range, and suggest one.

    [dim]medoids choose-k flowers.csv --k 2:20 --report flowers.html[/dim]
    """
    from medoids.files import Outputs

    first, last = _range(k)
    shape = _image_shape(image_shape)
    rows = _rows("--frozen", frozen)
    paths = {"--report": report} if report is not None else {}
    _check_places(paths, file)
    _check_algorithms(["auto"], memory_limit)
    _choice("--criterion", criterion, ("medoid_silhouette", "silhouette", "elbow", "stability"))
    with Outputs() as outputs:
        drafts = _claim(outputs, paths)
        found = _load(file, metric, precomputed, columns, ignore, id, weights, scale, format, delimiter, header, array)
        _tell(found.notes, quiet)
        _check_k(last, found, file)
        from medoids.selection import k_path

        path = k_path(
            found.X,
            range(first, last + 1),
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=_parameters(metric_param),
            frozen_medoids=rows,
            max_iter=max_iter,
            memory_limit=memory_limit,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        chosen, reason = path.suggest(criterion), path.explain(criterion)
        if report is not None:
            _report(drafts["--report"], found, path, file, shape)
    if as_json:
        scores = {name: _numbers(column) for name, column in path.scores.items()}
        medoids = {str(each): clustering.medoid_indices.tolist() for each, clustering in path.clusterings.items()}
        _print_json(
            {
                "n": len(found),
                "metric": found.metric,
                "suggested": chosen,
                "criterion": criterion,
                "reason": reason,
                "scores": scores,
                "medoids": medoids,
                "algorithm": path.algorithm,
                "n_evaluations": path.n_evaluations,
                "files": {option.lstrip("-"): place for option, place in paths.items()},
            }
        )
        return
    _print_path(path, criterion)
    sys.stdout.write(f"suggested  {reason}\n")
    for option, place in paths.items():
        sys.stdout.write(f"{option.lstrip('-'):<10} {place}\n")


@app.command()
def demo(
    report: Annotated[str, typer.Option(help="Where the report goes.")] = "medoids-demo.html",
) -> None:
    """The main job on data that comes along: ten medoids of 1,797 handwritten digits, and a report."""
    from medoids.demo import main

    main(report)


@app.command()
def metrics(as_json: AsJson = False) -> None:
    """List the distances: on what kind of data, the formula, parameters, and the extra to install."""
    from medoids.distances import available_metrics

    entries = available_metrics()
    if as_json:
        _print_json([dict(entry._asdict()) for entry in entries])
        return
    rows = [
        (
            entry.name + (f" ({', '.join(entry.aliases)})" if entry.aliases else ""),
            entry.kind,
            entry.formula,
            ", ".join(f"{name}={value}" for name, value in entry.parameters.items()),
            entry.extra,
        )
        for entry in entries
    ]
    _print_table(["metric", "data", "formula", "parameters", "extra"], rows)


# --- options -------------------------------------------------------------------------------------------------------


def _choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise WrongUsage(f"{option} {value} is unknown; it must be one of {', '.join(choices)}")
    return value


def _format(format: str | None) -> str | None:
    from medoids.cli.reading import FORMATS

    return None if format is None else _choice("--format", format, FORMATS)


def _delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter, delimiter)
    if len(delimiter) != 1:
        raise WrongUsage(f"--delimiter {delimiter!r} must be one character, tab or space")
    return delimiter


def _parameters(given: list[str] | None) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for part in given or []:
        name, equals, value = part.partition("=")
        if not equals:
            raise WrongUsage(f"--metric-param {part} must be NAME=VALUE, such as p=3")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found or None


def _range(given: str) -> tuple[int, int]:
    first, colon, last = given.partition(":")
    if not (first.isdigit() and (last.isdigit() or not colon)):
        raise WrongUsage(f"--k {given} must be FIRST:LAST, such as 2:20")
    low, high = int(first), int(last or first)
    if low < 1 or high < low:
        raise WrongUsage(f"--k {given} must go up from at least 1, such as 2:20")
    if high < 2:
        raise WrongUsage(f"--k {given} leaves nothing to choose from; try 2:20")
    return low, high


def _rows(option: str, given: str | None) -> list[int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdigit() for part in parts):
        raise WrongUsage(f"{option} {given} must be row numbers from 0 with commas between, such as 3,17")
    return [int(part) for part in parts]


def _numbers(column: Any) -> list[Any]:
    """A column for JSON, which knows no NaN."""
    return [None if value != value else value for value in column.tolist()]


def _image_shape(given: str | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    parts = given.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.isdigit() and int(part) for part in parts):
        raise WrongUsage(f"--image-shape {given} must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28")
    return tuple(map(int, parts))


def _check_algorithms(names: list[str], memory_limit: str) -> None:
    from medoids.algorithms import ALGORITHMS

    if not names:
        raise WrongUsage("--algorithms is empty; name some, with commas between")
    for name in names:
        _choice("--algorithm", name, ("auto", *sorted(ALGORITHMS)))
    if memory_limit != _MEMORY:  # whose check loads scikit-learn: seconds before a wrong file is told
        from medoids.validation import parse_bytes

        try:
            parse_bytes(memory_limit)
        except ValueError as error:
            raise WrongUsage(f"--{str(error).replace('_', '-', 1)}") from None


def _check_k(k: int, found: Features, file: str) -> None:
    if k > len(found):
        rows = f"{len(found):,} row{'s' if len(found) > 1 else ''}"
        raise Failure(f"-k {k} is more than the {rows} of {file}; ask for at most {len(found)}")


def _check_places(paths: dict[str, str], *inputs: str) -> None:
    """Refuse to write over an input, or two outputs over each other."""
    taken = {os.path.realpath(path): f"the input {path}" for path in inputs if path != "-"}
    for option, path in paths.items():
        where = os.path.realpath(str(path))
        if where in taken:
            raise WrongUsage(f"{option} {path} would be written over {taken[where]}; choose another name")
        taken[where] = f"{option} {path}"


def _claim(outputs: Any, paths: dict[str, str]) -> dict[str, Path]:
    try:
        return {option: outputs.claim(path) for option, path in paths.items()}
    except OSError as error:
        raise Failure(str(error)) from None


# --- data ----------------------------------------------------------------------------------------------------------


def _load(
    file: str,
    metric: str | None,
    precomputed: bool,
    columns: str | None,
    ignore: str | None,
    id: str | None,
    weights: str | None,
    scale: str,
    format: str | None,
    delimiter: str | None,
    header: bool | None,
    array: str,
) -> Features:
    from medoids.cli.features import Selection, features, kinds_of
    from medoids.cli.reading import read

    _choice("--scale", scale, ("none", "standard", "robust"))
    if precomputed:
        if metric not in (None, "precomputed"):
            raise WrongUsage(f"--precomputed and --metric {metric} exclude each other")
        metric = "precomputed"
    if metric is not None:
        kinds_of(metric)
    contents = read(file, format=_format(format), delimiter=_delimiter(delimiter), header=header, array=array)
    return features(contents, Selection(columns, ignore, id, weights), metric, scale)


def _prediction_rows(model: Any, contents: Any, id: str | None) -> Features:
    from medoids.cli.features import Features

    if id is not None and (contents.kind != "table" or id not in contents.values.column_names):
        raise WrongUsage(f"--id {id}: {contents.name} has no such column")
    ids = contents.values[id].to_pylist() if id is not None else None
    X = model.data_of(contents)
    return Features(X, model.body["kind"], model.body["metric"], X, ids=ids, id_name=id or "row")


def _report(
    draft: Path, found: Features, clustering: Clustering | KPath, file: str, shape: tuple[int, ...] | None
) -> None:
    from medoids.clustering import Clustering
    from medoids.reporting import report

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


# --- telling -------------------------------------------------------------------------------------------------------


def _tell(notes: list[str], quiet: bool = False) -> None:
    for note in notes if not quiet else []:
        sys.stderr.write(f"medoids: {note}\n")


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")


def _print_table(heads: list[str], rows: list[tuple[Any, ...]], right: tuple[str, ...] = ()) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console.print(table)


def _print_clusters(found: Features, clustering: Clustering, result: dict[str, Any]) -> None:
    from medoids.cli.results import medoid_text

    rows = []
    for entry in result["medoids"]:
        name = entry.get(found.id_name, entry["row"])
        text = medoid_text(found, entry["row"])
        rows.append((entry["cluster"], name, f"{entry['size']:,}", f"{entry['mean_distance']:.4g}", text))
    _print_table(
        ["cluster", found.id_name, "points", "mean distance", "medoid"], rows, ("cluster", "points", "mean distance")
    )
    n = result["n"]
    sys.stdout.write(
        f"loss       {result['loss']:.6g} mean {result['metric']} distance to the medoid\n"
        f"time       {result['seconds']:.2f} s with {result['algorithm']}: {result['reason']}\n"
        f"distances  {result['n_evaluations']:,} computed, {result['n_evaluations'] / n**2:.2g} of n x n\n"
    )
    if not clustering.converged:
        sys.stdout.write("stopped before no swap improves\n")
    for kind, path in result["files"].items():
        sys.stdout.write(f"{kind:<10} {path}\n")


def _print_path(path: KPath, criterion: str) -> None:
    rows = []
    for at, k in enumerate(path.scores["k"].tolist()):
        row = {name: column[at] for name, column in path.scores.items()}
        error = path.silhouettes[k].error if k in path.silhouettes else 0.0
        width = f" ± {1.96 * error:.3f}" if error else ""
        two = ("-", "-") if k == 1 else (f"{row['medoid_silhouette']:.3f}", f"{row['silhouette']:.3f}{width}")
        more = (f"{path.stability[k]:.2f}",) if criterion == "stability" else ()
        rows.append((k, f"{row['loss']:.6g}", *two, f"{row['smallest_cluster']:,}", *more))
    heads = ["k", "loss", "medoid silhouette", "silhouette", "smallest cluster"]
    heads += ["stability"] if criterion == "stability" else []
    _print_table(heads, rows, tuple(heads))


def _print_comparison(lines: list[dict[str, Any]]) -> None:
    best = min(line["loss"] for line in lines if "error" not in line)
    rows = []
    for line in lines:
        if "error" in line:
            rows.append((line["algorithm"], "-", "-", "-", "-", "-", line["error"]))
            continue
        above = (line["loss"] - best) / abs(best or 1)
        note = "" if line["converged"] else "stopped at max-iter"
        if line["ran"] != line["algorithm"]:
            note = f"{line['ran']} {note}"
        rows.append(
            (
                line["algorithm"],
                f"{line['loss']:.6g}",
                "best" if above == 0 else f"+{above:.3%}",
                f"{line['seconds']:.2f}",
                f"{line['n_evaluations']:,}",
                f"{line['of_n_squared']:.3f}",
                note,
            )
        )
    heads = ["algorithm", "loss", "above best", "seconds", "distances", "of n x n", "note"]
    _print_table(heads, rows, tuple(heads[1:-1]))


def _warned(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    sys.stderr.write(f"medoids: warning: {message}\n")


def run() -> None:
    """Run the command line and leave with its exit code."""
    warnings.showwarning = _warned
    # As an exception, so that drafts of outputs are removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        app()
    except Failure as failure:
        sys.stderr.write(f"medoids: error: {failure}\n")
        if isinstance(failure, WrongUsage):
            sys.stderr.write("medoids: try 'medoids --help'\n")
        code = failure.code
    except BrokenPipeError:
        # The reader has seen enough. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except KeyboardInterrupt:
        sys.stderr.write("medoids: interrupted; nothing was written\n")
        code = 130
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        sys.stderr.write(f"medoids: error: {error or type(error).__name__}\n")
        code = 1
    else:
        return
    raise SystemExit(code)
