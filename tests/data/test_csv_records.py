"""Rows of CSV files of any size against Python's `csv` module with its strict rules."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

import numpy as np
import pytest

from paddle_layers.data import DataError, Dataset
from paddle_layers.data.formats import csv_records, text_lines
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


def oracle(content: bytes, delimiter: str, quote: str) -> list[tuple[list[str], int]] | None:
    """Rows with the lines that they end in; None for a file that is refused."""
    options = {"quotechar": quote} if quote else {}
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
        file, dialect = InMemory(text.encode()), Dialect(delimiter, quote)
        wanted = oracle(text.encode(), delimiter, quote)
        if wanted is None:
            refused += 1
            with pytest.raises(DataError, match=r"f:\d+: "):
                IndexedLines(file, dialect.records(file))
            continue
        rows = [(dialect.cells(decoded(file, row)), row[0]) for row in dialect.records(file)]
        index = IndexedLines(file, dialect.records(file))
        late = [(dialect.cells(index.text(row)), int(index.numbers[row])) for row in range(len(index))]
        assert rows == late, text
        assert filled(rows) == filled(wanted), (text, delimiter, quote)
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
