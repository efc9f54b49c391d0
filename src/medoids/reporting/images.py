"""Arrays of pixels as PNG files."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

__all__ = ["Pixels", "data_uri", "sheet"]

Pixels = npt.NDArray[np.uint8]


def data_uri(pixels: Pixels) -> str:
    """Return grey (h, w) or RGB (h, w, 3) pixels as the address of a PNG image.

    >>> data_uri(np.zeros((2, 3), np.uint8))[:33]
    'data:image/png;base64,iVBORw0KGgo'
    """
    height, width = pixels.shape[:2]
    kind = 0 if pixels.ndim == 2 else 2
    rows = np.ascontiguousarray(pixels).reshape(height, -1)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()  # filter 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def sheet(images: Pixels, columns: int) -> Pixels:
    """Arrange images of shape (n, h, w) or (n, h, w, 3) in rows of ``columns`` images.

    >>> sheet(np.arange(3, dtype=np.uint8).reshape(3, 1, 1), 2).tolist()
    [[0, 1], [2, 0]]
    """
    n, height, width = images.shape[:3]
    rows = -(-n // columns)
    out = np.zeros((rows * columns, *images.shape[1:]), np.uint8)
    out[:n] = images
    out = out.reshape(rows, columns, *images.shape[1:]).swapaxes(1, 2)
    return out.reshape(rows * height, columns * width, *images.shape[3:])
