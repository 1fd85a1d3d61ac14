"""DataFrames instead of sources: columns by name, with the settings of a source `csv` or by those of data layers."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError
from paddle_layers.data import DataError
from paddle_layers.data.data_frames import frame_dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats.arrow_tables import ArrowTable, is_data_frame
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.define import registries

arrow = pytest.importorskip("pyarrow")

NET = """
net {
  layer { name: "features" type: "data" data { shape: 2 } }
  layer { name: "place" type: "data" data { data_type: INT size: 4 } }
  layer { name: "remark" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "vectors" type: "embedding" input: "place" embedding { size: 2 } }
  layer { name: "words" type: "embedding" input: "remark" embedding { size: 2 } }
  layer { name: "text" type: "seq_avg_pool" input: "words" }
  layer { name: "scores" type: "fc" input: "features" input: "vectors" input: "text" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 4
steps: 2
optimizer { type: "sgd" learning_rate: 0.001 }
output: "out"
"""
CSV = """
source {
  type: "csv"
  csv { file: "t.csv" ids: "place" text: "remark" ids: "label = kind" leave_out: "day" empty: mean missing: "NA" }
}
"""
COLUMNS = {
    "day": [datetime.datetime(2026, 1, 1)] * 4,
    "place": ["north", "south", "north", "east"],
    "area": [50, 70, None, 90],
    "rooms": [2.0, float("nan"), 3.0, 4.0],
    "remark": ["sunny flat", "old", None, "flat"],
    "kind": ["rent", "sale", "rent", "sale"],
}


class Exported:
    """A DataFrame of another library: nothing but its Arrow stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Columns:
    """A DataFrame of an older library: its columns, as arrays."""

    def __init__(self, table):
        self.columns = table.column_names
        self.table = table

    def __getitem__(self, name):
        return self.table.column(name).to_numpy(zero_copy_only=False)


def table(**more):
    return arrow.table({**COLUMNS, **more})


def trained(tmp_path, config, **datasets):
    return pl.train(config, datasets=datasets, output=tmp_path / "out", overwrite=True)


def learned(tmp_path):
    return json.loads((tmp_path / "out/data.json").read_text())


def write_csv(path, columns):
    rows = [["nan" if cell is None else str(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    cells = [["" if cell == "nan" else cell for cell in row] for row in rows]
    path.write_text("\n".join(map(",".join, [[*columns], *cells])) + "\n")


@pytest.mark.parametrize("kind", [lambda t: t, Exported, Columns, lambda t: t.to_batches()[0]])
def test_a_table_is_read_as_the_csv_file_of_the_same_cells(tmp_path, kind):
    write_csv(tmp_path / "t.csv", COLUMNS)
    file = tmp_path / "train.textproto"
    file.write_text(NET + CSV)
    of_file = pl.train(file, output=tmp_path / "file")
    of_table = trained(tmp_path, file, train=kind(table()))
    assert learned(tmp_path) == json.loads((tmp_path / "file/data.json").read_text())
    assert learned(tmp_path)["means"] == {"features": [70, 3]}
    first, second = (pl.predict(file, weights=one.weights).values["scores"] for one in (of_file, of_table))
    assert np.array_equal(first, second)
    assert np.array_equal(first, pl.predict(file, kind(table()), weights=of_table.weights).values["scores"])


def test_without_a_source_columns_are_fields_by_name_and_all_others_features(tmp_path):
    rows = arrow.table({name: COLUMNS[name] for name in ("place", "remark")}).append_column(
        "label", arrow.array(COLUMNS["kind"]).dictionary_encode()
    )
    rows = rows.append_column("area", arrow.array([1, 2, 3, 4])).append_column(
        "rooms", arrow.array([Decimal("1.5"), Decimal(2), Decimal(3), Decimal(4)])
    )
    report = trained(tmp_path, NET, train=rows)
    names = learned(tmp_path)
    assert names["columns"]["features"] == ["area", "rooms"]
    assert names["words"]["label"] == ["rent", "sale"]
    assert names["words"]["remark"][0] == "flat"
    wanted = pl.predict(NET, rows, weights=report.weights)
    assert wanted.names["scores"] == ["rent", "sale"]
    other = rows.select(["rooms", "remark", "area", "place"]).append_column("agent", arrow.array(["Bob"] * 4))
    found = pl.predict(NET, other, weights=report.weights)
    assert np.array_equal(found.values["scores"], wanted.values["scores"]), "by name, others are ignored"
    assert pl.evaluate(NET, rows, weights=report.weights).confusions[0].names == ["rent", "sale"]


def test_columns_of_lists_are_vectors_and_sequences(tmp_path):
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(np.arange(8, dtype=np.float32)), 2)
    ids = arrow.array([[1, 2], [], [3], [4]])
    rows = arrow.table({"features": vectors, "place": [0, 1, 2, 3], "remark": ids, "label": [True, False, True, True]})
    lists = rows.set_column(0, "features", vectors.cast(arrow.list_(arrow.float64())))  # as pandas has them
    report = trained(tmp_path, NET, train=rows)
    arrays = {
        "features": np.arange(8, dtype=np.float32).reshape(4, 2),
        "place": np.arange(4),
        "remark": np.array([1, 2, 3, 4]),
        "remark.starts": np.array([0, 2, 2, 3, 4]),
    }
    given = (rows, arrays, lists)
    first, *others = (pl.predict(NET, data, weights=report.weights).values["scores"] for data in given)
    assert all(np.array_equal(first, other) for other in others)
    uneven = lists.set_column(0, "features", arrow.array([[1], [2], [3], [4]]))
    with pytest.raises(DataError, match="field `features` contains sequences, but the data layer"):
        pl.predict(NET, uneven, weights=report.weights)


def test_numbers_that_are_categories_have_the_names_of_a_csv_file():
    columns = {"a": [17.0, None, 0.5], "b": [1, 2**53 + 1, None], "c": [datetime.date(2026, 1, 2)] * 3}
    found = ArrowTable(arrow.table({**columns, "d": arrow.array([0.1, 2, None], arrow.float32())}), "t")
    found.read([], [0, 1, 2, 3])
    assert found.words[0] == ["17", "", "0.5"]
    assert found.words[1] == ["1", "9007199254740993", ""]
    assert found.words[2] == ["2026-01-02"] * 3
    assert found.words[3] == ["0.1", "2", ""]


def test_dates_are_read_as_their_parts():
    moment = datetime.datetime(2024, 2, 29, 23, 30)
    zoned = moment.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=9)))
    dates = {
        "a": [moment, None],
        "b": [moment.date()] * 2,
        "c": [str(moment)] * 2,
        "d": [zoned] * 2,
        "e": [20240229, None],
    }
    source = registries["source"]["csv"]
    parts = ["a = month, hour", "b = day", "c = minute", "d = hour, days", "e = month"]
    settings = source.create(source.bind({"file": "", "dates": parts, "empty": "mean"}))
    raw = frame_dataset(arrow.table({**dates, "x": [1.5, 2.5]}), "here", settings, {}, RequestedFields())
    values = encoded(raw, learn(raw, np.arange(2)), "here").fields["features"]
    days = (moment - datetime.datetime(1970, 1, 1)).total_seconds() / 86400
    assert values.tolist() == [[2, 23, 29, 30, 23, days, 2, 1.5], [2, 23, 29, 30, 23, days, 2, 2.5]]


def test_the_index_of_pandas_is_no_column():
    facts = {"index_columns": ["__index_level_0__"]}
    stored = arrow.table({"a": [1], "__index_level_0__": [5]}).replace_schema_metadata({"pandas": json.dumps(facts)})
    assert ArrowTable(Exported(stored), "t").names == ["a"]


def test_rows_with_missing_values_are_skipped(tmp_path):
    config = NET + CSV.replace('type: "csv"', 'type: "csv" on_error: "skip"').replace("empty: mean", "")
    rows = table(area=arrow.array(["50", "NA", "60", "70"]), rooms=arrow.array([1, 2, None, 3]))
    trained(tmp_path, config, train=rows)
    assert learned(tmp_path)["words"] == {
        "place": ["east", "north"],
        "label": ["rent", "sale"],
        "remark": ["flat", "sunny"],
    }


PLACE = "change the column, or describe it in a source `csv` of the training file: "


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        (
            "",
            {},
            'datasets["train"] has no column `label`; rename a column, or write feed { input: "label" field: "COLUMN" }'
            " in the training file; the columns are day, place, area, rooms, remark, kind",
        ),
        (
            "",
            {"label": [0, 1, 0, 1]},
            'datasets["train"]: column `day` has type timestamp[us], expected numbers; in a source '
            '`csv`, write `dates: "day = year, month"` for its parts, or leave the column out',
        ),
        (
            "",
            {"label": [0, 1, 0, 1], "day": ["x"] * 4},
            f"datasets[\"train\"], row 0: column `day`: 'x' is not a number; {PLACE}for a column of words write "
            '`ids: "day"`, for an unused one `leave_out`',
        ),
        (
            "",
            {"label": [0, 1, 0, 1], "day": [0] * 4, "kind": [1] * 4},
            f'datasets["train"], row 2: column `area`: missing value; {PLACE}`empty: mean` imputes the mean of the '
            "column, `empty: mark` also adds an indicator column",
        ),
        (
            "",
            {"label": [0, None, 0, 1], "day": [0] * 4, "kind": [1] * 4, "area": [1] * 4, "rooms": [1] * 4},
            'datasets["train"], row 1: column `label`: missing value, but targets and weights are never imputed: fill '
            'in the value, remove the row, or write `on_error: "skip"` in the source',
        ),
        (
            CSV,
            {"kind": ["rent", None, "sale", "rent"]},
            'datasets["train"], row 1: column `kind`: missing value, but targets and weights are never imputed',
        ),
        (
            CSV,
            {"area": ["1", "2", "1,5", "NA"]},
            "datasets[\"train\"], row 2: column `area`: '1,5' is not a number; write numbers with a decimal point",
        ),
        (CSV, {"area": [1.0, float("inf"), 2, 3]}, 'datasets["train"], row 1: column `area`: inf is not supported'),
        (
            CSV.replace('"place"', '"place = plaice"'),
            {},
            'datasets["train"]: unknown column `plaice`; did you mean `place`?; the 6 columns are day, place',
        ),
        (
            CSV,
            {"area": [[1.0]] * 4},
            'datasets["train"]: column `area` has type list<item: double>, expected numbers; without a source `csv`, a '
            "column of lists is the field of a data layer of its name",
        ),
        (
            CSV,
            {"place": [{"a": 1}] * 4},
            'datasets["train"]: column `place` has type struct<a: int64>, expected words; convert it to strings',
        ),
    ],
)
def test_errors_name_the_column_and_the_correction(tmp_path, source, more, message):
    with pytest.raises(ConfigError) as error:
        trained(tmp_path, NET + source, train=table(**more))
    assert error.value.diagnostics[0].message.startswith(message)


def test_other_tables_than_the_training_had(tmp_path):
    report = trained(tmp_path, NET + CSV, train=table())
    numbers = table(kind=[0, 1, 0, 1])
    found = pl.predict(NET + CSV, numbers, weights=report.weights)
    assert found.names["scores"] == ["rent", "sale"]
    with pytest.raises(DataError, match="the data: missing column `rooms` of field `features` of the training data"):
        pl.predict(NET + CSV, table().drop_columns(["rooms"]), weights=report.weights)
    with pytest.raises(DataError, match="the data: field `label` contains numbers, but its ids have names in"):
        pl.evaluate(
            NET + CSV.replace('ids: "label = kind"', 'label: "kind"'), numbers.slice(0, 2), weights=report.weights
        )
    rows = table(label=COLUMNS["kind"]).drop_columns(["kind", "day"])
    rows = rows.set_column(1, "area", [[1, 2, 3, 4]]).set_column(2, "rooms", [[1, 2, 3, 4]])
    with pytest.raises(ConfigError, match="contains numbers, but its ids have names in the training"):
        trained(tmp_path, NET, train=rows, test=rows.set_column(4, "label", [[0, 1, 0, 1]]))


class Lazy:
    columns = ("a",)

    def __getitem__(self, name):
        raise TypeError

    def collect(self):
        raise AssertionError("a lazy table is refused, not computed")


class Mixed(Columns):
    def __len__(self):
        return 2

    def __arrow_c_stream__(self, requested_schema=None):
        raise arrow.ArrowInvalid("Could not convert 'z'", "Conversion failed for column b")

    def __getitem__(self, name):
        return self.table[name]


def test_tables_that_cannot_be_read():
    assert not any(map(is_data_frame, ({"a": [1]}, [{"a": [1]}], np.zeros(3), "t.csv", 3, iter([]), None)))
    assert is_data_frame(Lazy())
    with pytest.raises(DataError, match=r"t is a lazy table; load it first, with `collect\(\)` of polars"):
        ArrowTable(Lazy(), "t")
    with pytest.raises(DataError, match="t has no rows"):
        ArrowTable(arrow.table({"a": arrow.array([], arrow.int64())}), "t")
    with pytest.raises(DataError, match="t: columns 1 and 2 have the same name `a`; rename one"):
        ArrowTable(arrow.Table.from_arrays([[1], [2]], ["a", "a"]), "t")
    with pytest.raises(DataError, match=r"t cannot be read as a table: .*non-struct"):
        ArrowTable(Exported(arrow.chunked_array([[1]])), "t")


def test_only_a_column_that_is_read_must_have_values_of_one_type():
    mixed = Mixed(arrow.table({"a": [1, 2], "b": [1, 2]}))
    mixed.table = {"a": [1, 2], "b": [1, "z"]}
    found = ArrowTable(mixed, "t")
    found.read([0])
    assert found.values.tolist() == [[1], [2]]
    with pytest.raises(DataError, match=r"t: column `b` has values of several types, .*; convert it to numbers, or"):
        found.read([1])
    mixed.table = {"a": ["y", 1], "b": [1, "z"]}
    with pytest.raises(DataError, match=r"t: column `a` has values of several types"):  # not: no rows
        ArrowTable(mixed, "t").read([0])


def test_pyarrow_is_imported_where_it_is_used(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"t: a DataFrame requires pyarrow: pip install 'paddle-layers\[arrow\]'"):
        ArrowTable(Exported(None), "t")


def test_a_column_of_a_table_in_a_dict_is_an_array(tmp_path):
    rows = {
        "place": arrow.array(COLUMNS["place"]).dictionary_encode(),
        "features": np.zeros((4, 2)),
        "label": np.zeros(4, int),
    }
    words = {"remark": np.zeros(4, int), "remark.starts": np.arange(5)}
    trained(tmp_path, NET, train=rows | words)
    assert learned(tmp_path)["words"] == {"place": ["east", "north", "south"]}


def test_a_table_of_a_training_with_a_split_is_split(tmp_path):
    config = NET + CSV.replace('type: "csv"', 'type: "csv" split { field: "part" value: "2" }').replace(
        'file: "t.csv" ids: "place"', 'ids: "place" ids: "part"'
    )
    trained(tmp_path, config, train=table(part=[1, 1, 1, 2]))
    assert learned(tmp_path)["words"]["place"] == ["north", "south"]
    with pytest.raises(ConfigError, match="source `csv` has no `file`: name one, or pass a DataFrame"):
        trained(tmp_path, config)


def test_path_is_still_a_path():
    assert not is_data_frame(Path("t.csv"))


def test_additional_columns_of_a_csv_file_are_ignored_too(tmp_path):
    file = tmp_path / "train.textproto"
    file.write_text(NET + CSV)
    write_csv(tmp_path / "t.csv", COLUMNS)
    report = pl.train(file, output=tmp_path / "out")
    wanted = pl.predict(file, weights=report.weights).values["scores"]
    write_csv(tmp_path / "more.csv", {"agent": ["Bob"] * 4, **COLUMNS})
    found = pl.predict(file, tmp_path / "more.csv", weights=report.weights).values["scores"]
    assert np.array_equal(found, wanted)


def test_strings_and_categories_of_polars():
    view = arrow.array(["b", None, "a"], arrow.string_view())
    categories = arrow.DictionaryArray.from_arrays(arrow.array([0, 1, None], arrow.uint32()), view[:1], safe=False)
    with pytest.raises(DataError, match="t is not a valid table"):
        ArrowTable(arrow.table({"kind": categories}), "t")
    categories = arrow.DictionaryArray.from_arrays(arrow.array([2, 0, None], arrow.uint32()), view)
    found = ArrowTable(arrow.table({"word": view, "kind": categories}), "t")
    assert found.is_words(0)
    assert found.is_words(1)
    found.read([], [0, 1])
    assert found.words == {0: ["b", "", "a"], 1: ["a", "b", ""]}
