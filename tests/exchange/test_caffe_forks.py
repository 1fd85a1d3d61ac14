"""Layers and fields of forks of Caffe, against their formulas in NumPy: outputs of the network that is written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.exchange.caffe_helpers import imported, model, pool
from tests.exchange.test_caffe_axes import X, computed
from tests.exchange.test_caffe_networks import DATA, faults, layer, one

pytestmark = pytest.mark.usefixtures("as_python")

RANDOM = np.random.default_rng(3)


def floor_pool(x, kernel, stride, pad, kind):
    """Rounded down: only windows that fit into the padded image."""
    size = (x.shape[2] + 2 * pad - kernel) // stride + 1
    fill = -np.inf if kind == "MAX" else 0
    padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=fill)
    y = np.zeros((*x.shape[:2], size, size))
    for p in range(size):
        for q in range(size):
            window = padded[:, :, p * stride : p * stride + kernel, q * stride : q * stride + kernel]
            y[:, :, p, q] = window.max((2, 3)) if kind == "MAX" else window.mean((2, 3))
    return y


POOLS = {
    "ceil_mode: false": floor_pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: false round_mode: FLOOR": floor_pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: true": pool(X, 3, 2, 0, "MAX"),
    "round_mode: CEIL": pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: false pad: 1 pool: AVE": floor_pool(X, 3, 2, 1, "AVE"),
    "round_mode: 1 pool: 1": floor_pool(X, 3, 2, 0, "AVE"),
}
"""Settings of a pool of 3x3 with a stride of 2, and its output."""


@pytest.mark.parametrize("settings", POOLS)
def test_rounding_of_pools(tmp_path, settings):
    found = computed(tmp_path, layer("Pooling", f"pooling_param {{ kernel_size: 3 stride: 2 {settings} }}"))
    assert found.shape == POOLS[settings].shape
    np.testing.assert_allclose(found, POOLS[settings], rtol=1e-5, atol=1e-5)


NUMBERS = {
    "eltwise_param { operation: 0 }": ("Eltwise", ("data", "data"), X * X),
    "eltwise_param { operation: 2 }": ("Eltwise", ("data", "data"), X),
    "reduction_param { operation: 1 axis: 1 }": ("Reduction", ("data",), X.sum((1, 2, 3))),
    "reduction_param { operation: 4 axis: 1 }": ("Reduction", ("data",), X.mean((1, 2, 3))),
}
"""Enum values by number: those of a Reduction start at 1."""


@pytest.mark.parametrize("settings", NUMBERS)
def test_enum_values_by_number(tmp_path, settings):
    type_, bottom, wanted = NUMBERS[settings]
    found = computed(tmp_path, layer(type_, settings, bottom=bottom))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("factor", [1, 4])
def test_a_batch_norm_with_gain_and_bias(tmp_path, factor):
    mean, var, gain, bias = (RANDOM.normal(size=3).astype(np.float32) ** 2 + 0.5 for _ in range(4))
    settings = "batch_norm_param { scale_bias: true eps: 1e-9 moving_average_fraction: 0.9 }"
    # The averages begin with their sums; the two axes of an old Scale are not there.
    weights = model({"y": [mean * factor, var * factor, [factor], gain, bias]})
    found = computed(tmp_path, layer("BatchNorm", settings), weights=weights)
    mean, var, gain, bias = (one.reshape(3, 1, 1) for one in (mean, var, gain, bias))
    # The fork raises a smaller epsilon to 1e-5.
    np.testing.assert_allclose(found, (X - mean) / np.sqrt(var + 1e-5) * gain + bias, rtol=1e-4, atol=1e-4)


def test_fillers_of_a_batch_norm_say_that_it_has_gain_and_bias(tmp_path):
    settings = 'param { lr_mult: 0 } batch_norm_param { scale_filler { type: "constant" value: 3 } }'
    node = one(tmp_path, layer("BatchNorm", settings))
    assert node.attributes["bias"]
    assert (node.params["gain"].init[1]["value"], node.params["gain"].lr_mult, node.params["gain"].frozen) == (
        3,
        1,
        False,
    )


def test_ignored_fields_are_noted(tmp_path):
    data = """default_forward_type: FLOAT16 default_forward_math: FLOAT
    layer { name: "d" type: "Data" top: "data" data_param { source: "l" backend: LMDB shuffle: true cache: true }
      transform_param { crop_size: 4 force_color: true emit_constraint { emit_type: CENTER } } }
    """
    notes = imported(tmp_path, data + layer("TanH")).notes
    for field in ("default_forward_type", "default_forward_math", "shuffle", "cache", "emit_constraint"):
        assert sum(note.startswith(f"`{field}` is ignored: ") for note in notes) == 1


REFUSED = {
    "an enum value that there is not": (
        layer("Reduction", "reduction_param { operation: 0 axis: 1 }"),
        "E104", "= help: expected one of SUM (1), ASUM (2), SUMSQ (3), MEAN (4)",
    ),
    "two roundings": (
        layer("Pooling", "pooling_param { kernel_size: 3 ceil_mode: false round_mode: CEIL }"),
        "E102", "`ceil_mode` and `round_mode` contradict each other",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    text, code, message = REFUSED[name]
    found, shown = faults(tmp_path, DATA + text)
    assert [fault[0] for fault in found] == [code], shown
    assert message in shown
