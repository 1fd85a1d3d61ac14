"""Sources: what they give, and what they say about files that are wrong."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from paddle_layers.data import DataError
from paddle_layers.data.formats.npy import read_npy, read_npz
from paddle_layers.define import registries


def opened(source, base, **attributes):
    return registries["source"][source].create(attributes).open(base)


def test_digits_are_split_once_for_all():
    train, test, everything = (opened("digits", Path(), part=part) for part in ("train", "test", "all"))
    assert (len(train), len(test), len(everything)) == (1438, 359, 1797)
    assert train.fields["pixels"].shape == (1438, 1, 8, 8)
    assert everything.fields["pixels"].max() == 16
    share = np.bincount(test.fields["label"]) / np.bincount(everything.fields["label"])
    assert np.all(np.abs(share - 0.2) < 0.005)


def test_the_split_is_the_one_that_the_readme_describes():
    arrays = read_npz(Path(__file__).parents[2] / "paddle_layers" / "data" / "digits.npz")
    rng = np.random.Generator(np.random.Philox(key=1998))
    held_out = np.zeros(1797, np.uint8)
    for digit in range(10):
        rows = np.flatnonzero(arrays["label"] == digit)
        rng.shuffle(rows)
        held_out[rows[: round(len(rows) / 5)]] = 1
    assert np.array_equal(held_out, arrays["held_out"])


def test_stored_npz_is_mapped_and_compressed_npz_is_read(tmp_path):
    x, label = np.arange(24, dtype=np.float32).reshape(4, 2, 3), np.array([0, 1, 2, 1])
    np.savez(tmp_path / "a.npz", x=np.asfortranarray(x), label=label)
    np.savez_compressed(tmp_path / "b.npz", x=x, label=label)
    mapped, read = (read_npz(tmp_path / name) for name in ("a.npz", "b.npz"))
    assert isinstance(mapped["x"], np.memmap)
    assert not isinstance(read["x"], np.memmap)
    for arrays in (mapped, read):
        assert np.array_equal(arrays["x"], x)
        assert np.array_equal(arrays["label"], label)


def test_npy_fields_are_named_like_their_files(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((5, 2)))
    np.save(tmp_path / "label.npy", np.arange(5))
    dataset = opened("npy", tmp_path, file=["x.npy", "label.npy"])
    assert list(dataset.fields) == ["x", "label"]
    assert len(dataset) == 5


def test_pickled_objects_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", x=np.array([{}], object), allow_pickle=True)
    with pytest.raises(DataError, match=r"x\.npy contains Python objects, which would require pickle"):
        read_npy(tmp_path / "x.npy")
    with pytest.raises(DataError, match="array `x` contains Python objects"):
        read_npz(tmp_path / "x.npz")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("left", [0.02, 0.3, 0.9])
def test_a_file_that_is_cut_short_is_refused(tmp_path, compressed, left):
    (np.savez_compressed if compressed else np.savez)(tmp_path / "x.npz", x=np.random.default_rng(0).random((50, 8)))
    data = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(data[: int(len(data) * left)])
    with pytest.raises(DataError, match=r"x\.npz"):
        read_npz(tmp_path / "x.npz")
    np.save(tmp_path / "x.npy", np.ones((50, 8)))
    data = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(data[: int(len(data) * left)])
    with pytest.raises(DataError, match=r"x\.npy"):
        read_npy(tmp_path / "x.npy")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_header_that_claims_too_much_allocates_nothing(tmp_path, compression):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})
    with zipfile.ZipFile(tmp_path / "x.npz", "w", compression) as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(64))
    with pytest.raises(DataError, match="array `x` is truncated: shape"):
        read_npz(tmp_path / "x.npz")


def test_missing_files_and_other_files_are_named(tmp_path):
    for source, name in (("npz", "x.npz"), ("npy", "x.npy"), ("csv", "x.csv")):
        given = [name] if source == "npy" else name
        with pytest.raises(DataError, match=rf"file not found: .*{name}"):
            opened(source, tmp_path, file=given)
        (tmp_path / name).write_bytes(b"\xff\xfe nothing of the kind")
        with pytest.raises(DataError, match=name):
            opened(source, tmp_path, file=given)
    with pytest.raises(DataError, match=r"cannot read"):
        opened("csv", tmp_path, file=".")


CSV = "height,width,kind\n1.5,2,rose\n3,4.5,tulip\n\n5,6,rose\n"


def test_csv_names_columns_and_classes(tmp_path):
    (tmp_path / "f.csv").write_text(CSV)
    dataset = opened("csv", tmp_path, file="f.csv", label="kind", classes=["rose", "tulip"])
    assert dataset.fields["features"].tolist() == [[1.5, 2], [3, 4.5], [5, 6]]
    assert dataset.fields["label"].tolist() == [0, 1, 0]
    assert dataset.place(2) == f"{tmp_path / 'f.csv'}:5"


def test_csv_columns_by_number_without_header(tmp_path):
    (tmp_path / "f.csv").write_text("7;1;2;3\n8;4;5;6\n")
    dataset = opened("csv", tmp_path, file="f.csv", delimiter=";", label="1", columns=["a = 2-3", "b = 4"])
    assert {name: values.tolist() for name, values in dataset.fields.items()} == {
        "a": [[1, 2], [4, 5]],
        "b": [[3], [6]],
        "label": [7, 8],
    }


@pytest.mark.parametrize(
    ("text", "attributes", "message"),
    [
        (CSV, {}, "f.csv:2: column 3 (`kind`): 'rose' is not a number"),
        (CSV, {"label": "kind"}, "'rose' is not a number; list the label words in `classes`"),
        (CSV, {"label": "kind", "classes": ["rose"]}, "f.csv:3: unknown label 'tulip', not in `classes`: rose"),
        (CSV, {"label": "sort"}, "f.csv:1: unknown column `sort`; the 3 columns are height, width, kind"),
        (CSV, {"classes": ["rose"]}, "`classes` requires `label`, the label column"),
        ("a,b\n1,2\n3\n", {}, "f.csv:3: got 1 cells, expected 2 as in the rows above"),
        ("a,b\n1,2\n3,\n", {}, "f.csv:3: column 2 (`b`): empty cell"),
        ("a,b\n1,nan\n", {}, "f.csv:2: column 2 (`b`): nan is not supported"),
        ("a,b\n1,1e999\n", {}, "f.csv:2: column 2 (`b`): inf is not supported"),
        ("a,b\n1,0.5\n", {"label": "b"}, "f.csv:2: column 2 (`b`): the label 0.5 is not an integer"),
        ("a,b\n", {}, "f.csv has no rows"),
        ("", {}, "f.csv has no rows"),
        ("a,b\n1,2\n", {"columns": ["x: a"]}, "invalid `columns` 'x: a'; write"),
        ("a,b\n1,2\n", {"delimiter": ",,"}, "expected a single character"),
    ],
)
def test_csv_errors_name_file_and_line(tmp_path, text, attributes, message):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        opened("csv", tmp_path, file="f.csv", **attributes)
    assert message in str(caught.value)
