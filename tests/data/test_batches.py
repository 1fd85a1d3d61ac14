"""Data sets, transforms, feeds and batches."""

import math

import numpy as np
import pytest

from paddle_layers.data import Batches, DataError, Dataset, Position, make_feeds
from paddle_layers.data.columns import WordColumn
from paddle_layers.data.lazy_columns import StoredColumn
from paddle_layers.data.sampling import RowRandom
from paddle_layers.define import Type, registries
from paddle_layers.runtime import Csr, Sequences


def transform(name, **attributes):
    return registries["transform"][name].create(attributes)


def images(rows=10, shape=(1, 4, 4)):
    values = np.arange(rows * np.prod(shape), dtype=np.float32).reshape(rows, *shape)
    return Dataset({"image": values, "label": np.arange(rows) % 3}, origin="images.npz")


class Unconvertible:
    """As a tensor of PyTorch that requires gradients."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach it first\nor not")


TYPES = {"image": Type.dense(1, 4, 4), "label": Type.ids(3)}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "has no fields"),
        ({"x": np.zeros((0, 3))}, "has no rows"),
        ({"x": np.zeros(3), "y": np.zeros(4)}, "same number of rows, but `x` has 3, `y` has 4"),
        ({"x": np.array(["a"])}, "field `x` contains <U1, expected numbers"),
        ({"x": np.array([None])}, "field `x` contains Python objects"),
        ({"x": np.array(["a", None])}, "such as None in item 1; for words, use strings only"),
        ({"x": Unconvertible()}, "field `x` cannot be converted to an array: detach it first"),
        (
            {"x": [np.ma.masked_equal([1, 2], 2)]},
            "field `x` has masked elements; array.filled(value) replaces them",
        ),
        ({"x": np.float32(1)}, "field `x` is a scalar"),
        ({"x": [[1, 2], [3]]}, "field `x` contains lists of different lengths; for sequences use Sequences"),
        ({"x.starts": np.array([0, 1])}, "`x.starts` requires `x` or `x.ids`"),
        ({"x": np.zeros(3), "x.starts": np.array([0, 2])}, "`x.starts` goes from 0 to 2; starts must not decrease"),
        ({"x": np.zeros(3), "x.starts": np.array([0, 2, 1, 3])}, "`x.starts` decreases after index 1"),
        (
            {"x": np.zeros(3), "x.starts": np.array([0.0, 3.0])},
            "`x.starts` must be a 1-D array of integers, got float64",
        ),
        ({"x.ids": np.zeros(3, int)}, "`x.ids` requires `x.starts`"),
    ],
)
def test_a_dataset_says_what_is_wrong(arrays, message):
    with pytest.raises(DataError) as caught:
        Dataset(arrays)
    assert message in str(caught.value)


@pytest.mark.parametrize("rows", [np.arange(4), Csr(np.arange(5), np.arange(4), np.ones(4))])
def test_sequences_are_fields_as_a_net_takes_them(rows):
    given = Sequences(rows, np.array([0, 1, 2]), np.array([0, 1, 4]))
    found = Dataset({"x": given}).fields["x"].take(np.array([1]))
    assert found.starts.tolist() == [0, 1]
    assert found.sub_starts.tolist() == [0, 3]
    assert len(found.data) == 3


def test_an_epoch_has_every_row_once_and_a_short_last_batch():
    batches = Batches(images(10), 4, seed=3)
    assert len(batches) == 3
    seen = [batches.take()["label"] for _ in range(3)]
    assert [len(labels) for labels in seen] == [4, 4, 2]
    assert batches.position == Position(1, 0)
    rows = np.concatenate([batches.rows(0, batch) for batch in range(3)])
    assert sorted(rows) == list(range(10))


def test_the_order_depends_on_seed_and_epoch_alone():
    def order(seed, epoch):
        return Batches(images(50), 50, seed=seed).rows(epoch, 0).tolist()

    assert order(1, 2) == order(1, 2)
    assert len({tuple(order(seed, epoch)) for seed in (0, 1, -1) for epoch in (0, 1)}) == 6
    assert Batches(images(5), 2, shuffle=False).rows(7, 1).tolist() == [2, 3]


def test_a_restored_position_continues_as_if_nothing_had_happened():
    def make():
        feeds = make_feeds(images(11), TYPES, transforms=[("image", transform("crop", size=4, padding=2))])
        return Batches(images(11), 4, seed=5, feeds=feeds)

    first, second = make(), make()
    expected = [first.take() for _ in range(9)]
    for _ in range(4):
        second.take()
    third = make()
    third.position = second.position
    for batch in expected[4:]:
        got = third.take()
        assert np.array_equal(got["image"], batch["image"])
        assert np.array_equal(got["label"], batch["label"])


def test_a_batch_larger_than_the_data_takes_all_rows():
    batches = Batches(images(3), 64)
    assert len(batches) == 1
    assert len(batches.take()["label"]) == 3
    with pytest.raises(ValueError, match="expected at least 1"):
        Batches(images(3), 0)


def test_scale_and_mean():
    data = Dataset({"image": np.full((2, 3, 2, 2), 8, np.uint8)})
    chain = [("image", transform("mean", value=[1, 2, 3])), ("image", transform("scale", factor=0.5))]
    chain[0][1].prepare(None)
    (feed,) = make_feeds(data, {"image": Type.dense(3, 2, 2)}, transforms=chain)
    batch = feed.take(np.array([1]), None)
    assert batch.dtype == np.float32
    assert batch[0, :, 0, 0].tolist() == [3.5, 3.0, 2.5]


def test_mean_of_a_file(tmp_path):
    np.save(tmp_path / "mean.npy", np.ones((1, 4, 4)))
    change = transform("mean", file="mean.npy")
    change.prepare(tmp_path)
    assert change.apply(np.ones((2, 1, 4, 4), np.float32), None).max() == 0
    with pytest.raises(ValueError, match="has shape 1x4x4, but the samples have 3x4x4"):
        change.output_shape((3, 4, 4))
    with pytest.raises(DataError, match="exactly one of `value` and `file`"):
        transform("mean").prepare(tmp_path)


def test_mirror_turns_over_in_training_only():
    batch = images(200).fields["image"]
    change = transform("mirror")
    assert change.apply(batch, None) is batch
    got = change.apply(batch, RowRandom(0, 0, 1, 200).at(np.arange(200)))
    turned = np.array([np.array_equal(a, b[..., ::-1]) for a, b in zip(got, batch, strict=True)])
    same = np.array([np.array_equal(a, b) for a, b in zip(got, batch, strict=True)])
    assert np.all(turned ^ same)
    assert 60 < turned.sum() < 140
    up = transform("mirror", axis="vertical", probability=1.0).apply(batch, RowRandom(0, 0, 1, 200).at(np.arange(200)))
    assert np.array_equal(up, batch[:, :, ::-1])


def test_crop_is_central_in_the_test_and_anywhere_in_training():
    batch = images(300).fields["image"]
    change = transform("crop", size=2, width=3)
    assert change.output_shape((1, 4, 4)) == (1, 2, 3)
    assert np.array_equal(change.apply(batch, None), batch[:, :, 1:3, 0:3])
    got = change.apply(batch, RowRandom(0, 0, 1, 300).at(np.arange(300)))
    places = {int(a[0, 0, 0] - b[0, 0, 0]) for a, b in zip(got, batch, strict=True)}
    assert places == {0, 1, 4, 5, 8, 9}
    plain = transform("crop", size=2).apply(batch[:, 0], RowRandom(0, 0, 1, 300).at(np.arange(300)))
    assert plain.shape == (300, 2, 2)


def test_a_row_gets_the_same_random_numbers_in_any_batch():
    source = RowRandom(1, 2, 3, 20)
    batch, other = source.at(np.arange(20)), source.at(np.array([5, 4]))
    first, second = batch.random(), batch.random()
    assert len(second) == 20
    assert not np.array_equal(first, second)
    assert np.array_equal(other.random(), first[[5, 4]]), "another thread may be at another batch meanwhile"
    assert np.array_equal(RowRandom(1, 2, 3, 20).at(np.array([7, 3])).random(), first[[7, 3]])


@pytest.mark.parametrize(
    ("arrays", "types", "message"),
    [
        ({"pixels": np.zeros((2, 4))}, {"image": Type.dense(4)}, 'write feed { input: "image" field: "pixels" }'),
        ({"x": np.zeros((2, 3, 3))}, {"x": Type.dense(1, 3, 3)}, "shape 3x3, but the data layer `x` expects 1x3x3"),
        ({"x": np.zeros((2, 5))}, {"x": Type.dense(4)}, "set `shape: [5]`"),
        (
            {"x": np.zeros((2, 8, 6, 3))},
            {"x": Type.dense(3, 8, 6)},
            "move channels first: store x.transpose(0, 3, 1, 2)",
        ),
        ({"x": np.array([[1.0], [1e39]])}, {"x": Type.dense(1)}, "row 1: field `x` is 1e+39, which overflows"),
        (
            {"y": np.array([1, 0.5])},
            {"y": Type.ids(3)},
            "row 1: field `y` is 0.5, but the data layer `y` expects integers (ids<3)",
        ),
        ({"y": np.array([0, 3])}, {"y": Type.ids(3)}, "row 1: field `y` is 3, but the data layer `y` expects 0 to 2"),
        ({"y": np.array([0, -1])}, {"y": Type.ids(3)}, "field `y` is -1"),
        ({"y": np.zeros((2, 2), int)}, {"y": Type.ids(3)}, "one id per sample"),
        ({"x": np.array([[0.0], [np.nan]])}, {"x": Type.dense(1)}, "row 1: field `x` is nan; replace the value"),
        ({"x": np.array([[np.inf], [1.0]])}, {"x": Type.dense(1)}, "row 0: field `x` is inf"),
        (
            {"w": np.zeros(2, int)},
            {"w": Type.ids(3, 1)},
            "single samples, but the data layer `w` expects sequence of ids<3",
        ),
        (
            {"x": np.zeros((2, 6, 4))},
            {"x": Type.dense(3, level=1)},
            "has samples of shape 4, but the data layer `x` expe",
        ),
        (
            {"w": np.array([0, 1, 9]), "w.starts": np.array([0, 1, 3])},
            {"w": Type.ids(3, 1)},
            "row 1: field `w` is 9",
        ),
        (
            {"w": np.zeros(3, int), "w.starts": np.array([0, 1, 3])},
            {"w": Type.ids(3)},
            "contains sequences, but the data layer `w` expects ids<3",
        ),
        ({"w": np.zeros(2, int)}, {"w": Type.sparse(3)}, "is dense, but the data layer `w` expects sparse ids 3"),
        (
            {"w.ids": np.array([0, 5]), "w.starts": np.array([0, 1, 2])},
            {"w": Type.sparse(3)},
            "row 1: field `w` is 5",
        ),
        (
            {"w.ids": np.array([0, 1]), "w.starts": np.array([0, 1, 2])},
            {"w": Type.sparse(3, values=True)},
            "store `w.values`",
        ),
        (
            {"w.ids": np.array([0, 1]), "w.starts": np.array([0, 1, 2]), "w.values": np.array([1.0, np.nan])},
            {"w": Type.sparse(3, values=True)},
            "row 1: field `w` is nan",
        ),
    ],
)
def test_a_feed_says_what_does_not_fit(arrays, types, message):
    with pytest.raises(DataError) as caught:
        make_feeds(Dataset(arrays), types)
    assert message in str(caught.value)


def test_transforms_that_do_not_fit_are_named():
    with pytest.raises(DataError, match="crop of 5x5 exceeds 4x4"):
        make_feeds(images(), {"image": Type.dense(1, 5, 5)}, transforms=[("image", transform("crop", size=5))])
    with pytest.raises(DataError, match="1x2x2 after the transforms"):
        make_feeds(images(), {"image": Type.dense(1, 4, 4)}, transforms=[("image", transform("crop", size=2))])
    with pytest.raises(DataError, match="`label`, which takes ids"):
        make_feeds(images(), TYPES, transforms=[("label", transform("scale", factor=2.0))])
    with pytest.raises(DataError, match="`picture`, which does not exist; available: `image`, `label`"):
        make_feeds(images(), TYPES, transforms=[("picture", transform("scale", factor=2.0))])


def test_flat_rows_take_the_shape_of_the_layer():
    data = Dataset({"image": np.arange(32.0).reshape(2, 16)})
    (feed,) = make_feeds(data, {"image": Type.dense(1, 4, 4)})
    assert feed.take(np.array([1]), None).shape == (1, 1, 4, 4)


@pytest.mark.parametrize(("wanted", "shape"), [(Type.dense(3, level=1), (4, 5, 3)), (Type.ids(9, 1), (4, 5))])
@pytest.mark.parametrize("lazy", [False, True])
def test_an_array_with_an_axis_of_steps_has_sequences_of_one_length(wanted, shape, lazy):
    values = np.arange(math.prod(shape)).reshape(shape) % 9
    stored = StoredColumn(lambda rows: values[rows], len(values), shape[1:], values.dtype) if lazy else values
    (feed,) = make_feeds(Dataset({"x": stored}), {"x": wanted})
    found = feed.take(np.array([3, 1]), None)
    assert found.starts.tolist() == [0, 5, 10]
    assert found.data.tolist() == [*values[3].tolist(), *values[1].tolist()]


def test_a_large_field_is_searched_for_nan_batch_by_batch(monkeypatch):
    monkeypatch.setattr("paddle_layers.data.batching.checks.CHECKED_AT_ONCE", 0)
    values = np.zeros((10, 2), np.float32)
    values[6, 1] = np.nan
    feeds = make_feeds(Dataset({"x": values}, origin="big.npz"), {"x": Type.dense(2)})
    batches = Batches(feeds[0].dataset, 5, shuffle=False, feeds=feeds)
    batches.take()
    with pytest.raises(DataError, match=r"big\.npz, row 6: field `x` is nan"):
        batches.take()


@pytest.mark.parametrize(
    ("shape", "wanted", "remedy"),
    [
        ((3, 4, 4), (3, 4, 4), "add the batch axis: store x.reshape(1, 3, 4, 4)"),
        ((4, 4), (1, 4, 4), "add the batch axis: store x.reshape(1, 1, 4, 4)"),
        ((2, 4, 4), (1, 4, 4), "expects 1x4x4; store x.reshape(-1, 1, 4, 4)"),
        ((2, 5, 4), (1, 4, 4), "expects 1x4x4; store the field with shape (samples, 1, 4, 4)"),
        (
            (2, 1, 5, 4),
            (1, 4, 4),
            "set `shape: [1, 5, 4]` in the data layer, or store the field with shape (samples, 1, 4, 4)",
        ),
        ((2, 5, 4), (3, 4, 4), "expects 3x4x4; store the field with shape (samples, 3, 4, 4)"),
    ],
)
def test_rows_of_another_shape_are_answered_with_what_to_store(shape, wanted, remedy):
    with pytest.raises(DataError) as caught:
        make_feeds(Dataset({"x": np.zeros(shape)}), {"x": Type.dense(*wanted)})
    assert remedy in str(caught.value)


def test_a_data_set_gives_the_batches_of_a_pass():
    data = Dataset({"x": np.arange(10), "w": np.arange(20), "w.starts": np.arange(0, 21, 2)})
    plain, mixed = [*data.batches(4)], [*data.batches(4, seed=1)]
    assert [batch["x"].tolist() for batch in plain] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    order = [row for batch in mixed for row in batch["x"].tolist()]
    assert sorted(order) == [*range(10)] != order
    assert order == [row for batch in data.batches(4, seed=1) for row in batch["x"].tolist()]
    assert mixed[0]["w"].data.tolist() == [step for row in order[:4] for step in (2 * row, 2 * row + 1)]
    with pytest.raises(ValueError, match="`batch_size` is 0"):
        data.batches(0)
    with pytest.raises(ValueError, match="the field `kind` has words"):
        Dataset({"kind": WordColumn(["a", "b"])}).batches(1)
