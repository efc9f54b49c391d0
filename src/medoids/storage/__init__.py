"""Everything that is read from or written to files, apart from the formats of the command line.

May import ``distances``, ``result`` and ``engine``.

    checkpoints.py    the file that a fit writes after each step, and resumes from
    saved.py          the state in that file, and the checks on it
    forms.py          checks on values read from JSON: what is wrong, and where
    fingerprints.py   digests of data and settings, to recognise them
    files.py          output files that are complete or absent, with one writer at a time
    parquet_zarr.py   rows of Parquet files and Zarr arrays
"""
