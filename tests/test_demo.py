"""The demo says what a newcomer wants to know, and the README's code runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# tests/test_coming_from.py runs the blocks of the page that needs other packages.
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "coming-from.md"})
# Pages whose code takes seconds.
SLOW_PAGES = ("choosing-k.md", "scale.md")


@pytest.mark.slow
def test_demo_prints_medoids_sizes_loss_time_and_distances(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "medoids.demo"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    # PAM's medoids of digits, k = 10, as the package kmedoids gives them (see test_the_loss_of_the_package_kmedoids).
    sizes = re.findall(r"row \d+, (\d+) points", run.stdout)
    assert len(sizes) == 10
    assert sum(map(int, sizes)) == 1797
    for word in ("loss", "swaps", "time", "distances", "labels", "report"):
        assert re.search(rf"^{word} +\S", run.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in SLOW_PAGES else []) for page in PAGES],
)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert len(blocks) == page.read_text().count("```python")


def test_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\S+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
