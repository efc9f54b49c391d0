"""The command ``medoids``: clusters, medoids and a report from a file, without Python.

::

    app.py            the program: its commands, metrics, demo, exit codes
      cluster.py        cluster, and predict for the model that it saves
      compare.py        compare: several algorithms side by side
      choose_k.py       choose-k: every number of clusters in a range
      reproduce.py      reproduce: the experiments of the paper
    options.py        the options that commands share, and the checks of their values
    workflow.py       around a fit: load the data, reserve the outputs, write the report
    messages.py       what commands say: errors, notes, tables, JSON
    contents.py       how a file is read, and what it holds
      reading.py        every format of files -> table, array, sparse matrix, texts or series
      raw_bytes.py      compressed files and encodings of text
      csv_files.py      delimiters, headers, decimal signs, separated thousands, dates, line numbers
      arrays.py         .npy, .npz and Matrix Market files
    features.py       contents, columns, metric, scale -> X
      tables.py         columns of a table as numbers or texts
    results.py        tables of labels and medoids, and a summary
      spreadsheets.py   text in CSV files that a spreadsheet would take for a formula
    model.py          the model of ``cluster --save``, and new data as it takes them

A face of the package: it may import every other room, and no room imports it. Modules that commands load at start
import neither NumPy nor pyarrow, so that ``--help`` answers at once. Exit codes: 0 done, 1 failed, 2 wrong usage,
130 interrupted.
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
