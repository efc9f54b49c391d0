"""The commands and their options. What they need is imported when they run, so that ``--help`` answers at once."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from medoids._version import __version__
from medoids.cli.choosing import choose_k
from medoids.cli.commands import Command, Group
from medoids.cli.failures import Failure, WrongUsage
from medoids.cli.loading import load, names_as_text, prediction_rows, write_report
from medoids.cli.options import (
    FIT,
    MEMORY,
    OUT,
    Array,
    AsJson,
    Candidates,
    Columns,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    File,
    Format,
    Frozen,
    Header,
    Id,
    Ignore,
    Jobs,
    K,
    MaxBytes,
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
    check_candidates,
    check_checkpoint,
    check_choice,
    check_k,
    check_places,
    check_report_path,
    claim,
    metric_parameters,
    parse_image_shape,
    parse_rows,
    read_options,
)
from medoids.cli.reproducing import reproduce
from medoids.cli.selecting import Selection
from medoids.cli.telling import (
    print_clusters,
    print_comparison,
    print_json,
    print_table,
    show_warning,
    tell,
    telling_of,
)
from medoids.cli.translating import in_options
from medoids.wording import counted

__all__ = ["app", "run"]

app = typer.Typer(
    name="medoids",
    cls=Group,
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(cls=Command)
def cluster(
    file: File,
    k: K,
    metric: Metric = None,
    metric_param: MetricParam = None,
    algorithm: Annotated[
        str, typer.Option(help="auto, which chooses one, pairedpam, fastpam1, clara, ...", rich_help_panel=FIT)
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
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_format: DateFormat = None,
    array: Array = "",
    max_bytes: MaxBytes = None,
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = MEMORY,
    jobs: Jobs = None,
    swap: Annotated[
        str,
        typer.Option(
            help="best: the best swap at each step, as PAM; eager: several swaps at once (pairedpam).",
            rich_help_panel=FIT,
        ),
    ] = "best",
    frozen: Frozen = None,
    candidates: Candidates = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which the search ends, whatever it is doing; the best so far is kept.",
            rich_help_panel=FIT,
        ),
    ] = None,
    keep_best: Annotated[
        bool,
        typer.Option("--keep-best", help="On Ctrl-C, keep the best medoids so far.", rich_help_panel=FIT),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="Save the state to this file after each step, for --resume.", rich_help_panel=FIT),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue from the file of --checkpoint, if it exists.", rich_help_panel=FIT),
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
    report: Annotated[
        str | None, typer.Option(help="Report to look at in a browser: .html.", rich_help_panel=OUT)
    ] = None,
    image_shape: Annotated[
        str | None,
        typer.Option(help="Show rows as images in the report, such as 28x28 or 32x32x3.", rich_help_panel=OUT),
    ] = None,
    save: Annotated[str | None, typer.Option(help="Save a model for 'medoids predict'.", rich_help_panel=OUT)] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find k medoids in a file, and the cluster of each row. Rows count from 0.

    [dim]medoids cluster flowers.csv -k 3 --scale standard --report flowers.html[/dim]

    [dim]medoids cluster words.txt -k 20 --output labels.csv[/dim]
    """
    from medoids.cli.results import check_table_path, labels_table, medoids_table, summary, write_table
    from medoids.storage.files import Outputs

    for option, path in (("--output", output), ("--medoids", medoids)):
        check_table_path(option, path)
    if as_json and output == "-":
        raise WrongUsage("--json and --output - both want standard output; name a file for one of them")
    check_report_path(report)
    shape = parse_image_shape(image_shape)
    wanted = {"--output": output, "--medoids": medoids, "--report": report, "--save": save}
    paths = {option: path for option, path in wanted.items() if path is not None and path != "-"}
    check_places(paths, file)
    check_algorithms([algorithm], memory_limit)
    check_choice("--swap", swap, ("best", "eager"))
    check_checkpoint(checkpoint, resume)
    check_candidates(candidates)
    rows = parse_rows("--frozen", frozen)
    how = read_options(format, delimiter, header, decimal, encoding, date_format, array, max_bytes)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        found = load(file, how, Selection(columns, ignore, id, weights), metric, precomputed, scale)
        tell(found.notes, quiet)
        check_k(k, found, file)
        from medoids.api import k_medoids

        began = perf_counter()
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
                time_limit=time_limit,
                memory_limit=memory_limit,
                frozen_medoids=rows,
                candidates=candidates,
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


@app.command(cls=Command)
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What 'medoids cluster --save' wrote.")],
    file: File,
    id: Id = None,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_format: DateFormat = None,
    array: Array = "",
    max_bytes: MaxBytes = None,
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
    """Assign each row of a file to the nearest medoid of a saved model."""
    from medoids.cli.model import load
    from medoids.cli.reading import read
    from medoids.cli.results import check_table_path, labels_table, write_table
    from medoids.storage.files import Outputs

    check_table_path("--output", output)
    paths = {"--output": output} if output is not None and output != "-" else {}
    check_places(paths, file, model)
    how = read_options(format, delimiter, header, decimal, encoding, date_format, array, max_bytes)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        loaded = load(model)
        contents = read(file, names_as_text(how, id, *loaded.text_columns()), like=loaded.how)
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
        tell([f"{counted(len(labels), 'row')} assigned to {counted(loaded.k, 'medoid')}: {output}"], quiet)


@app.command(cls=Command)
def compare(
    file: File,
    k: K,
    algorithms: Annotated[
        str, typer.Option(help="Names, separated by commas.", rich_help_panel=FIT)
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
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_format: DateFormat = None,
    array: Array = "",
    max_bytes: MaxBytes = None,
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = MEMORY,
    jobs: Jobs = None,
    plot: Annotated[
        str | None, typer.Option(help="Also draw the comparison: .png, .svg or .pdf.", rich_help_panel=OUT)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run several algorithms on the same data: loss, time and distances side by side."""
    from medoids.storage.files import Outputs

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    check_algorithms(names, memory_limit)
    if plot is not None and Path(plot).suffix not in (".png", ".svg", ".pdf"):
        raise WrongUsage(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    paths = {"--plot": plot} if plot is not None else {}
    check_places(paths, file)
    how = read_options(format, delimiter, header, decimal, encoding, date_format, array, max_bytes)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        found = load(file, how, Selection(columns, ignore, None, weights), metric, precomputed, scale)
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


app.command(cls=Command)(choose_k)
app.command(cls=Command)(reproduce)


@app.command(cls=Command)
def demo(
    report: Annotated[str, typer.Option(help="File for the report.")] = "medoids-demo.html",
) -> None:
    """Find ten medoids of 1,797 handwritten digits, which come with scikit-learn, and write a report."""
    check_report_path(report)
    from medoids.demo import run_demo

    run_demo(report)


@app.command(cls=Command)
def metrics(as_json: AsJson = False) -> None:
    """List the distances: kind of data, formula, parameters, and the extra to install."""
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
    from medoids.engine.interrupts import is_interrupt

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
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        sys.stderr.write("medoids: interrupted; nothing was written\n")
        code = 130
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        sys.stderr.write(f"medoids: error: {in_options(str(error)) or type(error).__name__}\n")
        code = 1
    else:
        return
    raise SystemExit(code)
