"""Damaged and hostile data files: one line that names the file, and nothing allocated that the file only claims."""

import io
import struct
import time
import zipfile

import numpy as np
import pytest

from paddle_layers.data import DataError, Dataset
from paddle_layers.data.formats.npy import UNPACKED, read_npy, read_npz
from paddle_layers.define import registries
from tests.each import each


def refused(call, *words):
    """The call raises a `DataError` of one line with these words."""
    with pytest.raises(DataError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    for word in words:
        assert word in message
    return message


def raw(header, version=(1, 0)):
    text = header.encode("latin1")
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", len(text)) + text


def described(descr="'<f8'", shape="(2,)", order="False", more=""):
    return raw(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n")


HEADERS = {
    "open bracket": raw("{'descr': '<f8', ("),
    "indented": raw("  \n {'a':\n  1"),
    "unindented": raw("if 1:\n  a\n b"),
    "nested": raw("(" * 9000),
    "many signs": raw("-" * 9000 + "1"),
    "no dictionary": raw("[1]"),
    "unhashable": raw("{{}: 1}"),
    "division": raw("1/0"),
    "surrogate": described("'\\ud800'"),
    "negative": described(shape="(-2,)"),
    "negative twice": described(shape="(-2, -3)"),
    "truth value": described(shape="(True,)"),
    "text as shape": described(shape="('2',)"),
    "huge": described(shape=f"({2**70},)"),
    "no rows of endless length": described(shape=f"(0, {2**70})"),
    "five thousand digits": described(shape=f"({'9' * 5000},)"),
    "four thousand digits": described(shape=f"({'9' * 4000},)"),
    "hundred axes": described(shape=f"({'1, ' * 100})"),
    "text": described("'<U2'"),
    "long text": described("'<U9999999999'"),
    "void of no size": described("'V0'", shape=f"({10**14},)"),
    "text of no size": described("'S0'", shape=f"({10**14},)"),
    "record": described("[('a', '<f8')]"),
    "array of arrays": described("('<f8', (2,))"),
    "complex": described("'<c16'", shape="(1,)"),
    "time": described("'m8[3s]'"),
    "no type": described("None"),
    "number as type": described("5"),
    "long header": described(more=" " * 20_000),
    "endless header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b" " * 100,
    "version 3": raw("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", (3, 0)),
}


@each("case", HEADERS)
@each("kind", ["npy", "stored", "deflated"])
def test_a_header_is_checked_before_it_is_believed(tmp_path, case, kind):
    content = HEADERS[case] + bytes(16)
    if kind == "npy":
        (tmp_path / "x.npy").write_bytes(content)
        refused(lambda: read_npy(tmp_path / "x.npy"), "x.npy ")
        return
    with zipfile.ZipFile(
        tmp_path / "x.npz", "w", zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
    ) as z:
        z.writestr("field.npy", content)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz, array `field` ")


def archive(compression=zipfile.ZIP_DEFLATED, **arrays):
    """The bytes of a sound npz file, and where its directory begins."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as z:
        for name, array in (arrays or {"x": np.arange(3000) % 7}).items():
            content = io.BytesIO()
            np.save(content, array)
            z.writestr(f"{name}.npy", content.getvalue())
    return bytearray(file.getvalue()), file.getvalue().find(b"PK\1\2")


def put(data, at, layout, *values):
    data[at : at + struct.calcsize(layout)] = struct.pack(layout, *values)


ENTRIES = {
    "unknown zip version": (6, "<H", 900),
    "unknown method": (10, "<H", 99),
    "encrypted": (8, "<H", 1),
    "patched data": (8, "<H", 0x20),
    "wrong sum": (16, "<I", 1),
    "too large": (24, "<I", 2**32 - 2),
    "place behind the end": (42, "<I", 2**31),
    "other place": (42, "<I", 7),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_what_the_directory_of_an_npz_says_is_checked(tmp_path, case):
    at, layout, value = ENTRIES[case]
    data, directory = archive()
    put(data, directory + at, layout, value)
    if case == "encrypted":
        put(data, 6, "<H", 1)
    (tmp_path / "x.npz").write_bytes(data)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_stream_is_no_traceback(tmp_path, compression):
    data, _ = archive(compression)
    data[70:90] = b"\xff" * 20
    (tmp_path / "x.npz").write_bytes(data)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz, array `x`")


def test_a_small_file_that_becomes_large_is_refused_before_it_is_unpacked(tmp_path):
    size = UNPACKED + 1
    header = described("'|u1'", shape=f"({size - 200},)")
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z,
        z.open("x.npy", "w") as f,
    ):
        f.write(header)
        for begin in range(0, size, 2**22):
            f.write(bytes(min(2**22, size - begin)))
    began = time.monotonic()
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", f"or {UNPACKED}", "np.savez instead of")
    assert time.monotonic() - began < 1


def test_what_shrinks_well_but_is_small_is_read(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros((1000, 1000)))
    assert read_npz(tmp_path / "x.npz")["x"].shape == (1000, 1000)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_that_share_their_bytes_are_refused(tmp_path, compression):
    data, directory = archive(compression)
    end = data.rfind(b"PK\5\6")
    entries = bytes(data[directory:end]) * 64
    put(data, end + 8, "<HHI", 64, 64, len(entries))
    (tmp_path / "x.npz").write_bytes(data[:directory] + entries + data[end:])
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", "overlap")


def test_stored_members_have_the_size_that_is_mapped(tmp_path):
    """The first of two claims, beside a packed size that is right, to go on into the second."""
    data, directory = archive(zipfile.ZIP_STORED, x=np.arange(3), y=np.arange(3))
    put(data, directory + 24, "<I", 400)
    (tmp_path / "x.npz").write_bytes(data)
    refused(lambda: read_npz(tmp_path / "x.npz"), "x.npz", "`x` and `y` overlap")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            {"x.ids": np.zeros((4, 2), int), "x.starts": [0, 2, 4]},
            "`x.ids` must be a 1-D array of integers, got int64 of shape (4, 2)",
        ),
        (
            {"x.ids": np.zeros(4), "x.starts": [0, 2, 4]},
            "`x.ids` must be a 1-D array of integers, got float64 of shape (4,)",
        ),
        ({"x.ids": [1, 2], "x.starts": [0, 2], "x.values": ["a", "b"]}, "field `x.values` contains <U1"),
        ({"x.ids": [1, 2], "x.starts": [0, 2], "x.values": 3.0}, "field `x.values` is a scalar"),
        ({"x.ids": [1, 2], "x.starts": ["a"]}, "`x.starts` must be a 1-D array of integers, got <U1"),
        ({"x": [1, 2], "x.starts": np.array([0, 2**64 - 1, 2], np.uint64)}, "`x.starts` decreases after index 0"),
    ],
)
def test_parts_of_sparse_rows_and_sequences_are_checked(arrays, words):
    refused(lambda: Dataset({name: np.asarray(value) for name, value in arrays.items()}), words)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "x\0y"])
@pytest.mark.parametrize("source", ["npz", "npy", "csv", "text"])
def test_names_that_no_file_can_have(tmp_path, source, name):
    (tmp_path / "words").write_text("a\n")
    attributes = {"file": [name] if source == "npy" else name} | ({"dictionary": "words"} if source == "text" else {})
    with pytest.raises(DataError):
        registries["source"][source].create(attributes).open(tmp_path)


@pytest.mark.parametrize(
    ("text", "attributes", "words"),
    [
        ("a,b\n1,1e300\n", {"label": "b"}, "f.csv:2: column 2 (`b`): the label 1e+300"),
        ("a,b\n1,2\n", {"columns": [f"x = 1-{'9' * 5000}"]}, "unknown column `999"),
        ("1,2\n" + "9" * 5000 + ",2\n", {}, "f.csv:2: column 1 (`1`): inf"),
        ("a,b\n1,\0\n", {}, "f.csv:"),
        ('a,"' + "b" * 200_000 + "\n", {}, "f.csv:1: quote not closed"),
    ],
)
def test_cells_that_no_table_can_have(tmp_path, text, attributes, words):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        registries["source"]["csv"].create({"file": "f.csv", **attributes}).open(tmp_path)
    assert words in str(caught.value)
