"""``medoids choose-k``: a fit for every number of clusters in a range, and a suggestion."""

from __future__ import annotations

from typing import Annotated

import typer

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.messages import print_files, print_json, print_table
from medoids.cli.options import (
    DEFAULT_MEMORY_LIMIT,
    FIT_PANEL,
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
    one_of,
    parse_k_bounds,
    parse_metric_params,
    refuse_unused_image_shape,
)
from medoids.cli.workflow import claimed, file_title, load_features, write_report

__all__ = ["choose_k"]


def choose_k(
    file: FileArgument,
    k: Annotated[
        str, typer.Option("-k", "--k", metavar="FIRST:LAST", help="Numbers of clusters, both ends included.")
    ] = "2:10",
    criterion: Annotated[
        str,
        typer.Option(
            parser=one_of("--criterion", "medoid_silhouette", "silhouette", "elbow", "stability"),
            help="medoid_silhouette, silhouette, elbow (of the loss) or stability (of fits on resampled data).",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "medoid_silhouette",
    metric: MetricOption = None,
    metric_param: MetricParamOption = None,
    types: TypesOption = None,
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
    frozen: FrozenOption = None,
    candidates: CandidatesOption = None,
    restarts: RestartsOption = 0,
    seed: SeedOption = 0,
    max_iter: MaxIterOption = 300,
    memory_limit: MemoryLimitOption = DEFAULT_MEMORY_LIMIT,
    jobs: JobsOption = None,
    report: ReportOption = None,
    image_shape: ImageShapeOption = None,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Cluster with every number of clusters in a range, and suggest one.

    [dim]medoids choose-k flowers.csv --k 2:20 --report flowers.html[/dim]
    """
    first, last = parse_k_bounds(k)
    refuse_unused_image_shape(image_shape, report)
    paths = {"report": report} if report is not None else {}
    with claimed(paths, file) as drafts:
        found = load_features(
            file,
            ReadOptions(format, delimiter, header, decimal, encoding, date_format, array, max_bytes=max_bytes),
            Selection(columns, ignore, id, weights),
            metric=metric_of_types(metric, types),
            precomputed=precomputed,
            scale=scale,
            k=last,
            quiet=quiet,
        )
        from medoids.quality.k_path import k_path

        path = k_path(
            found.X,
            range(first, last + 1),
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=parse_metric_params(metric_param, types),
            n_restarts=restarts,
            frozen_medoids=frozen,
            candidates=candidates,
            max_iter=max_iter,
            memory_limit=memory_limit,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        chosen, reason = path.suggest(criterion), path.explain(criterion)
        if report is not None:
            write_report(drafts["report"], found, path, f"How many clusters in {file_title(file)}?", image_shape)
    if as_json:
        print_json(
            {
                "n": len(found),
                "metric": found.metric,
                "suggested": chosen,
                "criterion": criterion,
                "reason": reason,
                # JSON has no NaN.
                "scores": {
                    name: [None if value != value else value for value in column.tolist()]
                    for name, column in path.scores.items()
                },
                "medoids": {str(each): fit.medoid_indices.tolist() for each, fit in path.clusterings.items()},
                "algorithm": path.algorithm,
                "n_evaluations": path.n_evaluations,
                "files": paths,
            }
        )
    else:
        heads = ["k", "loss", "medoid silhouette", "silhouette", "smallest cluster"]
        heads += ["stability"] if criterion == "stability" else []
        rows = []
        for at, each in enumerate(path.scores["k"].tolist()):
            row = {name: column[at] for name, column in path.scores.items()}
            error = path.silhouettes[each].error if each in path.silhouettes else 0.0
            width = f" ± {1.96 * error:.3f}" if error else ""
            two = ("-", "-") if each == 1 else (f"{row['medoid_silhouette']:.3f}", f"{row['silhouette']:.3f}{width}")
            more = (f"{path.stability[each]:.2f}",) if criterion == "stability" else ()
            rows.append((each, f"{row['loss']:.6g}", *two, f"{row['smallest_cluster']:,}", *more))
        print_table(heads, rows, tuple(heads))
        print_files({"suggested": reason, **paths})
