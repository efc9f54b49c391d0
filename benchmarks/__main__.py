"""``python -m benchmarks [NAME ...]``: run tables, print them, and write them to ``benchmarks/results``."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.tables import TABLES

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables to run: {', '.join(TABLES)}; all by default")
    names = parser.parse_args().names or list(TABLES)
    unknown = sorted(set(names) - set(TABLES))
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}; choose from {', '.join(TABLES)}")
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        title = (TABLES[name].__doc__ or "").strip()
        page = f"# {title}\n\n{TABLES[name]()}\n\n{machine()}; {datetime.date.today()}\n"
        print(page, flush=True)
        (RESULTS / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
