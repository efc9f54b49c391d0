"""Everything that is read from or written to files, apart from the formats of the command line.

May import ``distances``, ``inputs``, ``settings``, ``result`` and ``engine``.

    checkpoints.py    the file that a fit writes after each step, and resumes from
    stream_files.py   the file that a stream writes after each batch
    saved.py          the state in that file, and the checks on it
    model_file.py     the model file: medoids, and what new data need to be compared with them
      model_medoids.py  rows of each kind of data as JSON
      model_schema.py   the checks of that file
      plain.py          values of Python as JSON
      estimators.py     what the file holds of a fitted estimator
    forms.py          checks on values read from JSON: what is wrong, and where
    fingerprints.py   digests of data and settings, to recognise them
    files.py          output files that are complete or absent, with one writer at a time
    parquet_zarr.py   rows of Parquet files and Zarr arrays
"""
