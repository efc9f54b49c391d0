"""`load`: the estimator that a model file describes."""

from __future__ import annotations

from typing import Any

from medoids.estimator import KMedoids
from medoids.storage.estimators import attributes_of, parameters_from
from medoids.storage.model_file import invalid, read_model

__all__ = ["load"]


def load(path: Any) -> KMedoids:
    """Load a model that `KMedoids.export` or ``medoids cluster --save`` wrote.

    The file is JSON with a version and a checksum, and loading it runs no code.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    KMedoids
        Fitted: ``predict``, ``transform``, ``predict_proba`` and ``score`` give what they gave before, and
        ``cluster_centers_``, ``medoid_indices_``, ``loss_`` and the like are there. What has an entry for each row of
        the fit is not in the file: ``labels_``, ``distances_`` and ``trace_``. The medoids of a table come as a 2-D
        array of objects. Where the command scaled columns (``--scale``), new data are scaled in the same way; another
        ``fit`` is not.

    Raises
    ------
    ValueError
        If the file is not a model, was changed, or says something impossible.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from medoids import KMedoids, load
    >>> path = Path(tempfile.mkdtemp()) / "words.json"
    >>> KMedoids(2, metric="levenshtein").fit(["ape", "apes", "tape", "zebra", "zebras"]).export(path)
    >>> model = load(path)
    >>> model.cluster_centers_, model.predict(["cobra", "grape"]).tolist()
    (['ape', 'zebra'], [1, 0])
    """
    body = read_model(path)
    try:
        model = KMedoids(**parameters_from(body))
    except ValueError as error:
        raise invalid(path, error) from None
    model.__dict__.update(attributes_of(body, path))
    return model
