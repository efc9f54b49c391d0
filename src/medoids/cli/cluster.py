"""``medoids cluster``, and ``medoids predict`` for the model that it saves."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.messages import Failure, WrongUsage, print_files, print_json, print_notes, print_table, truncated
from medoids.cli.options import (
    DEFAULT_MEMORY_LIMIT,
    FIT_PANEL,
    OUTPUT_PANEL,
    TABLE_SUFFIXES,
    ArrayOption,
    AsJsonOption,
    CandidatesOption,
    ColumnsOption,
    DateFormatOption,
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    FileArgument,
    FormatOption,
    FrozenOption,
    HeaderOption,
    IdOption,
    IgnoreOption,
    ImageShapeOption,
    JobsOption,
    KOption,
    MaxBytesOption,
    MaxIterOption,
    MemoryLimitOption,
    MetricOption,
    MetricParamOption,
    PrecomputedOption,
    QuietOption,
    ReportOption,
    RestartsOption,
    ScaleOption,
    SeedOption,
    TypesOption,
    WeightsOption,
    metric_of_types,
    name_ending_in,
    one_of,
    parse_algorithm,
    parse_init,
    parse_labels_name,
    parse_metric_params,
    refuse_unused_image_shape,
)
from medoids.cli.workflow import claimed, file_title, load_features, rows_like, write_report
from medoids.wording import counted

__all__ = ["cluster", "predict"]

# Characters of a medoid in the printed table, so that a row fits on a line.
_MEDOID_WIDTH = 60


def cluster(
    file: FileArgument,
    k: KOption,
    metric: MetricOption = None,
    metric_param: MetricParamOption = None,
    types: TypesOption = None,
    algorithm: Annotated[
        str,
        typer.Option(
            parser=parse_algorithm,
            help="auto, which chooses one, pairedpam, fastpam1, clara, ...; optimal: the best medoids, proved.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "auto",
    objective: Annotated[
        str,
        typer.Option(
            parser=one_of("--objective", "distance", "medoid_silhouette"),
            help="distance, or medoid_silhouette: clusters that lie apart from each other, by FasterMSC.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "distance",
    init: Annotated[
        str,
        typer.Option(
            metavar="START",
            help="build, lab, random, k-medoids++ or heuristic; the rows to start from, such as 3,17,40; or a file "
            "with k rows like those of FILE, for each of which the nearest row is taken.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "build",
    columns: ColumnsOption = None,
    ignore: IgnoreOption = None,
    id: IdOption = None,
    weights: WeightsOption = None,
    scale: ScaleOption = "none",
    precomputed: PrecomputedOption = False,
    format: FormatOption = None,
    delimiter: DelimiterOption = None,
    header: HeaderOption = None,
    decimal: DecimalOption = None,
    encoding: EncodingOption = None,
    date_format: DateFormatOption = None,
    array: ArrayOption = "",
    max_bytes: MaxBytesOption = None,
    seed: SeedOption = 0,
    max_iter: MaxIterOption = 300,
    memory_limit: MemoryLimitOption = DEFAULT_MEMORY_LIMIT,
    jobs: JobsOption = None,
    swap: Annotated[
        str,
        typer.Option(
            parser=one_of("--swap", "auto", "best", "eager"),
            help="best: the best swap in each step, as PAM; eager: swaps as they are found; auto: eager where best "
            "would take more than three times as long.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "auto",
    tol: Annotated[
        float,
        typer.Option(
            min=0,
            help="End when no swap lowers the loss by more than this share of it.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = 0.0,
    frozen: FrozenOption = None,
    candidates: CandidatesOption = None,
    min_size: Annotated[
        int | None, typer.Option(min=0, help="Least number of rows of a cluster.", rich_help_panel=FIT_PANEL)
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Largest number of rows of a cluster.", rich_help_panel=FIT_PANEL)
    ] = None,
    restarts: RestartsOption = 0,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which the search ends with the best so far. Labels take k n distances in any case.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(
            min=0,
            help="With --algorithm optimal: end when the loss is proved to be this near to the best; 0.001 is 0.1%.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = 0.0,
    max_evaluations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Budget of distances, at least k n: the search ends with the best that it buys.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="With FILE -: follow standard input in batches of 1,000 lines, in memory that does not grow.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = False,
    keep_best: Annotated[
        bool,
        typer.Option("--keep-best", help="On Ctrl-C, keep the best medoids so far.", rich_help_panel=FIT_PANEL),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="Save the state to this file after each step or batch, for --resume.", rich_help_panel=FIT_PANEL
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue from the file of --checkpoint, if it exists.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            parser=parse_labels_name,
            help="Labels: .csv, .tsv, .parquet or .jsonl; - for CSV on standard output.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    medoids: Annotated[
        str | None,
        typer.Option(
            parser=name_ending_in("--medoids", *TABLE_SUFFIXES),
            help="Medoids: .csv, .tsv, .parquet or .jsonl.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    report: ReportOption = None,
    image_shape: ImageShapeOption = None,
    save: Annotated[
        str | None, typer.Option(help="Save a model for 'medoids predict'.", rich_help_panel=OUTPUT_PANEL)
    ] = None,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find k medoids in a file, and the cluster of each row. Rows count from 0.

    [dim]medoids cluster flowers.csv -k 3 --scale standard --report flowers.html[/dim]

    [dim]medoids cluster words.txt -k 20 --output labels.csv[/dim]
    """
    from medoids.cli.results import cluster_summary, labels_table, medoids_table, write_table

    if as_json and output == "-":
        raise WrongUsage("--json and --output - both want standard output; name a file for one of them")
    # Now, not after the data are read.
    if resume and checkpoint is None:
        raise WrongUsage("--resume needs --checkpoint PATH")
    if checkpoint is not None and not resume and Path(checkpoint).exists():
        raise Failure(f"--checkpoint {checkpoint} exists already; add --resume to continue from it, or delete it")
    start = parse_init(init)
    if stream:
        from medoids.cli.streaming import follow

        follow(
            file,
            {"--output": output, "--medoids": medoids, "--report": report},
            ReadOptions(format, delimiter, header, decimal, encoding, date_format, array, max_bytes=max_bytes),
            Selection(columns, ignore, id, weights),
            metric_of_types(metric, types),
            {
                "n_clusters": k,
                "metric_params": parse_metric_params(metric_param, types),
                "algorithm": algorithm,
                "init": start,
                "swap": swap,
                "max_iter": max_iter,
                "memory_limit": memory_limit,
                "random_state": seed,
                "n_jobs": jobs,
                "min_size": min_size,
                "max_size": max_size,
                "objective": objective,
                "max_evaluations": max_evaluations,
                "frozen_medoids": frozen,
                "candidates": candidates,
                "checkpoint": checkpoint,
                "resume": resume,
            },
            save=save,
            as_json=as_json,
            quiet=quiet,
        )
        return
    refuse_unused_image_shape(image_shape, report)
    wanted = {"output": output, "medoids": medoids, "report": report, "save": save}
    paths = {option: path for option, path in wanted.items() if path is not None and path != "-"}
    with claimed(paths, file, *([init] if isinstance(start, Path) else [])) as drafts:
        found = load_features(
            file,
            ReadOptions(format, delimiter, header, decimal, encoding, date_format, array, max_bytes=max_bytes),
            Selection(columns, ignore, id, weights),
            metric=metric_of_types(metric, types),
            precomputed=precomputed,
            scale=scale,
            k=k,
            quiet=quiet,
        )
        from medoids.api import fit_checked
        from medoids.inputs import check_data
        from medoids.settings import Settings

        settings = Settings(
            metric=found.metric,
            metric_params=parse_metric_params(metric_param, types),
            algorithm=algorithm,
            objective=objective,
            init=rows_like(found, start) if isinstance(start, Path) else start,
            swap=swap,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            gap=gap,
            max_evaluations=max_evaluations,
            n_restarts=restarts,
            memory_limit=memory_limit,
            frozen_medoids=frozen,
            candidates=candidates,
            min_size=min_size,
            max_size=max_size,
            checkpoint=checkpoint,
            resume=resume,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        began = perf_counter()
        try:
            clustering, distance = fit_checked(
                check_data(found.X, found.metric),
                k,
                found.weights,
                settings,
                on_interrupt="return" if keep_best else "raise",
            )
        except KeyboardInterrupt:
            if checkpoint is not None and Path(checkpoint).exists():
                sys.stderr.write(
                    "medoids: the steps so far are saved; "
                    f"continue with --checkpoint {shlex.quote(checkpoint)} --resume\n"
                )
            raise
        seconds = perf_counter() - began
        if output is not None:
            write_table(
                labels_table(clustering.labels, clustering.distances, found.ids, found.id_name),
                drafts.get("output", sys.stdout.buffer),
                Path(output).suffix,
            )
        if medoids is not None:
            write_table(medoids_table(found, clustering), drafts["medoids"], Path(medoids).suffix)
        if save is not None:
            from medoids.cli.model import save_model

            save_model(drafts["save"], found, clustering, distance)
        if report is not None:
            write_report(drafts["report"], found, clustering, f"{k} medoids of {file_title(file)}", image_shape)
    result = {**cluster_summary(found, clustering, seconds), "files": paths}
    if as_json:
        if output is None:
            result["labels"] = clustering.labels.tolist()
        print_json(result)
    elif output != "-":
        _print_clusters(found.id_name, result)


def _print_clusters(id_name: str, result: dict[str, Any]) -> None:
    print_table(
        ["cluster", id_name, "points", "mean distance", "medoid"],
        [
            (
                entry["cluster"],
                entry.get(id_name, entry["row"]),
                f"{entry['size']:,}",
                f"{entry['mean_distance']:.4g}",
                truncated(entry["medoid"], _MEDOID_WIDTH),
            )
            for entry in result["medoids"]
        ],
        ("cluster", "points", "mean distance"),
    )
    sys.stdout.write(
        f"loss       {result['loss']:.6g} mean {result['metric']} distance to the medoid\n"
        f"time       {result['seconds']:.2f} s with {result['algorithm']}: {result['reason']}\n"
        f"distances  {result['n_evaluations']:,} computed, {result['n_evaluations'] / result['n'] ** 2:.2g} of n x n\n"
    )
    if "gap" in result:
        from medoids.cli.results import proof_line

        sys.stdout.write(f"optimum    {proof_line(result)}\n")
    elif not result["converged"]:
        sys.stdout.write("stopped early: a swap may still lower the loss\n")
    print_files(result["files"])


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What 'medoids cluster --save' wrote.")],
    file: FileArgument,
    id: IdOption = None,
    format: FormatOption = None,
    delimiter: DelimiterOption = None,
    header: HeaderOption = None,
    decimal: DecimalOption = None,
    encoding: EncodingOption = None,
    date_format: DateFormatOption = None,
    array: ArrayOption = "",
    max_bytes: MaxBytesOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            parser=parse_labels_name,
            help="Labels: .csv, .tsv, .parquet or .jsonl; standard output by default.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    soft: Annotated[
        bool,
        typer.Option(
            "--memberships",
            help="Also write how much each row belongs to each medoid, as in fuzzy c-medoids: shares that sum to 1.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = False,
    fuzziness: Annotated[
        float,
        typer.Option(
            help="With --memberships: how soft they are, above 1; in proportion to d^(-1 / (fuzziness - 1)).",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = 2.0,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Assign each row of a file to the nearest medoid of a saved model."""
    from medoids.cli.model import load_model
    from medoids.cli.reading import read
    from medoids.cli.results import labels_table, write_table
    from medoids.quality.membership import memberships

    if not fuzziness > 1:
        raise WrongUsage(f"--fuzziness {fuzziness:g} must be a number above 1; 2 is usual")
    paths = {"output": output} if output is not None and output != "-" else {}
    with claimed(paths, file, model) as drafts:
        loaded = load_model(model)
        texts, ids = loaded.text_columns() + ([id] if id is not None else []), None
        how = ReadOptions(
            format, delimiter, header, decimal, encoding, date_format, array, texts=tuple(texts), max_bytes=max_bytes
        )
        contents = read(file, how, like=loaded.how)
        print_notes(contents.notes, quiet)
        if id is not None:
            if contents.kind != "table" or id not in contents.values.column_names:
                raise WrongUsage(f"--id {id}: {contents.name} has no such column")
            ids = contents.values[id].to_pylist()
        distances = loaded.distances(loaded.data_of(contents))
        labels = distances.argmin(axis=0)
        table = labels_table(labels, distances.min(axis=0), ids, id or "row")
        shares = memberships(distances.T, fuzziness).tolist() if soft else []
        for j, column in enumerate(zip(*shares, strict=True)):
            table = table.append_column(f"membership_{j}", [column])
        if paths:
            write_table(table, drafts["output"], Path(str(output)).suffix)
    if as_json:
        print_json(
            {
                "n": len(labels),
                "k": loaded.k,
                "labels": labels.tolist(),
                **({"memberships": shares} if soft else {}),
                "files": paths,
            }
        )
    elif not paths:
        write_table(table, sys.stdout.buffer, ".csv")
    else:
        print_notes([f"{counted(len(labels), 'row')} assigned to {counted(loaded.k, 'medoid')}: {output}"], quiet)
