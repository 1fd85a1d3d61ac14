"""ONNX models that Keras wrote by tf2onnx: recurrences as loops, ids that wrap, masks as products, two-part norms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.testing.cases.trial import as_python

STORED = Path(__file__).parents[1] / "onnx_models" / "keras"
"""Models, inputs and what Keras gives: `python -m tests.exchange.keras_models`, which says with what they were made."""
LAYERS = {
    "gru": ["embedding", "fc", "grumemory", "seq_last", "fc", "softmax"],
    "gru-before": ["embedding", "fc", "grumemory", "seq_last", "fc", "softmax"],
    "gru-deep": [
        *("embedding", "fc", "grumemory", "fc", "grumemory", "concat"),
        *("fc", "grumemory", "seq_last", "fc", "softmax"),
    ],
    "lstm": [
        *("embedding", "fc", "lstmemory", "seq_last", "fc", "lstmemory", "seq_first", "concat", "fc", "softmax"),
    ],
    "rnn": ["embedding", "fc", "recurrent", "seq_last", "fc", "softmax"],
    "masked": [
        *("embedding", "fc", "fc", "fc", "multi_head_attention", "fc", "addto", "layer_norm", "seq_avg_pool", "fc"),
    ],
}
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def feeds_of(imported, stored, padded):
    """Texts as sequences, without what fills them up; images channels first."""
    feeds = {}
    for node in imported.network.nodes:
        if node.definition.inputs:
            continue
        x = stored[f"x.{node.name}"]
        if node.output_types[0].level:
            lengths = (stored["x.ids"] != 0).sum(1) if padded else np.full(len(x), x.shape[1])
            rows = np.concatenate([row[:length] for row, length in zip(x, lengths, strict=True)])
            kind = int if node.output_types[0].kind == "INT" else np.float32
            x = pl.Sequences(rows.astype(kind), np.concatenate([[0], np.cumsum(lengths)]))
        elif x.ndim == 4:
            x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        feeds[node.name] = x
    return feeds


def outcome(imported, feeds):
    with imported.net() as net:
        result = as_python(lambda: net.forward(feeds, phase="test"))
    (name,) = imported.outputs.values()
    return result[name]


@pytest.mark.parametrize("file", sorted(STORED.glob("*.onnx")), ids=lambda file: file.stem)
def test_stored_models(file, tmp_path):
    stored = np.load(file.with_suffix(".npz"))
    imported = pl.import_onnx(file)
    padded = file.stem in ("gru-deep", "lstm", "masked", "encoder")
    feeds = feeds_of(imported, stored, padded)
    np.testing.assert_allclose(outcome(imported, feeds), stored["y"], **TOLERANCE)
    types = [node.definition.name for node in imported.network.nodes if node.definition.inputs]
    assert types == LAYERS.get(file.stem, types)
    assert not {"slope_intercept", "mul", "sub", "reduction"} & set(types)
    with imported.net() as net:
        pl.export_onnx(net, tmp_path / "again.onnx")
    again = pl.import_onnx(tmp_path / "again.onnx")
    np.testing.assert_allclose(outcome(again, feeds), stored["y"], **TOLERANCE)


def test_what_was_left_out_is_told():
    report = pl.import_onnx(STORED / "encoder.onnx").report
    assert "input mask: left out, a padding mask" in report
    assert "input ids: 0 is padding in the model" not in report
    assert "input ids: id 0 is padding in the model; feed sequences without padding" in (
        pl.import_onnx(STORED / "masked.onnx").report
    )


@pytest.mark.parametrize(
    ("name", "cost", "classes"), [("gru-deep", "cross_entropy", 3), ("decoder", "softmax_with_loss", 2)]
)
def test_training_goes_on(name, cost, classes, tmp_path):
    """The cost falls, and every parameter learns, but the bias of keys: softmax does not see it."""
    imported = pl.import_onnx(STORED / f"{name}.onnx")
    imported.write(tmp_path)
    (value,) = imported.outputs.values()
    text = imported.text + f'layer {{ name: "label" type: "data" data {{ data_type: INT size: {classes} }} }}\n'
    text += f'layer {{ name: "cost" type: "{cost}" input: "{value}" input: "label" }}\n'
    stored = np.load(STORED / f"{name}.npz")
    feeds = {**feeds_of(imported, stored, name == "gru-deep"), "label": np.array([0, 1, 0])}
    with pl.Net(pl.loads(text)) as net:
        net.load(str(tmp_path / "weights.safetensors"))
        costs = as_python(lambda: steps(net, feeds))
        moved = {one for one, now in net.arena.by_name.items() if not np.array_equal(now.value, imported.weights[one])}
    assert costs[-1] < 0.9 * costs[0]
    assert moved | {one for one in imported.weights if "key" in one and "bias" in one} == set(imported.weights)


def steps(net, feeds):
    costs = []
    for _ in range(8):
        costs.append(float(np.mean(net.forward(feeds, phase="train")["cost"])))
        net.backward()
        for one in net.parameters.values():
            one.value = one.value - 0.3 * one.gradient
    return costs


# ---- loops that are something else


def body_of(model):
    (node,) = [node for node in model.graph.node if node.op_type == "Loop"]
    return node, next(one.g for one in node.attribute if one.name == "body")


def nodes_of(model, operator):
    return [node for node in body_of(model)[1].node if node.op_type == operator]


def constant(model, name, value):
    (one,) = [one for one in body_of(model)[1].initializer if one.name.endswith(name)]
    one.CopyFrom(numpy_helper.from_array(np.asarray(value, numpy_helper.to_array(one).dtype), one.name))


def input_of(model, place, value):
    node = body_of(model)[0]
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), "mine"))
    node.input[place] = "mine"


def swap(node):
    node.input[0], node.input[1] = node.input[1], node.input[0]


def nested(model):
    """A loop in the step of a loop, which is not read."""
    node, body = body_of(model)
    inner = helper.make_node("Loop", list(node.input[:2]), ["inner"], "inner", body=helper.make_graph([], "b", [], []))
    body.node.insert(0, inner)


def every_second(model):
    """Without a condition, two rows further with each step."""
    body = body_of(model)[1]
    constant(model, "add/y:0", 2)
    left = [node for node in body.node if node.op_type not in ("Less", "And")]
    del body.node[:]
    body.node.extend(left)
    body.initializer.append(numpy_helper.from_array(np.array(True), body.output[0].name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda model: setattr(nodes_of(model, "Tanh")[0], "op_type", "Softsign"),
            r"unsupported node in the loop body: .*\(Softsign\)",
        ),
        (lambda model: setattr(nodes_of(model, "Sigmoid")[0], "op_type", "Tanh"), "is not a supported cell"),
        (lambda model: constant(model, "sub/x:0", 2.0), "is not a supported cell"),
        (lambda model: constant(model, "add/y:0", 2), "the loop ends early"),
        (every_second, "out of bounds"),
        (lambda model: swap(nodes_of(model, "Less")[0]), "the loop ends early"),
        (lambda model: input_of(model, 0, np.int64(4)), "only loops over the steps"),
        (lambda model: input_of(model, 1, np.array(False)), "initial condition must be true"),
        (lambda model: input_of(model, 2, np.int32(1)), "the loop ends early"),
        (lambda model: input_of(model, 3, np.ones((1, 3), np.float32)), "is not a supported cell"),
        (nested, r"unsupported node in the loop body: inner \(Loop\)"),
    ],
)
def test_other_loops_are_refused(change, message, tmp_path):
    model = onnx.load(STORED / "gru.onnx")
    change(model)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ImportFailure, match=message) as caught:
        pl.import_onnx(tmp_path / "m.onnx")
    assert "while_loop (Loop)" in str(caught.value)


def test_a_loop_reads_what_there_is(tmp_path):
    model = onnx.load(STORED / "gru.onnx")
    nodes_of(model, "Gather")[0].input[0] = "nowhere"
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ImportFailure, match="unknown input `nowhere`"):
        pl.import_onnx(tmp_path / "m.onnx")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_models_as_keras_writes_them_now(tmp_path):
    pytest.importorskip("tf2onnx")
    pytest.importorskip("keras")
    from tests.exchange import keras_models

    for name in keras_models.MODELS:
        feeds, wanted = keras_models.save(name, tmp_path / f"{name}.onnx")
        stored = {f"x.{key}": one for key, one in feeds.items()}
        imported = pl.import_onnx(tmp_path / f"{name}.onnx")
        found = outcome(imported, feeds_of(imported, stored, name in keras_models.PADDED))
        np.testing.assert_allclose(found, wanted, **TOLERANCE)
