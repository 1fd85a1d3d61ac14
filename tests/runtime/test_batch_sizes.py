"""Batches with fewer rows than earlier ones of the same net: the results depend on the batch alone."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from tests.selection import compiled_layers

DATA = 'layer { name: "x" type: "data" data { shape: %s } }'
LAYERS = {
    "softmax": (DATA % "1000", 'layer { name: "y" type: "softmax" input: "x" propagate_down: true }'),
    "fc": (DATA % "64", 'layer { name: "y" type: "fc" input: "x" propagate_down: true fc { size: 64 act: "tanh" } }'),
    "conv": (
        DATA % "[4, 9, 9]",
        'layer { name: "y" type: "conv" input: "x" propagate_down: true conv { num_filters: 16 filter_size: 3 } }',
    ),
    "batch_norm": (DATA % "[8, 12, 12]", 'layer { name: "y" type: "batch_norm" input: "x" propagate_down: true }'),
    "lstmemory": (
        'layer { name: "x" type: "data" data { shape: 64 seq_nested_level: 1 } }',
        'layer { name: "y" type: "lstmemory" input: "x" propagate_down: true }',
    ),
}
"""Networks for which other kernels are chosen at 128 rows than at 5."""


def run(net, text, rows):
    """Outputs and gradients of a batch."""
    x = np.random.default_rng(rows).normal(size=(rows, *net.network.nodes[0].outputs[0].dims))
    if "seq_nested_level" in text:
        x = pl.Sequences(x, np.array([0, rows // 3, rows]))
    y = net.forward({"x": x})["y"]
    y = getattr(y, "data", y)
    net.backward({"y": np.random.default_rng(1).normal(size=y.shape)})
    found = {"y": y, "dx": net.gradient("x")}
    return found | {name: p.gradient.copy() for name, p in net.parameters.items() if p.gradient is not None}


@pytest.mark.parametrize("layer", compiled_layers(LAYERS))
def test_a_result_is_the_same_bits_whatever_batches_came_before(layer):
    text = "".join(LAYERS[layer])
    network = pl.loads(text)
    with pl.Net(network) as net:
        for rows in (128, 5, 7, 128, 1):
            found = run(net, text, rows)
            with pl.Net(network) as fresh:
                expected = run(fresh, text, rows)
            for name, values in expected.items():
                np.testing.assert_array_equal(found[name], values, err_msg=f"{name} of {rows} rows")


def test_probabilities_of_a_small_batch_after_a_large_one_add_up_to_one():
    with pl.Net(pl.loads("".join(LAYERS["softmax"]))) as net:
        for rows in (128, 5, 1):
            scores = np.random.default_rng(0).normal(size=(rows, 1000))
            np.testing.assert_allclose(net.forward({"x": scores}, phase="test")["y"].sum(1), 1, rtol=1e-5)


GROUP = """
layer { name: "x" type: "data" data { shape: 6 seq_nested_level: 1 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "y" size: 6 } }
    layer { name: "sum" type: "fc" input: "x" input: "before" fc { size: 6 } }
    layer { name: "y" type: "softmax" input: "sum" }
    output: "y"
  }
}
"""


def test_steps_with_fewer_sequences_have_scratch_memory_of_their_own_size():
    """The steps of a recurrent group have fewer rows from step to step, within one pass."""
    x = [np.random.default_rng(n).normal(size=(rows, 6)) for n, rows in enumerate((5, 3, 1, 2))]
    with tuned_at_every_size(), pl.Net(pl.loads(GROUP)) as net:
        for _ in range(2):
            found = next(iter(net.forward({"x": x}, phase="test").values()))
    with point_functions_only(), pl.Net(pl.loads(GROUP)) as net:
        expected = next(iter(net.forward({"x": x}, phase="test").values()))
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-5)
