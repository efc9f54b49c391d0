"""A scale for tests, and a program that carries it out: to be killed, and started again."""

from __future__ import annotations

import sys
from pathlib import Path

from medoids.reproduction.page import write_page
from medoids.reproduction.paper import read_logs
from medoids.reproduction.runner import carry_out
from medoids.reproduction.settings import ExperimentScale, plan
from medoids.reproduction.trials import ResultsFile

TINY = ExperimentScale(
    name="tiny",
    sizes={"NEWSGROUPS": (150, 200, 250), "SCRNA-WORM": (100, 120)},
    large={"NEWSGROUPS": (300,)},
    ablated={"NEWSGROUPS": (150, 250), "SCRNA-WORM": (100,)},
    fixed={"NEWSGROUPS": 200},
    ks=(3, 5),
    seeds=(0, 1),
    subsets=4,
    subset_sizes=(100,),
    peers={"NEWSGROUPS": 200},
)

if __name__ == "__main__":
    out, data, *names = sys.argv[1:]
    rows = ResultsFile(Path(out) / "rows.csv")
    carry_out(plan(names, TINY), rows, data)
    write_page(rows, TINY, read_logs(data), Path(out))
