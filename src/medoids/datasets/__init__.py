"""The paper's data sets, from a folder of files or from the internet, and the authors' own samples of them.

May import ``medoids.storage.files``, NumPy, SciPy and scikit-learn; knows nothing about medoids.

::

    files.py     files in the data folder, or downloaded
    loaders.py   the data sets, the rows that the authors clustered, and the logs of their runs
"""

from medoids.datasets.files import DataNotFound, data_folder
from medoids.datasets.loaders import (
    METRIC,
    distinct_rows,
    load_cifar10,
    load_mnist,
    load_newsgroups,
    load_scrna,
    logged_runs,
    paper_sample,
)

__all__ = [
    "METRIC",
    "DataNotFound",
    "data_folder",
    "distinct_rows",
    "load_cifar10",
    "load_mnist",
    "load_newsgroups",
    "load_scrna",
    "logged_runs",
    "paper_sample",
]
