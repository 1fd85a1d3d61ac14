"""Batches made ahead by threads: the same ones, in the same order, in bounded memory."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from paddle_layers.data import Batches, DataError, Dataset, Position, make_feeds
from paddle_layers.data.batching.batches import prefetched
from paddle_layers.data.columns import size_of
from paddle_layers.data.lazy_columns import MOST_BLOCKS, BadRecords, RecordReader, RowBlocks, StoredColumn
from paddle_layers.data.sampling import shuffled
from paddle_layers.define import Type, registries
from tests.training.helpers import SETTINGS, train

WORKERS = (0, 1, 2, 5)


def uneven(place):
    time.sleep(0.002 * (place % 3))
    return place


@pytest.mark.parametrize("workers", WORKERS)
def test_what_is_made_ahead_comes_in_order(workers):
    assert list(prefetched(uneven, range(40), lambda _: 1, workers=workers, memory=100)) == list(range(40))


@pytest.mark.parametrize(("memory", "most"), [(10**9, 4), (3, 3), (1, 1), (0, 1)])
def test_no_more_is_made_ahead_than_memory_and_workers_allow(memory, most):
    made = []
    stream = prefetched(
        lambda place: made.append(place) or place, iter(range(10**9)), lambda _: 1, workers=2, memory=memory
    )
    for taken in range(1, 20):
        next(stream)
        time.sleep(0.005)
        assert len(made) <= taken + most
    stream.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


@pytest.mark.parametrize("workers", WORKERS)
def test_an_error_comes_when_it_is_its_turn(workers):
    def make(place):
        if place == 3:
            raise DataError("three")
        return place

    stream = prefetched(make, range(10), lambda _: 1, workers=workers, memory=100)
    assert [next(stream) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match="three"):
        next(stream)


def test_the_size_of_a_batch():
    from paddle_layers.runtime import Csr, Sequences

    array = np.zeros(10)
    assert size_of({"a": array, "b": Sequences(array, np.zeros(2, np.int64)), "c": Csr(np.zeros(1), array)}) == 264
    assert size_of(None) == 0


def stored(rows=23, bad=(), note=id):
    values = np.arange(rows * 16, dtype=np.uint8).reshape(rows, 1, 4, 4)

    def read(index):
        note(index)
        problems = {row: f"row {row} is bad" for row in index.tolist() if row in bad}
        if problems:
            raise BadRecords(problems)
        return {"image": values[index], "label": index % 3}

    records = RecordReader(read)
    columns = {
        "image": records.column("image", rows, (1, 4, 4), np.uint8),
        "label": records.column("label", rows, (), np.int64),
    }
    return Dataset(columns, origin="stored"), Dataset({"image": values, "label": np.arange(rows) % 3}, origin="stored")


def fed(dataset, **options):
    chain = [
        ("crop", {"size": 4, "padding": 2}),
        ("mirror", {}),
        ("rotate", {"degrees": 20}),
        ("color", {"contrast": 0.5}),
    ]
    transforms = [("image", registries["transform"][name].create(settings)) for name, settings in chain]
    feeds = make_feeds(dataset, {"image": Type.dense(1, 4, 4), "label": Type.ids(3)}, transforms=transforms)
    return Batches(dataset, 4, seed=3, feeds=feeds, **options)


def same(first, second):
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_are_the_same_stored_or_in_memory_with_any_number_of_workers(workers):
    lazy, whole = stored()
    plain, ahead = fed(whole), fed(lazy, workers=workers)
    for _ in range(15):
        same(plain.take(), ahead.take())
    assert ahead.position == plain.position == Position(2, 3)
    for first, second in zip(plain, ahead, strict=True):
        same(first, second)
    ahead.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_a_position_that_is_set_holds_for_what_is_made_ahead(workers):
    expected = fed(stored()[0])
    batches = [expected.take() for _ in range(14)]
    found = fed(stored()[0], workers=workers)
    found.take()
    for at in (9, 2, 5):
        found.position = Position(at // 6, at % 6)
        same(found.take(), batches[at])
        same(found.take(), batches[at + 1])
    found.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_bad_records_are_left_out_of_all_fields(workers):
    plain = fed(stored()[0], shuffle=False)
    skipping = fed(stored(bad=(2, 5, 20, 21, 22))[0], shuffle=False, workers=workers, skip=True)
    for epoch in range(2):
        for batch in range(6):
            whole = plain.take()
            rows = plain.rows(epoch, batch)
            good = ~np.isin(rows, (2, 5, 20, 21, 22))
            if good.any():
                found = skipping.take()
                same(found, {name: values[good] for name, values in whole.items()})
    assert sorted(skipping.bad) == [2, 5, 20, 21, 22]
    skipping.close()


def test_a_record_is_read_once_for_its_fields():
    read = []
    fed(stored(note=lambda rows: read.append(len(rows)))[0]).take()
    assert read == [4]


def test_ids_and_numbers_that_are_read_late_are_checked_late():
    ids = StoredColumn(lambda rows: rows, 5, (), np.int64)
    with pytest.raises(DataError, match="it, row 3: field `label` is 3, but the data layer `label` expects 0 to 2"):
        list(
            Batches(
                Dataset({"label": ids}, origin="it"),
                5,
                feeds=make_feeds(Dataset({"label": ids}, origin="it"), {"label": Type.ids(3)}),
                shuffle=False,
            )
        )
    numbers = StoredColumn(lambda rows: np.where(rows == 2, np.nan, 1.0)[:, None], 5, (1,), np.float64)
    data = Dataset({"x": numbers}, origin="it")
    with pytest.raises(DataError, match="it, row 2: field `x` is nan"):
        list(Batches(data, 5, feeds=make_feeds(data, {"x": Type.dense(1)}), shuffle=False))


def test_rows_of_blocks_stay_together_and_each_comes_once():
    blocks, part = RowBlocks(np.array([*range(0, 100, 5), 100])), np.arange(1, 100)
    order = shuffled(part, blocks, 7, 0)
    assert sorted(order) == part.tolist()
    assert order.tolist() != shuffled(part, blocks, 7, 1).tolist()
    assert order.tolist() == shuffled(part, blocks, 7, 0).tolist()
    for first in range(0, 75, 5 * MOST_BLOCKS):
        assert len(set((order[first : first + 5 * MOST_BLOCKS] // 5).tolist())) <= MOST_BLOCKS + 1
    assert order[:40].tolist() != sorted(order[:40])


NETWORK = """
net {
  name: "pictures"
  layer { name: "image" type: "data" data { shape: [1, 6, 6] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "fc" type: "fc" input: "image" fc { size: 3 drop_rate: 0.25 } }
  layer { name: "cost" type: "softmax_with_loss" input: "fc" input: "label" }
}
"""
SOURCE = """
source {
  type: "image_folder" workers: %s
  image_folder { folder: "pictures" color: "grey" height: 8 }
  transform { type: "crop" input: "image" crop { size: 6 } }
  transform { type: "mirror" input: "image" }
  transform { type: "scale" input: "image" scale { factor: 0.004 } }
}
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for number in range(45):
        path = folder / "pictures" / "abc"[number % 3] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(rng.integers(0, 256, (9, 10), np.uint8)).save(path)
    return folder


def trained(folder, workers, output, source=SOURCE, **options):
    path = folder / f"train-{workers}.textproto"
    path.write_text(NETWORK + source % workers + SETTINGS)
    return train(path, output=output, **options)


def test_the_weights_are_the_same_with_any_number_of_workers_and_after_a_resume(pictures, tmp_path):
    weights, losses = {}, {}
    for workers in (0, 1, 2):
        report, losses[workers], _ = trained(pictures, workers, tmp_path / str(workers))
        weights[workers] = report.weights.read_bytes()
    assert weights[0] == weights[1] == weights[2]
    assert losses[0] == losses[1] == losses[2]
    trained(pictures, 2, tmp_path / "parts", stop_after=8)
    report, rest, _ = trained(pictures, 1, tmp_path / "parts", resume=True)
    assert rest == {step: losses[0][step] for step in range(9, 31)}
    assert report.weights.read_bytes() == weights[0]


def test_the_training_says_how_many_records_it_left_out(pictures, tmp_path):
    import shutil

    shutil.copytree(pictures / "pictures", tmp_path / "pictures")
    (tmp_path / "pictures" / "b" / "1.png").write_bytes(b"no picture")
    skipping = SOURCE.replace("workers", 'on_error: "skip" workers')
    report, losses, _ = trained(tmp_path, 1, tmp_path / "output", skipping)
    assert len(losses) == 30
    assert "1 record was skipped: " in str(report)
    assert "b/1.png: cannot read the image: not an image, or corrupt" in str(report)
    with pytest.raises(
        Exception, match=r"b/1\.png: cannot read the image: .*; set `on_error: \"skip\"` in the source to skip"
    ):
        trained(tmp_path, 1, tmp_path / "other")
