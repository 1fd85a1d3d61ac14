"""Caffe's messages: names, types and defaults of their fields; layer types and the fields of their settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from paddle_layers.define.fields.attributes import Attribute, Bool, Choice, Float, Int, String

# A table instead of caffe.proto: errors need positions and must not stop the parser, so the reader of our own files
# binds these fields, by attributes as those of layers.
_TABLE = """
Net: name string; layer Layer*; layers OldLayer*; input string*; input_shape BlobShape*; input_dim int*
  state NetState; force_backward bool = false; debug_info bool = false; default_forward_type any
  default_backward_type any; default_forward_math any; default_backward_math any
NetState: phase TRAIN|TEST = TEST; level int = 0; stage string*
NetStateRule: phase TRAIN|TEST; min_level int; max_level int; stage string*; not_stage string*
BlobShape: dim int*
ParamSpec: name string; share_mode STRICT|PERMISSIVE = STRICT; lr_mult float = 1; decay_mult float = 1
Filler: type string = constant; value float = 0; min float = 0; max float = 1; mean float = 0; std float = 1
  sparse int = -1; variance_norm FAN_IN|FAN_OUT|AVERAGE = FAN_IN
Transform: scale float = 1; mirror bool = false; crop_size int = 0; mean_file string; mean_value float*
  force_color bool = false; force_gray bool = false; emit_constraint any
Loss: ignore_label int; normalization FULL|VALID|BATCH_SIZE|NONE; normalize bool
Layer: name string; type type; bottom string*; top string*; phase TRAIN|TEST; loss_weight float*; param ParamSpec*
  blobs any; propagate_down bool*; include NetStateRule*; exclude NetStateRule*; transform_param Transform
  loss_param Loss; accuracy_param Accuracy; argmax_param ArgMax; batch_norm_param BatchNorm; bias_param Bias
  bn_param BN; clip_param Clip; concat_param Concat; contrastive_loss_param ContrastiveLoss
  convolution_param Convolution; crop_param Crop; data_param Data; dropout_param Dropout; dummy_data_param DummyData
  eltwise_param Eltwise; elu_param ELU; embed_param Embed; exp_param Exp; flatten_param Flatten
  hdf5_data_param HDF5Data; hdf5_output_param HDF5Output; hinge_loss_param HingeLoss; image_data_param ImageData
  infogain_loss_param InfogainLoss; inner_product_param InnerProduct; input_param Input; interp_param Interp
  log_param Exp; lrn_param LRN; memory_data_param MemoryData; mvn_param MVN; norm_param Normalize
  parameter_param Parameter; permute_param Permute; pooling_param Pooling; power_param Power; prelu_param PReLU
  python_param Python; recurrent_param Recurrent; reduction_param Reduction; relu_param ReLU; reshape_param Reshape
  roi_pooling_param ROIPooling; scale_param Scale; sigmoid_param Engine; shuffle_channel_param ShuffleChannel
  smooth_l1_loss_param SmoothL1; softmax_param Softmax; spp_param SPP; slice_param Slice; swish_param Swish
  tanh_param Engine; threshold_param Threshold; tile_param Tile; upsample_param Upsample; window_data_param WindowData
Accuracy: top_k int = 1; axis int = 1; ignore_label int
ArgMax: out_max_val bool = false; top_k int = 1; axis int
BatchNorm: use_global_stats bool; moving_average_fraction float = 0.999; eps float = 1e-5; scale_bias bool = false
  scale_filler Filler; bias_filler Filler; engine DEFAULT|CAFFE|CUDNN = DEFAULT
Bias: axis int = 1; num_axes int = 1; filler Filler
BN: slope_filler Filler; bias_filler Filler; momentum float = 0.9; eps float = 1e-5; frozen bool = false
  engine DEFAULT|CAFFE|CUDNN = DEFAULT; bn_mode LEARN|INFERENCE = LEARN; scale_filler Filler; shift_filler Filler
Clip: min float; max float
Concat: axis int = 1; concat_dim int = 1
ContrastiveLoss: margin float = 1; legacy_version bool = false
Convolution: num_output int; bias_term bool = true; pad int*; kernel_size int*; stride int*; dilation int*
  pad_h int = 0; pad_w int = 0; kernel_h int; kernel_w int; stride_h int; stride_w int; group int = 1
  weight_filler Filler; bias_filler Filler; engine DEFAULT|CAFFE|CUDNN = DEFAULT; axis int = 1
  force_nd_im2col bool = false
Crop: axis int = 2; offset int*
Data: source string; batch_size int; rand_skip int = 0; backend LEVELDB|LMDB = LEVELDB; scale float = 1
  mean_file string; crop_size int = 0; mirror bool = false; force_encoded_color bool = false; prefetch int = 4
  shuffle bool = false; cache any; threads any; parser_threads any
Dropout: dropout_ratio float = 0.5; scale_train bool = true
DummyData: data_filler Filler*; shape BlobShape*; num int*; channels int*; height int*; width int*
Eltwise: operation PROD|SUM|MAX = SUM; coeff float*; stable_prod_grad bool = true
ELU: alpha float = 1
Embed: num_output int; input_dim int; bias_term bool = true; weight_filler Filler; bias_filler Filler
Engine: engine DEFAULT|CAFFE|CUDNN = DEFAULT
Exp: base float = -1; scale float = 1; shift float = 0
Flatten: axis int = 1; end_axis int = -1
HDF5Data: source string; batch_size int; shuffle bool = false
HDF5Output: file_name string
HingeLoss: norm |L1|L2 = L1
ImageData: source string; batch_size int = 1; rand_skip int = 0; shuffle bool = false; new_height int = 0
  new_width int = 0; is_color bool = true; scale float = 1; mean_file string; crop_size int = 0
  mirror bool = false; root_folder string
InfogainLoss: source string; axis int = 1
InnerProduct: num_output int; bias_term bool = true; weight_filler Filler; bias_filler Filler; axis int = 1
  transpose bool = false
Input: shape BlobShape*
Interp: height int; width int; zoom_factor int; shrink_factor int; pad_beg int = 0; pad_end int = 0
LRN: local_size int = 5; alpha float = 1; beta float = 0.75; k float = 1
  norm_region ACROSS_CHANNELS|WITHIN_CHANNEL = ACROSS_CHANNELS; engine DEFAULT|CAFFE|CUDNN = DEFAULT
MemoryData: batch_size int; channels int; height int; width int
MVN: normalize_variance bool = true; across_channels bool = false; eps float = 1e-9
Normalize: across_spatial bool = true; scale_filler Filler; channel_shared bool = true; eps float = 1e-10
Parameter: shape BlobShape
Permute: order int*
Pooling: pool MAX|AVE|STOCHASTIC = MAX; pad int = 0; pad_h int = 0; pad_w int = 0; kernel_size int; kernel_h int
  kernel_w int; stride int = 1; stride_h int; stride_w int; engine DEFAULT|CAFFE|CUDNN = DEFAULT
  global_pooling bool = false; round_mode CEIL|FLOOR = CEIL; ceil_mode bool = true
Power: power float = 1; scale float = 1; shift float = 0
PReLU: filler Filler; channel_shared bool = false
Python: module string; layer string; param_str string; share_in_parallel bool = false
Recurrent: num_output int = 0; weight_filler Filler; bias_filler Filler; debug_info bool = false
  expose_hidden bool = false
Reduction: operation |SUM|ASUM|SUMSQ|MEAN = SUM; axis int = 0; coeff float = 1
ReLU: negative_slope float = 0; engine DEFAULT|CAFFE|CUDNN = DEFAULT
Reshape: shape BlobShape; axis int = 0; num_axes int = -1
ROIPooling: pooled_h int; pooled_w int; spatial_scale float = 1
Scale: axis int = 1; num_axes int = 1; filler Filler; bias_term bool = false; bias_filler Filler
ShuffleChannel: group int
SmoothL1: sigma float = 1
Softmax: engine DEFAULT|CAFFE|CUDNN = DEFAULT; axis int = 1
SPP: pyramid_height int; pool MAX|AVE|STOCHASTIC = MAX; engine DEFAULT|CAFFE|CUDNN = DEFAULT
Slice: axis int = 1; slice_point int*; slice_dim int = 1
Swish: beta float = 1
Threshold: threshold float = 0
Tile: axis int = 1; tiles int
Upsample: scale int = 2; scale_h int; scale_w int; pad_out_h bool = false; pad_out_w bool = false; upsample_h int
  upsample_w int
WindowData: source string; scale float = 1; mean_file string; batch_size int; crop_size int = 0; mirror bool = false
  fg_threshold float = 0.5; bg_threshold float = 0.5; fg_fraction float = 0.25; context_pad int = 0
  crop_mode string = warp; cache_images bool = false; root_folder string
Solver: net string; net_param Net; train_net string; train_net_param Net; test_net string*; test_net_param Net*
  train_state NetState; test_state NetState*; test_iter int*; test_interval int = 0; test_compute_loss bool = false
  test_initialization bool = true; base_lr float; display int = 0; average_loss int = 1; max_iter int; iter_size int = 1
  lr_policy string; gamma float; power float; momentum float = 0; weight_decay float = 0
  regularization_type string = L2; stepsize int; stepvalue int*; clip_gradients float = -1; snapshot int = 0
  snapshot_prefix string; snapshot_diff bool = false; snapshot_format HDF5|BINARYPROTO = BINARYPROTO
  solver_mode CPU|GPU = GPU; device_id int = 0; random_seed int = -1; type string = SGD; delta float = 1e-8
  momentum2 float = 0.999; rms_decay float = 0.99; debug_info bool = false; snapshot_after_train bool = true
  solver_type SGD|NESTEROV|ADAGRAD|RMSPROP|ADADELTA|ADAM = SGD; layer_wise_reduce bool = true; weights string*
"""
"""One line per message; after a type, `*` marks a repeated field and `=` the default.

The numbers of an enum's values are their positions, from 0; an empty one has no name.
"""
_OLD_LAYER = "param string*; blobs_lr float*; weight_decay float*; blob_share_mode STRICT|PERMISSIVE*; layer any"
"""Fields of a layer of the form `layers { ... }` that differ from those of `layer`."""
_FIELD = re.compile(r"(\w+) ([\w|]+)(\*?)(?: = (\S+))?")
OLD_TYPES = {
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "DATA": "Data",
    "DECONVOLUTION": "Deconvolution",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "ELTWISE": "Eltwise",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "TANH": "TanH",
    "THRESHOLD": "Threshold",
    "WINDOW_DATA": "WindowData",
}
"""The words of the form `layers { type: CONVOLUTION }`."""
INPUT_TYPES = {"Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData", "WindowData"}
"""Layers without inputs."""
SETTINGS = {
    "Accuracy": "accuracy_param",
    "ArgMax": "argmax_param",
    "BN": "bn_param",
    "BatchNorm": "batch_norm_param",
    "Bias": "bias_param",
    "Clip": "clip_param",
    "Concat": "concat_param",
    "ContrastiveLoss": "contrastive_loss_param",
    "Convolution": "convolution_param",
    "ConvolutionDepthwise": "convolution_param",
    "Crop": "crop_param",
    "Deconvolution": "convolution_param",
    "Data": "data_param",
    "DepthwiseConvolution": "convolution_param",
    "Dropout": "dropout_param",
    "DummyData": "dummy_data_param",
    "ELU": "elu_param",
    "Eltwise": "eltwise_param",
    "Embed": "embed_param",
    "Exp": "exp_param",
    "Flatten": "flatten_param",
    "HDF5Data": "hdf5_data_param",
    "HingeLoss": "hinge_loss_param",
    "ImageData": "image_data_param",
    "InfogainLoss": "infogain_loss_param",
    "InnerProduct": "inner_product_param",
    "Input": "input_param",
    "Interp": "interp_param",
    "LRN": "lrn_param",
    "Log": "log_param",
    "MVN": "mvn_param",
    "MemoryData": "memory_data_param",
    "Normalize": "norm_param",
    "PReLU": "prelu_param",
    "Permute": "permute_param",
    "Pooling": "pooling_param",
    "Power": "power_param",
    "ReLU": "relu_param",
    "Reduction": "reduction_param",
    "Reshape": "reshape_param",
    "ROIPooling": "roi_pooling_param",
    "SPP": "spp_param",
    "Scale": "scale_param",
    "ShuffleChannel": "shuffle_channel_param",
    "Slice": "slice_param",
    "SmoothL1Loss": "smooth_l1_loss_param",
    "Softmax": "softmax_param",
    "SoftmaxWithLoss": "softmax_param",
    "Swish": "swish_param",
    "Threshold": "threshold_param",
    "Tile": "tile_param",
    "Upsample": "upsample_param",
    "WindowData": "window_data_param",
}
"""The field with the settings of a type."""
_SEQUENCES = "sequences are not padded here: rewrite the layer as the guide on recurrent groups shows"
_DETECTOR = (
    "write this part as layers of a network file: `priorbox`, `multibox_loss` and `detection_output` read the maps"
)
WITHOUT_COUNTERPART = {
    "AnnotatedData": "replace it by Input layers with its `top` blobs",
    "DetectionOutput": _DETECTOR,
    "Im2col": "`conv` needs no im2col layer: remove it",
    "LSTM": _SEQUENCES,
    "LSTMUnit": _SEQUENCES,
    "MultiBoxLoss": _DETECTOR,
    "Parameter": "move the parameter into the layer that reads it, such as Scale or Bias",
    "PriorBox": _DETECTOR,
    "Python": (
        "write the layer as a plugin, of which `paddle-layers new-plugin` creates a template; if it reads data or "
        "proposes regions, replace it by an Input layer with its `top` blobs"
    ),
    "RNN": _SEQUENCES,
    "Recurrent": _SEQUENCES,
}
"""Caffe's layers without a counterpart, and alternatives."""

_SPEED, _PRECISION = "it concerns the speed of reading", "the data type is chosen where the network is run"
IGNORED: dict[str, dict[str, str]] = {
    "Data": {
        "shuffle": "sources of a training are shuffled, unless they set `shuffle: false`",
        **dict.fromkeys(("cache", "threads", "parser_threads"), _SPEED),
    },
    "Net": dict.fromkeys(
        ("default_forward_type", "default_backward_type", "default_forward_math", "default_backward_math"), _PRECISION
    ),
    "Transform": {"emit_constraint": "annotations are not imported"},
}
"""Fields of forks that are accepted but ignored, by message, and the reason for the report."""


class FieldSpec(NamedTuple):
    """A field: a value, described as an attribute, a nested message, a layer's type, or anything."""

    repeated: bool
    message: str
    attribute: Attribute[Any] | None
    default: Any
    words: Mapping[int, str] = {}
    """The values of an enum by number."""


MessageFields = dict[str, FieldSpec]


@cache
def fields_of(message: str) -> MessageFields:
    """The fields of a message by name."""
    # The settings of layers are the same in both formats, so one table has them.
    if message == "OldLayer":
        return fields_of("Layer") | _parsed(_OLD_LAYER)
    return _messages()[message]


@cache
def _messages() -> dict[str, MessageFields]:
    lines = re.findall(r"^(\w+): (.*(?:\n  .*)*)", _TABLE, re.MULTILINE)
    return {name: _parsed(text.replace("\n  ", "; ")) for name, text in lines}


def _parsed(text: str) -> MessageFields:
    return {name: _field(name, *rest) for name, *rest in (_entry(part) for part in text.split("; "))}


def _entry(text: str) -> tuple[str, str, str, str]:
    match = _FIELD.fullmatch(text)
    assert match is not None, f"invalid entry in the table of fields: `{text}`"
    return match[1], match[2], match[3], match[4]


def _field(name: str, kind: str, star: str, default: str | None) -> FieldSpec:
    if kind in ("any", "type"):
        return FieldSpec(False, kind, None, None)
    # Choices are written in capitals as well.
    if kind[0].isupper() and "|" not in kind:
        return FieldSpec(bool(star), kind, None, None)
    words = {number: word for number, word in enumerate(kind.split("|")) if word} if "|" in kind else {}
    attribute = _attribute(name, kind, words)
    return FieldSpec(bool(star), "", attribute, None if default is None else _value(kind, default), words)


def _attribute(name: str, kind: str, words: Mapping[int, str]) -> Attribute[Any]:
    kinds: dict[str, Any] = {"int": Int, "float": Float, "bool": Bool, "string": String}
    made: Attribute[Any] = kinds[kind](name) if kind in kinds else Choice(name, options=tuple(words.values()))
    made.name = name
    return made


def _value(kind: str, text: str) -> Any:
    if kind == "bool":
        return text == "true"
    return int(text) if kind == "int" else float(text) if kind == "float" else text
