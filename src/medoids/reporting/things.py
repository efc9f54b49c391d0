"""What a point is, so that a medoid can be shown as what it is: an image, a row of a table, a text, a series."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Rows
from medoids.reporting.images import data_uri, sheet
from medoids.reporting.wording import escaped, number, shortened
from medoids.result import Clustering

__all__ = ["Images", "Numbered", "Objects", "Series", "Things"]


# Pixels of all thumbnails that a report carries at most: 5,000 images of 28 x 28.
_THUMBNAILS = 4_000_000
_SHEET_COLUMNS = 64
# Images of at most so many pixels on a side are smoothed.
_SMOOTH = 16


class Things(ABC):
    """The points of a clustering, to be shown.

    Attributes
    ----------
    noun : str
        What one is called.
    wide : bool
        Whether a card needs room.
    """

    noun = "point"
    wide = False

    def __init__(self, clustering: Clustering) -> None:
        self.clustering = clustering

    @abstractmethod
    def card(self, cluster: int) -> str:
        """Return HTML that shows a medoid."""

    def line(self, row: int) -> str:
        """Return one line of plain text about a point, for its hover text; empty where nothing is known."""
        return ""

    def name(self, row: int) -> str:
        """Return what to call a point where it can be called by what it is."""
        return ""

    def thumbnails(self, rows: Rows) -> dict[str, Any] | None:
        """Return small images of points as one sheet, for their hover texts."""
        return None

    def neighbours(self, cluster: int, near: int, far: int) -> tuple[Rows, Rows]:
        """Members of a cluster closest to its medoid, the medoid left out, and farthest from it."""
        found = self.clustering
        members = np.flatnonzero(found.labels == cluster)
        members = members[members != found.medoid_indices[cluster]]
        order = members[np.argsort(found.distances[members], kind="stable")]
        return order[:near], order[near:][::-1][:far]


class Numbered(Things):
    """Points of which only distances are known."""

    def card(self, cluster: int) -> str:
        near, far = self.neighbours(cluster, 5, 2)
        lines = [("nearest rows", near), ("farthest rows", far)]
        return "".join(
            f'<p class="pair"><b>{name}</b> {", ".join(f"{row:,}" for row in rows)}</p>'
            for name, rows in lines
            if len(rows)
        )


class Objects(Things):
    """Strings, shown in full; token sequences, sets, trees and any other objects as their text."""

    noun = "text"
    wide = True

    def __init__(self, clustering: Clustering, objects: Any) -> None:
        super().__init__(clustering)
        self._objects = objects

    def text(self, row: int) -> str:
        thing = self._objects[row]
        if isinstance(thing, str):
            return thing
        if isinstance(thing, bytes):
            return thing.decode("utf-8", "replace")
        if isinstance(thing, ast.AST):
            try:
                return ast.unparse(thing)
            except (AttributeError, ValueError):
                return ast.dump(thing)
        if isinstance(thing, (list, tuple)) and all(isinstance(token, str) for token in thing):
            return " ".join(thing)
        if isinstance(thing, (set, frozenset)):
            return "{" + ", ".join(sorted(map(repr, thing))) + "}"
        return repr(thing)

    def line(self, row: int) -> str:
        return shortened(self.text(row), 120)

    def name(self, row: int) -> str:
        return shortened(self.text(row), 40)

    def card(self, cluster: int) -> str:
        medoid = self.text(int(self.clustering.medoid_indices[cluster]))
        parts = [f'<pre class="text" tabindex="0">{escaped(medoid)}</pre>']
        for name, rows in zip(("nearest", "farthest"), self.neighbours(cluster, 4, 2), strict=True):
            if len(rows):
                texts = "".join(f"<li>{escaped(shortened(self.text(int(row)), 60))}</li>" for row in rows)
                parts.append(f'<div class="examples"><b>{name}</b><ul>{texts}</ul></div>')
        return "".join(parts)


class Images(Things):
    """Rows that are pixels."""

    noun = "image"

    def __init__(self, clustering: Clustering, X: Any, shape: tuple[int, ...]) -> None:
        super().__init__(clustering)
        self._X, self._shape = X, shape
        part = np.asarray(X[:: max(len(X) // 2000, 1)], dtype=np.float64)
        self._low, self._high = float(part.min()), float(part.max())
        # Strokes on an empty ground, as in handwriting, are shown as ink on paper, and as chalk on a dark page.
        self.ink = len(shape) == 2 and float(np.median(part)) <= self._low + 0.1 * (self._high - self._low)

    def pixels(self, rows: Any) -> npt.NDArray[np.uint8]:
        values = np.asarray(self._X[rows], dtype=np.float64).reshape(-1, *self._shape)
        shade = np.clip((values - self._low) / ((self._high - self._low) or 1.0), 0, 1) * 255
        return np.asarray(255 - shade if self.ink else shade, dtype=np.float64).round().astype(np.uint8)

    @property
    def look(self) -> str:
        """Classes: a few pixels are easier to read when the browser smooths them."""
        return (" ink" if self.ink else "") + (" sharp" if max(self._shape[:2]) > _SMOOTH else "")

    def card(self, cluster: int) -> str:
        row = int(self.clustering.medoid_indices[cluster])
        near, far = self.neighbours(cluster, 5, 2)
        height, width = self._shape[:2]
        side = f"--side:{168 if max(height, width) > _SMOOTH else 120}px"
        text = f"medoid {cluster}, row {row}"
        picture = data_uri(self.pixels([row])[0])
        parts = [f'<img class="medoid{self.look}" style="{side}" src="{picture}" alt="{text}">']
        for name, rows in (("nearest", near), ("farthest", far)):
            if len(rows):
                strip = data_uri(sheet(self.pixels(rows), len(rows)))
                where = ", ".join(str(int(i)) for i in rows)
                share = f"--images:{len(rows)};--ratio:{width / height:.3f}"
                parts.append(
                    f'<figure class="strip" style="{share}"><figcaption>{name}</figcaption>'
                    f'<img class="small{self.look}" src="{strip}" alt="rows {where}"></figure>'
                )
        return "".join(parts)

    def thumbnails(self, rows: Rows) -> dict[str, Any] | None:
        height, width = self._shape[:2]
        if len(rows) * int(np.prod(self._shape)) > _THUMBNAILS:
            return None
        picture = data_uri(sheet(self.pixels(rows), _SHEET_COLUMNS))
        size = {"columns": _SHEET_COLUMNS, "width": width, "height": height}
        return {"picture": picture, **size, "look": self.look.strip()}


class Series(Things):
    """Numbers in time, of one or several channels and of any length, as sparklines."""

    noun = "series"
    wide = True

    def __init__(self, clustering: Clustering, series: Any) -> None:
        super().__init__(clustering)
        self._series = series
        self._channels_first = (clustering.parameters.get("metric_params") or {}).get("layout") == "channels_first"
        some = [self._values(int(row)) for row in clustering.medoid_indices]
        self._low, self._high = min(float(s.min()) for s in some), max(float(s.max()) for s in some)

    def _values(self, row: int) -> npt.NDArray[np.float64]:
        values = np.asarray(self._series[row], dtype=np.float64)
        if values.ndim == 1:
            return values[:, None]
        return values.T if self._channels_first else values

    def line(self, row: int) -> str:
        values = self._values(row)
        return f"{len(values):,} values from {number(values.min())} to {number(values.max())}"

    def card(self, cluster: int) -> str:
        row = int(self.clustering.medoid_indices[cluster])
        near, far = self.neighbours(cluster, 6, 2)
        lines = [self._path(int(i), "faint") for i in (*near, *far)] + [self._path(row, "bold")]
        label = escaped(f"medoid {cluster}, row {row}: {self.line(row)}")
        return (
            f'<svg class="spark" viewBox="0 0 200 80" preserveAspectRatio="none" role="img" aria-label="{label}">'
            f"<title>{label}</title>{''.join(lines)}</svg>"
            f'<p class="pair">{escaped(self.line(row))}; thin lines are members</p>'
        )

    def _path(self, row: int, kind: str) -> str:
        values = self._values(row)
        x = np.linspace(0, 200, len(values)) if len(values) > 1 else np.array([0.0, 200.0])
        out = []
        for channel in values.T:
            channel = np.repeat(channel, 2) if len(values) == 1 else channel
            y = 76 - 72 * np.clip((channel - self._low) / ((self._high - self._low) or 1.0), -0.05, 1.05)
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
            out.append(f'<polyline class="{kind}" points="{points}"/>')
        return "".join(out)
