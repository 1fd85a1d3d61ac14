"""Tuned kernels on shapes that leave remainders: few rows, odd sides, groups, gaps, sums into what is there."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.kernels.selection import load_all_kernels
from paddle_layers.testing.properties.cuda import launches_of
from tests.selection import marks_of

load_all_kernels()
TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
LEAST_SCALE = {("batch_norm", 2): 0.1}
"""For rows of a layer whose values are differences of numbers of this size: two rows have nearly no gradient."""
ROWS = (1, 2, 7)
SHAPES = [
    ("fc", [33], "size: 1"),
    ("fc", [1], "size: 37"),
    ("fc", [3, 5, 7], "size: 130"),
    ("fc", [1100], "size: 1030"),
    ("fc", [5, 4, 9], "size: 20 axis: -1"),
    ("trans_fc", [33], "size: 1"),
    ("trans_fc", [1], "size: 37"),
    ("trans_fc", [3, 5, 7], "size: 130"),
    ("trans_fc", [1100], "size: 1030"),
    ("conv", [1, 9, 9], "num_filters: 5 filter_size: 3"),
    ("conv", [9, 13, 11], "num_filters: 4 filter_size: 5 filter_size_y: 2 padding: 2 padding_y: 0"),
    ("conv", [6, 17, 21], "num_filters: 10 filter_size: 3 stride: 2 padding: 1 dilation: 2 groups: 2"),
    ("conv", [4, 10, 7], "num_filters: 6 filter_size: 3 stride: 3 stride_y: 2 padding: 4 dilation_y: 3"),
    ("conv", [5, 8, 12], "num_filters: 5 filter_size: 3 padding: 1 groups: 5"),
    ("conv", [3, 7, 5], "num_filters: 9 filter_size: 1"),
    ("conv", [6, 4, 6], "num_filters: 4 filter_size: 1 stride: 2 groups: 2"),
    ("conv", [40, 31, 29], "num_filters: 3 filter_size: 3 padding: 1"),
    ("conv", [2, 3, 3], "num_filters: 2 filter_size: 3 padding: 7"),
    ("conv", [2, 3, 3], "num_filters: 2 filter_size: 3 padding: 6 stride: 2 dilation: 3 dilation_y: 1"),
    ("conv", [6, 9, 8], "num_filters: 12 filter_size: 5 padding: 2 groups: 6 stride: 2"),
    ("conv", [3, 70, 90], "num_filters: 3 filter_size: 3 groups: 3"),
    ("conv", [3, 37, 36], "num_filters: 3 filter_size: 3 groups: 3 stride: 2 padding: 1"),
    ("conv", [3, 14, 35], "num_filters: 3 filter_size: 3 groups: 3 stride: 2 padding: 3 padding_y: 0"),
    ("conv", [2, 3, 17], "num_filters: 2 filter_size: 3 groups: 2 padding: 4 padding_y: 1"),
    ("conv", [1, 1, 1], "num_filters: 1 filter_size: 1"),
    ("conv", [4, 2, 3], "num_filters: 14 filter_size: 1 groups: 2"),
    ("conv", [6, 5, 5], "num_filters: 33 filter_size: 1"),
    ("conv", [35, 4, 8], "num_filters: 32 filter_size: 1"),
    ("conv", [600, 16, 17], "num_filters: 3 filter_size: 1"),
    ("conv", [5, 37, 31], "num_filters: 17 filter_size: 1"),
    ("conv", [6, 37, 31], "num_filters: 10 filter_size: 1 groups: 2"),
    ("conv", [3, 9, 10], "num_filters: 2 filter_size: 2 stride: 3"),
    ("conv", [3, 39, 35], "num_filters: 48 filter_size: 11 stride: 4 padding: 2"),
    ("conv", [3, 40, 35], "num_filters: 17 filter_size: 3 stride: 2 padding: 1"),
    ("conv", [2, 31, 78], "num_filters: 16 filter_size: 5 filter_size_y: 4 stride: 3 stride_y: 2 dilation_y: 3"),
    ("conv", [40, 60, 61], "num_filters: 3 filter_size: 3 padding: 1"),
    ("conv", [5, 9, 8], "num_filters: 4 filter_size: 3 padding: 2 padding_end: 0 padding_end_y: 1"),
    ("conv", [5, 9, 8], "num_filters: 4 filter_size: 4 padding: 0 padding_end: 3 groups: 1"),
    ("conv", [3, 8, 9], "num_filters: 4 filter_size: 3 stride: 2 padding: 0 padding_end: 1 padding_end_y: 2"),
    ("conv", [3, 7, 5], "num_filters: 9 filter_size: 1 padding_end: 2"),
    ("conv", [4, 7, 5], "num_filters: 4 filter_size: 3 padding: 1 padding_end: 0 groups: 4"),
    ("conv", [40, 31, 29], "num_filters: 36 filter_size: 3 padding: 0 padding_end: 2 padding_end_y: 1"),
    ("conv", [1, 70, 70], "num_filters: 2 filter_size: 3 filter_size_y: 1 dilation: 2 stride_y: 2"),
    ("conv", [16, 8, 7], "num_filters: 36 filter_size: 3 padding: 1 dilation: 2 padding_y: 3 stride: 2 groups: 2"),
    ("conv", [1, 20, 21], "num_filters: 21 filter_size: 5"),
    ("conv", [3, 19, 18], "num_filters: 17 filter_size: 3 stride: 2 padding: 1"),
    ("conv", [2, 14, 15], "num_filters: 9 filter_size: 3 filter_size_y: 4 dilation_y: 2 stride_y: 2"),
    ("conv", [32, 28, 28], "num_filters: 128 filter_size: 3 padding: 1"),
    ("conv3d", [3, 5, 6, 7], "num_filters: 5 filter_size: 3 padding: 1"),
    ("conv3d", [4, 5, 6, 7], "num_filters: 6 filter_size: [2, 3, 4] stride: [2, 1, 2] padding: [1, 2, 1] groups: 2"),
    ("conv3d_trans", [4, 3, 4, 5], "num_filters: 6 filter_size: 3 stride: 2 padding: 1"),
    ("pool3d", [3, 5, 6, 7], "pool_size: 2 stride: 2"),
    ("pool3d", [3, 5, 6, 7], "pool_type: AVERAGE pool_size: 3 stride: 2 padding: 1"),
    ("top_k", [37], "k: 5"),
    ("conv_trans", [6, 5, 7], "num_filters: 10 filter_size: 4 stride: 2 padding: 1 groups: 2"),
    ("conv_trans", [9, 6, 5], "num_filters: 5 filter_size: 3 filter_size_y: 2 stride: 3 padding: 1 output_padding: 2"),
    ("conv_trans", [7, 5, 6], "num_filters: 3 filter_size: 3 dilation: 2 padding: 2 stride_y: 2 output_padding_y: 1"),
    ("conv_trans", [5, 6, 7], "num_filters: 5 filter_size: 4 stride: 2 padding: 1 groups: 5"),
    ("conv_trans", [33, 1, 1], "num_filters: 40 filter_size: 4"),
    ("conv_trans", [8, 9, 8], "num_filters: 6 filter_size: 1"),
    ("conv_trans", [140, 3, 4], "num_filters: 67 filter_size: 4 stride: 2 padding: 1"),
    ("conv_trans", [20, 17, 33], "num_filters: 9 filter_size: 2 stride: 2"),
    ("bilinear_interp", [3, 7, 37], "scale: 2"),
    ("bilinear_interp", [2, 5, 9], "out_size: 101 out_size_y: 3"),
    ("bilinear_interp", [3, 6, 70], "scale: 2 scale_y: 3 corners: HALF_PIXEL"),
    ("bilinear_interp", [2, 40, 77], "out_size: 11 out_size_y: 41 corners: HALF_PIXEL"),
    ("bilinear_interp", [2, 1, 1], "out_size: 21 out_size_y: 1"),
    ("nearest_interp", [3, 7, 37], "scale: 2"),
    ("nearest_interp", [2, 9, 50], "out_size: 11 out_size_y: 23"),
    ("nearest_interp", [2, 3, 4], "out_size: 101 out_size_y: 2"),
    ("pool", [3, 8, 10], "pool_size: 2 stride: 2"),
    ("pool", [3, 7, 9], "pool_size: 2 stride: 2"),
    ("pool", [2, 9, 7], "pool_size: 3 pool_size_y: 2 stride: 2 stride_y: 1 padding: 1"),
    ("pool", [1, 5, 6], "pool_size: 2 stride: 3 padding: 1 rounding: CEIL_ALL"),
    ("pool", [3, 8, 10], "pool_type: AVERAGE pool_size: 2 stride: 2"),
    ("pool", [3, 7, 9], "pool_type: AVERAGE pool_size: 2 stride: 2"),
    ("pool", [2, 5, 39], "pool_type: AVERAGE pool_size: 2 stride: 2 rounding: FLOOR"),
    ("pool", [2, 9, 7], "pool_type: AVERAGE pool_size: 3 stride: 2 padding: 1 rounding: CEIL_ALL"),
    ("batch_norm", [5, 7, 3], ""),
    ("batch_norm", [19], ""),
    ("batch_norm", [19], "use_global_stats: true"),
    ("batch_norm", [3, 4, 4], "use_global_stats: false"),
    ("softmax", [3, 9, 7], "axis: -1"),
    ("softmax", [3, 9, 31], ""),
    ("softmax", [19], ""),
    ("softmax", [1], ""),
    ("lrn", [7, 13, 11], ""),
    ("lrn", [3, 5, 2], "size: 4 power: 0.5 shift: 2.0"),
    ("pool", [3, 7, 9], "pool_size: 3 stride: 2 padding: 0 padding_end: 2 padding_end_y: 1 rounding: FLOOR"),
    ("pool", [3, 7, 9], "pool_size: 2 padding: 1 padding_end: 0"),
    ("pool", [3, 7, 9], "pool_type: AVERAGE pool_size: 3 stride: 2 padding: 0 padding_end: 1 rounding: FLOOR"),
    ("pool", [3, 7, 9], "pool_type: AVERAGE pool_size: 3 padding: 2 padding_end: 0 padding_end_y: 1"),
    ("pool", [2, 6, 5], "pool_type: AVERAGE global_pooling: true"),
    ("pool", [2, 37, 19], "pool_size: 3 padding: 1"),
    ("pool", [2, 37, 19], "pool_size: 3 stride: 2 padding: 1 rounding: FLOOR"),
    ("pool", [2, 9, 17], "pool_size: 2"),
    ("pool", [1, 12, 70], "pool_size: 5 stride: 3 padding: 2"),
    ("pool", [2, 37, 19], "pool_type: AVERAGE pool_size: 3 padding: 1"),
    ("pool", [2, 9, 17], "pool_type: AVERAGE pool_size: 4 stride: 3 padding: 1"),
    ("lstm_step", [4 * 9], ""),
    ("lstm_step", [4 * 17], "peepholes: false"),
    ("gru_step", [3 * 9], ""),
    ("gru_step", [3 * 5], "reset_after: true"),
    ("gru_step", [3 * 300], ""),
]
GATES = {"lstm_step": 4, "gru_step": 3}
"""Layers that also read what a unit had before: their input has so many columns for each unit."""
OF_SEQUENCES = {"multi_head_attention", "recurrent", "lstmemory", "grumemory", "ctc", "rotary_position"}
"""Their shapes are in tests/layers/test_attentions.py, test_recurrences.py, test_ctc.py and test_embeddings.py."""
BY_THE_KIT = {"attention_step", "roi_align", "roi_pool"}
"""Their inputs depend on each other; `check` runs their examples tuned, and boxes are in test_region_poolings.py."""
OF_TWO_INPUTS = {"mul", "div", "add", "sub", "softmax_with_loss", "matmul"}
"""Their shapes are in test_broadcasts.py, test_losses.py and test_matrix_products.py."""


@pytest.fixture(autouse=True)
def for_every_size(monkeypatch):
    """Let tuned kernels run on small shapes too."""
    everywhere = {key: [entry._replace(least=0) for entry in found] for key, found in tuned._TUNED.items()}
    monkeypatch.setattr(tuned, "_TUNED", everywhere)


def text_of(layer, shape, attributes):
    """Two layers of a kind that share their weights and read the same input: the second adds to every gradient."""
    both = " ".join(f'param {{ of: "{name}" share: "{name}" }}' for name in pl.registry[layer].params)
    block, data = f"{layer} {{ {attributes} }}", f'layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}'
    inputs = 'input: "x" propagate_down: true'
    if layer in GATES:
        data += f'layer {{ name: "before" type: "fc" input: "x" fc {{ size: {shape[0] // GATES[layer]} }} }}'
        inputs += ' input: "before" propagate_down: true'
    return f"""
    {data}
    layer {{ name: "a" type: "{layer}" {inputs} {block} {both} }}
    layer {{ name: "b" type: "{layer}" {inputs} {block} {both} }}
    """


def run(network, x, dtype):
    """All that two steps of training leave, and the tuned functions that ran; an empty batch leaves nothing."""
    with pl.Net(network, dtype=dtype, seed=4) as net:
        rng = np.random.default_rng(2)
        for step in range(2):
            outputs = net.forward({"x": x}, step=step)
            net.backward(gradients={name: rng.standard_normal(y.shape) for name, y in outputs.items()})
        found = {name: np.array(y) for name, y in outputs.items()} | {"dx": net.gradient("x").copy()}
        found |= {f"d{p.name}": p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
        found |= {name: np.array(state.value) for name, state in net.states.items()}
        used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
        found["test"] = np.array(net.forward({"x": x}, phase="test")["a"])
        net.forward({"x": x[:0]})
        net.backward(gradients={name: y[:0] for name, y in outputs.items()})
        assert not any(np.any(p.gradient) for p in net.parameters.values())
        return found, used


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.slow), "float32"])
@pytest.mark.parametrize(
    ("layer", "shape", "attributes"), [pytest.param(*shape, marks=marks_of(shape[0])) for shape in SHAPES]
)
def test_equals_the_point_functions(layer, shape, attributes, dtype):
    network = pl.loads(text_of(layer, shape, attributes))
    for rows in ROWS:
        x = np.random.default_rng(rows).standard_normal((rows, *shape))
        with tuned.point_functions_only():  # in one precision: they are compiled for every shape
            expected, none = run(network, x, "float64")
        found, used = run(network, x, dtype)
        assert used
        assert not none
        for name, values in expected.items():
            scale = max(float(np.abs(values).max(initial=0.0)), LEAST_SCALE.get((layer, rows), 1e-3))
            np.testing.assert_allclose(
                found[name], values, rtol=0, atol=TOLERANCE[dtype] * scale, err_msg=f"{rows} rows: {name}"
            )
        again, _ = run(network, x, dtype)
        for name, values in found.items():
            np.testing.assert_array_equal(again[name], values, err_msg=f"{rows} rows, second run: {name}")


def test_kernels_without_rows_have_no_work():
    """The first batch may have none: its buffers have no memory for the row that a kernel of one row writes."""
    for layer, shape, attributes in SHAPES:
        for launch in launches_of(pl.loads(text_of(layer, shape, attributes)), training=True, device="cpu"):
            rows = launch.args[0].shape[0] if launch.items is not None else None
            if rows is not None and rows.domain is not None:
                assert launch.items(lambda _: 0) == 0, (layer, shape, launch.name)


def test_every_tuned_function_has_a_shape():
    used = set()
    for layer, shape, attributes in SHAPES:
        launches = launches_of(pl.loads(text_of(layer, shape, attributes)), training=True, device="cpu")
        used |= {(layer, launch.name) for launch in launches if launch.items is not None}
    elsewhere = OF_SEQUENCES | OF_TWO_INPUTS | BY_THE_KIT
    registered = {(layer, function) for layer, function, _ in tuned._TUNED if layer not in elsewhere}
    assert registered <= used
