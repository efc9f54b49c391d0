"""Arrays whose files say more than they hold, or point beyond it: a message, and neither a crash nor a wrong array."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from medoids.cli.contents import ReadOptions
from medoids.cli.messages import Failure
from medoids.cli.reading import read


def header(shape: str = "(3, 2)", descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def npy(text: str, body: bytes = b"\0" * 48) -> bytes:
    line = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line + body


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(array))
    return stream.getvalue()


def npz(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def sparse(form: Any, shape: Any, **parts: Any) -> bytes:
    return npz({f"{key}.npy": saved(value) for key, value in {"format": form, "shape": shape, **parts}.items()})


def market(head: str, rest: str) -> bytes:
    return f"%%MatrixMarket matrix {head}\n{rest}\n".encode()


BAD = {
    "negative.npy": (npy(header("(-3, 2)")), r"no array has the shape \(-3, 2\)"),
    "huge.npy": (npy(header("(1000000000000, 1000000000)")), "its header declares 8,000,000,000,000,000,000,000 bytes"),
    "beyond integers.npy": (npy(header(f"({10**30},)")), "its header declares"),
    "cut.npy": (npy(header("(7, 1)")), "its header declares 56 bytes .* but 48 follow"),
    "rows of nothing.npy": (npy(header("(1000000000000, 0)")), "no array has the shape"),
    "floats.npy": (npy(header("(3.0, 2)")), "shape is not valid"),
    "open bracket.npy": (npy("{"), "is not a whole .npy file"),
    "deep.npy": (npy("(" * 5000 + ")" * 5000), "is not a whole .npy file"),
    "not a dictionary.npy": (npy("3"), "not a dictionary"),
    "expression.npy": (npy("__import__('os')"), "is not a whole .npy file"),
    "descr.npy": (npy(header(descr="[[]]")), "is not a whole .npy file"),
    "objects.npy": (npy(header(descr="'|O'")), "is not a whole .npy file"),
    "no character.npy": (npy(header("(2,)", "'<U3'"), b"\xff" * 24), "0xffffffff is not a Unicode character"),
    "surrogate.npy": (npy(header("(1,)", "'<U1'"), b"\x00\xd8\0\0"), "0xd800 is not a Unicode character"),
    "version.npy": (b"\x93NUMPY\x09\x09" + b"\0" * 60, "is not a whole .npy file"),
    "huge.npz": (npz({"X.npy": npy(header("(1000000000000, 2)"))}), "its header declares 16,000,000,000,000 bytes"),
    "negative.npz": (npz({"X.npy": npy(header("(-3, 2)"))}), "no array has the shape"),
    "no array.npz": (npz({"hello.txt": b"hi"}), "is not a whole .npz file"),
    "empty.npz": (npz({}), "holds no array"),
    "beyond.npz": (sparse("csr", [3, 3], data=[1.0], indices=[2 * 10**9], indptr=[0, 1, 1, 1]), "indices must be < 3"),
    "before.npz": (sparse("csr", [3, 3], data=[1.0], indices=[-7], indptr=[0, 1, 1, 1]), "indices must be >= 0"),
    "pointers.npz": (sparse("csr", [2, 3], data=[1.0, 2], indices=[0, 1], indptr=[0, 10**8, 2]), "non-decreasing"),
    "columns.npz": (sparse("csc", [3, 3], data=[1.0], indices=[2 * 10**9], indptr=[0, 1, 1, 1]), "indices must be < 3"),
    "blocks.npz": (sparse("bsr", [2, 2], data=[[[1.0, 2], [3, 4]]], indices=[7], indptr=[0, 1]), "column index values"),
    "block before.npz": (sparse("bsr", [2, 2], data=2 * [[[1.0]]], indices=[-9, 0], indptr=[0, 1, 2]), "must be >= 0"),
    "block pointers.npz": (
        sparse("bsr", [2, 2], data=2 * [[[1.0]]], indices=[0, 1], indptr=[0, 10**8, 2]),
        "non-decreasing",
    ),
    "diagonal.npz": (sparse("dia", [10**12, 3], data=[[1.0]], offsets=[0]), "more than the limit"),
    "rows.npz": (sparse("coo", [10**12, 3], data=[1.0], row=[0], col=[0]), "more than the limit"),
    "unknown.npz": (sparse("xyz", [3, 3], data=[1.0]), "is not a whole .npz file"),
    "format.npz": (sparse(5, [3, 3], data=[1.0]), "is not a whole .npz file"),
    "shape.npz": (sparse("csr", 3, data=[1.0], indices=[0], indptr=[0, 1]), "is not a whole .npz file"),
    "texts.npz": (sparse("csr", [1, 3], data=["a"], indices=[0], indptr=[0, 1]), "is not a whole .npz file"),
    "dense.mtx": (market("array real general", "1000000000 1000000000\n1"), "1,000,000,000,000,000,000 entries"),
    "rows.mtx": (market("coordinate real general", "1000000000000 3 1\n1 1 5"), "more than the limit"),
    "entries.mtx": (market("coordinate real general", "3 3 100000000000\n1 1 5"), "100,000,000,000 entries"),
    "odd end.mtx": (market("coordinate real general", "3 3 1\n1 1 5\x0b")[:-1], "the byte b'.x0b' among its numbers"),
    "complex.mtx": (market("coordinate complex general", "3 3 1\n1 1 5 5"), "complex"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_absurd_file_is_refused(name: str, tmp_path: Path) -> None:
    content, words = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Failure, match=words):
        read(str(tmp_path / name))


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    content = bytearray(npz({"X.npy": saved([[1.0, 2.0]])}))
    content[6] |= 1  # the bit of the member's header, and of the directory's entry, that says so
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(Failure, match="encrypted"):
        read(str(tmp_path / "x.npz"))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_sparse_format_of_scipy_is_read(form: str, tmp_path: Path) -> None:
    X = np.array([[0.0, 2, 0, 0], [1, 0, 0, 3]])
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(X).asformat(form))
    contents = read(str(tmp_path / "x.npz"))
    assert contents.kind == "sparse"
    np.testing.assert_array_equal(contents.values.toarray(), X)


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "general"])
def test_a_dense_symmetric_matrix_has_half_its_entries_in_the_file(symmetry: str, tmp_path: Path) -> None:
    X = np.zeros((40, 40), dtype=int)
    X[3, 5], X[5, 3] = 1, -1 if symmetry == "skew-symmetric" else 1
    scipy.io.mmwrite(tmp_path / "x.mtx", X, symmetry=symmetry)
    np.testing.assert_array_equal(read(str(tmp_path / "x.mtx")).values, X)


def test_one_array_of_several(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", X=np.eye(3), y=np.arange(3), other=np.array([{}], dtype=object))
    np.testing.assert_array_equal(read(str(tmp_path / "x.npz")).values, np.eye(3))
    np.testing.assert_array_equal(read(str(tmp_path / "x.npz"), ReadOptions(array="y")).values, [[0], [1], [2]])
    with pytest.raises(Failure, match="has no such array; it has X, y, other"):
        read(str(tmp_path / "x.npz"), ReadOptions(array="z"))
