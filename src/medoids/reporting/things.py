"""How points are shown as what they are: images, texts, series, or row numbers."""

from __future__ import annotations

import ast
import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from medoids.engine.arrays import Float64s, Rows
from medoids.reporting.formatting import escape, format_number, shorten
from medoids.result import Clustering

__all__ = ["Images", "Objects", "Series", "Things"]

_Pixels = npt.NDArray[np.uint8]

# Pixels of all thumbnails in a report: enough for 5,000 images of 28 x 28.
_THUMBNAIL_PIXELS = 4_000_000
# Thumbnails per row of the sheet that holds them all: 5,000 make about a square.
_SHEET_COLUMNS = 64
# Images of up to this many pixels on a side are smoothed: blocks of a few pixels are hard to read.
_SMOOTHED_SIDE = 16


class Things:
    """The points of a clustering; of this class, if only their distances are known.

    Attributes
    ----------
    noun : str
        What one of them is called.
    wide : bool
        Whether the card of a medoid needs more room than an image.
    """

    noun = "point"
    wide = False

    def __init__(self, clustering: Clustering) -> None:
        self.clustering = clustering

    def card(self, cluster: int) -> str:
        """Return HTML that shows a medoid."""
        return "".join(
            f'<p class="pair"><b>{name} rows</b> {", ".join(f"{row:,}" for row in rows)}</p>'
            for name, rows in self.examples(cluster, 5, 2).items()
        )

    def line(self, row: int) -> str:
        """Return one line of plain text about a point for its tooltip; empty if there is nothing to say."""
        return ""

    def name(self, row: int) -> str:
        """Return a name for a point if its content can serve as one."""
        return ""

    def thumbnails(self, rows: Rows) -> dict[str, Any] | None:
        """Return small images of points for their tooltips, as one sheet."""
        return None

    def examples(self, cluster: int, near: int, far: int) -> dict[str, list[int]]:
        """Return the members of a cluster nearest to its medoid, without the medoid, and those farthest from it."""
        found = self.clustering
        members = np.flatnonzero(found.labels == cluster)
        members = members[members != found.medoid_indices[cluster]]
        order = members[np.argsort(found.distances[members], kind="stable")].tolist()
        groups = (("nearest", order[:near]), ("farthest", order[near:][::-1][:far]))
        return {name: rows for name, rows in groups if rows}


class Objects(Things):
    """Strings; token sequences, sets, trees and other objects as text."""

    noun = "text"
    wide = True

    def __init__(self, clustering: Clustering, objects: Any) -> None:
        super().__init__(clustering)
        self._objects = objects

    def text(self, row: int) -> str:
        """Return an object as text."""
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
        return "{" + ", ".join(sorted(map(repr, thing))) + "}" if isinstance(thing, (set, frozenset)) else repr(thing)

    def line(self, row: int) -> str:
        return shorten(self.text(row), 120)

    def name(self, row: int) -> str:
        return shorten(self.text(row), 40)

    def card(self, cluster: int) -> str:
        medoid = self.text(int(self.clustering.medoid_indices[cluster]))
        html = f'<pre class="text" tabindex="0">{escape(medoid)}</pre>'
        for name, rows in self.examples(cluster, 4, 2).items():
            texts = "".join(f"<li>{escape(shorten(self.text(row), 60))}</li>" for row in rows)
            html += f'<div class="examples"><b>{name}</b><ul>{texts}</ul></div>'
        return html


class Images(Things):
    """Rows that are pixels."""

    noun = "image"

    def __init__(self, clustering: Clustering, X: Any, shape: tuple[int, ...]) -> None:
        super().__init__(clustering)
        self._X, self._shape = X, shape
        part = np.asarray(X[:: max(len(X) // 2000, 1)], dtype=np.float64)
        self._low, self._range = float(part.min()), float(np.ptp(part)) or 1.0
        # Strokes on an empty background, as in handwriting, are shown as ink on paper, and as chalk on a dark page.
        self._ink = len(shape) == 2 and float(np.median(part)) <= self._low + 0.1 * self._range
        smoothed = max(shape[:2]) <= _SMOOTHED_SIDE
        self._look = (" ink" if self._ink else "") + ("" if smoothed else " sharp")
        self._side = 120 if smoothed else 168

    def _pixels(self, rows: Any) -> _Pixels:
        values = np.asarray(self._X[rows], dtype=np.float64).reshape(-1, *self._shape)
        shade = np.clip((values - self._low) / self._range, 0, 1) * 255
        return np.asarray(255 - shade if self._ink else shade).round().astype(np.uint8)

    def card(self, cluster: int) -> str:
        row = int(self.clustering.medoid_indices[cluster])
        html = (
            f'<img class="medoid{self._look}" style="--side:{self._side}px" src="{_data_uri(self._pixels([row])[0])}" '
            f'alt="medoid {cluster}, row {row}">'
        )
        for name, rows in self.examples(cluster, 5, 2).items():
            strip = _data_uri(_sheet(self._pixels(rows), len(rows)))
            size = f"--images:{len(rows)};--ratio:{self._shape[1] / self._shape[0]:.3f}"
            html += (
                f'<figure class="strip" style="{size}"><figcaption>{name}</figcaption>'
                f'<img class="small{self._look}" src="{strip}" alt="rows {", ".join(map(str, rows))}"></figure>'
            )
        return html

    def thumbnails(self, rows: Rows) -> dict[str, Any] | None:
        if len(rows) * int(np.prod(self._shape)) > _THUMBNAIL_PIXELS:
            return None
        return {
            "picture": _data_uri(_sheet(self._pixels(rows), _SHEET_COLUMNS)),
            "columns": _SHEET_COLUMNS,
            "width": self._shape[1],
            "height": self._shape[0],
            "look": self._look.strip(),
        }


def _data_uri(pixels: _Pixels) -> str:
    """Return grey (h, w) or RGB (h, w, 3) pixels as the address of a PNG image.

    >>> _data_uri(np.zeros((2, 3), np.uint8))[:33]
    'data:image/png;base64,iVBORw0KGgo'
    """
    height, width = pixels.shape[:2]
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()  # filter 0 before each line: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _sheet(images: _Pixels, columns: int) -> _Pixels:
    """Arrange images of shape (n, h, w) or (n, h, w, 3) in rows of ``columns`` images.

    >>> _sheet(np.arange(3, dtype=np.uint8).reshape(3, 1, 1), 2).tolist()
    [[0, 1], [2, 0]]
    """
    n, height, width, *channels = images.shape
    rows = -(-n // columns)
    cells = np.pad(images, [(0, rows * columns - n)] + [(0, 0)] * (images.ndim - 1))
    return (
        cells.reshape(rows, columns, *images.shape[1:])
        .swapaxes(1, 2)
        .reshape(rows * height, columns * width, *channels)
    )


class Series(Things):
    """Time series of one or several channels and of any length, as sparklines."""

    noun = "series"
    wide = True

    def __init__(self, clustering: Clustering, series: Any) -> None:
        super().__init__(clustering)
        self._series = series
        self._channels_first = (clustering.parameters.get("metric_params") or {}).get("layout") == "channels_first"
        medoids = [self._values(row) for row in clustering.medoid_indices.tolist()]
        self._low, self._high = min(float(s.min()) for s in medoids), max(float(s.max()) for s in medoids)

    def _values(self, row: int) -> Float64s:
        """Return a series as an array of shape (length, channels)."""
        values = np.asarray(self._series[row], dtype=np.float64)
        if values.ndim == 1:
            return values[:, None]
        return values.T if self._channels_first else values

    def line(self, row: int) -> str:
        values = self._values(row)
        return f"{len(values):,} values from {format_number(values.min())} to {format_number(values.max())}"

    def card(self, cluster: int) -> str:
        row = int(self.clustering.medoid_indices[cluster])
        lines = [self._path(member, "faint") for rows in self.examples(cluster, 6, 2).values() for member in rows]
        label = escape(f"medoid {cluster}, row {row}: {self.line(row)}")
        return (
            f'<svg class="spark" viewBox="0 0 200 80" preserveAspectRatio="none" role="img" aria-label="{label}">'
            f"<title>{label}</title>{''.join(lines)}{self._path(row, 'bold')}</svg>"
            f'<p class="pair">{escape(self.line(row))}; thin lines are members</p>'
        )

    def _path(self, row: int, style: str) -> str:
        values = self._values(row)
        values = np.repeat(values, 2, axis=0) if len(values) == 1 else values  # a single value is a flat line
        heights = 76 - 72 * np.clip((values - self._low) / ((self._high - self._low) or 1.0), -0.05, 1.05)
        x = np.linspace(0, 200, len(values))
        lines = (" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, channel, strict=True)) for channel in heights.T)
        return "".join(f'<polyline class="{style}" points="{points}"/>' for points in lines)
