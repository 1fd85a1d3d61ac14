"""Networks of the guide on layer combinations against the formulas of the original layers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python
from tests.references import load_references

GUIDE = (Path(__file__).parents[2] / "docs" / "explanations" / "layer-combinations.md").read_text(encoding="utf-8")
NETWORKS = dict(re.findall(r"^```textproto\n# file: (\w+)\.textproto\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


def sums(fed, weights):
    filtered = load_references()["conv3d"]  # of any number of axes
    usual = {"stride": 1, "dilation": 1, "groups": 1, "bias": False}
    how = {**usual, "filter_size": 3, "padding": 1, "padding_end": 1}
    y = filtered({"x": fed["image"]}, {"weight": weights["filtered.weight"]}, how)["y"]
    y += np.einsum("nchw,cdab->ndhawb", fed["small"], weights["enlarged.weight"]).reshape(y.shape)
    padded = np.pad(fed["image"], ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    return np.maximum(y + sliding_window_view(padded, (3, 3), axis=(2, 3)).max(axis=(4, 5)), 0)


def untied(fed, weights):
    windows = sliding_window_view(fed["image"], (3, 3), axis=(2, 3))
    filtered = np.einsum("ncpqab,kcab->nkpq", windows, weights["filtered.weight"])
    return np.maximum(filtered + weights["shifted.offset"].reshape(filtered.shape[1:]), 0)


def channel_pool(fed, weights):
    image = fed["image"]
    return np.stack([image[:, first : first + 3].mean(axis=1) for first in (0, 2, 4)], axis=1)


def pixels(fed, weights):
    powers = np.exp(np.moveaxis(fed["image"], 1, 3))
    return powers / powers.sum(axis=3, keepdims=True)


def boot_bias(fed, weights):
    x, rows = fed["x"], []
    for first, last in itertools.pairwise(x.starts):
        state = np.tanh(weights["bias.weight"])
        for row in x.data[first:last]:
            state = np.tanh(row + state)
            rows.append(state)
    return np.array(rows)


def static(fed, weights):
    """Caffe's cell: its gates are those of here in another order."""

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    ends = []
    for s, (first, last) in enumerate(itertools.pairwise(fed["x"].starts)):
        h, c = fed["h_0"][s], fed["c_0"][s]
        for x in fed["x"].data[first:last]:
            sums = x @ weights["mapped.weight"] + fed["row"][s] @ weights["seen.weight"] + h @ weights["y.weight"]
            new, i, f, o = np.split(sums + weights["y.bias"], 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(new)
            h = sigmoid(o) * np.tanh(c)
        ends.append(np.concatenate([h, c]))
    return np.array(ends)


def rnn(fed, weights):
    rows = []
    for first, last in itertools.pairwise(fed["x"].starts):
        h = np.zeros(4)
        for x in fed["x"].data[first:last]:
            h = np.tanh(x @ weights["mapped.weight"] + h @ weights["hidden.weight"] + weights["hidden.bias"])
            rows.append(np.tanh(h @ weights["out.weight"] + weights["out.bias"]))
    return np.array(rows)


def wider(fed, _):
    """The costs of the rows that there are, each of two samples."""
    rows, labels = fed["row"].reshape(-1, 6), fed["label"].data
    return np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), labels]


def tied(fed, weights):
    code = np.tanh(fed["x"] @ weights["code.weight"] + weights["code.bias"])
    return code @ weights["code.weight"].T + weights["again.bias"]


def transposed_product(fed, _):
    a, b = (np.split(fed[name].data, fed[name].starts[1:-1]) for name in "ab")
    return np.stack([(one.T @ other).reshape(-1) for one, other in zip(a, b, strict=True)])


def infogain(fed, _):
    powers = np.exp(fed["score"])
    gains = fed["gain"].reshape(-1, 4, 4)[np.arange(len(powers)), fed["label"]]
    return -(gains * np.log(powers / powers.sum(axis=1, keepdims=True))).sum(axis=1)


FORMULAS = {
    "sums": sums,
    "untied": untied,
    "parts": lambda fed, _: fed["image"][:, [0, 1, 5]],
    "narrower": lambda fed, _: fed["row"].reshape(-1, 4),
    "rnn": rnn,
    "wider": wider,
    "tied": tied,
    "turned": lambda fed, _: fed["matrix"].transpose(0, 2, 1),
    "transposed_product": transposed_product,
    "infogain": infogain,
    "kept": lambda fed, _: fed["row"][fed["chosen"] != 0],
    "reordered": lambda fed, _: fed["row"][fed["number"].data],
    "channel_pool": channel_pool,
    "scale_shift": lambda fed, weights: fed["row"] * weights["scaled.gain"] + weights["scaled.bias"],
    "distance": lambda fed, _: np.sqrt(((fed["one"] - fed["other"]) ** 2).sum(axis=1, keepdims=True)) / 2,
    "pixels": pixels,
    "one_hot": lambda fed, _: np.eye(4)[fed["word"]],
    "boot_bias": boot_bias,
    "side_by_side": lambda fed, weights: np.hstack(
        [fed["row"] @ weights["mapped.weight"], fed["row"], fed["row"] * weights["weighted.gain"]]
    ),
    "static": static,
    "hinge": lambda fed, _: np.maximum(1 - fed["score"] * fed["answer"], 0)[:, 0],
}


STARTS = {"static": [0, 3, 5], "wider": [0, 1, 1, 2, 2]}
"""Where sequences begin: without an empty one, which has no last row; and one row for each two samples."""


def test_every_network_has_a_formula():
    assert NETWORKS.keys() == FORMULAS.keys()


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_elsewhere(name):
    network, rng = pl.loads(NETWORKS[name]), np.random.default_rng(3)
    fed = {}
    for node in network.nodes:
        if node.definition.name == "data":
            nested = node.outputs[0].seq_nested_level
            ids = node.attributes["data_type"] == "INT"
            starts = STARTS.get(name, [0, 2, 2, 3, 5, 5])
            dims = (starts[-1] if nested else len(starts) - 1, *node.outputs[0].dims)
            fed[node.name] = rng.integers(4, size=dims[0]) if ids else rng.standard_normal(dims)
            if nested:
                fed[node.name] = pl.Sequences(fed[node.name], starts)
    found, weights = as_python(lambda: run(network, fed, rng, name))
    np.testing.assert_allclose(found, FORMULAS[name](fed, weights), rtol=1e-10, atol=1e-12)


def run(network, fed, rng, name):
    """The last value and the weights, which are random but for those that the network fixes."""
    with pl.Net(network, dtype="float64") as net:
        for parameter in net.parameters.values():
            if name not in {"one_hot", "infogain"}:
                parameter.value = rng.standard_normal(parameter.shape)
        outputs = net.forward(fed, phase="test")
        last = outputs[list(outputs)[-1]]
        last = last.data if isinstance(last, pl.Sequences) else last
        return np.array(last), {key: np.array(one.value) for key, one in net.parameters.items()}
