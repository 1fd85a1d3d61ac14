"""Sources mixed by ratios: which rows come when, what an epoch is, and sources that do not go together."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import BadRecords, DataError, Dataset, Position, SequenceColumn, SparseColumn, make_feeds
from paddle_layers.data.batching.mixing import MixedBatches, MixedSource
from paddle_layers.data.lazy_columns import StoredColumn
from paddle_layers.define import Type, registries
from paddle_layers.training.problems import TrainingError

TYPES = {"x": Type.dense(1), "label": Type.ids(1000)}


def numbers(count, first=0):
    """Rows that bear their number, in two fields."""
    ids = np.arange(first, first + count)
    return Dataset({"x": ids[:, None].astype(np.float32), "label": ids}, origin=f"from {first}")


def mixed(*sources, types=TYPES, **options):
    """Batches of (data set, ratio) pairs."""
    parts = [MixedSource(one, np.arange(len(one)), make_feeds(one, types), ratio) for one, ratio in sources]
    return MixedBatches(parts, options.pop("batch_size", 4), **options)


def labels(batches, count):
    return [batches.take()["label"].tolist() for _ in range(count)]


def test_an_epoch_has_every_row_of_the_first_source_and_of_the_others_by_their_ratios():
    batches = mixed((numbers(30), 3), (numbers(4, 100), 1), (numbers(50, 200), 0.5))
    assert (batches.count, len(batches)) == (30 + 10 + 5, 12)
    later = Counter()
    for epoch in range(4):
        rows = [row for batch in labels(batches, len(batches)) for row in batch]
        assert sorted(row for row in rows if row < 100) == list(range(30))
        assert sum(100 <= row < 200 for row in rows) == 10
        assert batches.position == Position(epoch + 1, 0)
        later.update(row for row in rows if row >= 100)
    assert [later[row] for row in range(100, 104)] == [10] * 4, "none comes again before all have come"
    assert sum(later[row] > 0 for row in range(200, 250)) == 20


def test_every_batch_has_the_ratios():
    for batch in labels(mixed((numbers(30), 2), (numbers(7, 100), 1), batch_size=9), 5):
        assert (sum(row < 100 for row in batch), len(batch)) == (6, 9)


def test_the_order_depends_on_seed_and_epoch_alone():
    sources = (numbers(20), 1), (numbers(20, 100), 1)
    first = labels(mixed(*sources), 20)
    assert labels(mixed(*sources), 20) == first
    assert labels(mixed(*sources, seed=1), 20) != first
    assert first[:10] != first[10:]
    own, other = ([row % 100 for batch in first[:10] for row in batch if row // 100 == one] for one in (0, 1))
    assert own != other, "sources of the same length have orders of their own"
    assert labels(mixed(*sources, shuffle=False), 2) == [[0, 1, 100, 101], [2, 3, 102, 103]]


def pictures(*counts, ratios, **options):
    """Sources of pictures that are their own number and a mark, which is turned to the other side by chance."""
    types = {"image": Type.dense(1, 1, 2)}
    change = registries["transform"]["mirror"].create({"axis": "horizontal", "probability": 0.5})
    parts = []
    for number, (count, ratio) in enumerate(zip(counts, ratios, strict=True)):
        image = np.stack([np.arange(count) + 100.0 * number, np.full(count, -1.0)], axis=1).reshape(count, 1, 1, 2)
        dataset = Dataset({"image": image})
        feeds = make_feeds(dataset, types, transforms=[("image", change)] * (number + 1))
        parts.append(MixedSource(dataset, np.arange(count), feeds, ratio))
    return MixedBatches(parts, 5, seed=3, **options)


@pytest.mark.parametrize("workers", [1, 2])
def test_threads_and_a_resume_make_the_same_batches(workers):
    plain = pictures(21, 4, ratios=(2, 1.5))
    expected = [plain.take()["image"] for _ in range(20)]
    ahead = pictures(21, 4, ratios=(2, 1.5), workers=workers)
    assert all(np.array_equal(ahead.take()["image"], one) for one in expected[:7])
    later = pictures(21, 4, ratios=(2, 1.5), workers=workers)
    later.position = ahead.position
    assert all(np.array_equal(later.take()["image"], one) for one in expected[7:])
    ahead.close()
    later.close()


def test_a_row_that_comes_again_in_an_epoch_is_changed_by_another_chance():
    batches = pictures(40, 1, ratios=(1, 1))
    seen = np.concatenate([batches.take()["image"] for _ in range(len(batches))]).reshape(-1, 2)
    assert len(seen) == 80
    of_the_second = seen[(seen >= 100).any(axis=1)]
    assert 8 < (of_the_second[:, 0] == -1).sum() < 32


def test_sequences_and_sparse_rows_are_put_together():
    def source(first):
        words = SequenceColumn(np.arange(first, first + 6), np.array([0, 1, 3, 6]))
        nested = SequenceColumn(np.arange(first, first + 6), np.array([0, 1, 2, 3]), np.array([0, 1, 3, 6]))
        sparse = SparseColumn(np.arange(first, first + 3), np.array([0, 1, 1, 3]), np.ones(3, np.float32))
        return Dataset({"words": words, "nested": nested, "sparse": sparse})

    types = {"words": Type.ids(20, 1), "nested": Type.ids(20, 2), "sparse": Type.sparse(20, values=True)}
    batch = mixed((source(0), 1), (source(10), 1), types=types, batch_size=6, shuffle=False).take()
    both = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]
    assert batch["words"].data.tolist() == batch["nested"].data.tolist() == both
    assert batch["words"].starts.tolist() == batch["nested"].sub_starts.tolist() == [0, 1, 3, 6, 7, 9, 12]
    assert batch["nested"].starts.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert batch["sparse"].id.tolist() == [0, 1, 2, 10, 11, 12]
    assert batch["sparse"].start.tolist() == [0, 1, 1, 3, 4, 4, 6]


def test_records_that_cannot_be_read_are_left_out_of_whatever_source():
    def read(rows):
        if (rows == 2).any():
            raise BadRecords({2: "record 2 is damaged"})
        return rows[:, None].astype(np.float32)

    stored = Dataset({"x": StoredColumn(read, 4, (1,), np.float32)})
    types = {"x": Type.dense(1)}
    with pytest.raises(BadRecords, match="record 2 is damaged"):
        mixed((numbers(10), 1), (stored, 1), types=types, batch_size=20).take()
    batches = mixed((numbers(10, 100), 1), (stored, 1), types=types, batch_size=20, skip=True)
    rows = Counter(batches.take()["x"].reshape(-1).tolist())
    assert sum(count for row, count in rows.items() if row >= 100) == 10
    assert rows[2] == 0
    assert {rows[0], rows[1], rows[3]} <= {2, 3}
    assert set(batches.bad.values()) == {"record 2 is damaged"}


@pytest.mark.parametrize("ratio", [0.01, 1e12])
def test_a_ratio_that_gives_no_rows_or_too_many_is_refused(ratio):
    with pytest.raises(DataError, match=r"from 100: with the ratios 1 and .* list another source first"):
        mixed((numbers(10), 1), (numbers(5, 100), ratio))


NET = """
net {
  layer { name: "features" type: "data" data { shape: 2 } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "scores" type: "fc" input: "features" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
epochs: 2
batch_size: 4
optimizer { type: "sgd" learning_rate: 0.1 }
"""
A, B = 'csv { file: "a.csv" ids: "label" empty: "mean" }', 'csv { file: "b.csv" ids: "label" empty: "mean" }'


def training(folder, *sources, a="tall,wide,label\n1,2,cat\n3,,dog\n5,6,cat\n", b="wide,tall,label\n40,30,eel\n"):
    (folder / "a.csv").write_text(a)
    (folder / "b.csv").write_text(b)
    path = folder / "train.textproto"
    path.write_text(NET + "".join(f"source {{ {source} }}\n" for source in sources))
    return path


def test_a_training_file_mixes_sources_and_learns_from_all(tmp_path):
    path = training(tmp_path, f'type: "csv" ratio: 3 {A}', f'type: "csv" ratio: 2 {B}')
    seen = []

    class Watch:
        def on_step(self, run):
            seen.append(run.net.value("features").copy())

    report = pl.train(path, output=tmp_path / "out", callbacks=[Watch()])
    assert report.steps == 2 * 2, "epochs of 3 + 2 rows in batches of 4"
    rows = np.concatenate(seen)
    assert len(rows) == 10
    assert Counter(map(tuple, rows.tolist())) == {(1, 2): 2, (3, 16): 2, (5, 6): 2, (30, 40): 4}, "columns by name"
    assert '"cat",\n   "dog",\n   "eel"' in (tmp_path / "out" / "data.json").read_text()
    with pytest.raises(TrainingError, match="has no source for the test or validation phase and 2 for the train phase"):
        pl.predict(path, weights=report.weights)
    assert len(pl.predict(path, tmp_path / "b.csv", weights=report.weights).values["scores"]) == 1


def test_a_training_that_is_resumed_sees_the_same_rows(tmp_path):
    def train(folder, stop=None, **options):
        losses = {}

        class Watch:
            def on_step(self, run):
                losses[run.step] = run.loss
                if run.step == stop:
                    run.stop("asked")

        pl.train(path, output=tmp_path / folder, callbacks=[Watch()], **options)
        return losses

    path = training(tmp_path, f'type: "csv" ratio: 3 {A}', f'type: "csv" ratio: 4 {B}')
    path.write_text(path.read_text().replace("epochs: 2", "epochs: 4"))
    whole = train("whole")
    assert {**train("cut", stop=3), **train("cut", resume=True)} == whole


TEST = 'type: "csv" phase: "test" '


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ((f'type: "csv" {A}', f'type: "csv" {B}'), "E304.*two sources for the train phase"),
        ((f'type: "csv" ratio: 1 {A}', f'type: "csv" {B}'), "E304.*two sources for the train phase"),
        ((f'type: "csv" {A}', f"{TEST} ratio: 1 {B}"), "E304.*`ratio` is only allowed on training sources"),
        ((f'type: "csv" ratio: 1 {A}', f'type: "csv" ratio: 0 {B}'), "`ratio` is 0"),
        (
            (f'type: "csv" ratio: 1 {A}', f'type: "csv" ratio: 1 workers: 2 {B}'),
            "E304.*`workers` of mixed sources must be set in the first one",
        ),
        (
            (f'type: "csv" ratio: 1 {A} split {{ test: 0.5 }}', f'type: "csv" ratio: 1 {B} split {{ test: 0.5 }}'),
            "E304.*two sources for the test phase",
        ),
        (
            (f'type: "csv" ratio: 1 {A}', 'type: "csv" ratio: 1 csv { file: "b.csv" label: "label" classes: ["eel"] }'),
            "b.csv: field `label` contains ids of eel, but words in .*a.csv",
        ),
        (
            (f'type: "csv" ratio: 1 {A}', f'type: "csv" ratio: 1 {B[:-2]} leave_out: "wide" }}'),
            "b.csv: the columns of field `features` differ from .*a.csv, such as `wide`",
        ),
    ],
)
def test_sources_that_do_not_go_together_are_told_at_their_place(tmp_path, sources, message):
    with pytest.raises(pl.ConfigError, match=message):
        pl.train(training(tmp_path, *sources), output=tmp_path / "out")
    assert not (tmp_path / "out" / "weights.safetensors").exists()


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("1,2,cat\n", "1,2,7\n", "field `label` contains numbers, but words in .*a.csv; "),
        ("1,2,cat\n", "1,2,3,eel\n", "field `features` has samples of shape 3"),
    ],
)
def test_what_a_source_holds_is_told_at_its_place(tmp_path, a, b, message):
    place = b.count(",") + 1
    other = f'label: "{place}"' if "7" in b else f'ids: "label = {place}"'
    sources = 'csv { file: "a.csv" ids: "label = 3" }', f'csv {{ file: "b.csv" {other} }}'
    path = training(tmp_path, *(f'type: "csv" ratio: 1 {source}' for source in sources), a=a, b=b)
    with pytest.raises(pl.ConfigError, match=rf"train.textproto:12.*b.csv: {message}"):
        pl.train(path, output=tmp_path / "out")
