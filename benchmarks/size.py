"""``python -m benchmarks.size``: statements of ``src/medoids``, now and before its rooms were made.

A statement is a node of ``ast`` that is one: a docstring is, a comment is not, and layout does not matter.
``paired/`` and ``cluster/`` are left out of both counts: they were rebuilt as a whole. What the package could not do
before is left out of the second count:

- modules, functions, classes and attributes that exist for such a feature only (`FEATURES`);
- elsewhere, imports of these; assignments, functions and calls that are named after one (`WORDS`); and branches that
  are taken only if one is asked for: an ``if`` whose test names it.

A call that passes one more keyword counts as before. ``--parts`` lists what is left out, with the number of statements.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

__all__ = ["BEFORE", "FEATURES", "WORDS", "count"]

# The first commit with rooms; only the places of files differ from the one before.
BEFORE = "ade5c44"
ROOT = Path(__file__).parents[1]
REBUILT = ("paired", "cluster")
# What exists for a feature that came later: whole modules, or names in one.
FEATURES: dict[str, tuple[str, ...]] = {
    # the optimum, restarts and their bounds
    "optimal/": (),
    "algorithms/optimal.py": (),
    "core/run.py": ("Proof", "Run._proved_loss"),
    "quality/fitted.py": ("_proof_of",),
    "reporting/page.py": ("_proof",),
    "cli/results.py": ("_proof", "proof_line", "beside_rows"),
    # limits on sizes, the medoid silhouette, budgets of distances, tolerances, eager swaps where they are cheaper
    "algorithms/sized.py": (),
    "exact/transport.py": (),
    "algorithms/fastermsc.py": (),
    "distances/budgeted.py": (),
    "quality/k_path.py": ("_fit_dynamic",),
    "algorithms/auto.py": ("choose_swap", "_takes_eager", "_eager_reason", "_eager_seconds"),
    "core/problem.py": ("Problem.tol", "Problem.gap", "Problem.sizes", "Problem.rectangular", "Problem.n_rows"),
    # medoids of given clusters, and the start "heuristic"
    "core/lowest_sums.py": (),
    "quality/typical.py": (),
    "cli/typical.py": (),
    "core/initialization.py": ("_heuristic",),
    "distances/inner_product.py": ("InnerProduct.least_sums",),
    "distances/protocol.py": ("Searchable.least_sums", "Dissimilarity.n_rows", "Wrapper.n_rows", "_Reordered.n_rows"),
    # distances, types of columns, rectangular and condensed matrices
    "distances/booleans.py": (),
    "distances/known.py": (),
    "distances/kernels/known.py": (),
    "distances/transformed.py": (),
    "distances/gower_types.py": (),
    "distances/gower.py": ("_orders", "_presence", "_translated"),
    "distances/registry.py": ("_seuclidean", "_mahalanobis", "_jensenshannon", "_booleans", "takes_gaps"),
    "distances/series.py": ("Warping._sides",),
    "distances/kernels/series.py": ("_erp_cell", "_twe_cell", "_msm_cell", "_split"),
    "distances/kernels/elementwise.py": ("_information_step", "_information_finish"),
    "distances/precomputed.py": ("Precomputed.n_rows",),
    "distances/objects.py": ("count_points",),
    "inputs.py": ("_squared", "_check_known"),
    # models that Python writes and loads, of any kind of data; files of the command count as before
    "loading.py": (),
    "storage/estimators.py": (),
    "storage/plain.py": (),
    "storage/model_medoids.py": (),
    # AnnData, GeoDataFrame, streams, soft membership, notebooks and displays, separated thousands
    "anndata.py": (),
    "places.py": (),
    "stream.py": (),
    "storage/stream_files.py": (),
    "cli/streaming.py": (),
    "cli/csv_files.py": ("find_grouping", "_convert_thousands"),
    "estimator.py": ("KMedoids.partial_fit", "KMedoids._take_up", "KMedoids.predict_proba", "KMedoids.export"),
    "quality/membership.py": (),
    "displays.py": (),
    "reporting/notebook.py": (),
    "result.py": (
        "Outlook",
        "Clustering.to_frame",
        "Clustering._repr_html_",
        "Clustering.gap",
        "Clustering.lower_bound",
        "Clustering.proved",
        "Clustering.nodes",
        "TraceRecord.lower_bound",
        "remember_data",
        "remembered_data",
    ),
    # progress where there is no terminal: announcements, percentages, and a line every few seconds
    "progress.py": ("watch", "_Course.phase", "_Course._under_way", "_listening"),
    "engine/compiling.py": (),
    "engine/compile.py": ("_Announcer",),
    "distances/counting.py": ("Tally.plan", "Tally.share"),
    "settings.py": ("Settings.tol", "Settings.gap", "names_rows", "usable_weights"),
    "pipeline.py": ("_nearest_rows", "_on_rectangle", "_Starts._insure", "announcement", "_known_at_limit"),
    "algorithms/banditpam.py": ("_BanditPAM._foresee",),
    "algorithms/pairedpam.py": ("PairedPAM.foresee",),
    "algorithms/eager.py": ("EagerPAM.foresee",),
}
# Keywords and attributes of features, what checks them, and constants of theirs.
WORDS = frozenset(
    """
    n_restarts max_evaluations min_size max_size objective outlook allowance rectangular n_rows fallback
    check_tol check_gap check_sizes check_objective check_restarts check_budget check_budget_of_matrix
    OPTIMAL_RESTARTS RECTANGULAR SILHOUETTE_ALGORITHMS NOT_LOCAL RATIO_ALGORITHMS EAGER CLOSED_GAP
    EAGER_ADVANTAGE EAGER_COUNTS SUM_SECONDS START_SECONDS MEMBERS_PER_BATCH
    problem.sizes problem.gap found.gap self.gap run.proof
    """.split()  # noqa: SIM905
)


def sources(revision: str | None) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the package, by path below it: those of a commit, or those of the working tree."""
    folder = "src/medoids/"
    if revision is None:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT / folder).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
        return

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    for name in git("ls-tree", "-r", "--name-only", revision, folder).split():
        if name.endswith(".py"):
            yield name.removeprefix(folder), ast.parse(git("show", f"{revision}:{name}"))


def count(node: ast.AST) -> int:
    r"""Return the number of statements of a node, itself included.

    >>> count(ast.parse("if x:\n    y = 1; z = 2"))
    3
    """
    return sum(isinstance(part, ast.stmt) for part in ast.walk(node))


def _is_feature(node: ast.stmt) -> bool:
    """Whether a statement, with all that it contains, is there for a feature."""
    if isinstance(node, ast.ImportFrom):
        whole = [path.removesuffix(".py").rstrip("/").replace("/", ".") for path, own in FEATURES.items() if not own]
        return any((node.module or "").startswith(f"medoids.{module}") for module in whole)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name in WORDS
    if isinstance(node, ast.If):
        return _names_one(node.test)
    if isinstance(node, ast.Assign):
        return all(map(_names_one, node.targets))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return _names_one(node.target)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _names_one(node.value.func)


def _names_one(node: ast.AST) -> bool:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            names |= {part.attr, ".".join(ast.unparse(part).split(".")[-2:])}
    return not names.isdisjoint(WORDS)


def features(path: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the parts of a module that are there for a feature, and their statements."""
    own: tuple[str, ...] = ()
    for prefix, parts in FEATURES.items():
        if path == prefix or (prefix.endswith("/") and path.startswith(prefix)):
            if not parts:
                yield path, count(tree)
                return
            own = parts
    yield from _parts(path, tree, "", frozenset(own))


def _parts(path: str, node: ast.AST, within: str, own: frozenset[str]) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        name = within
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name += child.name
        elif isinstance(child, ast.AnnAssign):
            name += ast.unparse(child.target)
        if name in own:
            yield f"{path}: {name}", count(child)
        elif isinstance(child, ast.stmt) and _is_feature(child):
            yield f"{path}:{child.lineno}: {ast.unparse(child).splitlines()[0][:80]}", count(child)
        else:
            yield from _parts(path, child, f"{name}." if isinstance(child, ast.ClassDef) else within, own)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.size", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT", help="what is compared with")
    parser.add_argument("--parts", action="store_true", help="list what is left out of the second count")
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = {"before": Counter(), "now": Counter(), "features": Counter()}
    for column, revision in (("before", arguments.before), ("now", None)):
        for path, tree in sources(revision):
            room = path.split("/")[0]
            if room not in REBUILT:
                counts[column][room] += count(tree)
                for part, size in features(path, tree) if revision is None else ():
                    counts["features"][room] += size
                    if arguments.parts:
                        print(f"{size:5} {part}")
    before, now, new = (counts[name] for name in ("before", "now", "features"))
    print("| room | before | now | for features since | the rest |\n|---|---|---|---|---|")
    for room in sorted({*before, *now}):
        print(f"| {room} | {before[room]:,} | {now[room]:,} | {new[room]:,} | {now[room] - new[room]:,} |")
    total, rest = before.total(), now.total() - new.total()
    print(f"| all | {total:,} | {now.total():,} | {new.total():,} | {rest:,} ({rest / total - 1:+.1%}) |")


if __name__ == "__main__":
    main()
