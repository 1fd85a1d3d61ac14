"""LMDB databases of Caffe's Datum records, read without the library; the library writes them here."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from PIL import Image

from paddle_layers.data import Batches, DataError
from paddle_layers.data.formats.lmdb import LmdbFile
from paddle_layers.define import registries
from paddle_layers.schema.datum_pb2 import Datum

lmdb = pytest.importorskip("lmdb")


def written(path, records, **options):
    with lmdb.open(str(path), map_size=2**26, **options) as environment, environment.begin(write=True) as transaction:
        for key, value in records.items():
            transaction.put(key, value)
    return path


def datum(pixels, label=0, **fields):
    channels, height, width = pixels.shape
    return Datum(channels=channels, height=height, width=width, data=pixels.tobytes(), label=label, **fields)


def pixels(seed, shape=(3, 4, 5)):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def opened(base, **attributes):
    definition = registries["source"]["lmdb"]
    return definition.create(definition.bind({"file": "db", **attributes})).open(base)


@pytest.mark.parametrize("count", [1, 7, 3000])
@pytest.mark.parametrize("longest", [40, 3000, 20000])
def test_keys_and_values_are_those_that_the_library_reads(tmp_path, count, longest):
    rng = np.random.default_rng(count)
    count = min(count, 10**7 // longest)
    records = {b"%d" % rng.integers(10**9): rng.bytes(int(rng.integers(1, longest))) for _ in range(count)}
    written(tmp_path / "db", records)
    file = LmdbFile(tmp_path / "db")
    with lmdb.open(str(tmp_path / "db"), readonly=True, lock=False) as environment, environment.begin() as transaction:
        assert [(file.key(row), file.value(row)) for row in range(len(file))] == list(transaction.cursor())


def test_what_was_written_last_is_read(tmp_path):
    for number in range(5):
        written(tmp_path / "db", {b"%d" % number: b"x" * number})
        assert len(LmdbFile(tmp_path / "db")) == number + 1
    assert LmdbFile(tmp_path / "db" / "data.mdb").key(4) == b"4"


def test_records_are_pictures_and_labels(tmp_path):
    written(tmp_path / "db", {b"%08d" % n: datum(pixels(n), n + 5).SerializeToString() for n in range(4)})
    dataset = opened(tmp_path)
    rows = dataset.rows(np.array([2, 0]))
    assert rows["label"].tolist() == [7, 5]
    assert np.array_equal(rows["image"], [pixels(2), pixels(0)])
    assert dataset.place(2) == f"{tmp_path}/db/data.mdb, key '00000002'"


def test_real_numbers_and_picture_files(tmp_path):
    real = Datum(channels=1, height=2, width=2, float_data=[0.5, -1, 2, 3], label=1)
    written(tmp_path / "db", {b"a": real.SerializeToString()})
    assert opened(tmp_path).rows(np.array([0]))["image"].tolist() == [[[[0.5, -1], [2, 3]]]]
    (tmp_path / "encoded").mkdir()
    file = io.BytesIO()
    Image.fromarray(pixels(1).transpose(1, 2, 0)).save(file, "png")
    encoded = Datum(data=file.getvalue(), encoded=True, label=1)
    written(tmp_path / "encoded" / "db", {b"a": encoded.SerializeToString()})
    assert np.array_equal(opened(tmp_path / "encoded").rows(np.array([0]))["image"][0], pixels(1))
    small = opened(tmp_path / "encoded", height=2, color="bgr").rows(np.array([0]))["image"]
    assert small.shape == (1, 3, 2, 2)


BAD = {
    "no message": (b"\xff\xff\xff", "the record is corrupt or not a Datum"),
    "too few bytes": (
        Datum(channels=3, height=4, width=5, data=b"x").SerializeToString(),
        "declares the shape 3x4x5, but has 1 bytes",
    ),
    "endless": (Datum(channels=2**31 - 1, height=2**31 - 1, width=9).SerializeToString(), ", but has 0 bytes"),
    "negative": (Datum(channels=-1, height=-1, width=1, data=b"x").SerializeToString(), "declares the shape -1x-1x1"),
    "a file": (Datum(data=b"x", encoded=True).SerializeToString(), "is an encoded image, but the first one is not"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_record_is_told_with_its_key_or_left_out(tmp_path, case):
    content, message = BAD[case]
    good = datum(pixels(0), 1).SerializeToString()
    written(tmp_path / "db", {b"a": good, b"b": content, b"c": good})
    with pytest.raises(DataError, match=rf"db/data\.mdb, key 'b': .*{message}"):
        opened(tmp_path).rows(np.arange(3))
    batches = Batches(opened(tmp_path), 3, skip=True)
    assert batches.take()["label"].tolist() == [1, 1]
    assert list(batches.bad) == [1]


def test_records_of_another_shape_are_an_error(tmp_path):
    records = {b"a": datum(pixels(0)).SerializeToString(), b"b": datum(pixels(0, (3, 5, 5))).SerializeToString()}
    with pytest.raises(DataError, match="key 'b': the record is 3x5x5 of uint8, but the first one is 3x4x5 of uint8"):
        Batches(opened(written(tmp_path / "db", records).parent), 2, skip=True).take()


def test_what_is_no_database(tmp_path):
    for content, message in ((b"", "not an LMDB database"), (b"x" * 9000, "not an LMDB database")):
        (tmp_path / "db").write_bytes(content)
        with pytest.raises(DataError, match=message):
            opened(tmp_path)
    with pytest.raises(DataError, match=r"file not found: .*none"):
        LmdbFile(tmp_path / "none")
    written(tmp_path / "empty", {})
    with pytest.raises(DataError, match="has no records"):
        LmdbFile(tmp_path / "empty")
    path = written(tmp_path / "cut", {b"%d" % n: b"x" * 5000 for n in range(50)}) / "data.mdb"
    os.truncate(path, 100_000)
    with pytest.raises(DataError, match="truncated"):
        LmdbFile(path)


def test_several_databases_and_several_values_are_refused(tmp_path):
    with lmdb.open(str(tmp_path / "named"), map_size=2**20, max_dbs=2) as environment:
        environment.open_db(b"inner")
    with pytest.raises(DataError, match="unknown record type"):
        LmdbFile(tmp_path / "named")
