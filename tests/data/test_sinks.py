"""Values written batch by batch: the same in every kind of file, as independent readers have them, in flat memory."""

from __future__ import annotations

import csv
import json
import os
import tracemalloc
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from paddle_layers.data import DataError
from paddle_layers.data.sinks import opening
from paddle_layers.data.sinks.opening import KINDS, check_sink, open_sink
from paddle_layers.data.sinks.values import Values

SIZES = [(2, (1, 2)), (3, (0, 4, 1)), (0, ()), (1, (3,))]
"""Samples of each batch, and the rows of their sequences."""


def batches():
    """Single numbers, images, ids, classes, sequences, nested ones with a sub-sequence each."""
    random = np.random.default_rng(0)
    for samples, lengths in SIZES:
        rows = sum(lengths)
        starts = np.cumsum([0, *lengths])
        ids = random.integers(0, 5, rows)
        classes = random.integers(0, 3, samples)
        yield Values(
            {
                "one": random.random(samples).astype(np.float32),
                "image": random.random((samples, 2, 1, 3)).astype(np.float32),
                "score": random.random((samples, 3)),
                "ids": ids,
                "block/rows": random.random((rows, 2)).astype(np.float32),
                "nested": random.random((rows, 1)).astype(np.float32),
            },
            {"score": classes},
            {
                "score": [f"class, {number}" for number in classes.tolist()],
                "ids": [" ".join(map(str, ids[a:b])) for a, b in pairwise(starts)],
            },
            {"ids": (starts,), "block/rows": (starts,), "nested": (np.arange(samples + 1), starts)},
        )


def write(path, wanted=None):
    with open_sink(path) as sink:
        for batch in batches():
            sink.write(batch if wanted is None else only(batch, wanted))
    return path


def only(batch, names):
    parts = (
        {name: one[name] for name in names if name in one}
        for one in (batch.values, batch.classes, batch.texts, batch.starts)
    )
    return Values(*parts)


def whole():
    """The arrays of all batches, put together in another way than the sinks do."""
    found, parts = {}, list(batches())
    for name in parts[0].values:
        found[name] = np.concatenate([part.values[name] for part in parts])
    found["score.class"] = np.concatenate([part.classes["score"] for part in parts])
    lengths = [length for _, some in SIZES for length in some]
    found["ids.starts"] = found["block/rows.starts"] = found["nested.sub_starts"] = np.cumsum([0, *lengths])
    found["nested.starts"] = np.arange(len(lengths) + 1)
    return found


def same_arrays(found):
    expected = whole()
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_npz(tmp_path):
    with np.load(write(tmp_path / "v.npz")) as arrays:
        same_arrays(dict(arrays))


@pytest.mark.parametrize("ending", ["h5", "hdf5"])
def test_hdf5(tmp_path, ending):
    h5py = pytest.importorskip("h5py")
    with h5py.File(write(tmp_path / f"v.{ending}")) as file:
        found = {}
        file.visititems(lambda name, one: found.update({name: one[()]}) if isinstance(one, h5py.Dataset) else None)
        same_arrays(found)


def samples(name):
    """A value of each sample as nested lists, the way JSON lines and parquet have it."""
    for batch in batches():
        values = batch.values[name].reshape(len(batch.values[name]), -1) if batch.values[name].size else []
        rows = [row.tolist() if len(row) > 1 else row.tolist()[0] for row in values]
        for ends in reversed(batch.starts.get(name, ())):
            rows = [rows[a:b] for a, b in pairwise(ends)]
        yield from rows


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(write(tmp_path / "v.parquet"))
    columns = table.to_pydict()
    assert list(columns) == ["row", "one", "image", "score.class", "score", "ids", "block/rows", "nested"]
    assert columns.pop("row") == list(range(6))
    assert columns.pop("score.class") == [text for batch in batches() for text in batch.texts["score"]]
    for name, column in columns.items():
        assert column == list(samples(name)), name
    assert table.schema.field("image").metadata == {b"shape": b"2x1x3"}
    assert str(table.schema.field("image").type).startswith("fixed_size_list<")
    assert str(table.schema.field("ids").type).startswith("list<")


def test_json_lines(tmp_path):
    lines = [json.loads(line) for line in write(tmp_path / "v.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == list(range(6))
    assert [line["score.class"] for line in lines] == [text for batch in batches() for text in batch.texts["score"]]
    assert [line["ids"] for line in lines] == [list(map(str, some)) for some in samples("ids")]
    for name in ("one", "image", "score", "block/rows", "nested"):
        exact = next(batches()).values[name].dtype.type
        found = [json.loads(json.dumps(line[name]), parse_float=partial(rounded, exact)) for line in lines]
        assert found == list(samples(name)), name


def rounded(exact, text):
    return exact(text).item()


def test_csv(tmp_path):
    with write(tmp_path / "v.csv", ["one", "score"]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == [str(number) for number in range(6)]
    assert [row["score.class"] for row in rows] == [text for batch in batches() for text in batch.texts["score"]]
    assert [float(row["one"]) for row in rows] == pytest.approx(list(samples("one")), rel=1e-5)
    with pytest.raises(DataError, match="different numbers of rows per batch"):
        write(tmp_path / "w.csv")
    assert os.listdir(tmp_path) == ["v.csv"], "nothing is left of what failed"


@pytest.mark.parametrize("ending", KINDS)
def test_a_file_is_there_whole_or_as_it_was(tmp_path, ending):
    path = tmp_path / f"v{ending}"
    path.write_text("as it was")

    def fail():
        with open_sink(path) as sink:
            sink.write(only(next(batches()), ["one"]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "as it was"
    with open_sink(path) as sink:
        sink.write(only(next(batches()), ["one"]))
    assert path.read_bytes() != b"as it was"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", KINDS)
def test_memory_does_not_grow_with_the_rows(tmp_path, ending):
    """Ten times the rows, 16 MB of them, in the memory of one tenth and a buffer."""
    arrow = pytest.importorskip("pyarrow")
    rows = np.random.default_rng(0).random((1000, 4 if ending in (".csv", ".jsonl") else 100)).astype(np.float32)

    def peak(count):
        tracemalloc.start()
        with open_sink(tmp_path / f"v{ending}") as sink:
            for _ in range(count):
                sink.write(Values({"y": rows}))
                assert arrow.total_allocated_bytes() < 1 << 25, "which tracemalloc does not see"
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    few = peak(4)
    assert peak(40) < few + (1 << 20)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("v.xlsx", r"v.xlsx: unsupported extension; expected .csv \(table\), .jsonl"),
        ("v.h5", r".h5 files require h5py: pip install 'paddle-layers\[hdf5\]'"),
        ("v.parquet", r".parquet files require pyarrow: pip install 'paddle-layers\[arrow\]'"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, name, message):
    monkeypatch.setattr(opening.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DataError, match=message):
        check_sink(tmp_path / name)
