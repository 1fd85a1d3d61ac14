"""The networks of the guide "Decoders and structured losses" against their formulas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "explanations" / "decoders-and-structured-losses.md"
NETWORKS = dict(re.findall(r"```textproto\n# file: (\w+)\.textproto\n(.*?)```", GUIDE.read_text("utf-8"), re.S))
RNG = np.random.default_rng(7)
X, LABELS = RNG.normal(size=(5, 4)), np.array([0, 3, 1, 1, 2])


def loss(name: str, **feeds: Any) -> float:
    with pl.Net(pl.loads(NETWORKS[name]), dtype="float64") as net:
        net.forward(feeds)
        return net.loss


def test_logp_cost() -> None:
    target = RNG.dirichlet(np.ones(4), size=5)
    logp = X - np.log(np.exp(X).sum(axis=1, keepdims=True))
    found = as_python(lambda: loss("logp_cost", x=X, target=target))
    np.testing.assert_allclose(found, -(target * logp).sum(axis=1).mean(), rtol=1e-12)


def test_cross_entropy_with_selfnorm() -> None:
    log_mass = np.log(np.exp(X).sum(axis=1))
    wanted = -X[np.arange(5), LABELS] + log_mass + 0.1 * log_mass**2
    found = as_python(lambda: loss("selfnorm", x=X, label=LABELS))
    np.testing.assert_allclose(found, wanted.mean(), rtol=1e-12)


def test_a_softmax_of_two_tiers_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    words = np.array([0, 3, 4, 10, 7, 1, 2, 5, 3])
    x = RNG.normal(size=(len(words), 6))
    module = torch.nn.AdaptiveLogSoftmaxWithLoss(6, 11, [4], div_value=3.0).double()
    parts = {"head": module.head.weight, "narrow": module.tail[0][0].weight, "tail": module.tail[0][1].weight}

    def run() -> tuple[float, dict[str, Any]]:
        with pl.Net(pl.loads(NETWORKS["adaptive"]), dtype="float64") as net:
            for name, weight in parts.items():
                net.parameters[f"{name}.weight"].value = weight.detach().numpy().T
            rare = words >= 4
            net.forward(
                {"x": x, "word": words.clip(max=4), "is_rare": rare.astype(int), "rare_word": (words - 4).clip(0)}
            )
            net.backward()
            return net.loss, {name: net.parameters[f"{name}.weight"].gradient.copy() for name in parts}

    found, gradients = as_python(run)
    loss = module(torch.from_numpy(x), torch.from_numpy(words)).loss
    loss.backward()
    np.testing.assert_allclose(found, loss.item(), rtol=1e-12)
    for name, weight in parts.items():
        np.testing.assert_allclose(gradients[name], weight.grad.numpy().T, rtol=1e-9, atol=1e-12)


def test_a_kernel_perceptron_makes_the_steps_of_the_textbook() -> None:
    rows, labels = RNG.integers(-3, 4, size=(30, 2)).astype(float), RNG.integers(0, 3, 30)
    known = (rows @ rows.T + 1) ** 2
    support = np.zeros((30, 3))
    for place in range(30):
        scores = known[place] @ support
        best = int(scores.argmax())
        if scores[best] > scores[labels[place]]:
            support[:, best] -= known[place]
            support[:, labels[place]] += known[place]

    def learned() -> Any:
        with pl.Net(pl.loads(NETWORKS["kernel_perceptron"]), dtype="float64") as net:
            net.parameters["products.weight"].value = rows
            optimizer = pl.Optimizer(net, "sgd", momentum=0.0)
            for place in range(30):
                net.forward({"x": rows[place : place + 1], "label": labels[place : place + 1]})
                net.backward()
                optimizer.step(1.0)
            return net.parameters["scores.weight"].value.copy()

    np.testing.assert_array_equal(as_python(learned), support)


def test_a_step_that_forgets_where_a_sequence_begins() -> None:
    x, previous, cont = RNG.normal(size=(4, 12)), RNG.normal(size=(4, 3)), np.array([1.0, 0.0, 1.0, 0.0])

    def run() -> Any:
        with pl.Net(pl.loads(NETWORKS["lstm_unit"]), dtype="float64") as net:
            return net.forward({"x": x, "previous": previous, "cont": cont})

    found = as_python(run)
    a, i, f, o = np.split(x, 4, axis=1)
    gates = [1 / (1 + np.exp(-gate)) for gate in (i, f, o)]
    state = np.tanh(a) * gates[0] + cont[:, None] * previous * gates[1]
    np.testing.assert_allclose(found["unit.state"], state, rtol=1e-12)
    np.testing.assert_allclose(found["unit"], gates[2] * np.tanh(state), rtol=1e-12)


LENGTHS = (3, 1, 5)


def decoded(net: pl.Net, words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Scores of a sequence by the formulas of the papers."""
    value = {name: parameter.value for name, parameter in net.parameters.items()}
    x = value["vectors.table"][words]
    seen = np.tri(len(words), dtype=bool)
    for block in "01":
        own = {name.removeprefix(f"blocks.{block}."): one for name, one in value.items() if f"s.{block}." in name}
        norm1 = normed(x, own["norm1.gain"])
        query, key, told = (norm1 @ own[f"{name}.weight"] for name in ("query", "key", "value"))
        heads = []
        for head in range(4):
            part, group = slice(4 * head, 4 * head + 4), slice(4 * (head % 2), 4 * (head % 2) + 4)
            scores = np.where(seen, turned(query[:, part]) @ turned(key[:, group]).T / 2, -np.inf)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            heads.append(shares / shares.sum(axis=1, keepdims=True) @ told[:, group])
        x = x + np.hstack(heads) @ own["out_proj.weight"]
        norm2 = normed(x, own["norm2.gain"])
        gate = norm2 @ own["gate.weight"]
        x = x + gate / (1 + np.exp(-gate)) * (norm2 @ own["ffn_in.weight"]) @ own["ffn_out.weight"]
    return np.array(normed(x, value["last.gain"]) @ value["scores.weight"])


def normed(x: np.ndarray[Any, Any], gain: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    epsilon = pl.registry["rms_norm"].attributes["epsilon"].default
    return np.array(x / np.sqrt((x**2).mean(axis=1, keepdims=True) + epsilon) * gain)


def turned(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    half = x.shape[1] // 2
    angle = np.outer(np.arange(len(x)), 10000.0 ** (-np.arange(half) / half))
    pairs = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * angle)
    return np.hstack([pairs.real, pairs.imag])


def test_a_decoder_is_that_of_the_papers() -> None:
    words = [RNG.integers(0, 50, length) for length in LENGTHS]

    def run() -> tuple[Any, list[Any]]:
        with pl.Net(pl.loads(NETWORKS["decoder"]), dtype="float64", seed=2, keep=["scores"]) as net:
            for name, parameter in net.parameters.items():
                parameter.value = np.random.default_rng(len(name)).normal(size=parameter.shape) / 3
            net.forward({"words": words, "next": words})
            return net.value("scores").data, [decoded(net, sequence) for sequence in words]

    found, wanted = as_python(run)
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-10, atol=1e-12)


def test_rotary_positions_are_those_of_torch_users() -> None:
    """As in Llama: `x * cos + rotate_half(x) * sin`; a product depends on the distance of two rows only."""
    torch = pytest.importorskip("torch")
    x = RNG.normal(size=(6, 8))
    text = """
    layer { name: "x" type: "data" data { shape: 8 seq_nested_level: 1 } }
    layer { name: "y" type: "rotary_position" input: "x" rotary_position { num_heads: 2 } }
    """

    def run() -> Any:
        with pl.Net(pl.loads(text), dtype="float64") as net:
            return net.forward({"x": [x]})["y"].data

    heads = torch.from_numpy(x).reshape(6, 2, 4)
    inverse = 1.0 / (10000 ** (torch.arange(0, 4, 2, dtype=torch.float64) / 4))
    angle = torch.outer(torch.arange(6, dtype=torch.float64), inverse)
    both = torch.cat((angle, angle), dim=-1)[:, None]
    half = torch.cat((-heads[..., 2:], heads[..., :2]), dim=-1)
    np.testing.assert_allclose(as_python(run), (heads * both.cos() + half * both.sin()).reshape(6, 8), rtol=1e-12)
