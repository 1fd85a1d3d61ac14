"""Costs over large vocabularies: against their formulas with the classes that were drawn, and what they cost."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Csr
from paddle_layers.testing.cases.trial import as_python

pytestmark = pytest.mark.usefixtures("as_python")

ROWS, COLUMNS, CLASSES = 6, 4, 9
SHARES = [5.0, 1.0, 2.0, 3.0, 1.0, 0.5, 4.0, 2.0, 1.5]
LABELS = np.array([3, 0, 8, 8, 1, 5])


def network(layer: str, settings: str = "", *, sparse: bool = False, inputs: tuple[str, ...] = ()) -> pl.Network:
    kind = "SPARSE_INT" if sparse else "INT"
    extra = "".join(f'layer {{ name: "{name}" type: "data" data {{ shape: [] }} }}\n' for name in inputs)
    given = "".join(f' input: "{name}"' for name in inputs) + " propagate_down: true" * (2 + len(inputs))
    return pl.loads(f"""
    layer {{ name: "x" type: "data" data {{ shape: {COLUMNS} }} }}
    layer {{ name: "label" type: "data" data {{ data_type: {kind} size: {CLASSES} }} }}
    {extra}layer {{ name: "cost" type: "{layer}" input: "x" input: "label"{given}
            {layer} {{ num_neg_samples: 5 {settings} }} }}
    """)


def feeds(label: Any = LABELS) -> dict[str, Any]:
    return {"x": np.random.default_rng(2).normal(size=(ROWS, COLUMNS)), "label": label}


class Drawn:
    """A pass with random weights, its gradients, and the classes that were chosen for each row."""

    def __init__(self, net: pl.Network, given: dict[str, Any], step: int = 1) -> None:
        as_python(lambda: self._run(net, given, step))

    def _run(self, net: pl.Network, given: dict[str, Any], step: int) -> None:
        with pl.Net(net, dtype="float64", seed=4) as run:
            rng = np.random.default_rng(3)
            for parameter in run.parameters.values():
                parameter.value = rng.normal(size=parameter.shape)
            self.cost = run.forward(given, step=step)["cost"]
            assert run._last is not None
            chosen = run._last.batch.arrays["cost.chosen"]
            run.backward(gradients={"cost": np.arange(1.0, ROWS + 1)})
            self.weight, self.bias = run.parameters["cost.weight"].value, run.parameters["cost.bias"].value
            self.gradients = [run.gradient("x"), run.parameters["cost.weight"].gradient]
            self.by_rows = {name for name, parameter in run.parameters.items() if parameter.by_rows}
        self.ids = np.split(chosen.id, chosen.start[1:-1])
        self.expected = np.split(chosen.value, chosen.start[1:-1])


def scores(drawn: Drawn, x: np.ndarray[Any, Any], row: int) -> np.ndarray[Any, Any]:
    return np.array(drawn.weight[drawn.ids[row]] @ x[row] + drawn.bias[drawn.ids[row]])


SHARE_OF = {
    "UNIFORM": np.full(CLASSES, 1 / CLASSES),
    "LOG_UNIFORM": np.log((np.arange(CLASSES) + 2) / (np.arange(CLASSES) + 1)) / np.log(CLASSES + 1),
    "given": np.array(SHARES) / sum(SHARES),
}


def noise(name: str) -> str:
    return f"neg_distribution: {SHARES}" if name == "given" else f"noise: {name}"


@pytest.mark.parametrize("odds", ["EXP", "SIGMOID", "NEGATIVE_SAMPLING"])
@pytest.mark.parametrize("name", SHARE_OF)
def test_nce_is_its_formula(name: str, odds: str) -> None:
    given = feeds()
    importance = np.linspace(0.5, 2.0, ROWS)
    net = network("nce", f"{noise(name)} odds: {odds}", inputs=("importance",))
    drawn = Drawn(net, given | {"importance": importance})
    for row in range(ROWS):
        assert drawn.ids[row][0] == LABELS[row]
        s, share = scores(drawn, given["x"], row), 5 * SHARE_OF[name][drawn.ids[row]]
        model = np.exp(s) if odds == "EXP" else 1 / (1 + np.exp(-s))
        ratio = np.exp(s) if odds == "NEGATIVE_SAMPLING" else model / share
        cost = np.log(1 + 1 / ratio[0]) + np.log(1 + ratio[1:]).sum()
        np.testing.assert_allclose(drawn.cost[row], cost * importance[row], rtol=1e-12)


@pytest.mark.parametrize("name", SHARE_OF)
def test_sampled_softmax_is_its_formula(name: str) -> None:
    given = feeds()
    drawn = Drawn(network("sampled_softmax", noise(name)), given)
    hits = 0
    for row in range(ROWS):
        s = scores(drawn, given["x"], row) - np.log(5 * SHARE_OF[name][drawn.ids[row]])
        others = s[1:][drawn.ids[row][1:] != LABELS[row]]
        hits += 5 - len(others)
        np.testing.assert_allclose(drawn.cost[row], np.logaddexp.reduce([s[0], *others]) - s[0], rtol=1e-12)
    assert hits  # a label that was drawn is left out


def test_rows_with_several_labels_have_a_term_for_each() -> None:
    labels = [[1, 3], [], [0, 5, 8], [2], [7], [4]]
    start = np.cumsum([0, *map(len, labels)])
    given = feeds(Csr(start, np.concatenate(labels).astype(np.int64)))
    drawn = Drawn(network("nce", sparse=True), given)
    for row, right in enumerate(labels):
        assert list(drawn.ids[row][: len(right)]) == right
        assert len(drawn.ids[row]) == len(right) + 5
        ratio = np.exp(scores(drawn, given["x"], row)) / (5 / CLASSES)
        terms = [*np.log(1 + 1 / ratio[: len(right)]), *np.log(1 + ratio[len(right) :])]
        np.testing.assert_allclose(drawn.cost[row], sum(terms), rtol=1e-12)


@pytest.mark.parametrize("layer", ["nce", "sampled_softmax"])
def test_shared_classes_are_drawn_once_for_all_rows(layer: str) -> None:
    own, shared = Drawn(network(layer, "shared: false"), feeds()), Drawn(network(layer, "shared: true"), feeds())
    assert len({tuple(ids[1:]) for ids in shared.ids}) == 1
    assert len({tuple(ids[1:]) for ids in own.ids}) > 1
    assert own.by_rows == shared.by_rows == {"cost.weight", "cost.bias"}


def test_the_number_of_drawn_classes_and_the_step_decide() -> None:
    drawn = [Drawn(network("nce"), feeds(), step) for step in (1, 1, 2)]
    assert all(len(ids) == 6 for ids in drawn[0].ids)
    assert np.array_equal(drawn[0].ids, drawn[1].ids)
    assert not np.array_equal(drawn[0].ids, drawn[2].ids)


@pytest.mark.parametrize("name", SHARE_OF)
def test_classes_are_drawn_as_often_as_the_noise_says(name: str) -> None:
    """Within five standard deviations, of 30,000 draws."""
    counted: Counter[int] = Counter()
    draw = pl.registry["nce"].hooks["entries"]
    shares = pl.registry["nce"].hooks["prepare"](tuple(SHARES) if name == "given" else ())
    for key in range(3):
        start, ids, value = draw(np.zeros(100, int), key, CLASSES, 100, False, name, shares)
        counted.update(ids[value < 0].tolist())
        np.testing.assert_allclose(abs(value), 100 * SHARE_OF[name][ids])
        assert start[-1] == len(ids) == 100 * 101
    for number, share in enumerate(SHARE_OF[name]):
        spread = np.sqrt(30_000 * share * (1 - share))
        assert abs(counted[number] - 30_000 * share) < 5 * spread


def test_probabilities_of_a_tree_add_up_to_one() -> None:
    x = np.random.default_rng(1).normal(size=(1, 3))
    for settings in ("", "counts: [1, 7, 7, 2, 0, 3]", 'codes: ["00", "01", "10", "110", "1110", "1111"]'):
        net = pl.loads(f"""
        layer {{ name: "x" type: "data" data {{ shape: 3 }} }}
        layer {{ name: "label" type: "data" data {{ data_type: INT size: 6 }} }}
        layer {{ name: "cost" type: "hsigmoid" input: "x" input: "label" hsigmoid {{ {settings} }} }}
        """)

        def probabilities(net: pl.Network = net) -> Any:
            with pl.Net(net, dtype="float64") as run:
                run.parameters["cost.weight"].value = np.random.default_rng(2).normal(size=(5, 3))
                run.parameters["cost.bias"].value = np.arange(5.0)
                return np.exp(-run.forward({"x": np.repeat(x, 6, axis=0), "label": np.arange(6)})["cost"])

        np.testing.assert_allclose(as_python(probabilities).sum(), 1.0, rtol=1e-12)


def test_frequent_classes_have_short_paths() -> None:
    layer = pl.registry["hsigmoid"]
    counts = 1.0 / np.arange(1, 1001)
    starts, nodes, _ = layer.hooks["prepare"](tuple(counts), ())
    depth = np.diff(starts)
    assert depth[0] < depth[10] < depth[-1]
    mean = (depth * counts).sum() / counts.sum()
    entropy = -(counts / counts.sum() * np.log2(counts / counts.sum())).sum()
    assert entropy <= mean <= entropy + 1  # Shannon's bound for Huffman's code
    assert set(nodes) == set(range(999))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ('["0", "1", "11"]', "the code '11' continues '1', which is the code of another class"),
        ('["00", "10", "11"]', "no code starts with '01', but another one continues to its sibling"),
        ('["0", "10", "1a"]', "the code '1a' has other digits than 0 and 1"),
        ('["0", "1"]', "there are 2 codes, but 3 classes"),
    ],
)
def test_codes_that_are_no_tree(codes: str, message: str) -> None:
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: 3 }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: 3 }} }}
    layer {{ name: "cost" type: "hsigmoid" input: "x" input: "label" hsigmoid {{ codes: {codes} }} }}
    """
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(text)
    assert message in str(caught.value)


def test_labels_that_the_network_computes_are_refused() -> None:
    net = pl.loads("""
    layer { name: "x" type: "data" data { shape: 3 } }
    layer { name: "best" type: "maxid" input: "x" }
    layer { name: "cost" type: "nce" input: "x" input: "best" }
    """)
    with pytest.raises(pl.ShapeError, match="layer `cost`: `label` must be a data layer"):
        pl.Net(net)


@pytest.mark.parametrize("layer", ["nce", "sampled_softmax", "hsigmoid"])
def test_optimizers_with_lazy_updates_give_what_the_dense_way_gives(layer: str) -> None:
    """Rows that a batch draws make their pending steps before they are read."""
    found = []
    for dense in (False, True):
        marked = mock.patch("paddle_layers.runtime.net.mark_sparse_gradients") if dense else contextlib.nullcontext()
        with marked:
            net = pl.Net(_small(layer), dtype="float64", seed=1)
        optimizer, rng = pl.Optimizer(net, "sgd", momentum=0.9), np.random.default_rng(5)
        with net:
            for step in range(12):
                net.forward({"x": rng.normal(size=(3, 4)), "label": rng.integers(0, 50, 3)}, step=step)
                net.backward()
                optimizer.step(0.1)
            found.append({name: parameter.value.copy() for name, parameter in net.parameters.items()})
    for name, values in found[0].items():
        np.testing.assert_allclose(values, found[1][name], rtol=1e-9, atol=1e-12, err_msg=name)


def _small(layer: str) -> pl.Network:
    settings = "" if layer == "hsigmoid" else f"{layer} {{ num_neg_samples: 2 }}"
    return pl.loads(f"""
    layer {{ name: "x" type: "data" data {{ shape: 4 }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: 50 }} }}
    layer {{ name: "cost" type: "{layer}" input: "x" input: "label" {settings} }}
    """)


def test_selected_scores_of_sparse_rows_have_gradients_by_rows() -> None:
    text = """
    layer { name: "x" type: "data" data { shape: 3 } }
    layer { name: "ids" type: "data" data { data_type: SPARSE_INT size: 5 } }
    layer { name: "weighted" type: "data" data { data_type: SPARSE size: 4 } }
    layer { name: "selected" type: "data" data { data_type: SPARSE_INT size: 9 } }
    layer { name: "scores" type: "selected_scores" input: "x" input: "ids" input: "weighted" input: "selected" }
    """
    x, values = np.random.default_rng(4).normal(size=(2, 3)), np.array([2.0, -1.0, 0.5])
    selected, dy = [[7, 2], [2]], np.array([[1.0], [3.0], [-2.0]])
    fed = {
        "x": x,
        "ids": Csr(np.array([0, 2, 4]), np.array([0, 3, 4, 4])),
        "weighted": Csr(np.array([0, 1, 3]), np.array([1, 1, 3]), values),
        "selected": Csr(np.array([0, 2, 3]), np.concatenate(selected)),
    }
    rows = {
        "weight_0": x,
        "weight_1": np.array([[1.0, 0, 0, 1, 0], [0, 0, 0, 0, 2]]),
        "weight_2": np.array([[0, 2.0, 0, 0], [0, -1.0, 0, 0.5]]),
        "bias": np.ones((2, 1)),
    }

    def found() -> dict[str, Any]:
        with pl.Net(pl.loads(text), dtype="float64") as net:
            net.forward(fed)
            net.backward(gradients={"scores": pl.Sequences(dy, np.array([0, 2, 3]))})
            return {name: net.parameters[f"scores.{name}"].gradient_rows for name in rows}

    for name, (ids, gradient) in as_python(found).items():
        assert ids.tolist() == [2, 7]
        wanted = np.stack([3 * rows[name][0] - 2 * rows[name][1], rows[name][0]])
        np.testing.assert_allclose(gradient.reshape(wanted.shape), wanted, rtol=1e-12)
