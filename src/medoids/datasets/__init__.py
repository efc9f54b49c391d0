"""The paper's data sets, from a folder of files or from the internet, and the authors' own samples of them.

One file an idea: `stored` finds and checks files, `download` fetches them, `images`, `posts` and `cells` know the
sets, `samples` draws what the authors drew. Knows nothing of medoids; may import only NumPy, scipy, scikit-learn
and `medoids.storage.files`.
"""

from medoids.datasets.cells import load_scrna
from medoids.datasets.images import load_cifar10, load_mnist
from medoids.datasets.posts import load_newsgroups
from medoids.datasets.samples import METRIC, distinct_rows, logged_runs, paper_sample
from medoids.datasets.stored import DataNotFound, data_folder

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
