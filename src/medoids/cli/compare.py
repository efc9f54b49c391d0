"""``medoids compare``: several algorithms on the same data, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from math import isclose
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.messages import Failure, WrongUsage, print_json, print_table, with_option_names
from medoids.cli.options import (
    DEFAULT_MEMORY_LIMIT,
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
    IgnoreOption,
    JobsOption,
    KOption,
    MaxBytesOption,
    MaxIterOption,
    MemoryLimitOption,
    MetricOption,
    MetricParamOption,
    PrecomputedOption,
    QuietOption,
    ScaleOption,
    SeedOption,
    TypesOption,
    WeightsOption,
    metric_of_types,
    name_ending_in,
    parse_algorithm,
    parse_metric_params,
)
from medoids.cli.workflow import claimed, file_title, load_features

__all__ = ["compare_algorithms", "print_comparison"]

# Losses that are summed in another order differ by less than this share of them.
_ROUNDING_SHARE = 1e-10


def compare_algorithms(
    file: FileArgument,
    k: KOption,
    algorithms: Annotated[
        str, typer.Option(help="Names, separated by commas.", rich_help_panel=FIT_PANEL)
    ] = "fastpam1,fasterpam,pairedpam,clara",
    metric: MetricOption = None,
    metric_param: MetricParamOption = None,
    types: TypesOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = None,
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
    plot: Annotated[
        str | None,
        typer.Option(
            parser=name_ending_in("--plot", ".png", ".svg", ".pdf"),
            help="Also draw the comparison: .png, .svg or .pdf.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run several algorithms on the same data: loss, time and distances side by side."""
    if not (names := [parse_algorithm(name.strip(), "--algorithms") for name in algorithms.split(",") if name.strip()]):
        raise WrongUsage("--algorithms is empty; name some, separated by commas")
    paths = {"plot": plot} if plot is not None else {}
    with claimed(paths, file) as drafts:
        found = load_features(
            file,
            ReadOptions(format, delimiter, header, decimal, encoding, date_format, array, max_bytes=max_bytes),
            Selection(columns, ignore, None, weights),
            metric=metric_of_types(metric, types),
            precomputed=precomputed,
            scale=scale,
            k=k,
            quiet=quiet,
        )
        lines = _run_each(
            found.X,
            k,
            names,
            sample_weight=found.weights,
            metric=found.metric,
            metric_params=parse_metric_params(metric_param, types),
            max_iter=max_iter,
            memory_limit=memory_limit,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
        )
        if plot is not None:
            _draw(
                lines,
                drafts["plot"],
                Path(plot).suffix[1:],
                f"{len(found):,} rows of {file_title(file)}, k = {k}, {found.metric}",
            )
    if as_json:
        print_json({"n": len(found), "k": k, "metric": found.metric, "algorithms": lines, "files": paths})
    else:
        print_comparison(lines)


def _run_each(X: Any, k: int, algorithms: Sequence[str], **parameters: Any) -> list[dict[str, Any]]:
    """Run each algorithm; the entry of one that cannot run has the error instead of a loss."""
    import numpy as np

    from medoids.api import k_medoids
    from medoids.distances import SMALL

    lines: list[dict[str, Any]] = []
    quick = {**parameters, "sample_weight": None, "max_iter": 1, "verbose": 0}
    for algorithm in algorithms:
        if isinstance(X, np.ndarray) and len(X) > SMALL:
            # Compile or load the kernels before the clock starts: otherwise the first algorithm pays for all.
            with warnings.catch_warnings(), suppress(ValueError):  # which the fit itself reports
                warnings.simplefilter("ignore")
                k_medoids(X[: SMALL + 1], 2, algorithm=algorithm, **quick)
        began = perf_counter()
        try:
            found = k_medoids(X, k, algorithm=algorithm, **parameters)
        except ValueError as error:
            lines.append({"algorithm": algorithm, "error": str(error)})
        else:
            lines.append(
                {
                    "algorithm": algorithm,
                    "ran": found.algorithm,
                    "loss": found.loss,
                    "seconds": round(perf_counter() - began, 3),
                    "n_evaluations": found.n_evaluations,
                    "of_n_squared": found.n_evaluations / len(found.labels) ** 2,
                    "n_swaps": found.n_swaps,
                    "converged": found.converged,
                    "medoids": found.medoid_indices.tolist(),
                }
            )
    if all("error" in line for line in lines):
        raise Failure(f"no algorithm could run: {with_option_names(lines[0]['error'])}")
    return lines


def _above_best(lines: Sequence[dict[str, Any]]) -> list[float]:
    """Return by what share each loss exceeds the smallest; 0 where only rounding differs.

    >>> _above_best([{"loss": 1.0}, {"loss": 1.0 + 1e-15}, {"loss": 1.5}])
    [0.0, 0.0, 0.5]
    """
    losses = [line["loss"] for line in lines]
    best = min(losses)
    return [0.0 if isclose(loss, best, rel_tol=_ROUNDING_SHARE) else (loss - best) / abs(best or 1) for loss in losses]


def _draw(lines: Sequence[dict[str, Any]], path: Path, format: str, title: str) -> None:
    """Draw loss, time and distances as bars, side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Failure('--plot needs matplotlib; install it with pip install "medoids[report]"') from None
    from medoids.reporting.palette import LIGHT

    shown = [line for line in lines if "error" not in line]
    panels = {
        "loss above the best, %": [100 * above for above in _above_best(shown)],
        "seconds": [line["seconds"] for line in shown],
        "distances, % of n²": [100 * line["of_n_squared"] for line in shown],
    }
    figure = Figure(figsize=(11, 1.4 + 0.42 * len(shown)), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for ax, color, (name, values) in zip(axes, LIGHT, panels.items(), strict=False):
        ax.bar_label(ax.barh([line["algorithm"] for line in shown], values, color=color), fmt="{:.3g}", padding=3)
        ax.margins(x=0.18)
        ax.set_title(name, fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    figure.suptitle(title)
    figure.savefig(path, format=format, dpi=150)


def print_comparison(lines: Sequence[dict[str, Any]]) -> None:
    """Print a row for each algorithm."""
    heads = ["algorithm", "loss", "above best", "seconds", "distances", "of n x n", "note"]
    above_best = iter(_above_best([line for line in lines if "error" not in line]))
    rows: list[tuple[Any, ...]] = []
    for line in lines:
        if "error" in line:
            rows.append((line["algorithm"], "-", "-", "-", "-", "-", with_option_names(line["error"])))
        else:
            above = next(above_best)
            note = "" if line["converged"] else "stopped at --max-iter"
            rows.append(
                (
                    line["algorithm"],
                    f"{line['loss']:.6g}",
                    f"+{above:.3%}" if above else "best",
                    f"{line['seconds']:.2f}",
                    f"{line['n_evaluations']:,}",
                    f"{line['of_n_squared']:.3f}",
                    note if line["ran"] == line["algorithm"] else f"{line['ran']} {note}",
                )
            )
    print_table(heads, rows, tuple(heads[1:-1]))
