"""Caffe's files: nets and solvers in text, weights and means in binary."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np

from paddle_layers.config import ConfigError, Network, Source, loads
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.define import Type
from paddle_layers.define.escaping import CONTROL
from paddle_layers.exchange.caffe_in.binary import CaffeError, read_mean, read_model, weights_of
from paddle_layers.exchange.caffe_in.conversion import Conversion
from paddle_layers.exchange.caffe_in.importing import NETWORK, CaffeImport, import_prototxt
from paddle_layers.exchange.caffe_in.layers import NetState
from paddle_layers.exchange.caffe_in.messages import OLD_TYPES, SETTINGS, fields_of
from paddle_layers.exchange.caffe_in.network import checked, convert_net, network_text
from paddle_layers.exchange.caffe_in.reading import bind, fields_of_text
from tests.exchange import caffe_helpers as caffe

from .configs import check_faults
from .data_files import check_message
from .mutators import ODD_NUMBERS, changed_bytes, changed_text
from .target import Target, demand

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "caffe"
NAMES = ("lenet_train_test", "cifar10_quick", "siamese_train_test", "lenet_solver")
SMALL = """
name: "small"
layer { name: "x" type: "Input" top: "x" top: "t"
  input_param { shape { dim: 2 dim: 4 dim: 6 dim: 6 } shape { dim: 2 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" param { name: "w" lr_mult: 2 }
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 group: 2 weight_filler { type: "msra" } } }
layer { name: "b" type: "BatchNorm" bottom: "c" top: "b" include { phase: TRAIN } }
layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" relu_param { negative_slope: 0.1 } exclude { stage: "a" } }
layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }
layer { name: "n" type: "LRN" bottom: "p" top: "n" lrn_param { local_size: 3 } }
layer { name: "q" type: "Slice" bottom: "n" top: "q" top: "z" slice_param { axis: 1 slice_point: 1 } }
layer { name: "k" type: "Concat" bottom: "q" bottom: "z" top: "k" concat_param { axis: -3 } }
layer { name: "e" type: "Eltwise" bottom: "k" bottom: "n" top: "e" eltwise_param { coeff: 1 coeff: -2 } }
layer { name: "d" type: "Dropout" bottom: "e" top: "e" dropout_param { dropout_ratio: 0.3 } }
layer { name: "h" type: "Reshape" bottom: "e" top: "h" reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: "f" type: "InnerProduct" bottom: "h" top: "f" inner_product_param { num_output: 5 } loss_weight: 0 }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "f" bottom: "t" top: "l" loss_param { ignore_label: 1 } }
layer { name: "a" type: "Accuracy" bottom: "f" bottom: "t" top: "a" accuracy_param { top_k: 2 } }
"""
FORKS = """
input: "x" input_shape { dim: 2 dim: 4 dim: 8 dim: 8 } input: "rois" input_shape { dim: 1 dim: 5 }
layer { name: "c" type: "DepthwiseConvolution" bottom: "x" top: "c"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 group: 4 } }
layer { name: "b" type: "BN" bottom: "c" top: "b" bn_param { eps: 0.01 frozen: true slope_filler { value: 1 } } }
layer { name: "r" type: "ReLU6" bottom: "b" top: "b" }
layer { name: "n" type: "Normalize" bottom: "b" top: "n" norm_param { channel_shared: false eps: 1e-6 } }
layer { name: "s" type: "ShuffleChannel" bottom: "n" top: "s" shuffle_channel_param { group: 2 } }
layer { name: "p" type: "Pooling" bottom: "s" top: "p" top: "m" pooling_param { kernel_size: 2 stride: 2 pool: 0 } }
layer { name: "u" type: "Upsample" bottom: "p" bottom: "m" top: "u" upsample_param { scale: 2 } }
layer { name: "i" type: "Interp" bottom: "u" top: "i" interp_param { zoom_factor: 2 pad_beg: -1 } }
layer { name: "v" type: "Permute" bottom: "i" top: "v" permute_param { order: [0, 2, 3, 1] } }
layer { name: "g" type: "ROIPooling" bottom: "i" bottom: "rois" top: "g"
  roi_pooling_param { pooled_w: 2 pooled_h: 3 spatial_scale: 0.5 } }
layer { name: "o" type: "Pooling" bottom: "u" top: "o" pooling_param { pool: AVE global_pooling: true } }
layer { name: "a" type: "Axpy" bottom: "o" bottom: "u" bottom: "x" top: "a" }
layer { name: "l" type: "SmoothL1Loss" bottom: "a" bottom: "u" bottom: "x" bottom: "c" top: "l"
  smooth_l1_loss_param { sigma: 3 } }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "step" gamma: 0.5 stepsize: 3 max_iter: 9 momentum: 0.9 weight_decay: 0.1
test_interval: 3 test_iter: 2 display: 1 snapshot: 4 snapshot_prefix: "../x" random_seed: 1 type: "SGD" iter_size: 2
"""


class Prototxt(Target):
    """Nets and solvers of Caffe, with odd fields and types, become sound networks or are refused with places."""

    name = "prototxt"
    texts: ClassVar[list[str]] = [
        SMALL,
        SMALL,
        FORKS,
        FORKS,
        SOLVER,
        *((EXAMPLES / f"{name}.prototxt").read_text() for name in NAMES),
    ]

    def make(self, rng: Random) -> bytes:
        """Texts with tokens exchanged, types and fields of other layers put in, and numbers that are odd."""
        text = rng.choice(self.texts)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
            text = _swapped(text, rng)
        if rng.random() < 0.6:
            text = changed_text(text, rng, self.texts)
        return text.encode("utf-8", "surrogatepass")

    def check(self, case: bytes) -> None:
        """What is imported is a network by its own text; what is refused has a place."""
        path = self.folder / "f.prototxt"
        path.write_bytes(case)
        for name in ("net", "lenet_train_test"):
            (self.folder / f"{name}.prototxt").write_text(SMALL)
        try:
            found = import_prototxt(path, shapes={"data": Type.dense(1, 28, 28)} if b'"data"' in case else {})
        except ConfigError as error:
            check_faults(error.diagnostics)
            return
        _check_imported(found)


def _swapped(text: str, rng: Random) -> str:
    """A type, a field or a number in place of another one."""
    way = rng.randrange(4)
    if way == 0:
        types = sorted(SETTINGS) if rng.random() < 0.8 else sorted(OLD_TYPES)
        old, new = rng.choice(types), rng.choice(types)
        return text.replace(f'type: "{old}"', f'type: "{new}"', 1)
    if way == 1:
        settings = rng.choice(sorted(SETTINGS.values()))
        field = rng.choice(sorted(fields_of(fields_of("Layer")[settings].message)))
        value = rng.choice((*ODD_NUMBERS, "true", '"x"', "{}", "CEIL", "-1"))
        return text.replace("layer {", f"layer {{ {settings} {{ {field}: {value} }}", 1)
    if way == 2:
        value = rng.choice(
            ("include { phase: TEST }", "include { phase: TRAIN }", 'top: "c"', 'bottom: "x"', "loss_weight: 2")
        )
        places = [at for at in range(len(text)) if text.startswith(" bottom", at)]
        at = rng.choice(places) if places else 0
        return f"{text[:at]} {value} {text[at:]}"
    return text.replace(f": {rng.randrange(6)} ", f": {rng.choice(ODD_NUMBERS)} ", 1)


def _check_imported(found: CaffeImport) -> None:
    network = loads(found.texts[NETWORK])
    demand(network.nodes is not None, "no network")
    demand(not CONTROL.search(found.summary.replace("\n", "")), "control characters in the report")


NET = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 2 dim: 3 dim: 3 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 2 } }
layer { name: "b" type: "BatchNorm" bottom: "c" top: "b" }
layer { name: "p" type: "PReLU" bottom: "b" top: "b" prelu_param { channel_shared: true } }
layer { name: "f" type: "InnerProduct" bottom: "b" top: "f" inner_product_param { num_output: 3 } }
"""
ARRAYS = {"c": [(2, 2, 2, 2), (2,)], "b": [(2,), (2,), (1,)], "p": [()], "f": [(3, 8), (3,)]}


def _model(rng: Random) -> bytes:
    arrays = {name: [np.full(shape, rng.random()) for shape in shapes] for name, shapes in ARRAYS.items()}
    return caffe.model(arrays, old=rng.random() < 0.3, legacy=rng.random() < 0.4, packed=rng.random() < 0.8)


class CaffeModel(Target):
    """Weights of Caffe, with any bytes changed, fit the net or are refused in a line or one for each layer."""

    name = "caffemodel"

    def make(self, rng: Random) -> bytes:
        """A model of either form, with changed bytes."""
        return changed_bytes(_model(rng), rng) if rng.random() < 0.95 else rng.randbytes(rng.randrange(60))

    def check(self, case: bytes) -> None:
        """Read for a net."""
        path = self.folder / "f.caffemodel"
        path.write_bytes(case)
        whole, network = _converted()
        try:
            found = weights_of(read_model(path), whole.stored, network, path)
        except CaffeError as error:
            lines = str(error).split("\n")
            demand(str(path) in lines[0] and len(lines) <= 22, f"no file, or too long: {error}")
            demand(not CONTROL.search("".join(lines)), f"control characters: {error}")
            return
        demand(all(np.isfinite(array).all() for array in found.arrays.values()), "numbers that are not finite")


@cache
def _converted() -> tuple[Conversion, Network]:
    """The net that models are read for."""
    report = DiagnosticReport(Source("net.prototxt", NET))
    net = bind("Net", fields_of_text(report), 0, report)
    whole = convert_net(net, report, [NetState("train"), NetState("test")], {}, None)
    return whole, checked(network_text("net", whole, "a net"), report)


class CaffeMean(Target):
    """Means of Caffe, with any bytes changed."""

    name = "binaryproto"

    def make(self, rng: Random) -> bytes:
        """A mean of either form, with changed bytes."""
        shape = rng.choice(((3, 2, 2), (1, 4, 4), (2, 2), (1, 3, 2, 2), (0, 2, 2)))
        found = caffe.blob(np.ones(shape), legacy=rng.random() < 0.5, packed=rng.random() < 0.8, double=False)
        return changed_bytes(found, rng) if rng.random() < 0.9 else found

    def check(self, case: bytes) -> None:
        """Read as an array."""
        path = self.folder / "f.binaryproto"
        path.write_bytes(case)
        try:
            demand(1 <= read_mean(path).ndim + 1 <= 4, "no image")
        except CaffeError as error:
            check_message(error, str(path))
