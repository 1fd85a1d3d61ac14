"""Words are no numbers, and numbers of other notations are no numbers either: in every source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as arrow
import pytest
from click.testing import CliRunner
from PIL import Image
from pyarrow import parquet

from paddle_layers.cli.app import commands
from paddle_layers.config.binding import overrides
from paddle_layers.config.reading import lexer
from paddle_layers.config.wiring.data_layers import IgnoredLabels
from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import table_cells
from paddle_layers.define import Type, decimals, registries
from paddle_layers.define.decimals import number_of
from paddle_layers.training.sweeps import study

WORDS = ["2.25", "10.5", "100"]


def opened(source: str, base: Path, /, **attributes: Any) -> Dataset:
    definition = registries["source"][source]
    found: Dataset = definition.create(definition.bind(attributes)).open(base)
    return encoded(found, learn(found, np.arange(len(found))), "here")


def images(folder: Path) -> None:
    for number in range(3):
        Image.fromarray(np.zeros((2, 2), np.uint8)).save(folder / f"{number}.png")


def folder_of_classes(base: Path) -> dict[str, Any]:
    for name in WORDS:
        (base / "p" / name).mkdir(parents=True)
        images(base / "p" / name)
    return {"folder": "p"}


def listed(base: Path, labels: list[str], **settings: Any) -> dict[str, Any]:
    images(base)
    (base / "l.txt").write_text("".join(f"{row}.png {label}\n" for row, label in enumerate(labels)))
    return {"file": "l.txt", **settings}


def table(base: Path, **settings: Any) -> dict[str, Any]:
    (base / "d.csv").write_text("x,label\n" + "".join(f"1,{word}\n" for word in WORDS))
    return {"file": "d.csv", "columns": ["x"], **settings}


def columns(base: Path) -> dict[str, Any]:
    parquet.write_table(arrow.table({"label": arrow.array(WORDS)}), base / "d.parquet")
    return {"file": ["d.parquet"]}


def lines(base: Path, **settings: Any) -> dict[str, Any]:
    (base / "t.txt").write_text("".join(f"{word}\tb c\n" for word in WORDS))
    return {"file": "t.txt", **settings}


def database(base: Path) -> dict[str, Any]:
    with h5py.File(base / "d.h5", "w") as file:
        file["label"] = WORDS
    return {"file": ["d.h5"]}


def arrays(base: Path) -> dict[str, Any]:
    np.savez(base / "d.npz", label=np.array(WORDS))
    return {"file": "d.npz"}


@pytest.mark.parametrize(
    ("source", "make", "field"),
    [
        ("image_folder", folder_of_classes, "label"),
        ("image_list", lambda base: listed(base, ["ant", "bee", "cat"]), "label"),
        ("image_list", lambda base: listed(base, WORDS, classes=WORDS), "label"),
        ("csv", lambda base: table(base, ids=["label"]), "label"),
        ("csv", lambda base: table(base, label="label", classes=WORDS), "label"),
        ("csv", lambda base: table(base, text=["label"]), "label"),
        ("parquet", columns, "label"),
        ("text", lambda base: lines(base, classes=WORDS), "label"),
        ("text", lambda base: lines(base, classes=WORDS), "words"),
        ("hdf5", database, "label"),
        ("npz", arrays, "label"),
    ],
)
def test_words_are_refused_where_a_layer_takes_numbers(tmp_path, source, make, field):
    level = 1 if field == "words" else 0
    with pytest.raises(DataError, match=r"contains words|expected numbers"):
        make_feeds(opened(source, tmp_path, **make(tmp_path)), {field: Type.dense(1, level=level)})


@pytest.mark.parametrize("array", [np.array(WORDS), np.array(WORDS, object)])
def test_arrays_of_strings_are_refused(array):
    with pytest.raises(DataError, match=r"field `label` contains .*, expected numbers"):
        make_feeds(Dataset({"label": array}), {"label": Type.dense(1)})


def test_numbers_of_a_list_of_images_are_numbers(tmp_path):
    data = opened("image_list", tmp_path, **listed(tmp_path, ["0.57", "10.5", "-3"]))
    (feed,) = make_feeds(data, {"label": Type.dense(1)})
    assert feed.take(np.arange(3), None).ravel().tolist() == np.array([0.57, 10.5, -3], np.float32).tolist()
    with pytest.raises(
        DataError, match=r"l\.txt:1: field `label` is 0\.57, but the data layer `label` expects integers \(ids<2"
    ):
        make_feeds(data, {"label": Type.ids(2)})
    data = opened("image_list", tmp_path, **listed(tmp_path, ["1", "0", "-1"]))
    (feed,) = make_feeds(data, {"label": Type.ids(2)}, ignored={"label": IgnoredLabels(frozenset({-1}))})
    assert feed.take(np.arange(3), None).tolist() == [1, 0, -1]
    with pytest.raises(DataError, match=r"l\.txt:2: the label '1_0' is a word, but others in this list are numbers"):
        opened("image_list", tmp_path, **listed(tmp_path, ["1", "1_0", "2"]))


def sources_of_floats(base: Path, values: list[float]) -> dict[str, Dataset]:
    np.savez(base / "d.npz", label=np.array(values, np.float32))
    with h5py.File(base / "d.h5", "w") as file:
        file["label"] = np.array(values, np.float32)
    parquet.write_table(arrow.table({"label": arrow.array(values)}), base / "d.parquet")
    (base / "d.csv").write_text("x,label\n" + "".join(f"1,{value}\n" for value in values))
    images(base)
    (base / "l.txt").write_text("".join(f"{row}.png {value}\n" for row, value in enumerate(values)))
    return {
        "npz": opened("npz", base, file="d.npz"),
        "hdf5": opened("hdf5", base, file=["d.h5"]),
        "parquet": opened("parquet", base, file=["d.parquet"]),
        "csv": opened("csv", base, file="d.csv", columns=["label"]),
        "image_list": opened("image_list", base, file="l.txt"),
        "arrays": Dataset({"label": np.array(values)}),
    }


def fed(data: Dataset) -> list[int]:
    feeds = make_feeds(data, {"label": Type.ids(3)})
    return Batches(data, 3, feeds=feeds, shuffle=False).take()["label"].tolist()


def test_integers_that_are_stored_as_floats_are_ids_in_every_source(tmp_path):
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir()
    wrong.mkdir()
    found = {name: fed(data) for name, data in sources_of_floats(right, [2.0, 0.0, 1.0]).items()}
    assert found == {name: [2, 0, 1] for name in found}
    for name, data in sources_of_floats(wrong, [2.0, 0.5, 1.0]).items():
        with pytest.raises(
            DataError, match=r"field `label` is 0\.5, but the data layer `label` expects integers \(ids<3\)"
        ):
            fed(data)
        assert name


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_that_stand_for_several_integers_are_no_ids(dtype):
    first = 2 ** (np.finfo(dtype).nmant + 1)
    with pytest.raises(DataError, match=rf"{dtype} represents integers exactly only up to {first}"):
        make_feeds(Dataset({"label": np.array([first, first * 2], dtype)}), {"label": Type.ids(2**60)})


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_missing_id_is_no_id(bad):
    with pytest.raises(DataError, match=r"row 1: field `label` is (nan|-?inf), but"):
        make_feeds(Dataset({"label": np.array([1, bad])}), {"label": Type.ids(2)})


# ---- notations


@pytest.mark.parametrize(
    "text", ["2020_01", "1_0", "\u0663", "1\u0663", "_1", "1_", "\uff11", "0x1", "1e", "", "--1", "1,5"]
)
def test_other_notations_are_no_numbers(tmp_path, text):
    assert number_of(text) is None
    (tmp_path / "d.csv").write_text(f'x\n1\n"{text}"\n')
    with pytest.raises(DataError, match=r"d\.csv:3: column 1 \(`x`\): "):
        opened("csv", tmp_path, file="d.csv")


@pytest.mark.parametrize("text", ["1", "-1", "+1", " 1.5 ", ".5", "5.", "1e3", "1E-3", "nan", "-inf", "Infinity"])
def test_decimal_numbers_are_those_of_float(text):
    assert str(number_of(text)) == str(float(text))


@pytest.mark.parametrize(
    "pattern", [decimals._NUMBER, lexer._REAL, overrides._FLOAT, study._RANGE, table_cells._OTHER_NOTATION]
)
def test_a_long_run_of_digits_takes_linear_time(pattern):
    """With backtracking it takes hours."""
    assert not pattern.fullmatch("1" * 1_000_000 + "x")


def test_a_first_line_of_other_notations_has_names(tmp_path):
    (tmp_path / "d.csv").write_text("0_0,0_1,1_0\n1,2,3\n")
    data = registries["source"]["csv"].create({"file": "d.csv"}).open(tmp_path)
    assert data.columns == {"features": ("0_0", "0_1", "1_0")}
    with pytest.raises(DataError, match="unknown column `\u0661`"):
        registries["source"]["csv"].create({"file": "d.csv", "columns": ["x = \u0661"]}).open(tmp_path)


@pytest.mark.parametrize("value", ["1_0", "\u0663"])
def test_options_of_the_command_line_are_decimal(value):
    done = CliRunner().invoke(commands, ["train", "t.textproto", "--seed", value])
    assert done.exit_code == 2
    assert "is not a valid integer" in done.output


# ---- guesses about the first line


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("pos,good\nneg,bad\n", {"ids": ["label = 1"], "text": ["words = 2"]}, "is read as the header"),
        ("pos,good\nneg,bad\n", {"label": "1", "classes": ["pos", "neg"], "text": ["words = 2"]}, "write `header: no`"),
        ("0,1,2\n5,6,7\n", {}, "is read as data, but counts up"),
        ("2019,2020\n5,6\n", {}, "is read as data, but counts up"),
        ("0,1\n0.5,0.25\n", {}, "write `header: yes` if these are names"),
        ("label,words\npos,good\n", {"ids": ["label"], "text": ["words"]}, ""),
        ("pos,good\nneg,bad\n", {"ids": ["label = 1"], "text": ["words = 2"], "header": "no"}, ""),
        ("pos,good\nneg,bad\n", {"ids": ["label = 1"], "text": ["words = 2"], "header": "yes"}, ""),
        ("x,kind\n1,a\n", {"ids": ["label = 2"]}, ""),
        ("0,1\n1,1\n", {}, ""),
        ("0,1,2\n5,6,7\n", {"header": "no"}, ""),
    ],
)
def test_a_guess_that_may_lose_a_row_is_told(tmp_path, text, settings, message):
    (tmp_path / "d.csv").write_text(text)
    source = registries["source"]["csv"]
    note = source.create(source.bind({"file": "d.csv", **settings})).open(tmp_path).note
    assert (message in note) if message else not note
