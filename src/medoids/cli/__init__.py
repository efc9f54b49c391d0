"""The command ``medoids``: clusters, medoids and a report from a file, without Python.

::

    app.py        the commands                               failures.py   what ends a command, and its exit code
      options.py    what they share of the command line      telling.py    what they say
      reading.py    a file -> table, array, texts, ...       csv_files.py  delimiters, headers, line numbers
      features.py   columns, metric, scaling -> X            model.py      what `cluster --save` writes
      archives.py   packed files, up to a limit              arrays.py     .npy, .npz and Matrix Market files
      results.py    labels and medoids as files and tables   comparing.py  several algorithms side by side
      loading.py    options -> what is fitted                choosing.py   choose-k

Uses only what anybody may import of the package. Exit codes: 0 done, 2 wrong usage, 1 failed, 130 interrupted.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; the entry point of the installed script."""
    try:
        from medoids.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("typer", "click", "rich", "pyarrow"):
            sys.stderr.write(f'medoids: the command needs {error.name}; install it with pip install "medoids[cli]"\n')
            raise SystemExit(1) from None
        raise
    run()
