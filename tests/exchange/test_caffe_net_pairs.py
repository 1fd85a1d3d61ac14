"""Solvers of Caffe with one net for the training and another one for the test."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from tests.exchange import caffe_helpers as caffe
from tests.exchange.caffe_helpers import imported
from tests.exchange.test_caffe_networks import faults

SOLVER = 'train_net: "models/a.prototxt" test_net: "models/b.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 30 '
DATA = """name: "pair"
layer { name: "d" type: "MemoryData" top: "x" top: "label" %s
  memory_data_param { batch_size: %d channels: 1 height: 4 width: 4 } transform_param { mirror: %s } }
"""
FC = """layer { name: "f" type: "InnerProduct" bottom: "x" top: "f" param { lr_mult: 2 }
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
"""
NORM = """layer { name: "n" type: "BatchNorm" bottom: "f" top: "n" batch_norm_param { use_global_stats: false } }
"""
LOSS = 'layer { name: "l" type: "SoftmaxWithLoss" bottom: "n" bottom: "label" top: "l" }\n'
TRAIN = (
    DATA % ("include { phase: TRAIN }", 8, "true")
    + FC
    + 'layer { name: "drop" type: "Dropout" bottom: "f" top: "f" }\n'
    + NORM
    + 'layer { name: "left" type: "TanH" bottom: "n" top: "left" include { phase: TEST } }\n'
    + LOSS
)
TEST = (
    DATA % ("", 4, "false")
    + FC.replace("param { lr_mult: 2 }", "").replace('weight_filler { type: "xavier" }', "")
    + NORM.replace("false", "true")
    + 'layer { name: "p" type: "Softmax" bottom: "n" top: "p" }\n'
    + LOSS.replace("}", "loss_weight: 1 }")
    + 'layer { name: "a" type: "Accuracy" bottom: "n" bottom: "label" top: "a" }\n'
)


def write(tmp_path, train=TRAIN, test=TEST):
    (tmp_path / "a.prototxt").write_text(train)
    (tmp_path / "b.prototxt").write_text(test)


def test_two_nets_are_one_with_phases(tmp_path):
    write(tmp_path)
    found = imported(tmp_path, SOLVER + "test_interval: 5", name="solver.prototxt")
    network = found.network
    kinds = {phase: [node.definition.name for node in network.select(phase)] for phase in ("train", "test")}
    body = ["softmax_with_loss"]
    assert kinds["train"] == ["data", "data", "fc", "dropout", "batch_norm", *body]
    assert kinds["test"] == ["data", "data", "fc", "linear", "batch_norm", "softmax", *body, "accuracy"]
    assert network["f"].params["weight"].lr_mult == 2
    assert network["f"].params["weight"].init[0].name == "xavier"
    # false in training and true in the test is the default.
    assert network["n"].attributes["use_global_stats"] is None
    found.write(tmp_path / "out")
    training = pl.load_training(tmp_path / "out" / "train.textproto")
    sources = [(one.phase, [transform.type for transform in one.transform]) for one in training.source]
    assert (training.batch_size, sources) == (8, [("train", ["mirror"]), ("test", [])])


def test_what_both_phases_compute(tmp_path):
    random = np.random.default_rng(0)
    train = TRAIN.replace('layer { name: "drop"', 'layer { name: "drop" exclude { phase: TRAIN }')
    write(tmp_path, train, TEST.replace('"n" top: "p"', '"f" top: "p"'))
    w, b, mean, var = (random.normal(size=shape).astype(np.float32) ** 2 for shape in ((3, 16), 3, 3, 3))
    weights = caffe.model({"f": [w, b], "n": [mean, var, [1]]})
    found = imported(tmp_path, SOLVER, name="solver.prototxt", weights=weights)
    found.write(tmp_path / "out")
    x, label = random.normal(size=(5, 1, 4, 4)).astype(np.float32), np.array([0, 2, 1, 1, 0])
    f = x.reshape(5, 16) @ w.T + b
    wanted = {
        "train": (f - f.mean(0)) / np.sqrt(f.var(0) + 1e-5),
        "test": (f - mean) / np.sqrt(var + 1e-5),
    }
    with pl.Net(found.network, keep=("n", "p")) as net:
        net.load(tmp_path / "out" / "weights.safetensors")
        for phase, normalized in wanted.items():
            net.load(tmp_path / "out" / "weights.safetensors")
            net.forward({"x": x, "label": label}, phase=phase)
            np.testing.assert_allclose(net.value("n"), normalized, rtol=1e-3, atol=1e-4)
            loss = -np.log(caffe.softmax(normalized)[np.arange(5), label]).mean()
            assert net.loss == pytest.approx(loss, rel=1e-3)
        np.testing.assert_allclose(net.value("p"), caffe.softmax(f), rtol=1e-4, atol=1e-6)


def test_nets_in_the_solver(tmp_path):
    nets = f"train_net_param {{ {TRAIN} }} test_net_param {{ {TEST} }} test_net_param {{ {TEST} }}"
    found = imported(tmp_path, nets + SOLVER[SOLVER.index("base_lr") :], name="solver.prototxt")
    assert "drop" in found.network
    assert "a" in found.network
    assert "test_net_param: only the first of 2 test nets is imported" in found.notes


def test_a_net_for_both_phases_goes_first(tmp_path):
    write(tmp_path)
    found = imported(tmp_path, SOLVER.replace("train_net", "net"), name="solver.prototxt")
    assert "a" not in found.network
    assert "test_net: not imported, since the solver has a net for both phases" in found.notes


def test_states_of_the_solver_choose_layers(tmp_path):
    write(tmp_path, test=TEST.replace('top: "a" }', 'top: "a" include { stage: "held" } }'))
    assert "a" not in imported(tmp_path, SOLVER, name="solver.prototxt").network
    assert "a" in imported(tmp_path, SOLVER + 'test_state { stage: "held" }', name="solver.prototxt").network


REFUSED = {
    "weights of another shape": (
        TRAIN, TEST.replace("num_output: 3", "num_output: 4"), "E511", 5,
        "layer `f` differs between the training net and the test net in `num_output`, but shares its weights",
    ),
    "weights of another layer": (
        TRAIN, TEST.replace('bottom: "x" top: "f"', 'bottom: "label" top: "f"'), "E511", 4, "in `bottom`",
    ),
    "averages in training only": (
        TRAIN.replace("use_global_stats: false", "use_global_stats: true"),
        TEST.replace("use_global_stats: true", "use_global_stats: false"), "E511", 6, "in `use_global_stats`",
    ),
    "another order": (
        TRAIN + 'layer { name: "p" type: "Softmax" bottom: "n" top: "p" }', TEST, "E511", 7,
        "layer `p` precedes others in the test net that follow it in the training net",
    ),
    "an unknown field": (TRAIN, TEST.replace("num_output", "num_ouput"), "E101", 5, "did you mean `num_output`?"),
    "an unknown field of the layer": (TRAIN, TEST.replace('"f" \n', '"f" botom: "u"\n'), "E101", 4, "`botom`"),
    "no end": (TRAIN, TEST + "layer {", "E002", 10, ""),
    "other inputs": (TRAIN, TEST + 'input: "z"', "E511", 10, "different inputs"),
}  # fmt: skip
"""Nets, the code and the line in the test net, and a part of the message."""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    train, test, code, line, message = REFUSED[name]
    write(tmp_path, train, test)
    found, shown = faults(tmp_path, SOLVER, name="solver.prototxt")
    assert (code, line) in [fault[:2] for fault in found], shown
    assert "b.prototxt:" in shown
    assert message in shown


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (f"test_net_param {{ {TEST} }}" + SOLVER.replace("test_net:", "snapshot_prefix:"), "test_net"),
        (f"train_net_param {{ {TRAIN} }}" + SOLVER.replace("train_net:", "snapshot_prefix:"), "test_net_param"),
        (f"test_net_param {{ {TEST} }}" + SOLVER[SOLVER.index("base_lr") :], "train_net"),
    ],
)
def test_both_nets_are_in_files_or_in_the_solver(tmp_path, text, missing):
    write(tmp_path)
    found, shown = faults(tmp_path, text, name="solver.prototxt")
    assert [fault[0] for fault in found] == ["E105"]
    assert f"missing `{missing}`" in shown


def test_errors_of_both_files_have_their_places(tmp_path):
    write(tmp_path, TRAIN.replace("xavier", "magic"), TEST.replace('type: "Softmax"', 'type: "Sofmax"'))
    found, shown = faults(tmp_path, SOLVER.replace("fixed", "cosine"), name="solver.prototxt")
    assert [fault[:2] for fault in found] == [("E111", 5), ("E511", 7), ("E104", 1)]
    for place in ("a.prototxt:5:", "b.prototxt:7:", "solver.prototxt:1:"):
        assert place in shown


def test_fixes_of_the_second_file_have_its_offsets(tmp_path):
    test = TEST.replace("num_output: 3", 'num_output: "3"')
    write(tmp_path, test=test)
    with pytest.raises(pl.ConfigError) as caught:
        imported(tmp_path, SOLVER, name="solver.prototxt")
    (found,) = caught.value.diagnostics
    assert (found.code, found.line, test[found.start : found.end]) == ("E102", 5, '"3"')
    assert (test[found.fix.start : found.fix.end], found.fix.replacement) == ('"3"', "3")
