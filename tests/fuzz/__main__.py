"""A long run: ``python -m fuzz --minutes 60 --processes 2``, from the folder ``tests``."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import queue
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.worker import Round, work

_CONTEXT = multiprocessing.get_context("spawn")
# Seconds after which a worker whose example has not changed is ended; it ends itself before, unless it is in C code.
_PATIENCE = 400.0
_NAMES = ("problems", "samples", "files", "signals")


class Crew:
    """Worker processes, replaced when an example crashes or hangs them."""

    def __init__(self, count: int, kinds: list[str], deadline: float, folder: Path) -> None:
        self._rounds: Any = _CONTEXT.Queue()
        self._start_one = lambda number: self._start(number, kinds, deadline, folder)
        self._folder, self._deadline = folder, deadline
        self.total = Round(Counter())
        self._workers = {number: self._start_one(number) for number in range(count)}

    def _start(self, number: int, kinds: list[str], deadline: float, folder: Path) -> Any:
        (folder / str(number)).write_text("starting")
        worker = _CONTEXT.Process(target=work, args=(number, kinds, deadline, str(folder), self._rounds))
        worker.start()
        return worker

    def watch(self) -> None:
        """Collect reports until all workers have ended."""
        while self._workers:
            self._collect()
            for number, worker in list(self._workers.items()):
                current = self._folder / str(number)
                hung = time.time() - current.stat().st_mtime > _PATIENCE
                if hung:
                    worker.kill()
                    worker.join()
                if worker.is_alive():
                    continue
                del self._workers[number]
                if worker.exitcode:
                    what = "hangs" if hung else f"ends the process with code {worker.exitcode}"
                    self._fail(f"{what}: {current.read_text()}")
                    if time.time() < self._deadline:
                        self._workers[number] = self._start_one(number)
        self._collect()

    def stop(self) -> None:
        for worker in self._workers.values():
            worker.kill()
            worker.join()

    def _collect(self) -> None:
        try:
            while True:
                self._add(self._rounds.get(timeout=1))
        except queue.Empty:
            pass

    def _add(self, new: Round) -> None:
        self.total.tries.update(new.tries)
        for kind, seconds in new.seconds.items():
            self.total.seconds[kind] = self.total.seconds.get(kind, 0.0) + seconds
        for failure in new.failures:
            self._fail(failure)

    def _fail(self, failure: str) -> None:
        self.total.failures.append(failure)
        print(f"FAILED {failure}\n", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Try random examples for some time.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(_NAMES), help="names with commas between; by default all")
    parser.add_argument("--summary", type=Path, help="a page for people: .md")
    parser.add_argument("--counts", type=Path, help="the counts for programs: .json")
    parser.add_argument("--again", metavar="EXAMPLE", help="check one example, as a failure shows it")
    options = parser.parse_args()
    if options.again:
        from fuzz.kinds import again

        again(options.again)
        print("passed")
        return 0
    kinds = options.kinds.split(",")
    unknown = set(kinds) - set(_NAMES)
    if unknown:
        parser.error(f"--kinds: {', '.join(sorted(unknown))} is unknown; it must be some of {', '.join(_NAMES)}")
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        crew = Crew(options.processes, kinds, began + 60 * options.minutes, Path(folder))
        try:
            crew.watch()
        finally:
            crew.stop()
    _report(crew.total, (time.time() - began) / 60, options)
    return int(bool(crew.total.failures))


def _report(total: Round, minutes: float, options: argparse.Namespace) -> None:
    from fuzz.page import summary

    tries = [[*key, count] for key, count in sorted(total.tries.items())]
    for kind, seconds in total.seconds.items():
        own = sum(count for name, *_, count in tries if name == kind)
        print(f"{kind}: {own:,} tries in {seconds / 60:.1f} minutes")
    print(f"{len(total.failures)} failures")
    if options.counts:
        options.counts.write_text(json.dumps({"tries": tries, "failures": total.failures}, indent=1) + "\n")
    if options.summary:
        options.summary.parent.mkdir(parents=True, exist_ok=True)
        command = f"make fuzz MINUTES={options.minutes:g} PROCESSES={options.processes}"
        if options.kinds != ",".join(_NAMES):
            command = f"python -m fuzz {shlex.join(sys.argv[1:])}"
        options.summary.write_text(summary(total, minutes, options.processes, command))


if __name__ == "__main__":
    sys.exit(main())
