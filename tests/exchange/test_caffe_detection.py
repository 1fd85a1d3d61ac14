"""Layers of Caffe's forks for object detection, against their formulas in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_layers as pl
from tests.exchange.caffe_helpers import imported, model, softmax
from tests.exchange.test_caffe_networks import faults, layer

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(2, 3, 8, 8)).astype(np.float32)


def roi_pool(x, rois, height, width, scale):
    """Fast R-CNN: rows of `rois` are the index of an image and the corners; rounded to pixels, which are inclusive."""
    y = np.zeros((len(rois), x.shape[1], height, width))
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (math.floor(corner * scale + 0.5) for corner in corners)
        rows, columns = max(bottom - top + 1, 1) / height, max(right - left + 1, 1) / width
        for p in range(height):
            for q in range(width):
                i, j = (np.clip(math.floor(p * rows) + top, 0, 8), np.clip(math.ceil((p + 1) * rows) + top, 0, 8))
                k, m = (
                    np.clip(math.floor(q * columns) + left, 0, 8),
                    np.clip(math.ceil((q + 1) * columns) + left, 0, 8),
                )
                window = x[int(image), :, i:j, k:m]
                y[r, :, p, q] = window.max((1, 2)) if window.size else 0
    return y


ROIS = np.array(
    [[0, 0, 0, 15, 15], [0, 3, 2, 9, 14], [0, 12, 12, 30, 30], [1, 4, 6, 5, 7], [1, 40, 40, 50, 50]], np.float32
)
INPUTS = 'input: "data" input_shape { dim: 2 dim: 3 dim: 8 dim: 8 } input: "rois" input_shape { dim: 1 dim: 5 }\n'
POOL = layer("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", bottom=("data", "rois"))


@pytest.mark.parametrize("inputs", [INPUTS, INPUTS.replace("dim: 1 dim: 5", "dim: 5 dim: 5 dim: 1 dim: 1")])
def test_a_head_over_regions(tmp_path, inputs):
    """Fast R-CNN's head: pooled regions, a fully connected layer, probabilities of each region."""
    head = layer("InnerProduct", "inner_product_param { num_output: 4 }", bottom=("y",), top=("f",), name="f")
    head += layer("Softmax", bottom=("f",), top=("p",), name="p")
    weight, bias = RANDOM.normal(size=(4, 18)).astype(np.float32), np.arange(4, dtype=np.float32)
    found = imported(tmp_path, inputs + POOL + head, weights=model({"f": [weight, bias]}))
    found.write(tmp_path / "out")
    with pl.Net(found.network, keep=("y", "p")) as net:
        net.load(tmp_path / "out" / "weights.safetensors")
        net.forward({"data": X, "rois": [ROIS[ROIS[:, 0] == image, 1:] for image in (0, 1)]}, phase="test")
        pooled, probabilities = (net.value(name).data.copy() for name in ("y", "p"))
    wanted = roi_pool(X, ROIS, 2, 3, 0.5)
    np.testing.assert_allclose(pooled, wanted)
    np.testing.assert_allclose(probabilities, softmax(wanted.reshape(5, -1) @ weight.T + bias), rtol=1e-4, atol=1e-6)
    assert any(note.startswith("rois: the regions") for note in found.notes)


def test_regions_whose_size_the_user_gives(tmp_path):
    data = 'layer { name: "d" type: "HDF5Data" top: "data" top: "rois" hdf5_data_param { source: "l" batch_size: 1 } }'
    for shapes in ({}, {"rois": "sequence of 4"}):
        network = imported(tmp_path, data + POOL, data="3x8x8", **shapes).network
        assert [str(network[name].output_types[0]) for name in ("rois", "y")] == ["sequence of 4", "sequence of 3x2x3"]


REFUSED = {
    "no size": (INPUTS + POOL.replace("pooled_h: 2", ""), "E105", "missing `pooled_h`"),
    "computed regions": (
        INPUTS + layer("TanH", bottom=("rois",), top=("t",), name="t") + POOL.replace("rois", "t"),
        "E511", "the regions of a ROIPooling must be an input of 5 values per region",
    ),
    "regions that another layer reads": (
        INPUTS + layer("TanH", bottom=("rois",), top=("t",), name="t") + POOL, "E511", "which no other layer reads",
    ),
    "regions of four values": (INPUTS.replace("dim: 1 dim: 5", "dim: 1 dim: 4") + POOL, "E511", "5 values per region"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    text, code, message = REFUSED[name]
    found, shown = faults(tmp_path, text)
    assert [fault[0] for fault in found] == [code], shown
    assert message in shown
