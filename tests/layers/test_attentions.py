"""Attention where there is nothing to look at or too much; places beyond the table; what is refused."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size

ATTENTION = """
layer {{ name: "query" type: "data" data {{ shape: 2 seq_nested_level: 1 }} }}
layer {{ name: "keys" type: "data" data {{ shape: 2 seq_nested_level: 1 }} }}
layer {{ name: "values" type: "data" data {{ shape: 2 seq_nested_level: 1 }} }}
layer {{ name: "y" type: "multi_head_attention" input: "query" input: "keys" input: "values"
         propagate_down: true propagate_down: true propagate_down: true multi_head_attention {{ {settings} }} }}
"""


def attend(query, keys, values, starts=(0, 1, 2), key_starts=(0, 3, 3), settings=""):
    """Result and gradients; by default for two sequences, of which the second has no keys."""
    found = np.array(key_starts)
    with pl.Net(pl.loads(ATTENTION.format(settings=settings)), dtype="float64") as net:
        feeds = {
            "query": pl.Sequences(query, np.array(starts)),
            "keys": pl.Sequences(keys, found),
            "values": pl.Sequences(values, found),
        }
        y = net.forward(feeds, phase="train")["y"].data
        net.backward(gradients={"y": np.arange(y.size, dtype=float).reshape(y.shape)})
        return y.copy(), [net.gradient(name) for name in feeds]


@pytest.mark.parametrize("settings", ["num_heads: 2", "causal: true"])
@pytest.mark.slow
def test_blocks_of_products_are_the_point_functions(settings):
    """Sequences of no row, of one, of a whole block and of more; queries and keys differ."""
    starts, key_starts = np.cumsum([0, 3, 0, 70, 1, 129, 64]), np.cumsum([0, 2, 5, 200, 0, 64, 65])
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((count[-1], 2)) for count in (starts, key_starts, key_starts)]
    found = []
    for kernels in (tuned_at_every_size, point_functions_only):
        with kernels():
            y, gradients = attend(*rows, starts, key_starts, settings)
            found.append([y, *gradients])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_without_keys_there_is_nothing_to_be_seen_or_learnt():
    keys, told = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    y, (query, _, values) = attend(np.ones((2, 2)), keys, told)
    assert y[0].sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(y[1], [0.0, 0.0])
    np.testing.assert_array_equal(query[1], [0.0, 0.0])
    np.testing.assert_allclose(values.sum(axis=0), [0.0, 1.0])


def test_products_of_any_size_do_not_overflow():
    y, gradients = attend(
        np.full((2, 2), 1e4), np.array([[1e4, 0.0], [2e4, 0.0], [-1e4, 1e4]]), np.array([[1.0, 2.0]] * 3)
    )
    np.testing.assert_allclose(y[0], [1.0, 2.0])
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_places_beyond_the_table_are_not_numbers():
    text = """
    layer { name: "x" type: "data" data { shape: 1 seq_nested_level: 1 } }
    layer { name: "y" type: "position_embedding" input: "x" position_embedding { max_length: 2 } }
    """
    with pl.Net(pl.loads(text)) as net:
        y = net.forward({"x": pl.Sequences(np.zeros((4, 1)), [0, 1, 4])})["y"].data
    np.testing.assert_array_equal(np.isnan(y[:, 0]), [False, False, False, True])


@pytest.mark.parametrize(("width", "name"), [(("5", "4"), "query"), (("4", "5"), "values")])
def test_columns_that_cannot_be_cut_are_refused(width, name):
    definition = pl.registry["multi_head_attention"]
    types = [pl.Type.parse(f"sequence of {columns}") for columns in (width[0], *width)]
    with pytest.raises(pl.ShapeError, match=f"5 columns of `{name}` cannot be cut into 2 equal heads") as caught:
        definition.infer(types, definition.bind({"num_heads": 2}))
    assert caught.value.attribute == "num_heads"
