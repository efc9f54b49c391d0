"""Values of options that cannot be used: the message names the option as it was given, before any file is read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from medoids.cli.messages import with_option_names

Run = Callable[..., subprocess.CompletedProcess[str]]
CLUSTER, COMPARE, CHOOSE = ("cluster", "-k", 2), ("compare", "-k", 2), ("choose-k",)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*CLUSTER, "--seed", -1), ["--seed", "0"]),
        ((*CLUSTER, "--seed", 99999999999), ["--seed", "4294967295"]),
        (("cluster", "-k", "2:5"), ["-k", "medoids choose-k"]),
        (("compare", "-k", "auto"), ["-k", "medoids choose-k"]),
        (
            (*COMPARE, "--algorithms", "pam,fasterpan"),
            ["--algorithms fasterpan is unknown", "did you mean 'fasterpam'"],
        ),
        ((*CLUSTER, "--algorithm", "fasterpan"), ["--algorithm fasterpan is unknown"]),
        ((*CLUSTER, "--memory-limit", "lots"), ["--memory-limit lots must be a number of bytes"]),
        ((*CLUSTER, "--candidates", "none"), ["--candidates none must be all, or row numbers"]),
        ((*CLUSTER, "--image-shape", "28x28"), ["--image-shape", "add --report"]),
        ((*CHOOSE, "--image-shape", "28x28"), ["--image-shape", "add --report"]),
    ],
)
def test_values_that_cannot_be_used(medoids: Run, command: tuple[object, ...], words: list[str]) -> None:
    run = medoids(command[0], "missing.csv", *command[1:], code=2)
    for word in words:
        assert word in run.stderr
    assert "missing.csv" not in run.stderr


def test_parameters_of_a_metric_are_named_as_they_were_given(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n5,7\n2,1\n")
    run = medoids("cluster", "x.csv", "-k", 2, "--metric", "minkowski", "--metric-param", "p=x", code=1)
    assert "error: --metric-param p=x: minkowski needs a number p > 0" in run.stderr


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "use algorithm='pairedpam', 'banditpam++', 'clara' or 'clarans', which need no matrix",
            "use --algorithm pairedpam, banditpam++, clara or clarans, which need no matrix",
        ),
        ("pass metric_params={'layout': 'channels_first'}", "pass --metric-param layout=channels_first"),
        ("with metric_params={'degrees': True}", "with --metric-param degrees=true"),
        ("metric_params={'a': [1, 2], 'b': None}: no", "--metric-param a=[1, 2] --metric-param b=null: no"),
        ("metric_params={'a': <x>}: no", "--metric-param={'a': <x>}: no"),
    ],
)
def test_keywords_become_options(message: str, expected: str) -> None:
    assert with_option_names(message) == expected
