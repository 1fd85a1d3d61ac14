"""Layers of Caffe along any axis, against Caffe's formulas in NumPy: what comes out of the network that is written."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from tests.exchange.caffe_helpers import imported, model, pool
from tests.exchange.test_caffe_networks import DATA, LABEL, faults, layer

X = np.random.default_rng(0).permutation(4 * 3 * 8 * 8).reshape(4, 3, 8, 8).astype(np.float32) / 100 - 4
W = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
B = np.arange(5, dtype=np.float32)


def computed(tmp_path, layers, x=X, *, data=DATA, weights=None, outputs=("y",), **feeds):
    """What the network gives for the data."""
    found = imported(tmp_path, data + layers, weights=weights)
    with pl.Net(found.network, keep=outputs) as net:
        if found.weights is not None:
            found.write(tmp_path / "out")
            net.load(tmp_path / "out" / "weights.safetensors")
        net.forward({"data": x, **feeds}, phase="test")
        values = [net.value(name).copy() for name in outputs]
    return values[0] if len(values) == 1 else values


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def best(x, k, axis):
    """Places of the largest numbers, the largest first; there are no equal ones."""
    return np.take(np.argsort(-x, axis), range(k), axis)


def normalized(x, axes, variance=True, eps=1e-9):
    d = x - x.mean(axes, keepdims=True)
    return d / (np.sqrt((d**2).mean(axes, keepdims=True)) + eps) if variance else d


def pyramid(x, height, kind):
    parts = []
    for level in range(height):
        bins = 2**level
        kernel = -(-x.shape[2] // bins)
        pad = (kernel * bins - x.shape[2] + 1) // 2
        parts.append(pool(x, kernel, kernel, pad, kind).reshape(len(x), -1))
    return np.concatenate(parts, axis=1)


FLAT = X.reshape(4, -1)
CASES = {
    "softmax": (layer("Softmax", "softmax_param { axis: -1 }"), softmax(X, 3)),
    "concat": (layer("Concat", "concat_param { axis: 2 }", bottom=("data", "data")), np.concatenate([X, X], 2)),
    "tile": (layer("Tile", "tile_param { axis: 3 tiles: 3 }"), np.concatenate([X, X, X], 3)),
    "sum of channels": (
        layer("Reduction", "reduction_param { axis: 1 operation: SUM }"), X.sum((1, 2, 3))),
    "mean of points": (
        layer("Reduction", "reduction_param { axis: -2 operation: MEAN coeff: -3 }"), -3 * X.mean((2, 3))),
    "sum of sizes": (layer("Reduction", "reduction_param { axis: 3 operation: ASUM }"), np.abs(X).sum(3)),
    "sum of squares": (layer("Reduction", "reduction_param { axis: 2 operation: SUMSQ }"), (X**2).sum((2, 3))),
    "arg max of channels": (layer("ArgMax", "argmax_param { axis: 1 }"), X.argmax(1, keepdims=True)),
    "max of channels": (layer("ArgMax", "argmax_param { axis: 1 out_max_val: true }"), X.max(1, keepdims=True)),
    "three best": (layer("ArgMax", "argmax_param { axis: 2 top_k: 3 }"), best(X, 3, 2)),
    "values of the three best": (
        layer("ArgMax", "argmax_param { axis: 2 top_k: 3 out_max_val: true }"),
        np.take_along_axis(X, best(X, 3, 2), 2)),
    "three best of a row": (layer("ArgMax", "argmax_param { top_k: 3 }"), best(FLAT, 3, 1)[:, None]),
    "places and values of the two best of a row": (
        layer("ArgMax", "argmax_param { top_k: 2 out_max_val: true }"),
        np.stack([best(FLAT, 2, 1), np.take_along_axis(FLAT, best(FLAT, 2, 1), 1)], 1)),
    "normalized channels": (layer("MVN"), normalized(X, (2, 3))),
    "normalized rows": (
        layer("MVN", "mvn_param { across_channels: true eps: 0.5 }"), normalized(X, (1, 2, 3), eps=0.5)),
    "less the mean": (layer("MVN", "mvn_param { normalize_variance: false }"), normalized(X, (2, 3), False)),
    "pyramid of maxima": (layer("SPP", "spp_param { pyramid_height: 3 }"), pyramid(X, 3, "MAX")),
    "pyramid of means": (layer("SPP", "spp_param { pyramid_height: 2 pool: AVE }"), pyramid(X, 2, "AVE")),
    "one level": (layer("SPP", "spp_param { pyramid_height: 1 }"), X.max((2, 3), keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed(tmp_path, name):
    text, wanted = CASES[name]
    found = computed(tmp_path, text)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_the_last_of_equal_numbers_is_the_largest_along_an_axis(tmp_path):
    x = np.zeros_like(X)
    x[:, 1, :, ::2] = 1
    found = computed(tmp_path, layer("ArgMax", "argmax_param { axis: 1 }"), x)
    assert found[:, 0].tolist() == np.broadcast_to(np.where(np.arange(8) % 2, 2, 1), (4, 8, 8)).tolist()


@pytest.mark.parametrize("size", [5, 6, 7, 9])
def test_a_pyramid_over_images_that_are_not_cut_evenly(tmp_path, size):
    x = np.random.default_rng(size).normal(size=(2, 2, size, size)).astype(np.float32)
    data = DATA.replace("dim: 4 dim: 3 dim: 8 dim: 8", f"dim: 2 dim: 2 dim: {size} dim: {size}")
    found = computed(tmp_path, layer("SPP", "spp_param { pyramid_height: 2 }"), x, data=data)
    np.testing.assert_allclose(found, pyramid(x, 2, "MAX"))


@pytest.mark.parametrize(("points", "ends"), [("", (4, 8)), ("slice_point: 3", (3, 8))])
def test_a_slice_along_the_rows_of_an_image(tmp_path, points, ends):
    text = layer("Slice", f"slice_param {{ axis: 2 {points} }}", top=("a", "b"))
    first, second = computed(tmp_path, text, outputs=("a", "b"))
    assert np.array_equal(first, X[:, :, : ends[0]])
    assert np.array_equal(second, X[:, :, ends[0] :])


@pytest.mark.parametrize("transpose", [False, True])
def test_an_inner_product_maps_the_axes_behind_one(tmp_path, transpose):
    settings = f"inner_product_param {{ num_output: 5 axis: 2 transpose: {str(transpose).lower()} }}"
    weights = model({"y": [W.T if transpose else W, B]})
    found = computed(tmp_path, layer("InnerProduct", settings), weights=weights)
    np.testing.assert_allclose(found, X.reshape(4, 3, 64) @ W.T + B, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ("", np.s_[:, :, :5, :6]),
        ("crop_param { offset: 2 }", np.s_[:, :, 2:7, 2:8]),
        ("crop_param { axis: 1 offset: [1, 0, 2] }", np.s_[:, 1:3, :5, 2:8]),
        ("crop_param { axis: -1 offset: 1 }", np.s_[:, :, :, 1:7]),
    ],
)
def test_a_crop_is_as_large_as_the_second_blob(tmp_path, settings, part):
    like = 'layer { name: "like" type: "Input" top: "like" input_param { shape { dim: 4 dim: 2 dim: 5 dim: 6 } } }\n'
    text = like + layer("Crop", settings, bottom=("data", "like"))
    found = computed(tmp_path, text, like=np.zeros((4, 2, 5, 6), np.float32))
    assert np.array_equal(found, X[part])


SMALL = 'layer { name: "small" type: "Input" top: "small" input_param { shape { dim: 4 dim: 3 } } }\n'
TWO = ("data", "data")
REFUSED = {
    "a reduction of the batch": (layer("Reduction"), "E511", "write `axis: 1`"),
    "a concat of rows": (layer("Concat", "concat_param { axis: 0 }", bottom=TWO), "E511", "axis 0, the batch"),
    "an arg max over rows": (layer("ArgMax", "argmax_param { axis: 0 }"), "E511", "over the batch (axis 0)"),
    "a softmax over rows": (layer("Softmax", "softmax_param { axis: -4 }"), "E511", "over the batch (axis 0)"),
    "an endless top": (layer("ArgMax", "argmax_param { top_k: 100000000 }"), "E103", "expected 1 to 1,000"),
    "more than there are": (layer("ArgMax", "argmax_param { top_k: 9 axis: 2 }"), "E209", "9"),
    "offsets of other axes": (layer("Crop", "crop_param { offset: [1, 2, 3] }", bottom=TWO), "E205", "3 offsets"),
    "a crop beyond the image": (layer("Crop", "crop_param { offset: 1 }", bottom=TWO), "E209", "8"),
    "a crop like rows": (SMALL + layer("Crop", bottom=("data", "small")), "E209", "the same number of axes"),
    "a pyramid that is too high": (layer("SPP", "spp_param { pyramid_height: 9 }"), "E209", "too large for an input"),
    "pyramid of labels": (LABEL + layer("SPP", "spp_param { pyramid_height: 2 }", bottom=("label",)), "E209", "levels"),
    "nothing to normalize": (SMALL + layer("MVN", bottom=("small",)), "E209", "rows are 1 to 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    text, code, message = REFUSED[name]
    found, shown = faults(tmp_path, DATA + text)
    assert [fault[0] for fault in found] == [code]
    assert message in shown
