"""Rows of CSV files of any size against Python's `csv` module with its strict rules."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from random import Random

import numpy as np
import pytest

from paddle_layers.data import DataError, Dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import converted_files, csv_records, text_lines
from paddle_layers.data.formats.converted_files import ENCODINGS
from paddle_layers.data.formats.csv_records import Dialect
from paddle_layers.data.formats.files import PositionedFile
from paddle_layers.data.formats.text_lines import IndexedLines, decoded
from paddle_layers.define import registries

PARTS = ('"', '"', '""', ",", ",", "\n", "\n", "\r\n", "\r", "a", "1", " ", ";", "\t", "é", "'", "x y", '5" pipe')
QUOTINGS = {'"': csv.QUOTE_MINIMAL, "'": csv.QUOTE_MINIMAL, "": csv.QUOTE_NONE}


def opened(path: Path, wanted: set[str] | None = None, **settings: object) -> Dataset:
    source = registries["source"]["csv"]
    found: Dataset = source.create(source.bind({"file": path.name, **settings})).open_fields(path.parent, wanted)
    return found


class InMemory(PositionedFile):
    """Bytes in place of a file."""

    def __init__(self, content: bytes) -> None:
        self.path, self.size, self._content = Path("f"), len(content), content

    def read(self, at: int, size: int) -> bytes:
        return self._content[at : at + size]


def oracle(content: bytes, delimiter: str, quote: str, *, spaces: bool) -> list[tuple[list[str], int]] | None:
    """Rows with the lines that they end in; None for a file that is refused."""
    options = {"quotechar": quote} if quote else {}
    options |= {"skipinitialspace": spaces}
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=delimiter, quoting=QUOTINGS[quote], strict=True, **options)
    try:
        return [(row, reader.line_num) for row in reader]
    except csv.Error:
        return None


def filled(rows: list[tuple[list[str], int]]) -> list[tuple[list[str], int]]:
    return [(row, line) for row, line in rows if any(cell.strip() for cell in row)]


def test_rows_are_those_of_the_csv_module_in_files_of_any_size(monkeypatch):
    random, refused = Random(0), 0
    for _ in range(3000):
        delimiter, quote = random.choice((",", ",", ";", "\t", "é")), random.choice(('"', '"', "'", ""))
        text = random.choice(("", "", "\ufeff")) + "".join(random.choices(PARTS, k=random.randrange(1, 25)))
        monkeypatch.setattr(text_lines, "_PIECE", random.choice((1, 2, 3, 7, 2**20)))
        spaces = random.random() < 0.3
        file, dialect = InMemory(text.encode()), Dialect(delimiter, quote, spaces=spaces)
        wanted = oracle(text.encode(), delimiter, quote, spaces=spaces)
        if wanted is None:
            refused += 1
            with pytest.raises(DataError, match=r"f:\d+: "):
                IndexedLines(file, dialect.records(file))
            continue
        rows = [(dialect.cells(decoded(file, row)), row[0]) for row in dialect.records(file)]
        index = IndexedLines(file, dialect.records(file))
        late = [(dialect.cells(index.text(row)), int(index.numbers[row])) for row in range(len(index))]
        assert rows == late, text
        assert filled(rows) == filled(wanted), (text, delimiter, quote, spaces)
    assert 500 < refused < 2500, "both kinds of files are tried"


@pytest.mark.parametrize("limit", [2**28, 0])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('x\ty\n1\t"a\n2\tb\n', r"f:2: quote not closed before the end of the file"),
        ('x\ty\n1\t"a\n2\t"b c"\n', r"f:3: unexpected text after the closing quote of the cell that starts in line 2"),
        ('x\ty\n1\t"a" b\n', r"f:2: unexpected text after the closing quote;"),
        ('x\ty\n1\t"a\nb"\t"c\n', r"f:3: quote not closed"),
    ],
)
def test_quotes_that_swallow_rows_are_refused_with_their_line(tmp_path, monkeypatch, text, message, limit):
    """Also in a column that no field has; without quotes every line is a row."""
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    path = tmp_path / "f"
    path.write_text(text)
    with pytest.raises(DataError, match=message + r".*`quote: none` in the source"):
        opened(path, delimiter="\t", columns=["features = x"])
    rows = 'x\ty\n1\t"a\n2\t"b c"\n3\t4" pipe\n'
    path.write_text(rows)
    data = opened(path, delimiter="\t", columns=["features = x"], quote="none")
    assert data.rows(np.arange(3))["features"].tolist() == [[1], [2], [3]]


@pytest.mark.parametrize("limit", [2**28, 0])
def test_long_cells_and_cells_in_single_quotes(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    path = tmp_path / "f"
    path.write_text("x,note\n1," + "a" * 300_000 + '\n2,"' + "b\n" * 80_000 + '"\n')
    assert opened(path, columns=["features = x"]).rows(np.arange(2))["features"].tolist() == [[1], [2]]
    path.write_text("'x','y,z'\n'1','2'\n")
    data = opened(path, quote="single")
    assert data.columns == {"features": ("x", "y,z")}
    assert data.rows(np.arange(1))["features"].tolist() == [[1, 2]]


@pytest.mark.parametrize("limit", [2**28, 0])
def test_one_quoted_empty_cell_is_a_row(tmp_path, monkeypatch, limit):
    """pandas writes a missing number of a table of one column so; an empty line is none."""
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    path = tmp_path / "f"
    path.write_text('x\n1\n""\n\n3\n')
    assert len(opened(path, columns=["features = x"], empty="mean")) == 3


def test_a_quote_before_ten_thousand_lines_is_told_within_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_records, "LONGEST", 2**16)
    path = tmp_path / "f"
    path.write_text('x,y\n1,a\n2,"b\n' + "3,c\n" * 40_000 + '4,"\n')
    with pytest.raises(DataError, match=r"f:3: quote not closed within 65536 bytes"):
        opened(path, columns=["features = x"])


@pytest.mark.parametrize("delimiter", ["\n", "\r", "ab", "", '"'])
def test_delimiters_that_cannot_be(tmp_path, delimiter):
    (tmp_path / "f").write_text("1,2\n")
    with pytest.raises(DataError, match="f: `delimiter` is"):
        opened(tmp_path / "f", delimiter=delimiter)


@pytest.mark.parametrize("limit", [2**28, 0])
def test_lines_before_the_header_comments_and_spaces(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    path = tmp_path / "f"
    path.write_text("made by hand\n150,4\n# x and y\nx, y\n  # none\n 1,  2\n3,   4\n")
    data = opened(path, skip_lines=2, comment="#", spaces="ignore")
    assert data.rows(np.arange(2))["features"].tolist() == [[1, 2], [3, 4]]
    path.write_text("  x   'y  z'\n 1 2\n3    '4'  \n")
    data = opened(path, delimiter=" ", quote="single", spaces="ignore")
    assert data.columns == {"features": ("x", "y  z")}
    assert data.rows(np.arange(2))["features"].tolist() == [[1, 2], [3, 4]]
    path.write_text('x, note\n1, "a, b"\n2, "c\n# no comment"\n')
    assert opened(path, comment="#", spaces="ignore", text=["note"]).rows(np.arange(2))["features"].tolist() == [
        [1],
        [2],
    ]


def test_many_spaces_take_linear_time():
    """A quote that stays open makes every way to divide the spaces fail."""
    dialect = Dialect(" ", "'", spaces=True)
    with pytest.raises(DataError, match="f:1: quote not closed"):
        list(dialect.records(InMemory((" " * 100_000 + "'a").encode())))


@pytest.mark.parametrize("limit", [2**28, 0])
def test_cells_that_stand_for_missing_values(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    path = tmp_path / "f"
    path.write_text('x,y,kind\n1,-999,a\n"NA",2,NA\n3, NA ,b\n')
    raw = opened(path, missing=["NA", "-999"], empty="mean", leave_out="kind")
    data = encoded(raw, learn(raw, np.arange(3)), "here")
    assert data.rows(np.arange(3))["features"].tolist() == [[1, 2], [2, 2], [3, 2]]
    raw = opened(path, missing=["NA"], empty="mark", ids=["kind"], leave_out="x, y")
    assert learn(raw, np.arange(3)).words["kind"] == ["", "a", "b"]


@pytest.mark.parametrize("limit", [2**28, 0])
@pytest.mark.parametrize("encoding", list(ENCODINGS))
def test_encodings_and_compression(tmp_path, monkeypatch, encoding, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    name = "größe" if encoding in ("utf_8", "utf_16", "latin_1", "cp1252", "cp1250", "gb18030") else "x"
    name = {"cp1251": "размер", "shift_jis": "大きさ", "big5": "大小", "euc_kr": "크기"}.get(encoding, name)
    content = f"{name},y\n1,2\n3,4\n".encode(encoding)
    for path, stored in ((tmp_path / "f", content), (tmp_path / "f.gz", gzip.compress(content))):
        path.write_bytes(stored)
        data = opened(path, encoding=encoding)
        assert data.columns == {"features": (name, "y")}
        assert data.rows(np.arange(2))["features"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        (gzip.compress(b"x,y\n1,2\n", mtime=0)[:-6], {}, "f: damaged gzip file"),
        (
            gzip.compress(b"x,y\n" + b"1,2\n" * 5000, mtime=0),
            {},
            "f: decompresses to more than 10000 bytes; decompress it first",
        ),
        (b"x,y\n1,2\n\x00", {"encoding": "utf_16"}, "f is not encoded in utf_16: "),
        (b"\x81\xff,y\n1,2\n", {"encoding": "shift_jis"}, "f is not encoded in shift_jis: "),
    ],
)
def test_files_that_cannot_be_converted(tmp_path, monkeypatch, content, settings, message):
    monkeypatch.setattr(converted_files, "_SMALL", 10_000)
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=message):
        opened(tmp_path / "f", **settings)
