"""CSV and JSON lines as people have them: long lines, decimal commas, dates, encodings; and the same in predict."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from medoids.cli.contents import ReadOptions, Selection
from medoids.cli.features import Features, make_features
from medoids.cli.messages import Failure, WrongUsage
from medoids.cli.model import check_reading
from medoids.cli.reading import read
from medoids.cli.results import write_table

Run = Callable[..., subprocess.CompletedProcess[str]]


def read_text(folder: Path, text: str | bytes, name: str = "x.csv", **how: Any) -> Any:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(str(file), ReadOptions(**how))


def features_of(folder: Path, text: str, **how: Any) -> Features:
    return make_features(read_text(folder, text, **how), Selection(), None, "none")


@pytest.mark.parametrize("length", [5, 50, 500], ids=["short", "over 64 KiB", "over 1 MiB"])
def test_a_long_header(tmp_path: Path, length: int) -> None:
    width = 3_000
    names = [f"n{at:0{length}}" for at in range(width)]
    rows = [",".join(map(str, range(start, start + width))) for start in (0, 5)]
    contents = read_text(tmp_path, "\n".join([",".join(names), *rows]) + "\n")
    assert contents.values.column_names == names
    assert contents.values[names[-1]].to_pylist() == [width - 1, width + 4]


def test_a_long_cell(tmp_path: Path) -> None:
    long = "x" * (3 << 20)
    quoted = "a\n" * (1 << 20)
    contents = read_text(tmp_path, f'id,text\n1,{long}\n2,"{quoted}"\n3,y\n')
    assert contents.values["text"].to_pylist() == [long, quoted, "y"]
    assert contents.place(2) == f"line {3 + (1 << 20) + 1}"


def test_a_line_ends_where_json_lines_say(tmp_path: Path) -> None:
    texts = ["one\u2028two", "three\x85four", "five\x0bsix", "plain"]
    lines = [json.dumps(text, ensure_ascii=False) for text in texts]
    contents = read_text(tmp_path, "\r\n".join(lines), "x.jsonl")
    assert contents.values == ["one\u2028two", "three\x85four", *texts[2:]]
    assert contents.place(3) == "line 4"


@pytest.mark.parametrize("name", ["x.jsonl", "x.txt", "x.csv"])
def test_bytes_that_are_not_utf_8(tmp_path: Path, name: str) -> None:
    text = '"a","b"\n"Käse","ä"\n' if name == "x.csv" else '"a"\n"Käse"\n'
    latin = text.encode("latin-1")
    with pytest.raises(Failure, match=r"line 2 is not UTF-8 text; name the file's encoding with --encoding"):
        read_text(tmp_path, latin, name)
    contents = read_text(tmp_path, latin, name, encoding="latin-1")
    cells = contents.values["a"].to_pylist() if name == "x.csv" else contents.values
    assert cells[-1].strip('"') == "Käse"


def test_a_header_that_is_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="line 1 is not UTF-8"):
        read_text(tmp_path, "Größe,b\n1,2\n".encode("latin-1"))


def test_the_line_of_a_byte_far_into_a_file(tmp_path: Path) -> None:
    # Beyond the first block that is checked, and with a character that the end of that block cuts in two.
    start = b'"' + b"a" * ((1 << 22) - 2) + "é".encode() + b'"\n'
    assert len(read_text(tmp_path, start, "x.jsonl").values) == 1
    with pytest.raises(Failure, match="line 3 is not UTF-8"):
        read_text(tmp_path, start + b'"b"\n"\xff"\n', "x.jsonl")


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="line 2 holds half of a surrogate pair"):
        read_text(tmp_path, '"a"\n"\\ud800"\n', "x.jsonl")
    assert read_text(tmp_path, '"\\ud83d\\ude00"\n', "x.jsonl").values == ["😀"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_names_the_encoding(tmp_path: Path, encoding: str) -> None:
    contents = read_text(tmp_path, "größe;b\n1;2\n3;4\n".encode(encoding))
    assert contents.values.to_pydict() == {"größe": [1, 3], "b": [2, 4]}


def test_an_encoding_that_is_not_the_files(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="line 2 is not ASCII text"):
        read_text(tmp_path, "a,b\né,2\n", encoding="ascii")
    np.save(tmp_path / "x.npy", np.eye(2))
    with pytest.raises(WrongUsage, match="--encoding is for text files"):
        read(str(tmp_path / "x.npy"), ReadOptions(encoding="latin-1"))


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        pytest.param("a;b\n1,5;2\n-2;,5\n", None, [[1.5, 2], [-2, 0.5]], id="detected"),
        pytest.param('a,b\n"1,5",2\n"2,25",3\n', None, [[1.5, 2], [2.25, 3]], id="in quotes"),
        pytest.param("a;b\n1,234;2\n2,345;3\n", ",", [[1.234, 2], [2.345, 3]], id="thousands or decimals"),
        pytest.param("a;b\n0,234;2\n2,345;3\n", None, [[0.234, 2], [2.345, 3]], id="no thousands"),
        pytest.param("x\n1,5\n2,5\n", ",", [[1.5], [2.5]], id="one column"),
        pytest.param("a;b\n1.5;2\n2.5;3\n", None, [[1.5, 2], [2.5, 3]], id="points"),
    ],
)
def test_decimal_commas(tmp_path: Path, text: str, decimal: str | None, expected: list[list[float]]) -> None:
    found = features_of(tmp_path, text, decimal=decimal)
    assert found.metric == "euclidean"
    np.testing.assert_array_equal(found.X, expected)
    assert any("commas are read as decimal signs" in note for note in found.notes) == (
        decimal is None and "," in text and "." not in text
    )


def test_commas_that_may_separate_thousands_are_noted(tmp_path: Path) -> None:
    found = features_of(tmp_path, "a;b\n" + "".join(f"{row},{row + 100};{row}\n" for row in range(1, 60)))
    assert found.metric == "gower"
    notes = " ".join(found.notes)
    assert "column 'a' holds text such as '1,101': if the comma is a decimal sign, add --decimal ," in notes
    assert "if it separates thousands, add --decimal ." in notes
    assert "--id" not in notes
    found = features_of(tmp_path, "a;b\n1,101;1\n2,202;2\n", decimal=".")
    assert found.X.tolist() == [[1101, 1], [2202, 2]]


def test_a_point_under_decimal_commas(tmp_path: Path) -> None:
    found = features_of(tmp_path, "a;b\n1,5;1.234\n2,5;2.345\n", decimal=",")
    assert found.X.tolist() == [[1.5, 1234], [2.5, 2345]]
    assert "column 'b' holds numbers such as 1.234: '.' is read as separating thousands" in found.notes
    with pytest.raises(Failure, match=r"line 4, column 'a' is '1\.5', which is not a number, but 3 other cells"):
        features_of(tmp_path, "a;b\n1,5;2\n3;2\n1.5;2\n2;2\n", decimal=",")


@pytest.mark.parametrize(
    ("cells", "decimal", "expected"),
    [
        (["1.234,56", "12,5", "-7"], ",", [1234.56, 12.5, -7]),
        (["1.234.567", "12"], ",", [1234567, 12]),
        (["1,234.5", "1,000"], ".", [1234.5, 1000]),
    ],
)
def test_separated_thousands(tmp_path: Path, cells: list[str], decimal: str, expected: list[float]) -> None:
    contents = read_text(tmp_path, "a;b\n" + "".join(f"{cell};x\n" for cell in cells))
    assert contents.values["a"].to_pylist() == expected
    assert contents.how.decimal == decimal
    assert any("is read as separating thousands" in note for note in contents.notes)


@pytest.mark.parametrize("cells", [["1,234", "2,345"], ["1.234,56", "Rome"], ["1.23,4"], ["12.34.56"]])
def test_what_may_not_be_separated_thousands(tmp_path: Path, cells: list[str]) -> None:
    contents = read_text(tmp_path, "a;b\n" + "".join(f"{cell};x\n" for cell in cells))
    assert contents.values["a"].to_pylist() == cells


def test_predict_reads_thousands_and_names_the_wrong_cell(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("Größe;b\n1.234,5;u\n2.000,25;v\n7,5;u\n8;v\n", encoding="utf-8")
    medoids("cluster", "x.csv", "-k", 2, "--save", "model")
    (tmp_path / "y.csv").write_text("Größe;b\n1.234,5;u\n8,5;v\n", encoding="utf-8")
    assert medoids("predict", "model", "y.csv").stdout.splitlines()[1].split(",")[0] == "0"
    (tmp_path / "z.csv").write_text("Größe;b\n8,5;v\n1.23,5;u\n", encoding="utf-8")
    message = medoids("predict", "model", "z.csv", code=1).stderr
    assert "z.csv: line 3, column 'Größe' is '1.23,5', but in the model's file it is a number; correct it" in message


def test_formats_of_short_dates_are_suggested(tmp_path: Path) -> None:
    contents = read_text(tmp_path, "d,x\n12/31/24,1\n11/30/24,2\n")
    assert "if 12/31/24 is a date, give its form with --date-format, such as %m/%d/%y" in " ".join(contents.notes)
    given = read_text(tmp_path, "d,x\n12/31/24,1\n11/30/24,2\n", date_format="%m/%d/%y")
    assert given.values["d"][0].as_py() == datetime(2024, 12, 31)


def test_underscores_are_not_numbers(tmp_path: Path) -> None:
    assert features_of(tmp_path, "a,b\n1_000,1\n2_000,2\n").metric == "gower"


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["31.12.2024", "1.2.2025", ""], datetime(2024, 12, 31)),
        (["31.12.2024 18:30", "01.02.2025 07:00"], datetime(2024, 12, 31, 18, 30)),
        (["03/04/2024", "25/12/2024"], datetime(2024, 4, 3)),
        (["03/04/2024", "12/25/2024"], datetime(2024, 3, 4)),
        (["25-12-2024", "03-04-2024"], datetime(2024, 12, 25)),
        (["2024/12/31", "2025/01/01"], datetime(2024, 12, 31)),
        (["31.12.24", "01.02.25"], datetime(2024, 12, 31)),
        (["01 Jan 2020", "12 May 2021"], datetime(2020, 1, 1)),
        (["March 5 2021", "May 6 2021"], datetime(2021, 3, 5)),
        (["05-Mar-2021 10:30"], datetime(2021, 3, 5, 10, 30)),
    ],
)
def test_dates(tmp_path: Path, cells: list[str], first: datetime) -> None:
    contents = read_text(tmp_path, "d,x\n" + "".join(f"{cell},1\n" for cell in cells))
    assert pa.types.is_timestamp(contents.values["d"].type)
    assert contents.values["d"][0].as_py() == first
    assert any("column 'd' is read as dates" in note for note in contents.notes)


@pytest.mark.parametrize(
    "cells", [["1.2.3", "4.5.6"], ["31.02.2024"], ["10.0.0.1"], ["12/13/14"], ["31.12.2024", "Rome"]]
)
def test_no_dates(tmp_path: Path, cells: list[str]) -> None:
    contents = read_text(tmp_path, "d,x\n" + "".join(f"{cell},1\n" for cell in cells))
    assert contents.values["d"].to_pylist() == cells


def test_day_or_month(tmp_path: Path) -> None:
    text = "d,x\n03/04/2024,1\n05/06/2024,2\n"
    contents = read_text(tmp_path, text)
    assert contents.values["d"].to_pylist() == ["03/04/2024", "05/06/2024"]
    assert "--date-format %d/%m/%Y or %m/%d/%Y says which comes first" in " ".join(contents.notes)
    for form, first in (("%d/%m/%Y", datetime(2024, 4, 3)), ("%m/%d/%Y", datetime(2024, 3, 4))):
        assert read_text(tmp_path, text, date_format=form).values["d"][0].as_py() == first
    with pytest.raises(WrongUsage, match=r"no column of .* holds only dates of this form"):
        read_text(tmp_path, text, date_format="%d.%m.%Y")


def test_one_cell_that_is_not_a_date_is_noted(tmp_path: Path) -> None:
    text = "d,x\n31.12.2024,1\n30.12.2024,2\nunknown,3\n29.12.2024,4\n"
    notes = read_text(tmp_path, text).notes
    assert "column 'd' is read as text, not as dates, because of 'unknown' (line 4)" in notes


def test_ids_are_kept_as_they_are(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,x,day\n007,1,31.12.2024\n08,2,30.12.2024\n1e5,9,1.12.2024\n")
    run = medoids("cluster", "x.csv", "-k", 2, "--id", "id", "--ignore", "day", "-o", "-")
    assert [row["id"] for row in csv.DictReader(run.stdout.splitlines())] == ["007", "08", "1e5"]
    run = medoids("cluster", "x.csv", "-k", 2, "--id", "day", "--ignore", "id", "-o", "-")
    assert [row["day"] for row in csv.DictReader(run.stdout.splitlines())] == ["31.12.2024", "30.12.2024", "1.12.2024"]


def test_predict_reads_a_file_as_that_of_the_model_was_read(medoids: Run, tmp_path: Path) -> None:
    # Alone, the new file shows none of it: a comma before three digits, a day up to 12, codes that look like numbers.
    train = ["größe;tag;code", "0,5;25/12/2024;01", "0,25;24/12/2024;A", "90,5;01/02/2020;1", "91,5;02/02/2020;1"]
    new = ["größe;tag;code", "90,501;01/02/2020;1", "1,125;12/12/2024;01"]
    for name, lines in (("train.csv", train), ("new.csv", new)):
        (tmp_path / name).write_bytes("\n".join([*lines, ""]).encode("cp1252"))
    medoids("cluster", "train.csv", "-k", 2, "--metric", "gower", "--encoding", "cp1252", "--save", "model")
    rows = list(csv.DictReader(medoids("predict", "model", "new.csv").stdout.splitlines()))
    model = json.loads((tmp_path / "model").read_text())["model"]
    medoid = [dict(zip(model["columns"], row, strict=True)) for row in model["medoids"]["rows"]]
    assert model["reading"]["dates"] == {"tag": "%d/%m/%Y"}
    # Gower: the mean over three columns of |difference| / range, or 0 and 1 for text; ranges are those of the fit.
    days = (datetime(2024, 12, 25) - datetime(2020, 2, 1)).days

    def gower(size: float, day: datetime, code: str, other: dict[str, Any]) -> float:
        then = datetime(1970, 1, 1) + (datetime(1970, 1, 2) - datetime(1970, 1, 1)) * (other["tag"] / 86_400_000_000)
        return (abs(size - other["größe"]) / 91.25 + abs((day - then).days) / days + (code != other["code"])) / 3

    for row, cells in zip(
        rows, [(90.501, datetime(2020, 2, 1), "1"), (1.125, datetime(2024, 12, 12), "01")], strict=True
    ):
        expected = [gower(*cells, other) for other in medoid]
        assert float(row["distance"]) == pytest.approx(min(expected))
        assert int(row["cluster"]) == int(np.argmin(expected))


def test_predict_names_a_date_of_another_form(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("d,x\n31.12.2024,1\n30.12.2024,2\n01.01.2020,3\n")
    (tmp_path / "y.csv").write_text("d,x\n31.12.2024,1\n12/30/2024,2\n")
    (tmp_path / "z.csv").write_text("d,x\n2024-12-31,1\n2024-12-30,2\n")
    medoids("cluster", "x.csv", "-k", 1, "--save", "model", "-q")
    message = medoids("predict", "model", "y.csv", code=1).stderr
    assert "line 3, column 'd' is '12/30/2024', but the dates of the model's file have the form %d.%m.%Y" in message
    assert medoids("predict", "model", "z.csv").stdout.count("\n") == 3


def test_predict_without_a_header_as_the_model(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("Rome\t1\nOslo\t2\nRome\t1\nOslo\t5\n")
    (tmp_path / "y.tsv").write_text("Oslo\tx\nRome\t1\n")
    medoids("cluster", "x.tsv", "-k", 1, "--save", "model", "--columns", "c1")
    # Alone, its first line would be taken for a header.
    assert medoids("predict", "model", "y.tsv").stdout.count("\n") == 3


def test_a_model_with_invalid_read_options(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    medoids("cluster", "x.csv", "-k", 1, "--save", "model", "-q")
    body = json.loads((tmp_path / "model").read_text())["model"]
    check_reading(body, "model")
    for wrong, words in (
        ({"decimal": ";"}, "model.reading.decimal is ';'; it must be one of"),
        ({"delimiter": "ab"}, "model.reading.delimiter is 'ab'; it must be one ASCII character"),
        ({"encoding": "no"}, "model.reading.encoding is 'no'; it must be an encoding"),
        ({"format": "exe"}, "model.reading.format is 'exe'; it must be one of"),
        ({"header": "yes"}, "model.reading.header is 'yes'; it must be true or false"),
        ({"dates": [1]}, r"model.reading.dates is \[1\]; it must be an object"),
        ({"x": 1}, "model.reading has an unknown 'x'"),
    ):
        with pytest.raises(ValueError, match=words):
            check_reading({**body, "reading": {**body["reading"], **wrong}}, "model")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--encoding", "klingon"], "--encoding klingon is unknown"),
        (["--encoding", "hex"], "--encoding hex is unknown"),
        (["--decimal", ";"], "--decimal ; must be a point or a comma"),
        (["--date-format", "%H"], "--date-format %H must say where day, month and year are"),
        (["--delimiter", "ab"], "--delimiter 'ab' must be one ASCII character"),
    ],
)
def test_wrong_usage(medoids: Run, tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    assert words in medoids("cluster", "x.csv", "-k", 1, *options, code=2).stderr


def test_formulas_are_written_as_text_and_read_as_they_were(tmp_path: Path) -> None:
    texts = ["=1+2", "+49 30", "-x", "@sum", "\tq", "-", "'=x", "''@", "'tis", "a=b", "＝1", "-5", "+5", "-1.5e3"]
    table = pa.table({"=name": texts, "x": np.arange(len(texts)) - 3.5})
    for suffix in (".csv", ".tsv"):
        file = tmp_path / f"x{suffix}"
        write_table(table, file, suffix)
        with file.open(newline="") as lines:
            cells = list(csv.reader(lines, delimiter="\t" if suffix == ".tsv" else ","))
        assert cells[0] == ["'=name", "x"]
        assert [row[0] for row in cells[1:]] == [
            *(
                "'=1+2",
                "'+49 30",
                "'-x",
                "'@sum",
                "'\tq",
                "'-",
                "''=x",
                "'''@",
                "'tis",
                "a=b",
                "'＝1",
                "-5",
                "+5",
                "-1.5e3",
            )
        ]
        assert [float(row[1]) for row in cells[1:]] == table["x"].to_pylist()
        again = read(str(file), ReadOptions(header=True)).values
        assert again.to_pydict() == table.to_pydict()


def test_labels_with_risky_ids_go_round(medoids: Run, tmp_path: Path) -> None:
    ids = ["=cmd|' /C calc'!A0", "+1+1", "plain", "@x"]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"id": name, "x": at}) + "\n" for at, name in enumerate(ids)))
    medoids("cluster", "x.jsonl", "-k", 2, "--id", "id", "-o", "l.csv", "--medoids", "m.csv", "-q")
    assert read(str(tmp_path / "l.csv")).values["id"].to_pylist() == ids
    assert "\n=" not in (tmp_path / "l.csv").read_text()


def test_series_as_medoids_in_a_csv(medoids: Run, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("[0, 1]\n[0, 1.5, 2]\n[7]\n")
    medoids("cluster", "s.jsonl", "-k", 3, "--medoids", "m.csv", "-q")
    with (tmp_path / "m.csv").open() as lines:
        assert sorted(row["values"] for row in csv.DictReader(lines)) == ["[0.0, 1.0]", "[0.0, 1.5, 2.0]", "[7.0]"]
