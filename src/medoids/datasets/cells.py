"""Counts of RNA in single cells."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.utils import Bunch

from medoids.datasets.files import DataNotFound, Folder, find_files

__all__ = ["SCRNA_FILES", "load_scrna"]

SCRNA_FILES = {
    "worm": ("scrna_worm_neuron_4186x13488_csr_int16.npz", "scrna_worm_neuron_labels_uint8.npy"),
    "bladder": ("scrna_mouse_bladder_2100x20670_csr_int16.npz", "scrna_mouse_bladder_labels_uint8.npy"),
}


def load_scrna(tissue: str = "worm", folder: Folder = None) -> Bunch:
    """Load counts of RNA per cell and gene.

    Parameters
    ----------
    tissue : {"worm", "bladder"}
        Neurons of C. elegans (Cao et al. 2017), or cells of mouse bladder (Han et al. 2018). They replace the 10x
        matrix of the first BanditPAM paper, which the paper on BanditPAM++ dropped.
    folder : path, optional
        Data folder; by default the value of MEDOIDS_DATA. There is no download: the files are those of the project
        scDeepCluster, converted to sparse matrices.

    Returns
    -------
    Bunch
        ``data``, a sparse (4186, 13488) or (2100, 20670) matrix of int16; ``target``, the cell types.

    Examples
    --------
    >>> from medoids.datasets import load_scrna
    >>> load_scrna("mouse")
    Traceback (most recent call last):
        ...
    ValueError: tissue='mouse' is unknown; choose from bladder, worm
    """
    if tissue not in SCRNA_FILES:
        raise ValueError(f"tissue={tissue!r} is unknown; choose from {', '.join(sorted(SCRNA_FILES))}")
    files = find_files(SCRNA_FILES[tissue], folder)
    if not files:
        raise DataNotFound(
            f"{' and '.join(SCRNA_FILES[tissue])} are not in the data folder, and there is no download: set "
            "MEDOIDS_DATA (or --data) to a folder that has them"
        )
    return Bunch(data=scipy.sparse.load_npz(files[0]), target=np.load(files[1]))
