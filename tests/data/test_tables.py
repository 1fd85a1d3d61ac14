"""Tables as people have them: words, dates, empty cells, one file to train and to test with."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.data import DataError, Dataset, make_feeds
from paddle_layers.data.columns import GapColumn, WordColumn
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing, encoded, learn, read_fitted
from paddle_layers.data.formats.dates import parsed_date
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.data.sampling import split_by_field, split_by_group, split_by_share
from paddle_layers.define import Type, registries
from paddle_layers.runtime.memory.tensorfiles import read_tensors, write_tensors
from tests.training.helpers import train

TABLE = """\
day,district,area,rooms,remark,kind
2026-01-01,north,50,2,sunny flat,rent
2026-01-02,south,70,,old,sale
2026-01-03,north,,3,sunny old house,rent
2026-01-04,east,90,4,flat,sale
"""


def opened(folder: Path, table: str = TABLE, wanted: set[str] | None = None, **settings: object) -> Dataset:
    (folder / "t.csv").write_text(table)
    source = registries["source"]["csv"]
    found: Dataset = source.create(source.bind({"file": "t.csv", **settings})).open_fields(folder, wanted)
    return found


def numbers(dataset: Dataset) -> Dataset:
    return encoded(dataset, learn(dataset, np.arange(len(dataset))), "here")


def test_words_text_and_gaps_become_numbers(tmp_path):
    raw = opened(tmp_path, ids=["district", "label = kind"], text=["remark"], leave_out="day", empty="mark")
    data = numbers(raw)
    assert data.words == {
        "district": ("east", "north", "south"),
        "label": ("rent", "sale"),
        "remark": ("flat", "old", "sunny", "house"),
    }
    assert data.fields["district"].tolist() == [1, 2, 1, 0]
    assert data.fields["label"].tolist() == [0, 1, 0, 1]
    remark = data.fields["remark"]
    assert (remark.data.tolist(), remark.starts.tolist()) == ([2, 0, 1, 2, 1, 3, 0], [0, 2, 3, 6, 7])
    assert data.fields["features"].tolist() == [[50, 2, 0, 0], [70, 3, 0, 1], [70, 3, 1, 0], [90, 4, 0, 0]]


def test_the_mean_stands_for_empty_cells(tmp_path):
    raw = opened(tmp_path, ids=["district"], leave_out="day, remark, kind", empty="mean")
    assert numbers(raw).fields["features"].tolist() == [[50, 2], [70, 3], [70, 3], [90, 4]]


def test_only_the_rows_to_train_with_are_looked_at(tmp_path):
    raw = opened(tmp_path, ids=["district"], columns=["features = area, rooms"], empty="mean")
    learned = learn(raw, np.array([0, 1]))
    assert learned.words["district"] == ["north", "south"]
    assert learned.means["features"] == [60, 2]
    data = encoded(raw, learned, "here")
    assert data.fields["district"].tolist() == [0, 1, 0, 2], "a word that is not known gets the id behind the last"
    assert data.unknown == {"district": (3, "east")}
    assert data.fields["features"][2].tolist() == [60, 3]


GAPS = """a,b,c,kind,y
1,,8,rose,1
,2,4,,2
9,4,,tulip,3
2,,6,rose,4
"""


def test_columns_have_their_own_imputation(tmp_path):
    settings = {"ids": ["kind"], "columns": ["x = c, a, b", "y"], "empty": "mark"}
    raw = opened(tmp_path, GAPS, **settings, impute=["a, c = median", "kind = mark"])
    learned = learn(raw, np.arange(4))
    # c: 4, 6, 8; a: 1, 2, 9 (a mean of 4); b: 2, 4
    assert learned.means["x"] == [6, 2, 3]
    fields = encoded(raw, learned, "here").fields
    assert fields["x"].tolist() == [[8, 1, 3, 1], [4, 2, 2, 0], [6, 9, 4, 0], [6, 2, 3, 1]]
    assert learned.words["kind"] == ["", "rose", "tulip"]
    other = opened(tmp_path, "b,c,a,kind,y\n,,,,7\n", **settings, impute=["a, c = median", "kind = mark"])
    assert encoded(other, learned, "here").fields["x"].tolist() == [[6, 2, 3, 1]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"impute": ["a, c = median"]}, r"t.csv:2: column 2 (`b`): empty cell"),
        ({"impute": ["a = middle"]}, "invalid `impute` 'a = middle'; write"),
        ({"impute": ["a"]}, "with one of refuse, mean, median, mark"),
        ({"impute": ["aa = mean"]}, "unknown column `aa`"),
        ({"impute": ["a = mean", "a-b = mark"]}, "`impute` has two methods for column 1 (`a`)"),
        ({"impute": ["kind = mean"]}, "column 4 (`kind`) has words; `mark` in `impute` adds a word for empty cells"),
        ({"impute": ["y = mean"]}, "`impute` names column 5 (`y`), but targets and weights are never imputed"),
        ({"empty": "median", "impute": ["a = refuse"]}, "t.csv:3: column 1 (`a`): empty cell"),
    ],
)
def test_what_cannot_be_imputed(tmp_path, settings, message):
    (tmp_path / "t.csv").write_text(GAPS)
    made = {"file": "t.csv", "ids": ["kind"], "columns": ["x = a, b, c", "y"], **settings}
    source = registries["source"]["csv"]
    with pytest.raises(DataError) as caught:
        source.create(source.bind(made)).open_rows(tmp_path, RequestedFields(None, {"y"}))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {},
            "t.csv:2: column 1 (`day`): '2026-01-01' is not a number; for a date write `dates: \"day = year, month\"`",
        ),
        (
            {"columns": ["features = area"]},
            "t.csv:4: column 3 (`area`): empty cell; `empty: mean` imputes the mean",
        ),
        ({"label": "kind", "columns": ["x = 3"]}, 'in `classes`, or write `ids: "label = kind"` instead of `label`'),
        ({"ids": ["street"]}, "t.csv:1: unknown column `street`; the 6 columns are day, district, area"),
        ({"ids": ["a = "]}, "invalid `ids` 'a = '; write \"field = column\""),
        ({"ids": ["label = kind"], "label": "3"}, "duplicate field `label`"),
        ({"leave_out": "day, street"}, "unknown column `street`"),
    ],
)
def test_mistakes_name_the_place_and_the_remedy(tmp_path, settings, message):
    with pytest.raises(DataError) as caught:
        opened(tmp_path, **settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("NA", 'write `missing: "NA"` and `empty: mean`'),
        ("?", 'write `missing: "?"`'),
        ("1,5", "write numbers with a decimal point and without other marks, such as 1234.5"),
        ("1,500.0", "a decimal point"),
        ("15%", "a decimal point"),
        ("€ 3", "a decimal point"),
        ("red", 'for a column of words write `ids: "u"`'),
    ],
)
def test_a_cell_that_is_no_number_is_told_what_it_may_be_meant_as(tmp_path, cell, remedy):
    (tmp_path / "c.csv").write_text(f'u,v\n1,2\n"{cell}",3\n')
    with pytest.raises(DataError, match=r"c\.csv:3: column 1 \(`u`\)") as caught:
        opened(tmp_path, file="c.csv")
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"PK\x03\x04\xff", "a.xlsx is a zip archive or an Excel workbook; save the sheet as CSV"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00\xff", "a.csv.gz: damaged gzip file"),
        ("a.csv", "u,v\n1,2\n".encode("utf-16"), "a.csv is encoded in UTF-16; write `encoding: utf_16`"),
        (
            "b.csv",
            b"\xe4,v\n1,2\n",
            "b.csv:1: invalid UTF-8 (byte 0); set `encoding`, such as `encoding: cp1252`",
        ),
        (
            "i.csv",
            b",u\n0,1\n",
            'column 1 has no name; if it is the row index, as pandas and R write it, write `leave_out: "1"`',
        ),
        ("~/a.csv", None, "`~` is not expanded: write the full path"),
        ("https://a.org/a.csv", None, "URLs are not supported: download the file first"),
        ("*.csv", None, "patterns are not supported"),
        ("hosues.csv", None, "paths are relative to the training file; did you mean `houses.csv`?"),
    ],
)
def test_files_that_are_no_tables_say_what_they_are(tmp_path, name, content, message):
    (tmp_path / "houses.csv").write_text("u\n1\n")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        opened(tmp_path, file=name)
    assert message in str(caught.value)


def test_remedies_work_when_obeyed(tmp_path):
    done = {"ids": ["district"], "text": ["remark"], "leave_out": "day, kind"}
    with pytest.raises(DataError, match="empty cell; `empty: mean`"):
        opened(tmp_path, **done)
    assert opened(tmp_path, **done, empty="mean").raw


def test_empty_words(tmp_path):
    text = "place,x\nhere,1\n,2\n"
    for empty in ("refuse", "mean"):
        with pytest.raises(
            DataError, match=r"t.csv:3: column 1 \(`place`\): empty cell; write `impute: \"place = mark\"`"
        ):
            opened(tmp_path, text, ids=["place"], empty=empty)
    data = numbers(opened(tmp_path, text, ids=["place"], empty="mark"))
    assert data.words["place"] == ("", "here")
    with pytest.raises(DataError, match="column `x` has no values in the training data, so its mean"):
        numbers(opened(tmp_path, "x,y\n,1\n,2\n", columns=["features = x"], empty="mean"))


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(DataError, match=r"t.csv:1: columns 1 and 3 have the same name `a`; rename one"):
        opened(tmp_path, "a,b,a\n1,2,3\n")


def test_fields_that_nobody_wants_are_not_read(tmp_path):
    settings = {"ids": ["district", "label = kind"], "text": ["remark"], "leave_out": "day", "empty": "mark"}
    bare = "\n".join(",".join(line.split(",")[1:4]) for line in TABLE.splitlines())
    data = opened(tmp_path, bare, wanted={"features", "district"}, **settings)
    assert set(data.raw) == {"features", "district"}
    with pytest.raises(DataError, match="unknown column `remark`"):
        opened(tmp_path, bare, wanted={"remark"}, **settings)


# ---- what is learned is kept


def test_what_was_learned_reads_back(tmp_path):
    learned = FittedPreprocessing({"district": ["näh", "fern\x1b"]}, {"x": [0.1, 1e-30]}, {"x": ["a"]})
    (tmp_path / "data.json").write_text(learned.text())
    assert read_fitted(tmp_path / "data.json") == learned
    assert not read_fitted(tmp_path / "none.json")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "{}",
        "[]",
        "\xff",
        '{"words": 1',
        '{"words": {"a": [1]}, "means": {}}',
        '{"words": {"a": ["x", "x"]}, "means": {}}',
        '{"words": {}, "means": {"a": [NaN]}}',
        '{"words": {}, "means": {"a": [1' + "0" * 400 + "]}}",
        '{"words": {}, "means": {"a": [true]}}',
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, text):
    (tmp_path / "data.json").write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=r"data\.json"):
        read_fitted(tmp_path / "data.json")


# ---- splits


def test_a_share_is_held_out_by_seed():
    data = Dataset({"x": np.arange(50)})
    train, test = split_by_share(data, {"test": 0.2}, 0).values()
    assert (len(train), len(test)) == (40, 10)
    assert sorted([*train, *test]) == list(range(50))
    assert (np.diff(train) > 0).all()
    again, other = (split_by_share(data, {"test": 0.2}, seed)["test"] for seed in (0, 1))
    assert again.tolist() == test.tolist() != other.tolist()


def test_a_stratified_split_has_the_share_of_every_value():
    label = np.repeat([0, 1, 2], [50, 30, 10])
    for column in (label, WordColumn([f"class {k}" for k in label])):
        _, test = split_by_share(Dataset({"x": np.arange(90), "label": column}), {"test": 0.2}, 0, "label").values()
        assert np.bincount(label[test]).tolist() == [10, 6, 2]


def test_the_rows_of_a_group_are_on_one_side():
    names = np.random.default_rng(0).integers(0, 40, 500)
    for column in (names, WordColumn([f"c{name}" for name in names])):
        data = Dataset({"customer": column, "x": np.arange(500)})
        parts = split_by_group(data, {"test": 0.2}, 3, "customer")
        train, test = parts.values()
        assert not set(names[train]) & set(names[test])
        assert abs(len(test) - 100) < 15  # a group has 12 rows
        assert sorted([*train, *test]) == list(range(500))
        again, other = (split_by_group(data, {"test": 0.2}, seed, "customer")["test"] for seed in (3, 4))
        assert list(again) == list(test) != list(other)
        both = split_by_group(data, {"test": 0.2, "validation": 0.1}, 3, "customer")
        assert both["test"].tolist() == test.tolist()
        groups = [set(names[rows]) for rows in both.values()]
        assert set.union(*groups) == set(names)
        assert sum(map(len, groups)) == len(set(names))
        assert abs(len(both["validation"]) - 50) < 15
    with pytest.raises(DataError, match=r"no field `custmer`, named in `split`; did you mean `customer`\?; available:"):
        split_by_group(data, {"test": 0.2}, 3, "custmer")
    alone = Dataset({"customer": np.zeros(9, int)})
    with pytest.raises(DataError, match=r"a test share of 0.2 of the 1 groups in `customer` leaves none of the 9"):
        split_by_group(alone, {"test": 0.2}, 0, "customer")


def test_a_field_says_what_is_held_out():
    part = ["learn", "test", "learn"]
    for column, value in ((WordColumn(part), "test"), (np.array([0, 1, 0]), "1")):
        train, test = split_by_field(Dataset({"x": np.arange(3), "part": column}), "part", {"test": value}).values()
        assert (train.tolist(), test.tolist()) == ([0, 2], [1])


def test_validation_data_do_not_change_the_test_data():
    label = np.repeat([0, 1, 2], [50, 30, 10])
    data = Dataset({"x": np.arange(90), "label": label})
    parts = split_by_share(data, {"test": 0.2, "validation": 0.1}, 7, "label")
    assert parts["test"].tolist() == split_by_share(data, {"test": 0.2}, 7, "label")["test"].tolist()
    counts = {name: np.bincount(label[rows]).tolist() for name, rows in parts.items()}
    assert counts == {"train": [35, 21, 7], "test": [10, 6, 2], "validation": [5, 3, 1]}
    assert sorted(np.concatenate([*parts.values()])) == list(range(90))


def test_a_field_selects_validation_and_test_data():
    data = Dataset({"x": np.arange(5), "part": WordColumn(["train", "val", "test", "train", "val"])})
    parts = split_by_field(data, "part", {"test": "test", "validation": "val"})
    assert {name: rows.tolist() for name, rows in parts.items()} == {"train": [0, 3], "test": [2], "validation": [1, 4]}
    with pytest.raises(
        DataError, match=r"the validation value `dev` of field `part` .* leaves none of the 5 rows for v"
    ):
        split_by_field(data, "part", {"test": "test", "validation": "dev"})


def test_splits_that_cannot_be():
    data = Dataset({"x": np.ones((4, 2)), "part": np.array([0, 0, 1, 1])}, origin="d")
    for split, message in (
        (
            lambda: split_by_share(data, {"test": 0.01}, 0),
            "d: a test share of 0.01 leaves none of the 4 rows for testing",
        ),
        (lambda: split_by_share(data, {"test": 0.99}, 0), "leaves none of the 4 rows for training"),
        (
            lambda: split_by_share(data, {"test": 0.5}, 0, "lable"),
            "has no field `lable`, named in `split`; available: `x`, `part`",
        ),
        (
            lambda: split_by_share(data, {"test": 0.5}, 0, "x"),
            "field `x`, named in `split`, must have one id or word per row",
        ),
        (lambda: split_by_field(data, "part", {"test": "2"}), "the test value `2` of field `part` (values: `0`, `1`)"),
    ):
        with pytest.raises(DataError) as caught:
            split()
        assert message in str(caught.value)


# ---- from the file to predictions

TRAINING = """
net {
  name: "houses"
  layer { name: "features" type: "data" data { shape: 2 } }
  layer { name: "district" type: "data" data { data_type: INT size: 4 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "plain" type: "data_norm" input: "features" }
  layer { name: "place" type: "embedding" input: "district" embedding { size: 3 } }
  layer { name: "scores" type: "fc" input: "plain" input: "place" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
  layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" }
}
batch_size: 16 epochs: 10
source {
  type: "csv"
  csv { file: "houses.csv" columns: "features = area, rooms" ids: "district" ids: "label = price" empty: mean }
  split { test: 0.25 stratify: "label" }
}
optimizer { type: "adam" learning_rate: 0.02 }
output: "output"
"""


@pytest.fixture
def houses(tmp_path, monkeypatch):
    """A table of three districts, one of which decides the price; gives its lines."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["day,district,area,rooms,price"]
    for row in range(120):
        district = ("east", "north", "south")[row % 3]
        rooms = "" if row % 10 == 0 else row % 4 + 1
        lines.append(
            f"2026-01-01,{district},{rng.integers(1000, 1100)},{rooms},{'high' if district == 'east' else 'low'}"
        )
    Path("houses.csv").write_text("\n".join(lines) + "\n")
    Path("train.textproto").write_text(TRAINING)
    return lines


def run(*arguments: object, status: int = 0) -> Result:
    done = CliRunner().invoke(commands, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


def test_one_file_is_enough(houses, tmp_path):
    report = train(tmp_path / "train.textproto")[0]
    assert report.results["accuracy"] == 1
    learned = json.loads((tmp_path / "output" / "data.json").read_text())
    assert learned["words"] == {"district": ["east", "north", "south"], "label": ["high", "low"]}

    with pl.Net(pl.load_training("train.textproto").network) as net:
        net.load(str(report.weights))
        found = {name: net.states[f"plain.{name}"].value for name in ("mean", "deviation")}
    dataset = registries["source"]["csv"]
    rows = [line.split(",") for line in houses[1:]]
    raw = Dataset({"label": WordColumn([row[4] for row in rows])})
    kept, held_out = split_by_share(raw, {"test": 0.25}, 0, "label").values()
    assert dataset is not None
    assert len(held_out) == 30
    area = np.array([float(rows[row][2]) for row in kept])
    rooms = [float(rows[row][3]) if rows[row][3] else math.nan for row in kept]
    filled = np.where(np.isnan(rooms), np.nanmean(rooms), rooms)
    assert learned["means"]["features"] == pytest.approx([area.mean(), np.nanmean(rooms)])
    assert found["mean"].ravel() == pytest.approx([area.mean(), filled.mean()], rel=1e-6)
    assert found["deviation"].ravel() == pytest.approx([area.std(), filled.std()], rel=1e-5)

    evaluated = pl.evaluate("train.textproto")
    assert evaluated.rows == 30
    assert evaluated.results == pytest.approx(report.results), "the same part, the same numbers"
    assert [measures.name for measures in evaluated.confusions[0].classes()] == ["high", "low"]
    checkpoint = next((tmp_path / "output" / "checkpoints").iterdir()) / "weights.safetensors"
    assert pl.evaluate("train.textproto", weights=checkpoint).rows == 30


def test_predictions_use_the_words_and_means_of_the_training(houses, tmp_path):
    train(tmp_path / "train.textproto")
    Path("new.csv").write_text("district,area,rooms\nsouth,1050,2\neast,1050,\nwest,1050,2\n")
    rows = run("predict", "train.textproto", "new.csv").stdout.splitlines()
    assert [row.split(",")[1] for row in rows[1:3]] == ["low", "high"], "alphabet and means of the training data"
    Path("tight.textproto").write_text(TRAINING.replace("size: 4 }", "size: 3 }"))
    shown = run("train", "tight.textproto", "--output", "tight").stdout
    assert "Weights" in shown
    shown = run("predict", "tight.textproto", "new.csv", "--weights", "tight/weights.safetensors", status=1).stderr
    assert (
        "new.csv:4: unknown word 'west' of field `district`, not one of the 3 words of the training data; set `size: 4`"
        in shown
    )
    Path("output/data.json").unlink()
    assert run("predict", "train.textproto", "new.csv").stdout.splitlines() == rows, "the weights have them, too"
    weights = Path("output/weights.safetensors")
    write_tensors(weights, read_tensors(weights)[0])
    shown = run("predict", "train.textproto", "new.csv", status=1).stderr
    assert "the means of field `features` are those of the training data, but " in shown


def test_a_size_that_is_too_small_is_answered_with_the_number_of_words(houses, tmp_path):
    path = tmp_path / "train.textproto"
    path.write_text(TRAINING.replace("size: 4 }", "size: 2 }"))
    with pytest.raises(
        ConfigError, match="field `district` has 3 words, but the data layer `district` expects ids<2; set `size: 3`"
    ):
        train(path)


def test_weights_keep_their_words_when_others_start_from_them(houses, tmp_path):
    path = tmp_path / "train.textproto"
    first = train(path)[0]
    Path("houses.csv").write_text(Path("houses.csv").read_text().replace(",north,", ",berlin,"))
    report = train(path, output=tmp_path / "second", weights=first.weights)[0]
    learned = json.loads((report.folder / "data.json").read_text())
    assert learned["words"]["district"] == ["east", "north", "south"], "else `south` had the vector of `north`"


def test_a_resumed_training_sees_the_same_numbers(houses, tmp_path):
    path = tmp_path / "train.textproto"
    _, whole, _ = train(path, output=tmp_path / "whole")
    train(path, output=tmp_path / "parts", stop_after=7)
    _, rest, _ = train(path, output=tmp_path / "parts", resume=True)
    assert rest == {step: whole[step] for step in rest}
    names = ("weights.safetensors", "data.json")
    assert all((tmp_path / "whole" / n).read_bytes() == (tmp_path / "parts" / n).read_bytes() for n in names)


def test_a_norm_of_what_is_computed_is_refused(houses, tmp_path):
    path = tmp_path / "train.textproto"
    path.write_text(
        TRAINING.replace('"data_norm" input: "features"', '"data_norm" input: "raised"').replace(
            '  layer { name: "plain"',
            '  layer { name: "raised" type: "power" input: "features" }\n  layer { name: "plain"',
        )
    )
    with pytest.raises(ConfigError, match="`raised` is computed by a layer, but `data_norm` computes its statistics"):
        train(path)


def test_equal_columns_keep_the_deviation_one(tmp_path):
    text = """
    net {
      layer { name: "x" type: "data" data { shape: 2 } }
      layer { name: "plain" type: "data_norm" input: "x" }
      layer { name: "y" type: "fc" input: "plain" fc { size: 1 } }
      layer { name: "cost" type: "sum_cost" input: "y" }
    }
    steps: 1 batch_size: 3
    source { type: "npz" npz { file: "none.npz" } }
    optimizer { type: "sgd" learning_rate: 0.1 }
    """
    path = tmp_path / "train.textproto"
    path.write_text(text)
    x = np.stack([np.full(5000, 0.1), np.arange(5000)], axis=1)
    report = train(path, datasets={"train": Dataset({"x": x})})[0]
    with pl.Net(pl.load_training(path).network) as net:
        net.load(str(report.weights))
        assert net.states["plain.deviation"].value.ravel() == pytest.approx([1, np.arange(5000).std()])
        assert net.states["plain.mean"].value.ravel() == pytest.approx([0.1, 2499.5])


def test_channels_of_images_and_rows_of_sequences_are_measured(tmp_path):
    text = """
    net {
      layer { name: "x" type: "data" data { shape: [2, 3, 3] } }
      layer { name: "s" type: "data" data { shape: 1 seq_nested_level: 1 } }
      layer { name: "image" type: "data_norm" input: "x" }
      layer { name: "rows" type: "data_norm" input: "s" }
      layer { name: "y" type: "fc" input: "image" fc { size: 1 } }
      layer { name: "cost" type: "sum_cost" input: "y" }
      layer { name: "also" type: "sum_cost" input: "rows" }
    }
    steps: 1 batch_size: 3
    source { type: "npz" npz { file: "none.npz" } transform { type: "scale" input: "x" scale { factor: 10 } } }
    optimizer { type: "sgd" learning_rate: 0.1 }
    """
    path = tmp_path / "train.textproto"
    path.write_text(text)
    rng = np.random.default_rng(0)
    x, s = rng.normal([[[1]], [[5]]], [[[1]], [[3]]], (7, 2, 3, 3)), rng.normal(4, 2, 20)
    starts = np.array([0, 0, 3, 3, 9, 12, 18, 20])
    report = train(path, datasets={"train": {"x": x, "s": s, "s.starts": starts}})[0]
    with pl.Net(pl.load_training(path).network) as net:
        net.load(str(report.weights))
        found = {name: state.value.ravel() for name, state in net.states.items()}
    assert found["image.mean"] == pytest.approx(10 * x.mean(axis=(0, 2, 3)), rel=1e-5)
    assert found["image.deviation"] == pytest.approx(10 * x.std(axis=(0, 2, 3)), rel=1e-5)
    assert (found["rows.mean"], found["rows.deviation"]) == (pytest.approx(s.mean()), pytest.approx(s.std()))


def test_gaps_of_another_width_are_refused():
    raw = Dataset({"x": GapColumn(np.ones((2, 3)), ["a", "b", "c"], ["mean"] * 3)})
    with pytest.raises(DataError, match="field `x` has 3 columns, but 2 in the training data"):
        encoded(raw, FittedPreprocessing({}, {"x": [1.0, 2.0]}), "here")


def test_a_second_file_to_test_with_has_the_words_of_the_first(houses, tmp_path):
    text = TRAINING.replace('split { test: 0.25 stratify: "label" }', "")
    second = text[text.index("source {") : text.index("optimizer")].replace("houses.csv", "test.csv")
    path = tmp_path / "train.textproto"
    path.write_text(text + second.replace('type: "csv"', 'type: "csv" phase: "test"', 1))
    Path("test.csv").write_text("district,area,rooms,price\nsouth,1050,2,low\nelsewhere,1050,,low\n")
    report = train(path)[0]
    assert report.results["accuracy"] in (0.5, 1)
    learned = json.loads((report.folder / "data.json").read_text())
    assert learned["words"]["district"] == ["east", "north", "south"]
    assert pl.evaluate(path).rows == 2


def test_very_many_columns_are_read_in_linear_time(tmp_path):
    """Looking every name up among all the others would take minutes."""
    count = 150_000
    text = ",".join(f"c{i}" for i in range(count)) + "\n" + ",".join(["1"] * count) + "\n"
    assert opened(tmp_path, text).fields["features"].shape == (1, count)


def test_columns_go_by_their_names_and_not_by_their_order(houses, tmp_path):
    text = TRAINING.replace('columns: "features = area, rooms"', 'leave_out: "day"')
    path = tmp_path / "train.textproto"
    for empty in ("mean", "refuse"):
        path.write_text(text.replace("empty: mean", f"empty: {empty}"))
        Path("houses.csv").write_text("\n".join(line.replace(",,", ",2,") for line in houses) + "\n")
        train(path, overwrite=True)
        Path("a.csv").write_text("district,area,rooms\neast,1010,3\nnorth,1090,1\n")
        Path("b.csv").write_text("rooms,more,area,district\n3,7,1010,east\n1,7,1090,north\n")
        assert run("predict", path, "a.csv").stdout == run("predict", path, "b.csv").stdout
        Path("c.csv").write_text("district,rooms\neast,3\n")
        shown = run("predict", path, "c.csv", status=1).stderr
        assert (
            "missing column `area` of field `features` of the training data; the weights require the "
            "columns of the training" in shown
        )
        Path("d.csv").write_text("district,rooms,ara\neast,3,1010\n")
        shown = run("predict", path, "d.csv", status=1).stderr
        assert "new columns: `ara`; if `ara` is the same, rename it to `area` in the header" in shown
        Path("d.csv").write_text(Path("d.csv").read_text().replace("ara", "area"))
        run("predict", path, "d.csv")  # obeyed


def test_tables_without_names_go_by_order(tmp_path):
    data = numbers(opened(tmp_path, "1,2\n3,4\n", header="no"))
    assert data.columns == {}
    assert encoded(data, FittedPreprocessing(columns={"features": ["x", "y"]}), "here").fields["features"].shape == (
        2,
        2,
    )


def test_columns_may_be_others_where_all_weights_that_read_them_are_left_out(houses, tmp_path):
    path = tmp_path / "train.textproto"
    path.write_text(TRAINING.replace('columns: "features = area, rooms"', 'leave_out: "day"'))
    first = train(path)[0]
    Path("houses.csv").write_text(Path("houses.csv").read_text().replace("area", "surface").replace("north", "berlin"))
    text = path.read_text().replace('output: "output"', "")
    weights = f'weights {{ file: "{first.weights}" %s }}'
    path.write_text(text + weights % 'leave_out: "plain.*"')
    with pytest.raises(ConfigError, match="missing column `area`"):  # their places are those in `scores`, too
        train(path, output=tmp_path / "second")
    path.write_text(text + weights % 'leave_out: "plain.*" leave_out: "scores.*" leave_out: "place.*"')
    report = train(path, output=tmp_path / "second")[0]
    learned = json.loads((report.folder / "data.json").read_text())
    assert learned["columns"]["features"][0] == "surface"
    assert learned["words"]["district"] == ["berlin", "east", "south"]
    assert learned["words"]["label"] == json.loads((first.folder / "data.json").read_text())["words"]["label"]


def test_a_column_alone_is_a_field(tmp_path):
    data = opened(tmp_path, columns=["rooms", "size = area"], empty="mean")
    assert list(numbers(data).fields) == ["rooms", "size"]
    assert list(opened(tmp_path, "area\n1\n", wanted={"area"}, columns=["area", "price", "in-out"]).fields) == ["area"]
    with pytest.raises(DataError, match=r"unknown column `room`; did you mean `rooms`?"):
        opened(tmp_path, columns=["room"])
    with pytest.raises(DataError, match="invalid `columns` 'rooms, area'; write \"field = first, second\""):
        opened(tmp_path, columns=["rooms, area"])


def test_no_field_of_a_table_is_read(tmp_path):
    with pytest.raises(DataError, match=r'no field for any of the data layers: write `columns: "area" columns: "b"`'):
        opened(tmp_path, "area,b,c\n1,2,3\n", wanted=["b", "area"])
    with pytest.raises(DataError, match=r'write `columns: "FIELD = COLUMN, COLUMN"`.*or name a data layer `features`'):
        opened(tmp_path, "area,b\n1,2\n", wanted=["x"])


def test_the_remedy_names_the_columns_that_are_left(tmp_path):
    data = opened(tmp_path, columns=["size = area"], ids=["remark", "kind"], leave_out="day", empty="mean")
    assert data.remedies["features"].endswith('columns: "features = 2, 4"')
    given = ["size = area", "features = 2, 4"]
    with pytest.raises(DataError, match=r"column 2 \(`district`\): 'north' is not a number"):
        opened(tmp_path, columns=given, leave_out="day", empty="mean")


def test_numbers_have_the_precision_of_the_network(tmp_path):
    third = opened(tmp_path, "a\n0.3333333333333333\n").fields["features"]
    assert third.tolist() == [[1 / 3]]
    gaps = numbers(opened(tmp_path, "a,b\n0.3333333333333333,1\n,1\n", empty="mean"))
    assert gaps.fields["features"][:, 0].tolist() == [1 / 3, 1 / 3]
    feeds = {dtype: make_feeds(gaps, {"features": Type.dense(2)}, dtype=dtype) for dtype in ("float32", "float64")}
    for dtype, (feed,) in feeds.items():
        assert feed.take(np.arange(2), None).tolist() == [[np.dtype(dtype).type(1 / 3), 1]] * 2
    large = opened(tmp_path, "a\n1e39\n")
    with pytest.raises(DataError, match=r"t.csv:2: field `features` is 1e\+39, which overflows in the precision"):
        make_feeds(large, {"features": Type.dense(1)}, dtype="float32")
    make_feeds(large, {"features": Type.dense(1)}, dtype="float64")


# ---- dates


DATES = """\
when,x,label
2024-02-29T23:59:59.999999,1,0
2023/12/31,2,1
,3,0
"Mar 1, 1969",4,1
"""


def test_dates_are_numbers_of_their_parts(tmp_path):
    parts = "year, month, day, weekday, day_of_year, hour, minute, days"
    raw = opened(tmp_path, DATES, label="label", dates=[f"when = {parts}"], impute=["when = mark"])
    assert raw.columns["features"] == (*(f"when.{part}" for part in parts.split(", ")), "x")
    values = numbers(raw).fields["features"]
    expected = []
    for text in ("2024-02-29T23:59:59.999999", "2023-12-31", "1969-03-01"):  # not the first of March
        day = datetime.fromisoformat(text)
        begin = datetime(1970, 1, 1)
        numbers_of = [day.year, day.month, day.day, day.weekday(), day.timetuple().tm_yday, day.hour, day.minute]
        expected.append([*numbers_of, (day - begin).total_seconds() / 86400])
    assert values[[0, 1, 3], :8].tolist() == expected
    assert values[2, :8] == pytest.approx(np.mean(expected, axis=0))
    assert values[:, 8].tolist() == [1, 2, 3, 4]
    assert values[:, 9:].tolist() == [[0] * 8, [0] * 8, [1] * 8, [0] * 8]


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2012/01/02", "2012-01-02"),
        ("20120102", "2012-01-02"),
        ("2012-01-02 03:04:05.5+02:00", "2012-01-02T03:04:05.5"),
        ("1974Q3", "1974-07-01"),
        ("Jan-1-1995", "1995-01-01"),
        ("2 September 2001", "2001-09-02"),
        ("May 2001", "2001-05-01"),
        ("2001-05", "2001-05-01"),
        ("31/12/2001", None),
        ("2012-02-30", None),
        ("Mayonnaise 2001", None),
        ("12.5", None),
    ],
)
def test_notations_of_dates(text, iso):
    days = iso and (datetime.fromisoformat(iso) - datetime(1970, 1, 1)).total_seconds() / 86400
    assert parsed_date(text) == days


def test_dates_in_another_format(tmp_path):
    table = "when,x\n31/12/2001,1\n01/02/2002,2\n"
    with pytest.raises(
        DataError, match=r'for a date write `dates: "when = year, month"` with a format such as `date_for'
    ):
        opened(tmp_path, table)
    with pytest.raises(DataError, match=r"'31/12/2001' is not a date that begins with the year .*; write its format"):
        opened(tmp_path, table, dates=["when = month"])
    found = opened(tmp_path, table, dates=["when = month, day"], date_format="%d/%m/%Y")
    assert found.fields["features"].tolist() == [[12, 31, 1], [2, 1, 2]]
    with pytest.raises(DataError, match=r"'31/12/2001' is not a date in the format %m/%d/%Y$"):
        opened(tmp_path, table, dates=["when = month, day"], date_format="%m/%d/%Y")


def test_digits_in_a_column_of_dates_are_dates(tmp_path):
    found = opened(tmp_path, "when,x\n20240229,1\n20231231,2\n", dates=["when = month, day"])
    assert found.fields["features"].tolist() == [[2, 29, 1], [12, 31, 2]]


def test_settings_of_dates_that_are_wrong(tmp_path):
    with pytest.raises(DataError, match=r"invalid `dates` 'day = moth'; did you mean `month`\?; write .date = year, m"):
        opened(tmp_path, dates=["day = moth"])
    with pytest.raises(
        DataError, match=r"`dates` names column 1 \(`day`\), which no numeric field has; add it to `col"
    ):
        opened(tmp_path, columns=["features = area"], dates=["day = month"], empty="mean", wanted={"features"})


# ---- first lines and markers that are guessed


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("3,2,a,b\n1,2,0\n", {"label": "5"}, "use column numbers, 1 to 4; if the first line is .* `skip_lines: 1`"),
        ("3,2\n1,2,0\n", {}, "got 3 cells, expected 2 as in the rows above; if the first .* `skip_lines: 1`"),
        ("1960,1961\n1,2\n", {"label": "1961"}, "has numbers; if it is a header, write `header: yes`"),
        ("a,b\nr1,1,2\n", {"label": "b"}, "got 3 cells, expected 2 .*; if the header lacks a name, .* `header: no`"),
        ("a,b\n1,2,\n", {"label": "b"}, "only some lines end with a delimiter, write `skip_lines: 1` and `header: no`"),
        (
            "of 2020\na,b\n1,2\n",
            {"label": "b"},
            "only column is of 2020; if .* not the header, write `skip_lines: 1`",
        ),
        ("# of 2020\na,b\n1,2\n", {"label": "b"}, 'begin with # are comments, write `comment: "#"`'),
        ("a b\n1 2\n", {"label": "b"}, 'only one column; try `delimiter: " "`$'),
        ("a   b\n1   2\n", {"label": "b"}, 'only one column; try `delimiter: " "` and `spaces: ignore`$'),
        ("'a' 'b'\n1 2\n", {"label": "b"}, 'try `delimiter: " "` and `quote: single`$'),
        ("'a','b'\n1,2\n", {"label": "b"}, "unknown column `b`.*; for names in single quotes write `quote: single`"),
        ("a,b,c\n,x,1\ny,,2\n", {"ids": ["a", "b"]}, 'write `impute: "a, b = mark"` for an additional word'),
    ],
)
def test_tables_of_another_form(tmp_path, text, settings, message):
    with pytest.raises(DataError, match=message):
        opened(tmp_path, text, **settings)


def test_numbers_that_are_equal_in_float32(tmp_path):
    def note(numbers, **settings):
        rows = "".join(f"{number},1\n" for number in numbers)
        return opened(tmp_path, f"a,label\n{rows}", label="label", **settings).note

    ids = range(2**24, 2**24 + 9)
    assert "column 1 (`a`) has numbers that are equal in float32, such as 16777219 and 16777220" in note(ids)
    assert "such as 20200103 and 20200104" in note(range(20200101, 20200132))
    assert not note(ids, ids=["a"])
    assert not note([*ids, *range(0, 10**9, 10**7)]), "few of them"


def test_words_that_mark_missing_values(tmp_path):
    table = "kind,x\na,1\nNA,2\nNA,3\n"
    assert "has the word 'NA' in 2 rows, which becomes a category; if" in opened(tmp_path, table, ids=["kind"]).note
    assert not opened(tmp_path, table, ids=["kind"], missing=[""]).note
    assert not opened(tmp_path, table, ids=["kind"], missing=["NA"], impute=["kind = mark"]).note
