"""Weights and means of Caffe's binary files, and what imported networks compute, against Caffe's formulas in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.exchange.caffe_in.binary import CaffeError, read_mean, read_model
from tests.exchange import caffe_helpers as caffe
from tests.exchange.caffe_helpers import imported
from tests.fuzz.target import as_python

RANDOM = np.random.default_rng(7)


def numbers(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def image(channels, rows, columns, batch=2):
    dims = f"dim: {batch} dim: {channels} dim: {rows} dim: {columns}"
    return f'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}\n'


def rows(size, name="x"):
    shape = f"shape {{ dim: 2 {f'dim: {size}' if size else ''} }}"
    return f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ {shape} }} }}\n'


def layer(type_, settings="", bottom="x", name="y"):
    bottoms = " ".join(f'bottom: "{one}"' for one in bottom.split())
    return f'layer {{ name: "{name}" type: "{type_}" {bottoms} top: "{name}" {settings} }}\n'


def run(tmp_path, text, feeds, arrays=None, *, phase="test", **options):
    """What the imported network gives, with the weights of a model."""
    found = imported(tmp_path, text, weights=caffe.model(arrays) if arrays else None, **options)
    folder = tmp_path / "out"
    found.write(folder)
    with as_python(), pl.Net(pl.load(folder / "network.textproto")) as net:
        if arrays:
            net.load(folder / "weights.safetensors")
        return net.forward(feeds, phase=phase)


def test_a_small_network(tmp_path):
    """Convolutions in groups, pools of both kinds, lrn, batch norm with scale, fc: against loops over pixels."""
    text = (
        image(4, 7, 6)
        + layer("Convolution", "convolution_param { num_output: 6 kernel_size: 3 pad: 1 stride: 2 group: 2 }", name="c")
        + layer("BatchNorm", bottom="c", name="bn")
        + layer("Scale", "scale_param { bias_term: true }", bottom="bn", name="sc")
        + layer("ReLU", "relu_param { negative_slope: 0.25 }", bottom="sc", name="r")
        + layer("LRN", "lrn_param { local_size: 3 alpha: 2 beta: 0.5 k: 3 }", bottom="r", name="n")
        + layer("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }", bottom="n", name="p")
        + layer("PReLU", bottom="p", name="pr")
        + layer("InnerProduct", "inner_product_param { num_output: 5 }", bottom="pr", name="f")
        + layer("Softmax", bottom="f", name="s")
    )
    w, b, fw, fb = numbers(6, 2, 3, 3), numbers(6), numbers(5, 6 * 3 * 2), numbers(5)
    mean, var, gain, bias, slope = numbers(6), numbers(6) ** 2 + 0.5, numbers(6), numbers(6), numbers(6)
    arrays = {"c": [w, b], "bn": [mean * 4, var * 4, [4]], "sc": [gain, bias], "pr": [slope], "f": [fw, fb]}
    x = numbers(2, 4, 7, 6)
    outputs = run(tmp_path, text, {"x": x}, arrays)
    y = caffe.conv(x, w, b, stride=2, pad=1, groups=2)
    y = (y - mean.reshape(6, 1, 1)) / np.sqrt(var.reshape(6, 1, 1) + 1e-5)
    y = y * gain.reshape(6, 1, 1) + bias.reshape(6, 1, 1)
    y = np.where(y > 0, y, 0.25 * y)
    y = caffe.pool(caffe.lrn(y, 3, 2, 0.5, 3), 3, 2, 1, "AVE")
    assert y.shape == (2, 6, 3, 2)
    y = np.where(y > 0, y, y * slope.reshape(6, 1, 1))
    y = caffe.softmax(y.reshape(2, -1) @ fw.T + fb)
    assert outputs["s"] == pytest.approx(y, rel=2e-4, abs=1e-5)


X = numbers(2, 3, 7, 5)
POSITIVE = np.abs(X) + 0.5
ALONE = {
    "maxima": (
        layer("Pooling", "pooling_param { kernel_size: 2 stride: 2 }"),
        X,
        lambda: caffe.pool(X, 2, 2, 0, "MAX"),
    ),
    "padded maxima": (
        layer("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 2 }"),
        X,
        lambda: caffe.pool(X, 3, 2, 2, "MAX"),
    ),
    "means": (
        layer("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 3 pad: 1 }"),
        X,
        lambda: caffe.pool(X, 3, 3, 1, "AVE"),
    ),
    "means that hang over": (
        layer("Pooling", "pooling_param { pool: AVE kernel_size: 2 stride: 2 }"),
        X,
        lambda: caffe.pool(X, 2, 2, 0, "AVE"),
    ),
    "lrn within a channel": (
        layer("LRN", "lrn_param { local_size: 3 alpha: 2 k: 9 norm_region: WITHIN_CHANNEL }"),
        X,
        lambda: caffe.lrn(X, 3, 2, 0.75, 1, "WITHIN_CHANNEL"),
    ),
    "power": (layer("Power", "power_param { power: 2 scale: 3 shift: 1 }"), X, lambda: (1 + 3 * X) ** 2),
    "line": (layer("Power", "power_param { scale: 3 shift: 1 }"), X, lambda: 1 + 3 * X),
    "exp": (layer("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }"), X, lambda: 2 ** (1 + 0.5 * X)),
    "exp of e": (layer("Exp"), X, lambda: np.exp(X)),
    "log": (layer("Log", "log_param { base: 2 scale: 3 }"), POSITIVE, lambda: np.log2(3 * POSITIVE)),
    "elu": (layer("ELU", "elu_param { alpha: 2 }"), X, lambda: np.where(X > 0, X, 2 * (np.exp(X) - 1))),
    "bnll": (layer("BNLL"), X, lambda: np.log1p(np.exp(X))),
    "threshold": (layer("Threshold", "threshold_param { threshold: 0.5 }"), X, lambda: (X > 0.5).astype(float)),
    "sum": (layer("Eltwise", "eltwise_param { coeff: 2 coeff: -0.5 }", "x x"), X, lambda: 1.5 * X),
    "product": (layer("Eltwise", "eltwise_param { operation: PROD }", "x x"), X, lambda: X * X),
    "softmax": (layer("Softmax"), X, lambda: caffe.softmax(X)),
    "tiles": (layer("Tile", "tile_param { tiles: 2 }"), X, lambda: np.concatenate([X, X], 1)),
    "dropout in the test": (layer("Dropout"), X, lambda: X),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_one_layer(tmp_path, name):
    text, x, expected = ALONE[name]
    outputs = run(tmp_path, image(3, 7, 5) + text, {"x": x})
    assert outputs["y"] == pytest.approx(expected(), rel=1e-4, abs=1e-5)


def test_dropout_divides_in_training(tmp_path):
    x = np.ones((2, 3, 7, 5), np.float32)
    text = image(3, 7, 5) + layer("Dropout", "dropout_param { dropout_ratio: 0.75 }")
    outputs = run(tmp_path, text, {"x": x}, phase="train")
    assert {*np.unique(outputs["y"])} == {0, 4}


LOGITS, TARGETS, LABELS = numbers(2, 4), np.array([[0, 1, 1, 0], [1, 0, 0, 1]], np.float32), np.array([1, 3])


def log_softmax(x):
    return np.log(caffe.softmax(x.astype(float)))


def sigmoid_costs():
    p = 1 / (1 + np.exp(-LOGITS.astype(float)))
    return -(TARGETS * np.log(p) + (1 - TARGETS) * np.log(1 - p))


NLL = -log_softmax(LOGITS)[[0, 1], LABELS]
SIGNS = np.where(np.arange(4) == LABELS[:, None], 1, -1)
HINGE = np.maximum(0, 1 - SIGNS * LOGITS)
COSTS = {
    "softmax": ("SoftmaxWithLoss", "", LOGITS, LABELS, NLL.sum() / 2),
    "softmax, sum": ("SoftmaxWithLoss", "loss_param { normalization: NONE }", LOGITS, LABELS, NLL.sum()),
    "softmax, one ignored": ("SoftmaxWithLoss", "loss_param { ignore_label: 3 }", LOGITS, LABELS, NLL[0]),
    "softmax, one ignored of all": (
        "SoftmaxWithLoss", "loss_param { ignore_label: 3 normalize: false }", LOGITS, LABELS, NLL[0] / 2,
    ),
    "softmax, full": ("SoftmaxWithLoss", "loss_param { normalization: FULL }", LOGITS, LABELS, NLL.sum() / 2),
    "softmax, weighed": ("SoftmaxWithLoss", "loss_weight: 0.3", LOGITS, LABELS, 0.3 * NLL.sum() / 2),
    "sigmoid": ("SigmoidCrossEntropyLoss", "", LOGITS, TARGETS, sigmoid_costs().sum() / 2),
    "sigmoid, all terms": (
        "SigmoidCrossEntropyLoss", "loss_param { normalization: VALID }", LOGITS, TARGETS, sigmoid_costs().sum() / 8,
    ),
    "sigmoid, weighed": (
        "SigmoidCrossEntropyLoss", "loss_weight: 2 loss_param { normalization: FULL }", LOGITS, TARGETS,
        2 * sigmoid_costs().sum() / 8,
    ),
    "distance": ("EuclideanLoss", "", LOGITS, TARGETS, ((LOGITS - TARGETS) ** 2).sum() / 4),
    "hinge": ("HingeLoss", "", LOGITS, LABELS, HINGE.sum() / 2),
    "hinge, squared": ("HingeLoss", "hinge_loss_param { norm: L2 }", LOGITS, LABELS, (HINGE**2).sum() / 2),
    "probabilities": (
        "MultinomialLogisticLoss", "", caffe.softmax(LOGITS), LABELS, NLL.sum() / 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COSTS)
def test_costs(tmp_path, name):
    type_, settings, x, target, expected = COSTS[name]
    label = rows(0, "t") if target.ndim == 1 else rows(4, "t")
    text = rows(4) + label + layer(type_, settings, "x t")
    found = imported(tmp_path, text)
    with as_python(), pl.Net(found.network) as net:
        net.forward({"x": x, "t": target}, phase="train")
        assert net.loss == pytest.approx(expected, rel=1e-5)


def test_contrastive_loss(tmp_path):
    a, b, alike = numbers(2, 4), numbers(2, 4), np.array([1, 0])
    text = (
        rows(4, "a")
        + rows(4, "b")
        + rows(0, "s")
        + layer("ContrastiveLoss", "contrastive_loss_param { margin: 3 }", "a b s")
    )
    d = np.sqrt(((a - b).astype(float) ** 2).sum(1))
    expected = (d[0] ** 2 + max(3 - d[1], 0) ** 2) / 4
    with as_python(), pl.Net(imported(tmp_path, text).network) as net:
        net.forward({"a": a, "b": b, "s": alike}, phase="train")
        assert net.loss == pytest.approx(expected, rel=1e-5)


def test_accuracy(tmp_path):
    text = rows(4) + rows(0, "t") + layer("Accuracy", "accuracy_param { top_k: 2 }", "x t")
    with as_python(), pl.Net(imported(tmp_path, text).network) as net:
        net.forward({"x": [[1, 2, 3, 4], [4, 3, 2, 1]], "t": [2, 3]}, phase="test")
        assert list(net.statistics().values()) == [0.5]


# ---- files


FC = rows(3) + layer("InnerProduct", "inner_product_param { num_output: 2 }", name="f")
W, B = numbers(2, 3), numbers(2)


@pytest.mark.parametrize(
    ("old", "legacy", "packed", "double"),
    [*itertools.product([False, True], [False, True], [True], [False]), (0, 0, 0, 0), (1, 1, 0, 0), (0, 0, 1, 1)],
)
def test_every_form_of_a_caffemodel(tmp_path, old, legacy, packed, double):
    model = caffe.model({"f": [W, B]}, old=old, legacy=legacy, packed=packed, double=double)
    arrays = imported(tmp_path, FC, weights=model).weights.arrays
    assert np.array_equal(arrays["f.weight"], W.T)
    assert np.array_equal(arrays["f.bias"], B)


def test_turned_weights(tmp_path):
    text = FC.replace("num_output: 2", "num_output: 2 transpose: true")
    arrays = imported(tmp_path, text, weights=caffe.model({"f": [W.T, B]})).weights.arrays
    assert np.array_equal(arrays["f.weight"], W.T)


def test_layers_go_by_their_names(tmp_path):
    text = FC + layer("InnerProduct", "inner_product_param { num_output: 1 }", "f", "new")
    found = imported(tmp_path, text, weights=caffe.model({"f": [W, B], "gone": [W]}))
    assert found.weights.missing == ["new.weight", "new.bias"]
    assert found.weights.unread == ["gone"]
    report = found.texts["report.txt"]
    assert "missing in the caffemodel: new.bias" in report
    assert "not in the net: layer gone" in report


def test_shared_weights_are_stored_once(tmp_path):
    settings = 'param { name: "w" } param { name: "b" } inner_product_param { num_output: 3 }'
    text = rows(3) + layer("InnerProduct", settings, name="f") + layer("InnerProduct", settings, "f", "g")
    w, b = numbers(3, 3), numbers(3)
    x = numbers(2, 3)
    outputs = run(tmp_path, text, {"x": x}, {"f": [w, b], "g": [w, b]})
    assert outputs["g"] == pytest.approx((x @ w.T + b) @ w.T + b, rel=1e-4)


def test_an_empty_factor_of_a_batch_norm(tmp_path):
    arrays = {"y": [np.ones(3), np.ones(3), [0]]}
    found = imported(tmp_path, rows(3) + layer("BatchNorm"), weights=caffe.model(arrays)).weights.arrays
    assert not found["y.running_mean"].any()
    assert found["y.gain"].all()


def test_embeddings_and_biases(tmp_path):
    text = rows(0) + layer("Embed", "embed_param { input_dim: 4 num_output: 3 }") + layer("Bias", bottom="y", name="z")
    table, offset, more = numbers(4, 3), numbers(3), numbers(3)
    outputs = run(tmp_path, text, {"x": [3, 1]}, {"y": [table, offset], "z": [more]})
    assert outputs["z"] == pytest.approx(table[[3, 1]] + offset + more)


def test_models_that_do_not_fit(tmp_path):
    with pytest.raises(CaffeError) as caught:
        imported(tmp_path, FC, weights=caffe.model({"f": [W.T, B]}))
    assert str(caught.value).splitlines()[1:] == ["  layer `f`: expected shape 2x3 for blob 0, got 3x2"]
    with pytest.raises(CaffeError, match="expected 2 blobs, got 1"):
        imported(tmp_path, FC, weights=caffe.model({"f": [W]}))
    with pytest.raises(CaffeError, match="NaN or infinite"):
        imported(tmp_path, FC, weights=caffe.model({"f": [W * np.nan, B]}))


DAMAGED = {
    "truncated or not a caffemodel": b"\xff" * 40,
    "has no weights": b"",
    "has 6 values, but declares the shape 1000000x1000000": caffe.entry(
        100,
        caffe.entry(1, "f")
        + caffe.entry(7, caffe.entry(7, caffe.entry(1, caffe.varint(10**6) * 2)) + caffe.blob(W)[6:]),
    ),
    "HDF5": b"\x89HDF\r\n\x1a\n",
    "two layers with weights are named `f`": caffe.model({"f": [W, B]}) * 2,
    "is truncated": caffe.entry(100, caffe.entry(1, "f") + caffe.entry(7, caffe.entry(5, b"12345"))),
    "upgrade_net_proto_binary": caffe.entry(2, caffe.entry(1, b"")),
}


@pytest.mark.parametrize("message", DAMAGED)
def test_damaged_models(tmp_path, message):
    path = tmp_path / "x.caffemodel"
    path.write_bytes(DAMAGED[message])
    with pytest.raises(CaffeError) as caught:
        read_model(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_means(tmp_path):
    mean = numbers(3, 5, 4)
    path = tmp_path / "mean.binaryproto"
    path.write_bytes(caffe.blob(mean, legacy=True))
    assert np.array_equal(read_mean(path), mean)
    path.write_bytes(caffe.blob(numbers(2, 3, 4, 5)))
    with pytest.raises(CaffeError, match="channels x height x width, got 2x3x4x5"):
        read_mean(path)
    with pytest.raises(CaffeError, match="cannot read"):
        read_mean(tmp_path / "none")


# ---- the command


def invoke(*arguments):
    return CliRunner().invoke(commands, ["import", *map(str, arguments)], catch_exceptions=False)


def test_the_command(tmp_path):
    net, model, mean, out = (tmp_path / name for name in ("n.prototxt", "w.caffemodel", "m.binaryproto", "out"))
    net.write_text(FC)
    model.write_bytes(caffe.model({"f": [W, B]}))
    mean.write_bytes(caffe.blob(numbers(3, 2, 2), legacy=True))
    done = invoke(net, "--weights", model, "--mean", mean, "-o", out)
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "mean.npy", "network.textproto", "report.txt", "weights.safetensors",
    ]  # fmt: skip
    with as_python(), pl.Net(pl.load(out / "network.textproto")) as made:
        made.load(out / "weights.safetensors")
        x = numbers(2, 3)
        assert made.forward({"x": x}, phase="test")["f"] == pytest.approx(x @ W.T + B, rel=1e-4)
    again = invoke(net, "-o", out)
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
    assert invoke(net, "-o", out, "--overwrite").exit_code == 0
    assert invoke(mean, "-o", tmp_path / "other").exit_code == 0
    assert (tmp_path / "other" / "mean.npy").is_file()
    assert invoke(model, "-o", out).exit_code == 2
    assert invoke(mean, "--weights", model, "-o", out).exit_code == 2
    assert invoke(net, "-o", out, "--shape", "x=0x3").exit_code == 2
    assert "given twice for x" in invoke(net, "-o", out, "--shape", "x=3", "--shape", "x=4").stderr
    assert "not found" in invoke(tmp_path / "none.prototxt", "-o", out, "--overwrite").stderr
    wrong = invoke(net, "--weights", mean, "-o", tmp_path / "third")
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (1, 1)
    assert not (tmp_path / "third").exists()
