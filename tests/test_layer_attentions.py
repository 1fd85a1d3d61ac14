"""Attention where there is nothing to look at or too much; places beyond the table; what is refused."""

import numpy as np
import pytest

import paddle_layers as pl

ATTENTION = """
layer { name: "query" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "keys" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "values" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "y" type: "multi_head_attention" input: "query" input: "keys" input: "values"
        propagate_down: true propagate_down: true propagate_down: true }
"""


def attend(query, keys, values):
    """Result and gradients for two sequences, of which the second has no keys."""
    queries, found = pl.Sequences(query, [0, 1, 2]), [0, len(keys), len(keys)]
    with pl.Net(pl.loads(ATTENTION), dtype="float64") as net:
        feeds = {"query": queries, "keys": pl.Sequences(keys, found), "values": pl.Sequences(values, found)}
        y = net.forward(feeds, phase="train")["y"].data
        net.backward(gradients={"y": np.ones((2, 2))})
        return y, [net.gradient(name) for name in feeds]


def test_without_keys_there_is_nothing_to_be_seen_or_learnt():
    y, (query, _, values) = attend(np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]), np.eye(2))
    assert y[0].sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(y[1], [0.0, 0.0])
    np.testing.assert_array_equal(query[1], [0.0, 0.0])
    assert values.sum() == pytest.approx(2.0)


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
