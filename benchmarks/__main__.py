"""``python -m benchmarks [NAME ...]``: run tables, print them, and write them to ``benchmarks/results``."""

from __future__ import annotations

import argparse
import datetime

from benchmarks.measure import machine
from benchmarks.tables import FULL, RESULTS, TABLES


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables; by default {', '.join(TABLES)}")
    names = parser.parse_args().names or list(TABLES)
    tables = TABLES | FULL
    unknown = sorted(set(names) - set(tables))
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}; choose from {', '.join(tables)}")
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        title = (tables[name].__doc__ or "").strip()
        page = f"# {title}\n\n{tables[name]()}\n\n{machine()}; {datetime.date.today()}\n"
        print(page, flush=True)
        (RESULTS / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
