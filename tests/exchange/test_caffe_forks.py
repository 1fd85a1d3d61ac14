"""Layers and fields of forks of Caffe, against their formulas in NumPy: outputs of the network that is written."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.exchange.caffe_in.importing import import_prototxt
from tests.exchange.caffe_helpers import conv, imported, model, pool
from tests.exchange.test_caffe_axes import X, computed
from tests.exchange.test_caffe_networks import DATA, faults, layer, one

RANDOM = np.random.default_rng(3)


def numbers(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def floor_pool(x, kernel, stride, pad, kind):
    """Rounded down: only windows that fit into the padded image."""
    size = (x.shape[2] + 2 * pad - kernel) // stride + 1
    fill = -np.inf if kind == "MAX" else 0
    padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=fill)
    y = np.zeros((*x.shape[:2], size, size))
    for p in range(size):
        for q in range(size):
            window = padded[:, :, p * stride : p * stride + kernel, q * stride : q * stride + kernel]
            y[:, :, p, q] = window.max((2, 3)) if kind == "MAX" else window.mean((2, 3))
    return y


POOLS = {
    "ceil_mode: false": floor_pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: false round_mode: FLOOR": floor_pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: true": pool(X, 3, 2, 0, "MAX"),
    "round_mode: CEIL": pool(X, 3, 2, 0, "MAX"),
    "ceil_mode: false pad: 1 pool: AVE": floor_pool(X, 3, 2, 1, "AVE"),
    "round_mode: 1 pool: 1": floor_pool(X, 3, 2, 0, "AVE"),
}
"""Settings of a pool of 3x3 with a stride of 2, and its output."""


@pytest.mark.parametrize("settings", POOLS)
def test_rounding_of_pools(tmp_path, settings):
    found = computed(tmp_path, layer("Pooling", f"pooling_param {{ kernel_size: 3 stride: 2 {settings} }}"))
    assert found.shape == POOLS[settings].shape
    np.testing.assert_allclose(found, POOLS[settings], rtol=1e-5, atol=1e-5)


NUMBERS = {
    "eltwise_param { operation: 0 }": ("Eltwise", ("data", "data"), X * X),
    "eltwise_param { operation: 2 }": ("Eltwise", ("data", "data"), X),
    "reduction_param { operation: 1 axis: 1 }": ("Reduction", ("data",), X.sum((1, 2, 3))),
    "reduction_param { operation: 4 axis: 1 }": ("Reduction", ("data",), X.mean((1, 2, 3))),
}
"""Enum values by number: those of a Reduction start at 1."""


@pytest.mark.parametrize("settings", NUMBERS)
def test_enum_values_by_number(tmp_path, settings):
    type_, bottom, wanted = NUMBERS[settings]
    found = computed(tmp_path, layer(type_, settings, bottom=bottom))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("factor", [1, 4])
def test_a_batch_norm_with_gain_and_bias(tmp_path, factor):
    mean, var, gain, bias = (RANDOM.normal(size=3).astype(np.float32) ** 2 + 0.5 for _ in range(4))
    settings = "batch_norm_param { scale_bias: true eps: 1e-9 moving_average_fraction: 0.9 }"
    # The averages begin with their sums; the two axes of an old Scale are not there.
    weights = model({"y": [mean * factor, var * factor, [factor], gain, bias]})
    found = computed(tmp_path, layer("BatchNorm", settings), weights=weights)
    mean, var, gain, bias = (one.reshape(3, 1, 1) for one in (mean, var, gain, bias))
    np.testing.assert_allclose(found, (X - mean) / np.sqrt(var + 1e-5) * gain + bias, rtol=1e-4, atol=1e-4)


def test_fillers_of_a_batch_norm_say_that_it_has_gain_and_bias(tmp_path):
    settings = 'param { lr_mult: 0 } batch_norm_param { eps: 1e-9 scale_filler { type: "constant" value: 3 } }'
    node = one(tmp_path, layer("BatchNorm", settings))
    # The fork raises a smaller epsilon to 1e-5.
    assert (node.attributes["bias"], node.attributes["epsilon"]) == (True, 1e-5)
    assert (node.params["gain"].init[1]["value"], node.params["gain"].lr_mult, node.params["gain"].frozen) == (
        3,
        1,
        False,
    )


def test_ignored_fields_are_noted(tmp_path):
    data = """default_forward_type: FLOAT16 default_forward_math: FLOAT
    layer { name: "d" type: "Data" top: "data" data_param { source: "l" backend: LMDB shuffle: true cache: true }
      transform_param { crop_size: 4 force_color: true emit_constraint { emit_type: CENTER } } }
    """
    notes = imported(tmp_path, data + layer("TanH")).notes
    for field in ("default_forward_type", "default_forward_math", "shuffle", "cache", "emit_constraint"):
        assert sum(note.startswith(f"`{field}` is ignored: ") for note in notes) == 1


def interpolated(x, height, width):
    """Bilinear interpolation with aligned corners, axis by axis."""
    for axis, size in ((2, height), (3, width)):
        place = np.arange(size) * ((x.shape[axis] - 1) / (size - 1) if size > 1 else 0)
        low = np.minimum(place.astype(int), x.shape[axis] - 1)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        part = (place - low).reshape((-1, 1) if axis == 2 else (-1,))
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def shuffled(x, group):
    y = np.zeros_like(x)
    size = x.shape[1] // group
    for i in range(group):
        for j in range(size):
            y[:, j * group + i] = x[:, i * size + j]
    return y


SIX = np.concatenate([X, X[:, ::-1] + 1], 1)
LAYERS = {
    "permute": (layer("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"), X.transpose(0, 2, 3, 1)),
    "permute, rest": (layer("Permute", "permute_param { order: [0, 3] }"), X.transpose(0, 3, 1, 2)),
    "relu6": (layer("Power", "power_param { scale: 3 }", top=("d",), name="d") + layer("ReLU6", bottom=("d",)),
        np.clip(3 * X, 0, 6)),
    "interp to a size": (layer("Interp", "interp_param { height: 5 width: 13 }"), interpolated(X, 5, 13)),
    "interp by a factor": (layer("Interp", "interp_param { zoom_factor: 3 }"), interpolated(X, 22, 22)),
    "interp by a fraction": (layer("Interp", "interp_param { shrink_factor: 3 }"), interpolated(X, 3, 3)),
    "interp by both": (
        layer("Interp", "interp_param { shrink_factor: 3 zoom_factor: 2 }"), interpolated(X, 5, 5)),
    "interp of a part": (
        layer("Interp", "interp_param { height: 9 width: 1 pad_beg: -1 pad_end: -2 }"),
        interpolated(X[:, :, 1:6, 1:6], 9, 1)),
    "axpy": (
        layer("Pooling", "pooling_param { pool: AVE global_pooling: true }", top=("a",), name="a")
        + layer("TanH", top=("t",), name="t") + layer("Axpy", bottom=("a", "data", "t")),
        X.mean((2, 3), keepdims=True) * X + np.tanh(X)),
    "axpy with rows": (
        layer("Reduction", "reduction_param { axis: 2 }", top=("a",), name="a")
        + layer("Axpy", bottom=("a", "data", "data")),
        X.sum((2, 3), keepdims=True) * X + X),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_without_weights(tmp_path, name):
    text, wanted = LAYERS[name]
    found = computed(tmp_path, text)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("group", [1, 2, 3, 6])
def test_shuffled_channels(tmp_path, group):
    data = DATA.replace("dim: 3", "dim: 6")
    found = computed(tmp_path, layer("ShuffleChannel", f"shuffle_channel_param {{ group: {group} }}"), SIX, data=data)
    assert np.array_equal(found, shuffled(SIX, group))


@pytest.mark.parametrize(("type_", "group"), [("DepthwiseConvolution", "group: 3"), ("ConvolutionDepthwise", "")])
def test_depthwise_convolutions(tmp_path, type_, group):
    weight, bias = numbers(3, 1, 3, 3), numbers(3)
    settings = f"convolution_param {{ num_output: 3 kernel_size: 3 stride: 2 pad: 1 {group} }}"
    found = computed(tmp_path, layer(type_, settings), weights=model({"y": [weight, bias]}))
    np.testing.assert_allclose(found, conv(X, weight, bias, stride=2, pad=1, groups=3), rtol=1e-4, atol=1e-4)


NORMS = {
    "across_spatial: false channel_shared: false": 1,
    "across_spatial: false eps: 4": 1,
    "channel_shared: false eps: 4": (1, 2, 3),
    "": (1, 2, 3),
}
"""Settings, and the axes of the norm."""


@pytest.mark.parametrize("settings", NORMS)
def test_normalize(tmp_path, settings):
    scale = numbers(3) if "channel_shared: false" in settings else np.float32(20)
    eps = 4 if "eps" in settings else 1e-10
    # Caffe's scale of all channels has no axes.
    weights = model({"y": [scale]})
    found = computed(tmp_path, layer("Normalize", f"norm_param {{ {settings} }}"), weights=weights)
    wanted = X / np.sqrt((X**2).sum(NORMS[settings], keepdims=True) + eps) * scale.reshape(-1, 1, 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_scale_of_a_normalize(tmp_path):
    settings = 'param { lr_mult: 0 } norm_param { across_spatial: false scale_filler { type: "constant" value: 20 } }'
    loss = layer("EuclideanLoss", bottom=("y", "data"), top=("l",), name="l")
    scale = imported(tmp_path, DATA + layer("Normalize", settings) + loss).network["y"].params["scale"]
    assert (scale.frozen, scale.init[1]["value"]) == (True, 20)


BNS = {
    "eps: 0.1 momentum: 0.95": ("batch_norm", False),
    "frozen: true": ("batch_norm", True),
    "bn_mode: INFERENCE": ("scale", None),
    "bn_mode: 0": ("batch_norm", False),
    'scale_filler { type: "constant" value: 1 }': ("batch_norm", False),
}
"""Settings of a BN, the layer here, and whether averages are used in training."""


@pytest.mark.parametrize("settings", BNS)
@pytest.mark.parametrize("phase", ["train", "test"])
def test_bn_of_two_forks(tmp_path, settings, phase):
    type_, averages = BNS[settings]
    pspnet = "eps" in settings or "frozen" in settings
    gain, bias, mean, var = (numbers(1, 3, 1, 1) for _ in range(4))
    var = var**2 + 0.5
    weights = model({"y": [gain, bias, mean, var] if pspnet else [gain, bias]})
    network = imported(tmp_path, DATA + layer("BN", f"bn_param {{ {settings} }}"), weights=weights)
    network.write(tmp_path / "out")
    assert network.network["y"].definition.name == type_
    with pl.Net(network.network) as net:
        net.load(tmp_path / "out" / "weights.safetensors")
        net.forward({"data": X}, phase=phase)
        found = net.value("y").copy()
    if not averages and not (pspnet and phase == "test"):
        mean, var = X.mean((0, 2, 3), keepdims=True), X.var((0, 2, 3), keepdims=True)
    eps = 0.1 if "eps" in settings else 1e-5 if pspnet else 1e-9
    wanted = X * gain + bias if type_ == "scale" else (X - mean) / np.sqrt(var + eps) * gain + bias
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


def test_parameters_of_a_bn(tmp_path):
    rates = "param { lr_mult: 1 } param { lr_mult: 2 } param { lr_mult: 0 } param { lr_mult: 0 }"
    node = one(tmp_path, layer("BN", rates))
    assert (node.attributes["momentum"], node.attributes["epsilon"], node.params["bias"].lr_mult) == (0.9, 1e-5, 2)
    frozen = one(tmp_path, layer("BN", "bn_param { frozen: true }"))
    assert [frozen.params[of].frozen for of in ("gain", "bias")] == [True, True]
    assert frozen.attributes["use_global_stats"] is True


@pytest.mark.parametrize(("settings", "size"), [("scale: 2", 8), ("upsample_h: 8 upsample_w: 8", 8)])
def test_unpooling(tmp_path, settings, size):
    pool_ = layer("Pooling", "pooling_param { kernel_size: 2 stride: 2 }", top=("p", "mask"), name="p")
    up = layer("Upsample", f"upsample_param {{ {settings} }}", bottom=("p", "mask"))
    found = computed(tmp_path, pool_ + up)
    wanted = np.zeros_like(X)
    for n, c, p, q in np.ndindex(4, 3, size // 2, size // 2):
        window = X[n, c, 2 * p : 2 * p + 2, 2 * q : 2 * q + 2]
        i, j = np.unravel_index(window.argmax(), (2, 2))
        wanted[n, c, 2 * p + i, 2 * q + j] = window.max()
    assert np.array_equal(found, wanted)


def test_unpooling_of_an_odd_size(tmp_path):
    """Pools round up, so that the output of the scale 2 is one row too large: `pad_out_h` removes it."""
    data = DATA.replace("dim: 8 dim: 8", "dim: 7 dim: 8")
    pool_ = layer("Pooling", "pooling_param { kernel_size: 2 stride: 2 }", top=("p", "mask"), name="p")
    up = layer("Upsample", "upsample_param { scale: 2 pad_out_h: true }", bottom=("p", "mask"))
    x = X[:, :, :7]
    found = computed(tmp_path, pool_ + up, x, data=data)
    assert found.shape == (4, 3, 7, 8)
    assert np.array_equal(found[found != 0], x[found != 0])


@pytest.mark.parametrize("settings", ["", "smooth_l1_loss_param { sigma: 3 }"])
@pytest.mark.parametrize("weights", [0, 1, 2])
def test_smooth_l1_loss(tmp_path, settings, weights):
    names = ["x", "t", "inside", "outside"][: 2 + weights]
    shape = "input_shape { dim: 4 dim: 3 dim: 2 dim: 2 }"
    text = "".join(f'input: "{name}" {shape}\n' for name in names)
    text += layer("Bias", "bias_param { num_axes: -1 }", bottom=("x",), top=("moved",), name="b")
    text += layer("SmoothL1Loss", f"{settings} loss_weight: 2", bottom=("moved", *names[1:]), top=("l",))
    feeds = {name: numbers(4, 3, 2, 2) for name in names}
    sigma = 3 if settings else 1

    def loss(move):
        d = (feeds["x"].astype(float) + move - feeds["t"]) * feeds.get("inside", 1)
        terms = np.where(np.abs(d) < 1 / sigma**2, 0.5 * (sigma * d) ** 2, np.abs(d) - 0.5 / sigma**2)
        return 2 * (terms * feeds.get("outside", 1)).sum() / 4

    with pl.Net(imported(tmp_path, text).network) as net:
        net.forward(feeds, phase="train")
        assert net.loss == pytest.approx(loss(0), rel=1e-4)
        net.backward()
        gradient = net.parameters["b.offset"].gradient.reshape(3, 2, 2).copy()
    for place in np.ndindex(3, 2, 2):
        step = np.zeros((3, 2, 2))
        step[place] = 1e-5
        slope = (loss(step) - loss(-step)) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_dropout_that_scales_in_the_test(tmp_path):
    found = computed(tmp_path, layer("Dropout", "dropout_param { dropout_ratio: 0.25 scale_train: false }"))
    np.testing.assert_allclose(found, 0.75 * X, rtol=1e-5)


MASK = layer("Pooling", "pooling_param { kernel_size: %d stride: 2 }", top=("p", "mask"), name="p")
LOSS = layer("EuclideanLoss", bottom=("y", "data"), top=("l",), name="l")
DEPTHWISE = "convolution_param { kernel_size: 3 num_output: %s }"
REFUSED = {
    "a batch that moves": (
        layer("Permute", "permute_param { order: 1 order: 0 }"), "E511", "axis 0, the batch, must stay the first one",
    ),
    "an axis twice": (layer("Permute", "permute_param { order: 0 order: 2 order: 2 }"), "E209", "different axes"),
    "groups that do not divide": (
        layer("ShuffleChannel", "shuffle_channel_param { group: 2 }"), "E209",
        "2 groups do not divide the channels of 3x8x8",
    ),
    "other filters than channels": (
        layer("ConvolutionDepthwise", DEPTHWISE % "6"), "E209", "of 3 channels needs `num_output` 3",
    ),
    "one group": (layer("DepthwiseConvolution", DEPTHWISE % "3"), "E209", "needs `num_output` 3 and `group` 3"),
    "a normalization of an unknown fork": (layer("Normalize"), "E511", "is ambiguous: forks of Caffe differ"),
    "a scale of all channels": (
        layer("Normalize", "norm_param { across_spatial: false }") + LOSS, "E511", "cannot be trained here",
    ),
    "a BN of an unknown fork": (layer("BN"), "E511", "the fork of this BN is unknown"),
    "a BN of two forks": (
        layer("BN", "bn_param { bn_mode: LEARN momentum: 0.9 }"), "E511", "the fork of this BN is unknown",
    ),
    "indices of an average": (
        layer("Pooling", "pooling_param { pool: AVE kernel_size: 2 }", top=("p", "m")), "E511",
        "only supported for MAX",
    ),
    "unpooling without indices": (layer("Upsample", bottom=("data", "data")), "E511", "second `top` of a Pooling"),
    "unpooling of overlapping windows": (
        MASK % 3 + layer("Upsample", bottom=("p", "mask")), "E511", "windows do not overlap",
    ),
    "unpooling to another size": (
        MASK % 2 + layer("Upsample", "upsample_param { scale: 3 }", bottom=("p", "mask")), "E209",
        "must fit the output",
    ),
    "factors of two values": (
        layer("Axpy", bottom=("data", "data", "data")), "E209", "expected a factor for each channel",
    ),
    "no sigma": (
        layer("SmoothL1Loss", "smooth_l1_loss_param { sigma: 0 }", bottom=("data", "data")), "E103", "`sigma` is 0",
    ),
    "targets of another shape": (
        layer("Flatten", top=("f",), name="f") + layer("SmoothL1Loss", bottom=("data", "f")), "E209", "one shape",
    ),
    "no size": (layer("Interp"), "E105", "missing `height` and `width`, or a factor"),
    "a padding": (layer("Interp", "interp_param { zoom_factor: 2 pad_beg: 1 }"), "E103", "must be 0 or negative"),
    "no image left": (
        layer("Interp", "interp_param { zoom_factor: 2 pad_beg: -8 }"), "E209", "nothing is left of an image of 8x8",
    ),
    "an enum value that there is not": (
        layer("Reduction", "reduction_param { operation: 0 axis: 1 }"),
        "E104", "= help: expected one of SUM (1), ASUM (2), SUMSQ (3), MEAN (4)",
    ),
    "two roundings": (
        layer("Pooling", "pooling_param { kernel_size: 3 ceil_mode: false round_mode: CEIL }"),
        "E102", "`ceil_mode` and `round_mode` contradict each other",
    ),
}  # fmt: skip


SCALARS = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 } } }'


@pytest.mark.parametrize("type_", ["BN", "ConvolutionDepthwise", "Normalize", "ShuffleChannel", "Interp", "Permute"])
def test_scalars_cause_no_traceback(tmp_path, type_):
    settings = "bn_param { eps: 1 } convolution_param { num_output: 1 kernel_size: 1 } norm_param { eps: 1 } "
    settings += "shuffle_channel_param { group: 1 } interp_param { zoom_factor: 1 }"
    (tmp_path / "net.prototxt").write_text(SCALARS + layer(type_, settings))
    with contextlib.suppress(pl.ConfigError):
        import_prototxt(tmp_path / "net.prototxt")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    text, code, message = REFUSED[name]
    found, shown = faults(tmp_path, DATA + text)
    assert [fault[0] for fault in found] == [code], shown
    assert message in shown
