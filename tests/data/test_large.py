"""Tables and texts that are too large for memory give what small ones do; the limit is lowered here."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_layers.data import Batches, DataError, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import tables, text_lines
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.data.lazy_columns import StoredColumn
from paddle_layers.define import Type, registries


def opened(source, base, wanted=None, **attributes):
    definition = registries["source"][source]
    return definition.create(definition.bind(attributes)).open_fields(base, wanted)


def long_format(base):
    definition = registries["source"]["csv"]
    source = definition.create(definition.bind({"file": "f", "empty": "mean", **LONG_SETTINGS}))
    return source.open_rows(base, RequestedFields(sequences={"value", "both", "mode", "remark"}))


@pytest.fixture
def both(tmp_path, monkeypatch):
    """A source over a text, in memory and read late; both with words and gaps made numbers."""

    def open_both(source, content, /, **attributes):
        (tmp_path / "f").write_text(content, encoding="utf-8", newline="")
        found = []
        for limit in (2**28, 0):
            monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
            dataset = opened(source, tmp_path, file="f", **attributes)
            found.append(encoded(dataset, learn(dataset, np.arange(0, len(dataset), 2)), "here"))
        assert found[1].is_stored
        assert not found[0].is_stored
        return found

    return open_both


def same(small, large):
    assert small.fields.keys() == large.fields.keys()
    assert len(small) == len(large)
    assert [small.place(row) for row in range(len(small))] == [large.place(row) for row in range(len(large))]
    rows = np.array([*range(len(small))][::-1])
    for name, column in small.rows(rows).items():
        other = large.rows(rows)[name]
        if isinstance(column, np.ndarray):
            assert column.dtype == other.dtype
            assert np.array_equal(column, other)
        else:
            assert np.array_equal(column.data, other.data)
            assert np.array_equal(column.starts, other.starts)


ROWS = 'height,width,kind,remark\n1,2,rose,"a b"\n\n3,,tulip,"b, c\nd"\r\n,,\n5,6.5,rose,\n7,8,"ro""se",x'


@pytest.mark.parametrize("piece", [2**20, 1, 5])
@pytest.mark.parametrize("empty", ["mean", "mark"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_is_the_same(both, monkeypatch, piece, empty, mark):
    monkeypatch.setattr(text_lines, "_PIECE", piece)
    same(*both("csv", mark + ROWS.replace("\n,,\n", "\n,,,\n"), ids=["kind"], text=["remark"], empty=empty))


def test_imputed_columns_are_the_same(both):
    same(
        *both(
            "csv",
            ROWS.replace("\n,,\n", "\n,,,\n"),
            ids=["kind"],
            text=["remark"],
            empty="mark",
            impute=["width = median"],
        )
    )


def test_labels_and_columns_are_the_same(both):
    text = "".join(f"{n},{n % 3},{n * 0.5},{'ab'[n % 2]}\n" for n in range(30))
    same(*both("csv", text, label="2", columns=["x = 1, 3"]))
    same(*both("csv", text, label="4", classes=["b", "a"]))


LONG = """\
name,day,value,mode,kind,remark
b,2,4,off,yes,good wine
a,1,1,on,no,bad
b,3,,on,yes,good wine
a,2,2,on,no,bad
"c
d",1,7,idle,yes,
a,10,5,off,no,bad
"""
LONG_SETTINGS = {
    "series": "name",
    "time": "day",
    "columns": ["value", "both = value, day"],
    "ids": ["mode"],
    "text": ["remark"],
    "label": "kind",
    "classes": ["yes", "no"],
}


@pytest.mark.parametrize("empty", ["mean", "mark"])
def test_series_are_the_same(both, monkeypatch, empty):
    monkeypatch.setattr(tables, "AT_ONCE", 4)  # and one series per read
    small, large = both("csv", LONG, empty=empty, **LONG_SETTINGS)
    same(small, large)
    assert [large.file_of(row) for row in range(3)] == ["b", "a", "c\nd"]
    rows = np.array([1, 0, 1])  # a batch of several sources may repeat a sample
    assert large.rows(rows)["mode"].data.tolist() == small.rows(rows)["mode"].data.tolist()


def test_errors_of_series_are_reported_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    for old, new, message in (
        ("a,2,2", "a,1,2", r"f:5: column 2 \(`day`\): the time '1' is a duplicate in the series 'a' \(.*f:3\)"),
        ("b,3,,on,yes", "b,3,,on,no", r"f:4: field `label` is 1, but 0 in .*f:2 of the same series"),
        ("b,3,,on", "b,3,x,on", r"f:4: column 3 \(`value`\): 'x' is not a number"),
    ):
        (tmp_path / "f").write_text(LONG.replace(old, new))
        dataset = long_format(tmp_path)
        with pytest.raises(DataError, match=message):
            dataset.rows(np.arange(3))["value" if "x" in new else "label"]
        assert dataset.raw["value"].values.take(np.array([2])).data.tolist() == [[7]]
    (tmp_path / "f").write_text(LONG.replace("a,2", ",2"))
    with pytest.raises(DataError, match=r"f:5: column 1 \(`name`\): empty cell; write the name of the series"):
        long_format(tmp_path)
    (tmp_path / "f").write_text(LONG.replace("a,2,2,on,no,bad", "a,2,2"))
    with pytest.raises(DataError, match="f:5: got 3 cells, expected 6"):
        long_format(tmp_path)


def test_a_bad_row_is_told_when_it_is_read_or_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    (tmp_path / "f").write_text("a,b\n1,2\n3,x\n5,6\n7\n")
    dataset = opened("csv", tmp_path, file="f")
    assert isinstance(dataset.fields["features"], StoredColumn)
    feeds = make_feeds(dataset, {"features": Type.dense(2)})
    with pytest.raises(DataError, match=r"f:3: column 2 \(`b`\): 'x' is not a number"):
        Batches(dataset, 4, feeds=feeds, shuffle=False).take()
    batches = Batches(dataset, 4, feeds=feeds, shuffle=False, skip=True, workers=1)
    assert batches.take()["features"].tolist() == [[1, 2], [5, 6]]
    assert list(batches.bad) == [1, 3]
    assert "got 1 cells, expected 2 as in the rows above" in batches.bad[3]
    batches.close()


def test_training_parts_of_large_tables(tmp_path, monkeypatch):
    from paddle_layers.data.sampling import split_by_share

    monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    (tmp_path / "f").write_text("x,kind\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(40)))
    dataset = opened("csv", tmp_path, file="f", ids=["kind"])
    train, test = split_by_share(dataset, {"test": 0.25}, 0, "kind").values()
    assert sorted(test % 2) == [0] * 5 + [1] * 5
    assert len(train) == 30


TEXT = "good\tthe sun\n\nbad\tthe  rain  rain\r\n \ngood\tbeer\nbad\t"


@pytest.mark.parametrize("dictionary", [True, False])
def test_lines_of_words_are_the_same(both, tmp_path, dictionary):
    (tmp_path / "words.txt").write_text("?\nthe\nsun\nrain\n")
    settings = {"dictionary": "words.txt", "unknown": "?"} if dictionary else {}
    same(*both("text", TEXT, classes=["good", "bad"], **settings))
    same(*both("text", "the sun\nrain\n", **settings))


def test_a_word_that_is_not_known_is_told_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    (tmp_path / "words.txt").write_text("the\nsun\n")
    (tmp_path / "f").write_bytes(b"the sun\nthe moon\nthe \xff\nsun\n")
    dataset = opened("text", tmp_path, file="f", dictionary="words.txt")
    feeds = make_feeds(dataset, {"words": Type.ids(2, 1)})
    with pytest.raises(DataError, match="f:2: unknown word `moon`"):
        Batches(dataset, 4, feeds=feeds, shuffle=False).take()
    batches = Batches(dataset, 4, feeds=feeds, shuffle=False, skip=True)
    assert batches.take()["words"].data.tolist() == [0, 1, 1]
    assert "f:3: invalid UTF-8" in batches.bad[2]
