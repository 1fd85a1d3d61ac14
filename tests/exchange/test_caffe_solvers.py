"""Solvers of Caffe as training files: every field, what is refused, and a network that trains after its import."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
import paddle_layers.data
from paddle_layers.training.schedules import Staged, rate_at
from tests.exchange import caffe_helpers as caffe
from tests.exchange.caffe_helpers import imported
from tests.exchange.test_caffe_networks import CAFFE, faults
from tests.fuzz.target import as_python

NET = """
layer { name: "d" type: "MemoryData" top: "x" top: "label" include { phase: TRAIN }
  memory_data_param { batch_size: 8 channels: 1 height: 4 width: 4 }
  transform_param { crop_size: 3 mirror: true mean_value: 2 scale: 0.5 } }
layer { name: "d" type: "MemoryData" top: "x" top: "label" include { phase: TEST }
  memory_data_param { batch_size: 4 channels: 1 height: 4 width: 4 }
  transform_param { crop_size: 3 mean_value: 2 scale: 0.5 } }
layer { name: "f" type: "InnerProduct" bottom: "x" top: "f"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "f" bottom: "label" top: "l" }
"""
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 30 '


def solved(tmp_path, text, net=NET, **options):
    """The training file of a solver, and what it was made of."""
    (tmp_path / "net.prototxt").write_text(net)
    found = imported(tmp_path, text, name="solver.prototxt", **options)
    found.write(tmp_path / "out")
    return pl.load_training(tmp_path / "out" / "train.textproto"), found


def test_every_field(tmp_path):
    training, found = solved(
        tmp_path,
        SOLVER + "momentum: 0.8 weight_decay: 0.01 iter_size: 2 test_interval: 10 test_iter: 5 display: 7 snapshot: 15 "
        'snapshot_prefix: "some/where/../lenet" random_seed: 3 clip_gradients: 5 solver_mode: CPU',
    )
    assert (training.steps, training.batch_size, training.accumulate, training.seed) == (30, 8, 2, 3)
    assert (training.optimizer.type, training.optimizer.learning_rate) == ("sgd", 0.1)
    assert dict(training.optimizer.attributes) == {"momentum": 0.8}
    assert (training.regularizer.type, training.regularizer.attributes["rate"]) == ("l2", 0.01)
    assert (training.test.every, training.log.every, training.checkpoint.every, training.clip.norm) == (10, 7, 15, 5)
    assert (training.output, training.schedule) == ("output/lenet", ())
    assert [one.phase for one in training.source] == ["train", "test"]
    changes = [(one.type, one.input) for one in training.source[0].transform]
    assert changes == [("crop", "x"), ("mirror", "x"), ("mean", "x"), ("scale", "x")]
    assert any("test_iter" in note for note in found.notes)
    assert str(training.network["x"].output_types[0]) == "1x3x3"


OPTIMIZERS = {
    'type: "Nesterov" momentum: 0.5': ("nesterov", {"momentum": 0.5}),
    "solver_type: ADAGRAD delta: 0.1": ("adagrad", {"epsilon": 0.1}),
    'type: "RMSProp" rms_decay: 0.7': ("rmsprop", {"decay": 0.7, "epsilon": 1e-8}),
    'type: "AdaDelta" momentum: 0.95 delta: 1e-6': ("adadelta", {"decay": 0.95, "epsilon": 1e-6}),
    'type: "Adam" momentum: 0.9 momentum2: 0.99': ("adam", {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8}),
    "": ("sgd", {"momentum": 0}),
}


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_solvers(tmp_path, text):
    optimizer = solved(tmp_path, SOLVER + text)[0].optimizer
    assert (optimizer.type, dict(optimizer.attributes)) == OPTIMIZERS[text]


STEPS = np.arange(30)
POLICIES = {
    "fixed": ("", np.ones(30)),
    "step": ("gamma: 0.5 stepsize: 7", 0.5 ** (STEPS // 7)),
    "exp": ("gamma: 0.9", 0.9**STEPS),
    "inv": ("gamma: 0.1 power: 0.5", (1 + 0.1 * STEPS) ** -0.5),
    "multistep": ("gamma: 0.5 stepvalue: 4 stepvalue: 9", 0.5 ** (1.0 * (STEPS >= 4) + (STEPS >= 9))),
    "poly": ("power: 2", (1 - STEPS / 30) ** 2),
    "sigmoid": ("gamma: -0.5 stepsize: 10", 1 / (1 + np.exp(0.5 * (STEPS - 10)))),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_have_the_rates_of_caffe(tmp_path, policy):
    text, expected = POLICIES[policy]
    training, _ = solved(tmp_path, SOLVER.replace("fixed", policy) + text)
    schedule = training.schedule
    chosen = Staged(schedule)
    assert [rate_at(chosen, 0.1, int(step), 30) for step in STEPS] == pytest.approx(0.1 * expected)


def test_states_of_phases(tmp_path):
    net = NET.replace("include { phase: TEST }", 'include { phase: TEST stage: "held" }')
    assert len(solved(tmp_path, SOLVER, net)[0].source) == 1
    assert len(solved(tmp_path, SOLVER + 'test_state { stage: "held" }', net)[0].source) == 2


def test_a_net_in_the_solver(tmp_path):
    text = f"net_param {{ {NET} }}" + SOLVER.replace('net: "net.prototxt"', "")
    assert solved(tmp_path, text)[0].steps == 30


def test_weights_and_mean(tmp_path):
    net = NET.replace("mean_value: 2", 'mean_file: "mean.binaryproto"')
    w, b, mean = np.ones((3, 9)), np.ones(3), np.ones((1, 4, 4), np.float32)
    more = 'layer { name: "g" type: "InnerProduct" bottom: "f" top: "g" inner_product_param { num_output: 2 } }\n'
    net = net.replace('layer { name: "l"', more + 'layer { name: "l"').replace(
        'bottom: "f" bottom: "label"', 'bottom: "g" bottom: "label"'
    )
    training, _ = solved(tmp_path, SOLVER, net, weights=caffe.model({"f": [w, b]}), mean=caffe.blob(mean, legacy=True))
    assert training.weights.leave_out == ("g.weight", "g.bias")
    assert training.source[0].transform[0].attributes["file"] == "mean.npy"
    assert np.array_equal(np.load(tmp_path / "out" / "mean.npy"), mean)
    with_note = solved(tmp_path, SOLVER, net)[1]
    assert any("give --mean FILE" in note for note in with_note.notes)


WRONG = {
    "max_iter": (SOLVER.replace("max_iter: 30", ""), "E105"),
    "base_lr": (SOLVER.replace("base_lr: 0.1", ""), "E105"),
    "no net": (SOLVER.replace('net: "net.prototxt"', ""), "E105"),
    "a net that is not there": (SOLVER.replace("net.prototxt", "other.prototxt"), "E302"),
    "policy": (SOLVER.replace("fixed", "cosine"), "E104"),
    "step without its size": (SOLVER.replace("fixed", "step") + "gamma: 0.1", "E105"),
    "solver": (SOLVER + 'type: "Eve"', "E511"),
    "momentum of adagrad": (SOLVER + 'type: "AdaGrad" momentum: 0.9', "E103"),
    "momentum": (SOLVER + "momentum: 2", "E103"),
    "decay": (SOLVER + "weight_decay: -1", "E103"),
    "regularization": (SOLVER + 'regularization_type: "L3"', "E104"),
    "a test net that is not there": ('test_net: "b" ' + SOLVER.replace("net:", "train_net:", 1), "E302"),
    "a test net alone": (SOLVER.replace("net:", "test_net:", 1), "E105"),
    "unknown field": (SOLVER + "frobnicate: 1", "E101"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_solver_cannot_say(tmp_path, name):
    text, code = WRONG[name]
    (tmp_path / "net.prototxt").write_text(NET)
    found, shown = faults(tmp_path, text, name="solver.prototxt")
    assert [one[0] for one in found] == [code], shown


def test_faults_of_net_and_solver_come_together(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET.replace("xavier", "magic"))
    found, _ = faults(tmp_path, SOLVER.replace("fixed", "cosine"), name="solver.prototxt")
    assert [one[0] for one in found] == ["E111", "E104"]


SOURCES = {
    'type: "Data" data_param { source: "a/train_lmdb" batch_size: 4 backend: LMDB }': (
        "lmdb", {"file": "a/train_lmdb", "color": "bgr"}, {"x": "image"},
    ),
    'type: "ImageData" image_data_param { source: "l.txt" batch_size: 4 new_height: 4 new_width: 4 is_color: false }': (
        "image_list", {"file": "l.txt", "color": "grey", "height": 4, "width": 4}, {"x": "image"},
    ),
    'type: "HDF5Data" hdf5_data_param { source: "l.txt" batch_size: 4 }': ("hdf5", {"file": ("l.txt",)}, {}),
}  # fmt: skip


@pytest.mark.parametrize("text", SOURCES)
def test_sources(tmp_path, text):
    name, settings, fields = SOURCES[text]
    data = f'layer {{ name: "d" top: "x" top: "label" include {{ phase: TRAIN }} {text} }}'
    net = data + NET[NET.index('layer { name: "f"') :]
    training, _ = solved(tmp_path, SOLVER, net, x="1x4x4")
    assert training.source[0].type == name
    assert {key: training.source[0].attributes[key] for key in settings} == settings
    assert training.feed == fields


def test_windows_are_two_sources(tmp_path):
    data = """layer {{ name: "d" type: "WindowData" top: "x" top: "label" include {{ phase: {} }}
      transform_param {{ crop_size: 8 mirror: true mean_value: 9 }}
      window_data_param {{ source: "w.txt" batch_size: 4 fg_fraction: 0.25 fg_threshold: 0.6 bg_threshold: 0.3
                           context_pad: 2 crop_mode: "square" root_folder: "pictures" }} }}
    """
    net = data.format("TRAIN") + data.format("TEST") + NET[NET.index('layer { name: "f"') :]
    training, _ = solved(tmp_path, SOLVER + "test_interval: 5", net)
    own = {"file": "w.txt", "color": "bgr", "height": 8, "context": 2, "square": True, "folder": "pictures"}
    own |= {"foreground": 0.6, "background": 0.3}
    found = [
        (one.phase, one.ratio, one.attributes["windows"], [transform.type for transform in one.transform])
        for one in training.source
    ]
    moves = ["mirror", "mean"]
    assert found == [
        ("train", 0.25, "foreground", moves), ("train", 0.75, "background", moves), ("test", None, "all", moves),
    ]  # fmt: skip
    for one in training.source:
        assert one.attributes.items() >= own.items()


@pytest.mark.slow
def test_lenet_trains_on_the_digits(tmp_path):
    """The published solver and net, with fewer steps and narrower layers, on the shipped digits as 28 by 28 pixels."""
    net = (CAFFE / "lenet_train_test.prototxt").read_text()
    for old, new in (("500", "20"), ("50 ", "4 "), ("50\n", "4\n"), ("20\n", "3\n")):
        net = net.replace(f"num_output: {old}", f"num_output: {new}")
    solver = (CAFFE / "lenet_solver.prototxt").read_text().replace("lenet_train_test", "net")
    solver = solver.replace("max_iter: 10000", "max_iter: 60").replace("test_interval: 500", "test_interval: 60")
    solver = solver.replace("display: 100", "display: 10").replace("base_lr: 0.01", "base_lr: 0.05")
    solved(tmp_path, solver, net, data="1x28x28")
    out = tmp_path / "out"
    digits = np.load(Path(pl.data.__file__).with_name("digits.npz"))
    pixels = np.kron(digits["pixels"].reshape(-1, 1, 8, 8), np.ones((1, 1, 3, 3), np.float32))
    images = np.pad(pixels, [(0, 0), (0, 0), (2, 2), (2, 2)]) * 16
    held_out = digits["held_out"] == 1
    rows = {
        part: {"image": images[chosen].astype(np.float32), "label": digits["label"][chosen]}
        for part, chosen in (("train", ~held_out), ("test", held_out))
    }
    report = pl.train(out / "train.textproto", output=tmp_path / "trained", datasets=rows)
    assert report.results["accuracy"] > 0.8


def test_an_imported_training_runs(tmp_path):
    net = NET.replace("crop_size: 3", "").replace("mirror: true ", "").replace("mean_value: 2", "")
    solved(tmp_path, SOLVER + "test_interval: 15 momentum: 0.9", net)
    random = np.random.default_rng(0)
    for part in ("train", "test"):
        label = random.integers(0, 3, 24)
        x = random.normal(size=(24, 1, 4, 4)) + 4 * np.eye(4)[label].reshape(24, 1, 4, 1)
        np.savez(tmp_path / "out" / f"{part}.npz", x=x.astype(np.float32), label=label)
    with as_python():
        report = pl.train(tmp_path / "out" / "train.textproto", output=tmp_path / "trained")
    assert report.results["loss"] < 0.3
