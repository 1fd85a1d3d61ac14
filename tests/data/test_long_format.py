"""Tables in long format: the rows of a series are one sample."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.data import DataError, Dataset
from paddle_layers.data.columns import SequenceColumn
from paddle_layers.data.data_frames import frame_dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.define import registries
from paddle_layers.runtime.memory.tensorfiles import read_tensors

TABLE = """\
name,day,value,mode,kind
b,2,4,off,yes
a,1,1,on,no
b,3,,on,yes
a,2,2,on,no
c,1,7,idle,yes
a,10,5,off,no
"""
SETTINGS = {"series": "name", "time": "day", "columns": ["value", "both = value, day"], "ids": ["mode", "label = kind"]}
SEQUENCES = ("value", "both", "mode")


def opened(
    folder: Path, table: str = TABLE, sequences: Collection[str] = SEQUENCES, *, skip: bool = False, **settings: Any
) -> Dataset:
    (folder / "t.csv").write_text(table)
    source = registries["source"]["csv"]
    made = source.create(source.bind({"file": "t.csv", "empty": "mean", **SETTINGS, **settings}))
    found: Dataset = made.open_rows(folder, RequestedFields(skip=skip, sequences=sequences))
    return found


def numbers(dataset: Dataset, rows: Collection[int] | None = None) -> Dataset:
    return encoded(dataset, learn(dataset, np.array(range(len(dataset)) if rows is None else rows)), "here")


def sequence(dataset: Dataset, name: str) -> SequenceColumn:
    column = dataset.fields[name]
    assert isinstance(column, SequenceColumn)
    return column


def test_rows_of_a_series_are_one_sample(tmp_path: Path) -> None:
    data = numbers(opened(tmp_path))
    assert [sequence(data, name).starts.tolist() for name in SEQUENCES] == 3 * [[0, 2, 5, 6]]
    assert sequence(data, "value").data[:, 0].tolist() == [4, pytest.approx(19 / 5), 1, 2, 5, 7]
    assert sequence(data, "both").data[:, 1].tolist() == [2, 3, 1, 2, 10, 1]
    assert data.words == {"mode": ("idle", "off", "on"), "label": ("no", "yes")}
    assert sequence(data, "mode").data.tolist() == [1, 2, 2, 2, 1, 0]
    assert data.fields["label"].tolist() == [1, 0, 1]
    assert data.place(1).endswith("t.csv:3 (series 'a')")
    # Means and words are those of the training series only.
    part = numbers(opened(tmp_path, TABLE.replace("7,idle", "700,on")), rows=[0, 1])
    assert sequence(part, "value").data[1, 0] == 3
    features = opened(
        tmp_path, sequences={"features", "mode"}, columns=(), ids=("mode", "kind"), time="", leave_out="day"
    )
    assert features.columns["features"] == ("value",)


def test_any_order_of_the_series_gives_the_same_sequences(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        lengths = random.integers(1, 6, 7)
        owners = random.permutation(np.repeat(np.arange(7), lengths))
        dates = [f"2026-0{random.integers(1, 4)}-{1 + step:02d}" for step in range(len(owners))]
        values = random.normal(size=len(owners)).round(3)
        rows = sorted(zip(dates, owners.tolist(), values.tolist(), strict=True))
        wanted: dict[int, list[float]] = {}
        for _, owner, value in rows:
            wanted.setdefault(owner, []).append(value)
        table = "name,day,value\n" + "".join(f"s{owner},{date},{value}\n" for date, owner, value in rows)
        data = opened(tmp_path, table, ids=(), columns=("value",), empty="refuse")
        column = sequence(data, "value")
        parts = np.split(column.data[:, 0], column.starts[1:-1])
        assert [part.tolist() for part in parts] == list(wanted.values())


@pytest.mark.parametrize(
    ("old", "new", "settings", "message"),
    [
        (
            "a,10,5",
            "a,1,5",
            {},
            r"t.csv:7: column 2 \(`day`\): '1' follows '2' in the series 'a' \(.*:5\); sort the rows",
        ),
        (
            "a,10,5",
            "a,2,5",
            {},
            r"t.csv:7: column 2 \(`day`\): the time '2' is a duplicate in the series 'a' \(.*t.csv:5\)",
        ),
        ("a,10,5", "a,,5", {}, r"t.csv:7: column 2 \(`day`\): empty cell"),
        (
            "a,10,5",
            "a,3 pm,5",
            {"columns": ["value"]},
            "'3 pm' is not a number, as the first time is",
        ),
        (
            ",2,",
            ",3/4/2026,",
            {"columns": ["value"]},
            "'3/4/2026' is not a date; write the format, such as `date_format",
        ),
        ("a,10,5", ",10,5", {}, r"t.csv:7: column 1 \(`name`\): empty cell; write the name of the series in every row"),
        ("off,no", "off,yes", {}, "t.csv:7: field `label` is 'yes', but 'no' in .*t.csv:3 of the same series; for one"),
        ("off,no", "of\0f,no", {}, "t.csv:7: field `mode` contains a null character"),
        ("", "", {"series": "nam"}, "unknown column `nam`; did you mean `name`"),
        ("", "", {"time": "date"}, "unknown column `date`"),
        ("", "", {"series": ""}, "`time` requires `series`"),
        ("", "", {"skip": True}, 'with `series`, `on_error: "skip"` would remove steps of a series'),
    ],
)
def test_invalid_tables(tmp_path: Path, old: str, new: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        opened(tmp_path, TABLE.replace(old, new), **settings)


def test_times_with_a_zone_rise_when_summer_ends(tmp_path: Path) -> None:
    """Local times repeat for an hour, in a table as in a DataFrame with moments."""
    times = ["2020-10-25 02:30:00+02:00", "2020-10-25 02:00:00+01:00", "2020-10-25 02:30:00+0100"]
    utc = np.array(["2020-10-25T00:30", "2020-10-25T01:00", "2020-10-25T01:30"], "datetime64[ns]")
    source = registries["source"]["csv"]
    request = RequestedFields(sequences={"value"})

    def values(order: list[int], *, in_file: bool) -> list[float]:
        rows = "".join(f"a,{times[at]},{at}\n" for at in order)
        (tmp_path / "t.csv").write_text("name,day,value\n" + rows)
        settings = {"file": "t.csv", "series": "name", "time": "day", "columns": ["value"]}
        made = source.create(source.bind(settings))
        moments = pyarrow.array(utc[order], pyarrow.timestamp("ns", "Europe/Berlin"))
        frame = pyarrow.table({"name": ["a"] * 3, "day": moments, "value": order})
        dataset = made.open_rows(tmp_path, request) if in_file else frame_dataset(frame, "t", made, {}, request)
        found: list[float] = sequence(dataset, "value").data[:, 0].tolist()
        return found

    for in_file in (True, False):
        assert values([0, 1, 2], in_file=in_file) == [0, 1, 2]
        with pytest.raises(DataError, match=r"follows .* sort the rows by time"):
            values([0, 2, 1], in_file=in_file)


def test_values_of_a_series_differ(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t.csv:4: field `value` is nan, but 4 in .*t.csv:2 of the same series"):
        opened(tmp_path, sequences={"both", "mode"})


NET = """
net {
  layer { name: "value" type: "data" data { shape: 1 seq_nested_level: 1 } }
  layer { name: "mode" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "modes" type: "embedding" input: "mode" embedding { size: 2 } }
  layer { name: "steps" type: "concat" input: "value" input: "modes" }
  layer { name: "mean" type: "seq_avg_pool" input: "steps" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 4 steps: 6 optimizer { type: "sgd" learning_rate: 0.1 }
source {
  type: "csv"
  csv { file: "long.csv" series: "name" time: "day" columns: "value" ids: "mode" ids: "label = kind" }
}
"""


def test_a_table_a_data_frame_and_sequences_train_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    rows = [(f"s{s}", t, round(random.normal(), 3), ["idle", "off", "on"][(s + t) % 3], "ny"[s % 2])
            for t in range(5) for s in range(12) if t <= s % 5]  # fmt: skip
    Path("long.csv").write_text("name,day,value,mode,kind\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    Path("t.textproto").write_text(NET)
    series = [[row for row in rows if row[0] == f"s{s}"] for s in range(12)]
    joined = [row for part in series for row in part]
    arrays = {
        "value": np.array([[row[2]] for row in joined]),
        "mode": np.array([["idle", "off", "on"].index(row[3]) for row in joined]),
        "label": np.array([s % 2 for s in range(12)]),
    }
    starts = np.cumsum([0, *map(len, series)])
    arrays |= {"value.starts": starts, "mode.starts": starts}
    frame = pyarrow.csv.read_csv("long.csv")
    losses = []
    for number, data in enumerate((None, frame, arrays)):
        datasets = {"train": data} if data is not None else None
        report = pl.train("t.textproto", datasets=datasets, output=f"out{number}")
        losses += [pl.evaluate("t.textproto", frame, weights=report.weights).results["loss"]] if number < 2 else []
    assert losses[0] == losses[1]
    stored, others = (read_tensors(f"out{number}/weights.safetensors")[0] for number in (0, 2))
    for name, value in stored.items():
        np.testing.assert_array_equal(others[name], value)
    report = pl.train("t.textproto", output="out3")
    assert pl.evaluate("t.textproto", frame, weights=report.weights).rows == 12
    found = pl.predict("t.textproto", frame.drop_columns(["kind"]), weights=report.weights)
    assert found.files == [f"s{s}" for s in range(12)]
    done = CliRunner().invoke(commands, ["predict", "t.textproto", "long.csv", "--weights", str(report.weights)])
    assert [line.split(",")[1] for line in done.output.splitlines()[:3]] == ["series", "s0", "s1"]


def test_a_split_divides_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.csv").write_text(
        "name,day,value,mode,kind\n" + "".join(f"s{r // 2},{r},1,on,{'yn'[r // 2 % 2]}\n" for r in range(40))
    )
    Path("t.textproto").write_text(
        NET.replace('label = kind" }', 'label = kind" } split { test: 0.25 stratify: "label" }')
    )
    report = pl.train("t.textproto", output="out")
    assert pl.evaluate("t.textproto", weights=report.weights).rows == 4
