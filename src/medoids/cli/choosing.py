"""``medoids choose-k``: every number of clusters in a range, and a suggestion."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from medoids.cli.loading import load, write_report
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
    check_choice,
    check_k,
    check_places,
    check_report_path,
    claim,
    metric_parameters,
    parse_image_shape,
    parse_range,
    parse_rows,
    read_options,
)
from medoids.cli.selecting import Selection
from medoids.cli.telling import print_json, print_path, tell, without_nan

__all__ = ["choose_k"]


def choose_k(
    file: File,
    k: Annotated[
        str, typer.Option("-k", "--k", metavar="FIRST:LAST", help="Numbers of clusters, both ends included.")
    ] = "2:10",
    criterion: Annotated[
        str,
        typer.Option(
            help="medoid_silhouette, silhouette, elbow (of the loss) or stability (of fits on resampled data).",
            rich_help_panel=FIT,
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
    decimal: Decimal = None,
    encoding: Encoding = None,
    date_format: DateFormat = None,
    array: Array = "",
    max_bytes: MaxBytes = None,
    frozen: Frozen = None,
    candidates: Candidates = None,
    seed: Seed = 0,
    max_iter: MaxIter = 300,
    memory_limit: MemoryLimit = MEMORY,
    jobs: Jobs = None,
    report: Annotated[
        str | None, typer.Option(help="Report to look at in a browser: .html.", rich_help_panel=OUT)
    ] = None,
    image_shape: Annotated[
        str | None,
        typer.Option(help="Show rows as images in the report, such as 28x28 or 32x32x3.", rich_help_panel=OUT),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster with every number of clusters in a range, and suggest one.

    [dim]medoids choose-k flowers.csv --k 2:20 --report flowers.html[/dim]
    """
    from medoids.storage.files import Outputs

    first, last = parse_range(k)
    check_report_path(report)
    shape = parse_image_shape(image_shape)
    check_candidates(candidates)
    rows = parse_rows("--frozen", frozen)
    paths = {"--report": report} if report is not None else {}
    check_places(paths, file)
    check_algorithms(["auto"], memory_limit)
    check_choice("--criterion", criterion, ("medoid_silhouette", "silhouette", "elbow", "stability"))
    how = read_options(format, delimiter, header, decimal, encoding, date_format, array, max_bytes)
    with Outputs() as outputs:
        drafts = claim(outputs, paths)
        found = load(file, how, Selection(columns, ignore, id, weights), metric, precomputed, scale)
        tell(found.notes, quiet)
        check_k(last, found, file)
        from medoids.quality.k_path import k_path

        path = k_path(
            found.X,
            range(first, last + 1),
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=metric_parameters(metric_param),
            frozen_medoids=rows,
            candidates=candidates,
            max_iter=max_iter,
            memory_limit=memory_limit,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        chosen, reason = path.suggest(criterion), path.explain(criterion)
        if report is not None:
            write_report(drafts["--report"], found, path, file, shape)
    if as_json:
        scores = {name: without_nan(column) for name, column in path.scores.items()}
        medoids = {str(each): clustering.medoid_indices.tolist() for each, clustering in path.clusterings.items()}
        print_json(
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
    print_path(path, criterion)
    sys.stdout.write(f"suggested  {reason}\n")
    for option, place in paths.items():
        sys.stdout.write(f"{option.lstrip('-'):<10} {place}\n")
