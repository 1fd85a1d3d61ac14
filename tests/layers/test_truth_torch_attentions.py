"""Attention against torch, sequence by sequence: the result and all gradients."""

from itertools import pairwise

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")

QUERIES, KEYS = np.array([0, 3, 4, 4, 9]), np.array([0, 2, 7, 8, 12])
TEXT = """
layer {{ name: "query" type: "data" data {{ shape: [6] seq_nested_level: 1 }} }}
layer {{ name: "keys" type: "data" data {{ shape: [6] seq_nested_level: 1 }} }}
layer {{ name: "values" type: "data" data {{ shape: [4] seq_nested_level: 1 }} }}
layer {{
  name: "y" type: "multi_head_attention" input: "query" input: "keys" input: "values"
  propagate_down: true propagate_down: true propagate_down: true multi_head_attention {{ {settings} }}
}}
"""


def rows(rng, starts, columns):
    return pl.Sequences(rng.standard_normal((starts[-1], columns)), starts)


def tensor(sequences):
    return torch.tensor(sequences.data, requires_grad=True)


def heads(part, count):
    return part.reshape(len(part), count, part.shape[1] // count).transpose(0, 1)


@pytest.mark.parametrize("heads_of", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_sequences_of_other_lengths(heads_of, causal, scale):
    rng = np.random.default_rng(0)
    feeds = {"query": rows(rng, QUERIES, 6), "keys": rows(rng, KEYS, 6), "values": rows(rng, KEYS, 4)}
    dy = rng.standard_normal((QUERIES[-1], 4))
    settings = f"num_heads: {heads_of} causal: {str(causal).lower()}" + (f" scale: {scale}" if scale else "")
    with pl.Net(pl.loads(TEXT.format(settings=settings)), dtype="float64") as net:
        found = net.forward(feeds, phase="train")["y"]
        net.backward(gradients={"y": dy})
        slopes = {name: net.gradient(name) for name in feeds}
    query, keys, values = (tensor(feeds[name]) for name in feeds)
    parts = []
    for first, last, low, high in zip(QUERIES, QUERIES[1:], KEYS, KEYS[1:], strict=False):
        cut = (heads(part, heads_of) for part in (query[first:last], keys[low:high], values[low:high]))
        part = torch.nn.functional.scaled_dot_product_attention(*cut, is_causal=causal, scale=scale)
        parts.append(part.transpose(0, 1).reshape(last - first, 4))
    expected = torch.cat(parts)
    expected.backward(torch.tensor(dy))
    np.testing.assert_allclose(found.data, expected.detach().numpy(), atol=1e-12)
    for name, given in zip(feeds, (query, keys, values), strict=True):
        np.testing.assert_allclose(slopes[name], given.grad.numpy(), atol=1e-12)


def test_one_layer_given_three_times_attends_to_itself():
    x = rows(np.random.default_rng(1), QUERIES, 4)
    text = """
    layer { name: "x" type: "data" data { shape: [4] seq_nested_level: 1 } }
    layer { name: "copy" type: "linear" input: "x" propagate_down: true }
    layer { name: "y" type: "multi_head_attention" input: "copy" input: "copy" input: "copy" }
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        found = net.forward({"x": x}, phase="train")["y"]
        net.backward(gradients={"y": np.ones((QUERIES[-1], 4))})
        slope = net.gradient("x")
    given = tensor(x)
    parts = [given[first:last] for first, last in pairwise(QUERIES)]
    expected = torch.cat([torch.softmax(part @ part.T / 2, dim=1) @ part for part in parts])
    expected.sum().backward()
    np.testing.assert_allclose(found.data, expected.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(slope, given.grad.numpy(), atol=1e-12)
