"""Parquet files: columns of numbers, lists and words, row groups of several files."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from paddle_layers.data import BadRecords, Batches, DataError, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import parquet as parquet_files
from paddle_layers.define import Type, registries

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

X = np.arange(60, dtype=np.float32).reshape(20, 3)
KIND = np.array(["rose", "tulip", "rose", "lily"] * 5)


def write(path, rows=slice(None), size=6, **more):
    x = arrow.FixedSizeListArray.from_arrays(X[rows].ravel(), 3)
    label, kind = arrow.array(np.arange(20)[rows]), arrow.array(KIND[rows].tolist())
    parquet.write_table(arrow.table({"x": x, "label": label, "kind": kind, **more}), path, row_group_size=size)
    return path


def opened(base, *files, wanted=None):
    definition = registries["source"]["parquet"]
    return definition.create(definition.bind({"file": list(files)})).open_fields(base, wanted)


@pytest.mark.parametrize("kept", [2**28, 1])
def test_rows_of_several_files_come_one_behind_the_other(tmp_path, monkeypatch, kept):
    monkeypatch.setattr(parquet_files, "MOST_KEPT", kept)
    write(tmp_path / "a.parquet", slice(8))
    write(tmp_path / "b.parquet", slice(8, 20))
    (tmp_path / "all.txt").write_text("a.parquet\nb.parquet\n")
    raw = opened(tmp_path, "all.txt")
    dataset = encoded(raw, learn(raw, np.arange(20)), "here")
    assert dataset.words["kind"] == ("lily", "rose", "tulip")
    for rows in (np.arange(20), np.array([19, 0, 7, 8, 8, 3]), np.array([], np.int64)):
        found = dataset.rows(rows)
        assert np.array_equal(found["x"], X[rows])
        assert np.array_equal(found["label"], rows)
        assert [dataset.words["kind"][number] for number in found["kind"]] == KIND[rows].tolist()
    assert dataset.place(9) == f"{tmp_path}/b.parquet, row 1"
    assert dataset.blocks.starts.tolist() == [0, 6, 8, 14, 20]
    seen = np.concatenate([batch["label"] for batch in Batches(dataset, 6, workers=2)])
    assert sorted(seen) == list(range(20))


BOXES = [
    [[1, 2, 3, 4], [5, 6, 7, 8]],
    [],
    [[9, 9, 9, 9]],
    [],
    [[0, 1, 2, 3]],
    [[4, 4, 4, 4], [5, 5, 5, 5], [6, 6, 6, 6]],
]


def test_lists_of_varying_length_are_sequences(tmp_path):
    kind = arrow.list_(arrow.list_(arrow.float32(), 4))
    ids = [[int(box[0]) for box in boxes] for boxes in BOXES]
    table = arrow.table({"box": arrow.array(BOXES, kind), "id": arrow.array(ids, arrow.large_list(arrow.int16()))})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    parquet.write_table(table.slice(1, 3), tmp_path / "b.parquet")
    dataset, boxes = opened(tmp_path, "a.parquet", "b.parquet"), [*BOXES, *BOXES[1:4]]
    for rows in (np.arange(9), np.array([5, 0, 8, 7, 0, 1]), np.array([1]), np.array([], np.int64)):
        found, wanted = dataset.rows(rows), [boxes[row] for row in rows]
        flat = np.array([box for one in wanted for box in one], np.float32).reshape(-1, 4)
        assert found["box"].data.dtype == np.float32
        assert np.array_equal(found["box"].data, flat)
        assert found["id"].data.dtype == np.int16
        assert np.array_equal(found["id"].data, flat[:, 0])
        for name in ("box", "id"):
            assert found[name].starts.tolist() == np.cumsum([0, *map(len, wanted)]).tolist()


def test_lists_of_one_length_are_vectors_where_a_data_layer_has_no_sequences(tmp_path):
    for rows in ([[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5]]):
        parquet.write_table(arrow.table({"x": rows}), tmp_path / "a.parquet", row_group_size=1)
        dataset = opened(tmp_path, "a.parquet")
        (feed,) = make_feeds(dataset, {"x": Type.dense(2)})
        assert feed.take(np.array([1, 0]), None).tolist() == [[3, 4], [1, 2]]
    with pytest.raises(BadRecords, match=r"a\.parquet, row 2: the list has 1 items, but 2 in the first row"):
        feed.take(np.array([0, 2]), None)
    with pytest.raises(DataError, match="contains sequences"):
        make_feeds(dataset, {"x": Type.dense(3)})


def test_lists_that_are_refused(tmp_path):
    for values, kind, message in (
        ([[[1.0]], None], arrow.list_(arrow.list_(arrow.float32(), 1)), "has a missing value"),
        ([[1, None]], arrow.list_(arrow.int32()), "has a missing value"),
        ([[[1.0], []]], arrow.list_(arrow.list_(arrow.float32())), r"boxes are pyarrow\.list_\(pyarrow\.list_"),
    ):
        parquet.write_table(arrow.table({"box": arrow.array(values, kind)}), tmp_path / "a.parquet")
        with pytest.raises(DataError, match=rf"a\.parquet.*column `box` .*{message}"):
            opened(tmp_path, "a.parquet").rows(np.arange(len(values)))


def test_what_is_refused(tmp_path):
    write(tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", label=arrow.array([1.5] * 20))
    write(tmp_path / "c.parquet", day=arrow.array([None] * 20, arrow.date32()))
    write(tmp_path / "d.parquet", label=arrow.array([1, None] * 10))
    (tmp_path / "e.parquet").write_bytes(b"x" * 200)
    for files, message in (
        (["a.parquet", "b.parquet"], r"b\.parquet: column `label` has type double, but int64 in .*a\.parquet"),
        (
            ["c.parquet"],
            r"c\.parquet: column `day` has unsupported type date32\[day\]; supported are numbers, strings",
        ),
        (["e.parquet"], r"e\.parquet is corrupt or not a Parquet file"),
        (["f.parquet"], r"file not found: .*f\.parquet"),
    ):
        with pytest.raises(DataError, match=message):
            opened(tmp_path, *files)
    with pytest.raises(DataError, match=r"d\.parquet, row 1: column `label` has a missing value"):
        opened(tmp_path, "d.parquet").rows(np.arange(3))
    assert list(opened(tmp_path, "c.parquet", wanted={"x"}).fields) == ["x"]


def test_a_damaged_row_group_is_told_and_left_out(tmp_path):
    path = write(tmp_path / "a.parquet")
    place = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 20] = b"\xff" * 20
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot read .*a\.parquet, row group 1"):
        opened(tmp_path, "a.parquet").rows(np.arange(20))
    batches = Batches(opened(tmp_path, "a.parquet", wanted={"x"}), 20, skip=True, shuffle=False)
    assert np.array_equal(batches.take()["x"], X[[*range(6), *range(12, 20)]])
    assert sorted(batches.bad) == list(range(6, 12))


def test_categories_and_decimals(tmp_path):
    columns = {
        "kind": arrow.array(["b", "a", "b"]).dictionary_encode(),
        "number": arrow.array([7, 5, 7]).dictionary_encode(),
        "price": [Decimal("1.25"), Decimal(2), Decimal(-3)],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    raw = opened(tmp_path, "a.parquet")
    found = encoded(raw, learn(raw, np.arange(3)), "here").rows(np.array([2, 1]))
    assert found["kind"].tolist() == [1, 0]
    assert found["number"].tolist() == [7, 5]
    assert found["price"].tolist() == [-3, 2]
    parquet.write_table(arrow.table({"kind": arrow.array(["b", None]).dictionary_encode()}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet, row 1: column `kind` has a missing value"):
        encoded(opened(tmp_path, "b.parquet"), learn(raw, np.arange(3)), "here").rows(np.arange(2))
