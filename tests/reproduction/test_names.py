"""A reduced case of each table and figure, on real data; and the sentences on rows made up by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import data
from medoids import k_medoids
from medoids.datasets import paper_sample
from medoids.reproduction.page import write_page
from medoids.reproduction.paper import disagreements, read_logs, rises
from medoids.reproduction.peers import is_installed
from medoids.reproduction.runner import carry_out, possible
from medoids.reproduction.settings import NAMES, plan
from medoids.reproduction.trials import ResultsFile, Trial
from reproduction.tiny import TINY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = data.path("newsgroups_minilm_10000x384_float32.npy").parent
    out = tmp_path_factory.mktemp("reproduced")
    rows = ResultsFile(out / "rows.csv")
    carry_out([run for run in plan(NAMES, TINY) if is_installed(run.algorithm)], rows, folder)
    write_page(rows, TINY, read_logs(folder), out)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_each_name_has_its_section(reproduced: Path, name: str) -> None:
    page = (reproduced / "README.md").read_text()
    assert f"## {name}\n" in page
    section = page.split(f"## {name}\n")[1].split("\n## ")[0]
    assert "20 Newsgroups" in section
    if name != "peers":  # whose packages may not be installed
        assert "\nNot run:" not in section
    if name.startswith("fig"):
        picture = ElementTree.parse(reproduced / "figures" / f"{name}.svg").getroot()
        points = list(picture.iter("{http://www.w3.org/2000/svg}path"))
        assert len(points) >= 6


def test_a_row_has_what_a_fit_of_the_same_settings_gives(reproduced: Path) -> None:
    run = Trial("NEWSGROUPS", 200, 5, 10, "BP++", seed=1)
    row = ResultsFile(reproduced / "rows.csv")[run]
    X = paper_sample("NEWSGROUPS", 200, data.FOLDER)
    found = k_medoids(X, 5, metric="cosine", algorithm="banditpam++", max_iter=10, random_state=1)
    assert float(row["loss"]) == pytest.approx(found.loss, rel=1e-12)
    assert row["medoids"] == " ".join(map(str, found.medoid_indices))
    assert int(row["swaps"]) == found.n_swaps
    counts = found.counts.values()
    for kind in ("requested", "computed", "cached"):
        assert int(row[f"build_{kind}"]) + int(row[f"swap_{kind}"]) == sum(getattr(count, kind) for count in counts)
    built = [step for step in found.trace if step.phase == "build"]
    assert int(row["build_computed"]) == built[-1].n_evaluations
    assert float(row["build_loss"]) == pytest.approx(built[-1].loss, rel=1e-12)
    assert [float(loss) for loss in row["losses"].split()] == pytest.approx(
        [step.loss for step in found.trace if step.phase == "swap"]
    )


def made_up(folder: Path, losses: dict[tuple[int, str], float]) -> ResultsFile:
    rows = ResultsFile(folder / "rows.csv")
    for (n, algorithm), loss in losses.items():
        found = {"loss": repr(loss), "build_loss": repr(loss + 1), "losses": repr(loss), "swaps": "1"}
        times = {f"{phase}_cpu": "2.0" if algorithm == "BP" else "1.0" for phase in ("build", "swap")}
        counts = {f"{phase}_computed": "600" if algorithm == "BP" else "200" for phase in ("build", "swap")}
        rows.add(Trial("NEWSGROUPS", n, 5, 10, algorithm), {**found, **times, **counts, "converged": "True"})
    return rows


def test_a_ratio_that_does_not_round_to_one_is_reported(tmp_path: Path) -> None:
    rows = made_up(tmp_path, {(150, "BP"): 1.0, (150, "BP++"): 1.0, (200, "BP"): 1.0, (200, "BP++"): 1.01})
    said = write_page(rows, TINY, {}, tmp_path)
    assert said["table-loss"].startswith("Not held: the ratio is not 1.00 on 20 Newsgroups (cosine) 200 (3 cells")
    assert "1.01 (+1.0e-02)" in (tmp_path / "README.md").read_text()
    # Twice the time and three times the distances in both phases: SWAP gains no more than BUILD.
    assert "above 1 in all 3 cells; not larger for SWAP than for BUILD" in said["table-speedup"]
    assert "| 2.00 | 3.00 |" in (tmp_path / "README.md").read_text()


def test_slopes_are_those_of_a_power_law(tmp_path: Path) -> None:
    rows = ResultsFile(tmp_path / "rows.csv")
    for n in (150, 200, 250, 300):
        found = {"loss": "1.0", "build_loss": "1.0", "losses": "", "swaps": "0", "converged": "False"}
        for seed in (0, 1):
            for name, power in (("BP++", 1), ("PairedPAM", 1.5)):
                counts = {"build_computed": str(round(1e6 * n**power)), "swap_computed": "0"}
                times = {"build_cpu": "1", "swap_cpu": "1"}
                rows.add(Trial("NEWSGROUPS", n, 5, 10, name, seed=seed), {**found, **counts, **times})
    said = write_page(rows, TINY, {}, tmp_path)["fig-complexity"]
    assert "BP++ as n to the power 1.00 ± 0.00 on 20 Newsgroups" in said
    assert "PairedPAM as n to the power 1.50 ± 0.00 on 20 Newsgroups" in said
    assert "| 1.50 ± 0.00 | 1.50 ± 0.00 |" in (tmp_path / "README.md").read_text()


def test_logs_that_cannot_all_be_right_are_listed() -> None:
    logs = read_logs(data.path("paper_logged_runs.csv").parent)
    assert [(runs[0].data, runs[0].n, runs[0].k) for runs in disagreements(logs)] == [
        ("CIFAR10", 20_000, 15),
        ("CIFAR10", 30_000, 10),
        ("MNIST", 10_000, 15),
        ("MNIST", 15_000, 10),
    ]
    assert {(log.data, log.n, log.k, log.algorithm) for log, _, _ in rises(logs)} == {
        ("CIFAR10", 10_000, 15, "BP"),
        ("CIFAR10", 20_000, 15, "BP"),
        ("MNIST", 10_000, 10, "BP"),
        ("MNIST", 10_000, 15, "BP"),
        ("MNIST", 15_000, 10, "BP"),
    }


def test_data_sets_that_are_not_available_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    runs, reasons = possible(plan(["table-loss"], TINY), tmp_path)
    assert runs == []
    assert len(reasons) == 2
    assert all("MEDOIDS_DATA" in reason for reason in reasons)
