"""Networks of Caffe: published ones and their sizes, what becomes of layers, phases and names, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.config import validate
from paddle_layers.config.wiring.nodes import parameter_shapes
from paddle_layers.define import Type
from paddle_layers.exchange.caffe_in.importing import import_prototxt
from tests.exchange.caffe_helpers import imported

CAFFE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "caffe"

PUBLISHED = {
    "lenet_train_test": (
        {"data": "1x28x28"},
        "conv1=20x24x24 pool1=20x12x12 conv2=50x8x8 pool2=50x4x4 ip1=500 ip2=10",
        431_080,
    ),
    "cifar10_quick": (
        {},
        "conv1=32x32x32 pool1=32x16x16 conv2=32x16x16 pool2=32x8x8 conv3=64x8x8 pool3=64x4x4 ip1=64 ip2=10 prob=10",
        145_578,
    ),
    "alexnet_train_val": (
        {"data": "3x227x227"},
        "conv1=96x55x55 norm1=96x55x55 pool1=96x27x27 conv2=256x27x27 pool2=256x13x13 conv3=384x13x13 "
        "conv4=384x13x13 conv5=256x13x13 pool5=256x6x6 fc6=4096 fc7=4096 fc8=1000",
        60_965_224,
    ),
    "googlenet_train_val": (
        {},
        "conv1/7x7_s2=64x112x112 pool1/3x3_s2=64x56x56 conv2/3x3=192x56x56 pool2/3x3_s2=192x28x28 "
        "inception_3a/output=256x28x28 inception_3b/output=480x28x28 pool3/3x3_s2=480x14x14 "
        "inception_4a/output=512x14x14 loss1/ave_pool=512x4x4 loss1/conv=128x4x4 loss1/fc=1024 "
        "inception_4d/output=528x14x14 loss2/ave_pool=528x4x4 inception_4e/output=832x14x14 pool4/3x3_s2=832x7x7 "
        "inception_5b/output=1024x7x7 pool5/7x7_s1=1024x1x1 loss3/classifier=1000",
        13_378_280,
    ),
    "siamese_train_test": (
        {"pair_data": "2x28x28"},
        "data=1x28x28 data_p=1x28x28 conv1=20x24x24 conv2_p=50x8x8 ip1_p=500 ip2=10 feat=2 feat_p=2",
        431_102,
    ),
}
"""Sizes of inputs that stand in databases; shapes of blobs; numbers that are learned, shared ones counted once."""


def outputs(network):
    return {
        name: str(type_) for node in network for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks(name):
    shapes, blobs, count = PUBLISHED[name]
    given = {key: Type.parse(shape) for key, shape in shapes.items()}
    imported_net = import_prototxt(CAFFE / f"{name}.prototxt", shapes=given)
    network = imported_net.network
    assert any("import the solver" in note for note in imported_net.notes) == (name != "cifar10_quick")
    found = outputs(network)
    for blob in blobs.split():
        value, shape = blob.split("=")
        assert (value, found[value]) == (value, shape)
    sizes = {}
    for node in network:
        for parameter, shape in parameter_shapes(node).items():
            settings = node.params.get(parameter)
            sizes[(settings and settings.share) or f"{node.name}.{parameter}"] = math.prod(shape)
    assert sum(sizes.values()) == count


DATA = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } } }\n'
LABEL = 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 4 } } }\n'


def only(tmp_path, layers, *, data=DATA, **shapes):
    """The layers behind the inputs, as the network file has them."""
    found = imported(tmp_path, data + layers, **shapes)
    return [node for node in found.network if node.definition.name != "data"]


def one(tmp_path, layers, **options):
    (node,) = only(tmp_path, layers, **options)
    return node


def layer(type_, settings="", *, name="y", bottom=("data",), top=("y",)):
    bottoms = " ".join(f'bottom: "{blob}"' for blob in bottom)
    tops = " ".join(f'top: "{blob}"' for blob in top)
    return f'layer {{ name: "{name}" type: "{type_}" {bottoms} {tops} {settings} }}\n'


CONV = "convolution_param { num_output: 6 kernel_size: 3 %s }"
FC = "inner_product_param { num_output: 5 %s }"
ROWS = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 7 } } }\n'
SMALL = {
    "kernel by axis": (
        layer("Convolution", "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 1"
            " pad_h: 1 stride_h: 2 stride_w: 1 }"),
        {"filter_size": 1, "filter_size_y": 3, "padding": 0, "padding_y": 1, "stride": 1, "stride_y": 2},
        "6x4x8",
    ),
    "two kernel sizes": (
        layer("Convolution", CONV % "kernel_size: 5 pad: [0, 1] group: 3 bias_term: false"),
        {"filter_size": 5, "filter_size_y": 3, "padding": 1, "padding_y": 0, "groups": 3, "bias": False},
        "6x6x6",
    ),
    "dilation": (layer("Convolution", CONV % "dilation: 2"), {"dilation": 2, "dilation_y": 2}, "6x4x4"),
    "transposed convolution": (
        layer("Deconvolution", "convolution_param { num_output: 6 group: 3 kernel_size: 4 stride: 2 pad: 1 }"),
        {"num_filters": 6, "groups": 3, "stride": 2, "padding": 1, "output_padding": 0},
        "6x16x16",
    ),
    "pool": (
        layer("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"),
        {"pool_type": "AVERAGE", "divisor": "PADDED", "rounding": "CEIL", "padding": 1},
        "3x5x5",
    ),
    "pool that rounds down": (
        layer("Pooling", "pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }"),
        {"pool_type": "MAX", "rounding": "FLOOR"},
        "3x3x3",
    ),
    "pool with a window behind the image": (
        layer("Pooling", "pooling_param { kernel_size: 1 stride: 6 }"),
        {"rounding": "CEIL_ALL"},
        "3x3x3",
    ),
    "global pool": (
        layer("Pooling", "pooling_param { pool: AVE global_pooling: true }"),
        {"pool_type": "AVERAGE", "global_pooling": True},
        "3x1x1",
    ),
    "lrn": (
        layer("LRN", "lrn_param { local_size: 3 alpha: 2 beta: 0.5 k: 4 }"),
        {"size": 3, "scale": 2.0, "power": 0.5, "shift": 4.0, "region": "ACROSS_CHANNELS"},
        "3x8x8",
    ),
    "lrn within channels knows no k": (
        layer("LRN", "lrn_param { k: 4 norm_region: WITHIN_CHANNEL }"),
        {"size": 5, "scale": 1.0, "power": 0.75, "shift": 1.0, "region": "WITHIN_CHANNEL"},
        "3x8x8",
    ),
    "fc": (layer("InnerProduct", FC % "bias_term: false axis: -3"), {"size": 5, "bias": False}, "5"),
    "relu with a slope": (layer("ReLU", "relu_param { negative_slope: 0.1 }"), {"negative_slope": 0.1}, "3x8x8"),
    "power": (layer("Power", "power_param { power: 2 scale: 3 }"), {"power": 2.0, "scale": 3.0, "shift": 0.0}, "3x8x8"),
    "straight line": (layer("Power", "power_param { scale: 3 shift: 1 }"), {"slope": 3.0, "intercept": 1.0}, "3x8x8"),
    "exp": (layer("Exp"), {"base": None}, "3x8x8"),
    "log": (layer("Log", "log_param { base: 10 shift: 1 }"), {"base": 10.0, "shift": 1.0}, "3x8x8"),
    "dropout": (layer("Dropout"), {"drop_rate": 0.5, "scale_in": "TRAIN"}, "3x8x8"),
    "flatten": (layer("Flatten"), {}, "192"),
    "part of a flatten": (layer("Flatten", "flatten_param { axis: -2 }"), {"dims": (3, 64)}, "3x64"),
    "reshape": (layer("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 8 } }"), {"dims": (-1, 8)}, "24x8"),
    "part of a reshape": (
        layer("Reshape", "reshape_param { shape { dim: 2 dim: 4 } axis: 2 num_axes: 1 }"),
        {"dims": (3, 2, 4, 8)},
        "3x2x4x8",
    ),
    "tile": (layer("Tile", "tile_param { tiles: 2 }"), {"num_repeats": 2}, "6x8x8"),
    "tile of rows": (layer("Tile", "tile_param { tiles: 2 axis: 2 }"), {"num_repeats": 2, "axis": 2}, "3x16x8"),
    "arg max": (layer("ArgMax"), {}, "ids<192"),
    "mvn is not the same as batch norm": (
        layer("BatchNorm", "batch_norm_param { eps: 0.01 use_global_stats: true }"),
        {"epsilon": 0.01, "use_global_stats": True, "momentum": 0.999, "unbiased": True, "bias": False},
        "3x8x8",
    ),
    "mvn": (layer("MVN", "mvn_param { normalize_variance: false }"), {"axis": 2, "normalize_variance": False}, "3x8x8"),
    "mvn of images": (layer("MVN", "mvn_param { across_channels: true }"), {"axis": 1, "epsilon": 1e-9}, "3x8x8"),
    "scale": (layer("Scale"), {"bias": False}, "3x8x8"),
    "scale with bias": (layer("Scale", "scale_param { bias_term: true }"), {"bias": True}, "3x8x8"),
    "scale of points": (layer("Scale", "scale_param { axis: 2 num_axes: 2 }"), {"axis": 2, "end_axis": 3}, "3x8x8"),
    "bias": (layer("Bias"), {}, "3x8x8"),
    "bias of elements": (layer("Bias", "bias_param { num_axes: -1 }"), {"axis": 1, "end_axis": 3}, "3x8x8"),
    "prelu": (layer("PReLU", "prelu_param { channel_shared: true }"), {"channel_shared": True}, "3x8x8"),
    "sum": (layer("Eltwise", bottom=("data", "data")), {}, "3x8x8"),
    "difference": (
        layer("Eltwise", "eltwise_param { coeff: 1 coeff: -1 }", bottom=("data", "data")),
        {"coefficients": (1.0, -1.0), "operation": "SUM"},
        "3x8x8",
    ),
    "maximum": (
        layer("Eltwise", "eltwise_param { operation: MAX }", bottom=("data", "data")),
        {"operation": "MAX"},
        "3x8x8",
    ),
    "softmax": (layer("Softmax"), {}, "3x8x8"),
    "stochastic pool": (
        layer("Pooling", "pooling_param { pool: STOCHASTIC kernel_h: 3 kernel_w: 2 stride: 2 round_mode: FLOOR }"),
        {"pool_size": 2, "pool_size_y": 3, "stride": 2, "rounding": "FLOOR"},
        "3x3x4",
    ),
    "stochastic pool of all": (
        layer("Pooling", "pooling_param { pool: STOCHASTIC global_pooling: true }"), {"pool_size_y": 8}, "3x1x1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_one_layer(tmp_path, name):
    text, attributes, shape = SMALL[name]
    node = one(tmp_path, text)
    assert {key: node.attributes[key] for key in attributes} == attributes
    assert str(node.output_types[0]) == shape


def test_labels_of_pixels(tmp_path):
    labels = LABEL.replace("dim: 4", "dim: 4 dim: 1 dim: 8 dim: 8")
    loss = layer("SoftmaxWithLoss", "loss_param { ignore_label: 255 }", bottom=("data", "label"))
    accuracy = layer("Accuracy", name="a", bottom=("data", "label"), top=())
    found = imported(tmp_path, DATA + labels + loss + accuracy, label="8x8 ids<3")
    assert str(found.network["label"].output_types[0]) == "8x8 ids<3"
    cost = found.network["y"]
    assert (cost.attributes["ignore_label"], cost.attributes["normalization"]) == (255, "VALID")
    assert str(cost.output_types[0]) == "8x8"


def test_every_rule_has_a_test_here_or_among_the_costs():
    from paddle_layers.exchange.caffe_in.conversion import RULES

    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("test_caffe_*.py"))
    texts += "".join(path.read_text() for path in CAFFE.glob("*.prototxt"))
    assert {type_ for type_ in RULES if f'"{type_}"' not in texts} == set()


# ---- blobs, phases, names


def test_layers_in_place_are_activations_or_values_of_their_own(tmp_path):
    text = (
        layer("Convolution", CONV % "", top=("c",), name="c")
        + layer("ReLU", bottom=("c",), top=("c",), name="r")
        + layer("Dropout", bottom=("c",), top=("c",), name="d")
        + layer("Sigmoid", bottom=("c",), top=("c",), name="s")
        + layer("InnerProduct", FC % "", bottom=("c",), name="f")
    )
    nodes = only(tmp_path, text)
    assert [(node.name, node.definition.name, node.inputs) for node in nodes] == [
        ("c", "conv", ("data",)),
        ("d", "dropout", ("c",)),
        ("s", "sigmoid", ("d",)),
        ("f", "fc", ("s",)),
    ]
    assert nodes[0].attributes["act"] == "relu"


def test_who_reads_a_blob_before_it_is_written_over_reads_the_old_value(tmp_path):
    text = (
        layer("Convolution", CONV % "", top=("c",), name="c")
        + layer("Pooling", "pooling_param { kernel_size: 2 }", bottom=("c",), top=("before",), name="before")
        + layer("ReLU", bottom=("c",), top=("c",), name="r")
        + layer("Pooling", "pooling_param { kernel_size: 2 }", bottom=("c",), top=("behind",), name="behind")
    )
    inputs = {node.name: node.inputs for node in only(tmp_path, text)}
    assert inputs == {"c": ("data",), "before": ("c",), "r": ("c",), "behind": ("r",)}


def test_a_scale_behind_a_batch_norm_is_its_gain_and_bias(tmp_path):
    text = layer("BatchNorm", top=("b",), name="bn") + layer(
        "Scale", "scale_param { bias_term: true } param { lr_mult: 3 } param { decay_mult: 0 }",
        bottom=("b",), top=("b",), name="sc",
    )  # fmt: skip
    node = one(tmp_path, text + layer("ReLU", bottom=("b",), top=("b",), name="r"))
    assert (node.name, node.output_names, node.attributes["bias"], node.attributes["act"]) == (
        "bn",
        ("b",),
        True,
        "relu",
    )
    assert (node.params["gain"].lr_mult, node.params["gain"].frozen, node.params["bias"].decay_mult) == (3, False, 0)


def test_a_batch_norm_that_others_read_keeps_to_itself(tmp_path):
    text = layer("BatchNorm", top=("b",), name="bn") + layer("Scale", bottom=("b",), top=("s",), name="sc")
    nodes = only(tmp_path, text + layer("Eltwise", bottom=("b", "s"), name="e"))
    assert [node.definition.name for node in nodes] == ["batch_norm", "scale", "addto"]
    assert nodes[0].params["gain"].frozen


def test_phases_levels_and_stages(tmp_path):
    text = (
        layer("Dropout", "include { phase: TRAIN }", bottom=("data",), top=("data",), name="d")
        + layer("InnerProduct", FC % "", name="f")
        + layer("AbsVal", top=("u",), name="u")
        + layer("Softmax", "exclude { phase: TRAIN }", bottom=("y",), top=("p",), name="p")
        + layer("TanH", 'include { stage: "deploy" }', bottom=("y",), top=("t",), name="t")
    )
    found = imported(tmp_path, DATA + text)
    train, test = (found.network.select(phase) for phase in ("train", "test"))
    assert [node.definition.name for node in train] == ["data", "dropout", "fc", "abs"]
    assert [node.definition.name for node in test] == ["data", "linear", "fc", "abs", "softmax"]
    assert any("t: left out" in note for note in found.notes)
    staged = imported(tmp_path, 'state { stage: "deploy" }' + DATA + text).network
    assert "t" in staged


def test_splits_and_silence_vanish(tmp_path):
    text = layer("Split", top=("a", "b"), name="s") + layer("Eltwise", bottom=("a", "b"), name="e")
    nodes = only(tmp_path, text + layer("Silence", bottom=("a",), top=(), name="q"))
    assert [(node.name, node.inputs) for node in nodes] == [("e", ("data", "data"))]


def test_several_outputs(tmp_path):
    text = layer("Slice", "slice_param { axis: 1 slice_point: 1 }", top=("a", "b")) + layer(
        "Concat", "concat_param { concat_dim: 1 }", bottom=("b", "a", "b"), top=("c",), name="c"
    )
    cut, joined = only(tmp_path, text)
    assert (cut.output_names, [str(t) for t in cut.output_types]) == (("a", "b"), ["1x8x8", "2x8x8"])
    assert str(joined.output_types[0]) == "5x8x8"
    two = only(tmp_path, layer("Convolution", CONV % "", bottom=("data", "data"), top=("a", "b"), name="c"))
    assert [node.params["weight"].share for node in two] == ["c.weight", "c.weight"]


def test_second_blobs(tmp_path):
    weights = 'layer { name: "w" type: "Input" top: "w" input_param { shape { dim: 4 dim: 3 } } }\n'
    nodes = only(
        tmp_path,
        weights
        + layer("Scale", "scale_param { axis: 0 bias_term: true }", bottom=("data", "w"), name="s", top=("s",))
        + layer("Bias", "bias_param { axis: 0 }", bottom=("s", "w"), name="b", top=("b",)),
    )
    assert [node.definition.name for node in nodes] == ["mul", "shift", "add"]


def test_rows_of_the_batch(tmp_path):
    filtered = layer("Filter", bottom=("data", "label", "s"), top=("kept", "right"))
    selector = 'layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 4 dim: 1 } } }\n'
    nodes = only(tmp_path, LABEL + selector + filtered, label="ids<9", s="ids<2")
    assert [node.definition.name for node in nodes] == ["filter", "filter_ids"]
    assert [str(node.output_types[0]) for node in nodes] == ["sequence of 3x8x8", "sequence of ids<9"]
    node = one(tmp_path, LABEL + layer("BatchReindex", bottom=("data", "label")), label="sequence of ids<64")
    assert (node.definition.name, str(node.output_types[0])) == ("batch_reindex", "sequence of 3x8x8")


def test_embed(tmp_path):
    ids = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 } } }\n'
    nodes = only(tmp_path, layer("Embed", "embed_param { input_dim: 9 num_output: 5 }"), data=ids)
    assert [node.definition.name for node in nodes] == ["embedding", "shift"]
    assert str(nodes[0].input_types[0]) == "ids<9"


def test_other_activations(tmp_path):
    for type_, here in {
        "ELU": "elu",
        "Swish": "swish",
        "AbsVal": "abs",
        "BNLL": "softplus",
        "Threshold": "threshold",
    }.items():
        assert one(tmp_path, layer(type_)).definition.name == here
    assert one(tmp_path, layer("Clip", "clip_param { min: -1 max: 2 }")).attributes["max"] == 2


def test_inputs_of_every_kind(tmp_path):
    images = 'layer { name: "i" type: "ImageData" top: "data" top: "label" image_data_param { source: "list.txt" %s } }'
    cases = {
        "3x6x5": images % "new_height: 6 new_width: 5",
        "1x4x4": images % "is_color: false } transform_param { crop_size: 4",
        "2x6x5": 'layer { name: "m" type: "MemoryData" top: "data" top: "label" '
        "memory_data_param { batch_size: 2 channels: 2 height: 6 width: 5 } }",
        "3x9x9": 'layer { name: "w" type: "WindowData" top: "data" top: "label" transform_param { crop_size: 9 } }',
        "2x7": 'layer { name: "d" type: "DummyData" top: "data" dummy_data_param { shape { dim: 5 dim: 2 dim: 7 } } }',
        "7": 'layer { name: "h" type: "HDF5Data" top: "data" hdf5_data_param { source: "l.txt" batch_size: 3 } }',
        "4x3": 'input: "data" input_shape { dim: 1 dim: 4 dim: 3 }',
    }  # fmt: skip
    for shape, text in cases.items():
        given = {"data": "7"} if shape == "7" else {}
        node = imported(tmp_path, text + layer("TanH"), **given).network["data"]
        assert str(node.output_types[0]) == shape


# ---- parameters


def test_rates_fillers_and_shared_names(tmp_path):
    settings = (
        'param { name: "w" lr_mult: 0.5 decay_mult: 2 } param { lr_mult: 0 } '
        'inner_product_param { num_output: 5 weight_filler { type: "gaussian" std: 0.1 sparse: 10 } '
        'bias_filler { type: "uniform" } }'
    )
    node = one(tmp_path, layer("InnerProduct", settings), data=ROWS)
    weight, bias = node.params["weight"], node.params["bias"]
    assert (weight.share, weight.lr_mult, weight.decay_mult, bias.lr_mult) == ("w", 0.5, 2, 0)
    # Caffe keeps a weight with the probability 10 / 5 outputs, we with sparse / 7 inputs.
    assert dict(weight.init[1]) | {} == {"mean": 0, "std": 0.1, "sparse": 14}
    assert dict(bias.init[1]) == {"min": 0, "max": 1}


@pytest.mark.parametrize(
    ("settings", "norm"),
    [
        ("", "fan_in"),
        ("variance_norm: FAN_OUT", "fan_out"),
        ("variance_norm: AVERAGE", "average"),
    ],
)
@pytest.mark.parametrize("transpose", [False, True])
def test_fans(tmp_path, settings, norm, transpose):
    text = f'num_output: 5 transpose: {str(transpose).lower()} weight_filler {{ type: "msra" {settings} }}'
    node = one(tmp_path, layer("InnerProduct", f"inner_product_param {{ {text} }}"), data=ROWS)
    swapped = {
        "fan_in": "fan_out",
        "fan_out": "fan_in",
    }  # Caffe counts by the axes of the blob, wherever they come from
    assert node.params["weight"].init[1]["variance_norm"] == (swapped.get(norm, norm) if transpose else norm)


def test_without_a_filler_weights_of_a_trained_net_start_at_zero(tmp_path):
    fc = layer("InnerProduct", FC % "", top=("f",), name="f")
    assert not one(tmp_path, fc, data=ROWS).params
    loss = layer("SoftmaxWithLoss", bottom=("f", "label"), top=("l",), name="l")
    found = imported(tmp_path, ROWS + LABEL + fc + loss)
    assert found.network["f"].params["weight"].init[0].name == "zero"
    assert any("starts at zero" in note for note in found.notes)


def test_the_old_form(tmp_path):
    text = """layers { name: "ip" type: INNER_PRODUCT bottom: "data" top: "ip"
      param: "w" param: "b" blobs_lr: 1 blobs_lr: 2
      weight_decay: 3 weight_decay: 0 inner_product_param { num_output: 4 } include: { phase: TEST } }"""
    node = one(tmp_path, text, data='input: "data" input_dim: 1 input_dim: 3 input_dim: 2 input_dim: 2 ')
    weight, bias = node.params["weight"], node.params["bias"]
    assert (weight.share, weight.decay_mult, bias.share, bias.lr_mult, bias.decay_mult) == ("w", 3, "b", 2, 0)
    assert node.include[0].phase == "test"


# ---- what is refused


def faults(tmp_path, text, **options):
    with pytest.raises(pl.ConfigError) as caught:
        imported(tmp_path, text, **options)
    return [(one.code, one.line, one.column) for one in caught.value.diagnostics], str(caught.value)


def test_everything_that_is_not_supported_is_told_at_once(tmp_path):
    text = """name: "net"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "up" type: "Im2col" bottom: "data" top: "up" }
layer { name: "odd" type: "Reorg" bottom: "up" top: "odd" reorg_param { stride: 2 } }
layer { name: "p" type: "Pooling" bottom: "odd" top: "p" pooling_param { pool: STOCHASTIC kernel_size: 2 pad: 1 } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernal_size: 3 } }
layer { name: "e" type: "Softmax" bottom: "data" top: "e" softmax_param { axis: 0 } loss_weight: 2 }
layer { name: "f" type: "InnerProduct" bottom: "nowhere" top: "f" inner_product_param { num_output: "4" } }
layer { name: "f" type: "Relu" bottom: "data" top: "g" include { phase: TRAIN } exclude { phase: TEST } }
"""
    found, shown = faults(tmp_path, text)
    assert found == [
        ("E511", 3, 26),
        ("E511", 4, 27),
        ("E103", 5, 111),
        ("E101", 6, 97),
        ("E511", 7, 81),
        ("E511", 7, 98),
        ("E203", 8, 48),
        ("E102", 8, 101),
        ("E511", 9, 25),
        ("E102", 9, 89),
    ]
    assert "did you mean `ReLU`?" in shown
    assert "help: `conv` needs no im2col layer: remove it" in shown


ALONE = {
    "stochastic pools with padding": (
        layer("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 pad: 1 }"), "E103"
    ),
    "numbers of rows that are no sequence": (LABEL + layer("BatchReindex", bottom=("data", "label")), "E511"),
    "blobs that are not filtered": (LABEL + layer("Filter", bottom=("data", "label"), top=("a", "b")), "E205"),
    "two layers write one blob": (layer("TanH") + layer("TanH", name="z"), "E202"),
    "nothing says how large it is": (
        'layer { name: "d" type: "Data" top: "x" top: "label" data_param { batch_size: 1 } }'
        + layer("TanH", bottom=("x",)),
        "E512",
    ),
    "an axis that is not there": (layer("Flatten", "flatten_param { axis: 9 }"), "E209"),
    "rows that do not stay rows": (layer("Reshape", "reshape_param { shape { dim: 6 dim: -1 } }"), "E511"),
    "an even neighbourhood": (layer("LRN", "lrn_param { local_size: 4 }"), "E103"),
    "a filler": (layer("Convolution", CONV % 'weight_filler { type: "magic" }'), "E111"),
    "a rate below zero": (layer("Convolution", "param { lr_mult: -1 } " + CONV % ""), "E103"),
    "a kernel that is too large": (layer("Convolution", "convolution_param { num_output: 1 kernel_size: 99 }"), "E209"),
    "no filters": (layer("Convolution", "convolution_param { num_output: 0 kernel_size: 1 }"), "E103"),
    "too many blobs": (layer("TanH", bottom=("data", "data")), "E205"),
    "a loss that is read": (
        LABEL + layer("SoftmaxWithLoss", bottom=("data", "label"), top=("l",)) + layer("TanH", bottom=("l",), name="t"),
        "E511",
    ),
    "a weight of what is no cost": (layer("TanH", "loss_weight: 1"), "E511"),
    "one label for all pixels": (LABEL + layer("SoftmaxWithLoss", bottom=("data", "label")), "E511"),
    "the first form": ('layers { layer { name: "a" type: "relu" } bottom: "data" top: "b" }', "E511"),
    "a field that there is not": ('frobnicate: 1\n' + layer("TanH"), "E101"),
    "a layer without a type": ('layer { name: "x" }', "E110"),
    "a matrix in a file": (
        LABEL + layer("Flatten") + layer("InfogainLoss", bottom=("y", "label"), top=("l",), name="l")
        + layer("HDF5Output", bottom=("y", "label", "y"), top=(), name="h"),
        "E205",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_refused(tmp_path, name):
    text, code = ALONE[name]
    found, shown = faults(tmp_path, DATA + text)
    assert [fault[0] for fault in found][-1] == code, shown


@pytest.mark.parametrize("data", [DATA, 'input: "data" input_dim: [4, 3, 8, 8]'])
def test_a_shape_that_replaces_that_of_the_file_is_noted(tmp_path, data):
    """Sizes of a file may be placeholders, as in the networks of OpenPose."""
    text = data.replace("dim: 8 dim: 8", "dim: 1 dim: 1").replace("8, 8", "1, 1") + layer("TanH")
    note = "data: 3x9x9, given by --shape, replaces 3x1x1 of the file"
    found = imported(tmp_path, text, data="3x9x9")
    assert (str(found.network["y"].output_types[0]), note in found.notes) == ("3x9x9", True)
    assert note not in imported(tmp_path, text, data="3x1x1").notes


def test_a_shape_of_what_is_no_input(tmp_path):
    found, shown = faults(tmp_path, DATA + layer("TanH"), daata="3")
    assert (found[0][0], "the inputs are `data`" in shown) == ("E512", True)


def test_a_net_that_is_none(tmp_path):
    assert faults(tmp_path, "layer {")[0][0][0] == "E002"
    (tmp_path / "folder.prototxt").mkdir()
    with pytest.raises(pl.ConfigError, match="is not a regular file"):
        import_prototxt(tmp_path / "folder.prototxt")


@pytest.mark.parametrize("name", [*PUBLISHED, "lenet_solver"])
def test_validate_names_the_command(name):
    with pytest.raises(pl.ConfigError) as caught:
        validate(CAFFE / f"{name}.prototxt")
    (fault,) = caught.value.diagnostics
    assert (fault.code, "paddle-layers import" in fault.help) == ("E010", True)
