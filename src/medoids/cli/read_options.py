"""How a file is read: what the command line says, what the file itself shows, and what a model remembers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from medoids.cli.encodings import is_encoding

__all__ = ["FORMATS", "ReadOptions"]

FORMATS = ("csv", "tsv", "parquet", "jsonl", "npy", "npz", "mtx", "text")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file. None means: find out from the file.

    Attributes
    ----------
    format : str or None
        One of ``FORMATS``.
    delimiter, header, decimal
        Of CSV and TSV files.
    encoding : str or None
        Of text files; UTF-8 by default.
    date_format : str or None
        Of all columns of dates, as `datetime.strptime` takes it.
    array : str
        Name of an array in an NPZ file or a Zarr group.
    dates : mapping
        Format of each column of a CSV file that holds dates in other forms than ISO 8601.
    texts : tuple of str
        Columns of a CSV file that are text even if their cells look like numbers or dates.
    max_bytes : int or None
        Largest size of a packed file when it is unpacked.
    """

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None
    date_format: str | None = None
    array: str = ""
    dates: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    max_bytes: int | None = None

    def given(self) -> list[str]:
        """Return the options for CSV and TSV files that are set."""
        named = ("delimiter", "header", "decimal", "date_format")
        return [f"--{name.replace('_', '-')}" for name in named if getattr(self, name) is not None]

    def remembered(self) -> dict[str, Any]:
        """Return what a model file keeps, so that new files are read in the same way."""
        return {
            name: value for name, value in asdict(self).items() if name not in ("date_format", "texts", "max_bytes")
        }

    @classmethod
    def recalled(cls, kept: Any) -> ReadOptions:
        """Return what `remembered` gave; a ValueError if it is not that.

        >>> ReadOptions.recalled(ReadOptions(decimal=",").remembered()).decimal
        ','
        """
        empty = cls().remembered()
        if not isinstance(kept, dict) or kept.keys() != empty.keys():
            raise ValueError("it does not say how the file was read")
        dates, delimiter, encoding = kept["dates"], kept["delimiter"], kept["encoding"]
        if (
            kept["format"] not in (None, *FORMATS)
            or kept["header"] not in (None, True, False)
            or kept["decimal"] not in (None, ".", ",")
            or not (delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1))
            or not (encoding is None or (isinstance(encoding, str) and is_encoding(encoding)))
            or not isinstance(kept["array"], str)
            or not isinstance(dates, dict)
            or not all(isinstance(form, str) for form in dates.values())
        ):
            raise ValueError("what it says about how the file was read is not valid")
        return cls(**kept)

    def over(self, other: ReadOptions) -> ReadOptions:
        """Return these options, with those of ``other`` where these say nothing.

        >>> ReadOptions(decimal=",").over(ReadOptions(decimal=".", delimiter=";")).delimiter
        ';'
        """
        empty = ReadOptions()
        missing = [f.name for f in fields(self) if getattr(self, f.name) == getattr(empty, f.name)]
        return replace(self, **{name: getattr(other, name) for name in missing})
