"""``medoids typical``: the most typical rows of clusters that a column of a file names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.messages import WrongUsage, print_files, print_json, print_table, truncated
from medoids.cli.options import (
    FIT_PANEL,
    OUTPUT_PANEL,
    ArrayOption,
    AsJsonOption,
    ColumnsOption,
    DateFormatOption,
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    FileArgument,
    FormatOption,
    HeaderOption,
    IdOption,
    IgnoreOption,
    JobsOption,
    MaxBytesOption,
    MetricOption,
    MetricParamOption,
    PrecomputedOption,
    QuietOption,
    ScaleOption,
    TypesOption,
    WeightsOption,
    metric_of_types,
    parse_labels_name,
    parse_metric_params,
)
from medoids.cli.workflow import claimed, load_features

__all__ = ["typical"]

# Characters of a row in the table on a terminal.
_ROW_WIDTH = 60


def typical(
    file: FileArgument,
    labels: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Column with the cluster of each row; rows with -1 or without a value are left out.",
            rich_help_panel=FIT_PANEL,
        ),
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="How many rows of each cluster.", rich_help_panel=FIT_PANEL)] = 1,
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
    jobs: JobsOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            parser=parse_labels_name,
            help="The rows: .csv, .tsv, .parquet or .jsonl; - for CSV on standard output.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the most typical rows, the medoids, of clusters that somebody else made. Rows count from 0.

    [dim]medoids typical customers.csv --labels segment -n 5 --output typical.csv[/dim]
    """
    from medoids.cli.results import beside_rows, one_line, write_table

    if as_json and output == "-":
        raise WrongUsage("--json and --output - both want standard output; name a file for one of them")
    paths = {"output": output} if output is not None and output != "-" else {}
    with claimed(paths, file) as drafts:
        found = load_features(
            file,
            ReadOptions(format, delimiter, header, decimal, encoding, date_format, array, max_bytes=max_bytes),
            Selection(columns, ignore, id, weights, labels),
            metric=metric_of_types(metric, types),
            precomputed=precomputed,
            scale=scale,
            k=1,
            quiet=quiet,
        )
        from medoids.quality.typical import cluster_medoids

        chosen = cluster_medoids(
            found.X,
            [None if label == "-1" else label for label in found.rest[labels].to_pylist()],  # among texts
            n=n,
            metric=found.metric,
            metric_params=parse_metric_params(metric_param, types),
            sample_weight=found.weights,
            n_jobs=jobs,
        )
        entries = [
            {
                "label": label,
                "rank": rank,
                "row": int(row),
                **({found.id_name: found.ids[row]} if found.ids is not None else {}),
                "size": int(size),
                "mean_distance": float(mean),
                "member": one_line(found, int(row)),
            }
            for label, rows, means, size in zip(
                chosen.labels.tolist(),
                chosen.medoid_indices.reshape(-1, n),
                chosen.mean_distances.reshape(-1, n),
                chosen.sizes,
                strict=True,
            )
            for rank, (row, mean) in enumerate(zip(rows, means, strict=True))
            if row >= 0
        ]
        if output is not None:
            own = {name: [entry[name] for entry in entries] for name in ("rank", "row", "size", "mean_distance")}
            write_table(
                beside_rows(own, found, list(own["row"])), drafts.get("output", sys.stdout.buffer), Path(output).suffix
            )
    if as_json:
        print_json({"metric": found.metric, "labels": labels, "typical": entries, "files": paths})
    elif output != "-":
        print_table(
            [labels, found.id_name, "points", "mean distance", "row" if found.ids is not None else "values"],
            [
                (
                    entry["label"],
                    entry.get(found.id_name, entry["row"]),
                    f"{entry['size']:,}",
                    f"{entry['mean_distance']:.4g}",
                    truncated(entry["member"], _ROW_WIDTH),
                )
                for entry in entries
            ],
            ("points", "mean distance"),
        )
        print_files(paths)
