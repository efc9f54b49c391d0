"""The commands and their options. What they need is imported when they run, so that ``--help`` answers at once."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from medoids._version import __version__
from medoids.cli.choosing import choose_k
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.loading import load, prediction_rows, write_report
from medoids.cli.options import (
    FIT,
    MEMORY,
    OUT,
    Array,
    AsJson,
    Columns,
    Delimiter,
    File,
    Format,
    Frozen,
    Header,
    Id,
    Ignore,
    Jobs,
    K,
    MaxIter,
    MemoryLimit,
    Metric,
    MetricParam,
    Precomputed,
    Quiet,
    Scale,
    Seed,
    Weights,
    check_algorithms,
    check_checkpoint,
    check_choice,
    check_delimiter,
    check_format,
    check_k,
    check_places,
    claim,
    metric_parameters,
    parse_image_shape,
    parse_rows,
)
from medoids.cli.reproducing import reproduce
from medoids.cli.telling import (
    print_clusters,
    print_comparison,
    print_json,
    print_table,
    show_warning,
    tell,
    telling_of,
)

if TYPE_CHECKING:
    pass

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
        str, typer.Option(help="auto chooses; pairedpam, fastpam1, clara, ...", rich_help_panel=FIT)
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
    memory_limit: MemoryLimit = MEMORY,
    jobs: Jobs = None,
    swap: Annotated[
        str,
        typer.Option(help="best, PAM's path; eager, several swaps at once with pairedpam.", rich_help_panel=FIT),
    ] = "best",
    frozen: Frozen = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which no further swap is looked for; the best so far is kept.",
            rich_help_panel=FIT,
        ),
    ] = None,
    keep_best: Annotated[
        bool,
        typer.Option("--keep-best", help="Ctrl-C ends the search and keeps the best so far.", rich_help_panel=FIT),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="File that holds the state after each step, for --resume.", rich_help_panel=FIT),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from --checkpoint, if that file is there.", rich_help_panel=FIT),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Labels: .csv, .tsv, .parquet or .jsonl; - for CSV on standard output.",
            rich_help_panel=OUT,
        ),
    ] = None,
    medoids: Annotated[
        str | None, typer.Option(help="Medoids: .csv, .tsv, .parquet or .jsonl.", rich_help_panel=OUT)
    ] = None,
    report: Annotated[str | None, typer.Option(help="A page to look at: .html.", rich_help_panel=OUT)] = None,
    image_shape: Annotated[
        str | None, typer.Option(help="Rows are images, as 28x28 or 32x32x3, in the report.", rich_help_panel=OUT)
    ] = None,
    save: Annotated[str | None, typer.Option(help="A model for 'medoids predict'.", rich_help_panel=OUT)] = None,
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
    shape = parse_image_shape(image_shape)
    wanted = {"--output": output, "--medoids": medoids, "--report": report, "--save": save}
    paths = {option: path for option, path in wanted.items() if path is not None and path != "-"}
    check_places(paths, file)
    check_algorithms([algorithm], memory_limit)
    check_choice("--swap", swap, ("best", "eager"))
    check_checkpoint(checkpoint, resume)
    rows = parse_rows("--frozen", frozen)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        found = load(file, metric, precomputed, columns, ignore, id, weights, scale, format, delimiter, header, array)
        tell(found.notes, quiet)
        check_k(k, found, file)
        from medoids.functional import k_medoids

        began = perf_counter()

        def late(step: object) -> bool:
            return time_limit is not None and perf_counter() - began > time_limit

        with telling_of(checkpoint):
            clustering = k_medoids(
                found.X,
                k,
                sample_weight=found.weights,
                on_interrupt="return" if keep_best else "raise",
                metric=found.metric,
                metric_params=metric_parameters(metric_param),
                algorithm=algorithm,
                swap=swap,
                max_iter=max_iter,
                memory_limit=memory_limit,
                frozen_medoids=rows,
                callback=late,
                checkpoint=checkpoint,
                resume=resume,
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
            write_report(drafts["--report"], found, clustering, file, shape)
    result = summary(found, clustering, seconds)
    result["files"] = {option.lstrip("-"): path for option, path in paths.items()}
    if as_json:
        if output is None:
            result["labels"] = clustering.labels.tolist()
        print_json(result)
    elif output != "-":
        print_clusters(found, clustering, result)


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
            rich_help_panel=OUT,
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
    check_places(paths, file, model)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        loaded = load(model)
        contents = read(
            file, format=check_format(format), delimiter=check_delimiter(delimiter), header=header, array=array
        )
        tell(contents.notes, quiet)
        found = prediction_rows(loaded, contents, id)
        distances = loaded.distances(found.X)
        labels = distances.argmin(axis=0)
        table = labels_table(found, labels, distances.min(axis=0))
        if paths:
            write_table(table, drafts["--output"], Path(str(output)).suffix)
    if as_json:
        print_json({"n": len(labels), "k": loaded.k, "labels": labels.tolist(), "files": paths})
    elif not paths:
        write_table(table, sys.stdout.buffer, ".csv")
    else:
        tell([f"{len(labels):,} rows to {loaded.k} medoids: {output}"], quiet)


@app.command()
def compare(
    file: File,
    k: K,
    algorithms: Annotated[
        str, typer.Option(help="Names with commas between.", rich_help_panel=FIT)
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
    memory_limit: MemoryLimit = MEMORY,
    jobs: Jobs = None,
    plot: Annotated[
        str | None, typer.Option(help="The same as a picture: .png, .svg or .pdf.", rich_help_panel=OUT)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run several algorithms on the same data: loss, time and distances side by side."""
    from medoids.files import Outputs

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    check_algorithms(names, memory_limit)
    if plot is not None and Path(plot).suffix not in (".png", ".svg", ".pdf"):
        raise WrongUsage(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    paths = {"--plot": plot} if plot is not None else {}
    check_places(paths, file)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        found = load(file, metric, precomputed, columns, ignore, None, weights, scale, format, delimiter, header, array)
        tell(found.notes, quiet)
        check_k(k, found, file)
        from medoids.cli.comparing import compare as run_each
        from medoids.cli.comparing import draw

        lines = run_each(
            found.X,
            k,
            names,
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=metric_parameters(metric_param),
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
        print_json({"n": len(found), "k": k, "metric": found.metric, "algorithms": lines, "files": paths})
    else:
        print_comparison(lines)


app.command()(choose_k)
app.command()(reproduce)


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
        print_json([dict(entry._asdict()) for entry in entries])
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
    print_table(["metric", "data", "formula", "parameters", "extra"], rows)


def run() -> None:
    """Run the command line and leave with its exit code."""
    warnings.showwarning = show_warning
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
