"""Conversion of losses and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddle_layers.define import Type

from .conversion import Use, converts
from .layers import BlobValue, Fields
from .reading import Message


def _cost(use: Use, type_: str, attributes: Fields | None = None, *, inputs: Sequence[BlobValue] | None = None) -> None:
    """Add a cost; its output is the loss, whether or not the prototxt names it."""
    outputs = use.tops[:1] or [use.inner("loss")]
    # Caffe adds an anonymous top.
    if not use.tops:
        outputs[0].name = use.layer.name
    use.add(type_, attributes, inputs=inputs, outputs=outputs)
    outputs[0].is_loss = True


def _classes(use: Use, *, of: str = "axis") -> int:
    """The number of classes that have scores; labels are below it, one per row or per position after the classes."""
    dims = use.dims()
    if use.axis(of) != 1:
        shape = "x".join(map(str, dims))
        use.refuse(of, f"only class scores along axis 1 are supported, and the scores have shape {shape}")
    size, places = (dims[0] if dims else 1), dims[1:]
    # Shape and layout of labels follow from the scores, unless the file gives them a shape.
    said = use.bottoms[1].usual
    if said is not None and said.columns != math.prod(places):
        shapes = f"{'x'.join(map(str, dims))} and labels of type {said}"
        use.refuse(of, f"expected one label per position, got scores of shape {shapes}")
    use.label(1, size, places if math.prod(places) != 1 else ())
    return size


@converts("SoftmaxWithLoss", bottoms=(2, 2), tops=(0, 2))
def softmax_with_loss(use: Use) -> None:
    # Caffe's defaults differ: VALID for losses with one label, BATCH_SIZE for the sigmoid cross-entropy.
    loss, normalization = use.message["loss_param"], _normalization(use, "VALID")
    _classes(use)
    _cost(use, "softmax_with_loss", _of_labels(loss, normalization))
    if len(use.tops) == 2 and not use.refused:
        name = f"{use.layer.name}/softmax"
        use.add("softmax", inputs=[use.bottoms[0]], outputs=[use.tops[1]], name=name)


def _of_labels(loss: Message, normalization: str) -> Fields:
    """The normalization of a classification loss, and the ignored label."""
    attributes: Fields = {"normalization": normalization}
    if "ignore_label" in loss:
        attributes["ignore_label"] = loss["ignore_label"]
    return attributes


def _normalization(use: Use, usual: str) -> str:
    """The divisor of the sum, the old `normalize` included."""
    loss = use.message["loss_param"]
    if "normalization" in loss:
        return str(loss["normalization"])
    if "normalize" in loss:
        return "VALID" if loss["normalize"] else "BATCH_SIZE"
    return usual


@converts("MultinomialLogisticLoss", bottoms=(2, 2), tops=(0, 1))
def multinomial_logistic_loss(use: Use) -> None:
    dims = use.dims()
    if math.prod(dims[1:]) != 1:
        use.refuse("bottom", "only one label per sample is supported", of=use.message)
    use.label(1, dims[0] if dims else 1)
    # Caffe's kLOG_THRESHOLD.
    _cost(use, "cross_entropy", {"floor": 1e-20})


@converts("InfogainLoss", bottoms=(2, 3), tops=(0, 2))
def infogain_loss(use: Use) -> None:
    loss = use.message["loss_param"]
    if len(use.bottoms) == 3 or len(use.tops) == 2:
        use.refuse(
            "bottom",
            "InfogainLoss with the matrix as a third `bottom` or a second `top` is not supported",
            of=use.message,
        )
    classes = _classes(use)
    if "source" in use.settings:
        use.note(
            f"the matrix in `{use.settings['source']}` was not imported: `{use.layer.name}.gain` "
            f"({classes}x{classes}) is the identity until weights are loaded"
        )
    _cost(use, "infogain_loss", _of_labels(loss, _normalization(use, "VALID")))


@converts("EuclideanLoss", bottoms=(2, 2), tops=(0, 1))
def euclidean_loss(use: Use) -> None:
    # The loss is symmetric: in Caffe, either input may be the target.
    if use.bottoms[0].type is None and use.bottoms[1].type is not None:
        use.target(0, use.dims(1))
    use.target(1, use.dims(0))
    # Caffe halves the squared distance.
    _cost(use, "square_error", {"coeff": 0.5})


@converts("SmoothL1Loss", bottoms=(2, 4), tops=(0, 1))
def smooth_l1_loss(use: Use) -> None:
    """Smooth L1 loss of Fast R-CNN; weights of the difference and weights of the terms may follow."""
    sigma, dims = use.settings["sigma"], use.dims()
    if not 0 < sigma < math.inf:
        use.refuse("sigma", f"`sigma` is {sigma:g}, expected a finite value above 0", code="E103")
        return
    for place in range(1, len(use.bottoms)):
        use.target(place, dims)
        if use.dims(place) != dims:
            use.refuse("bottom", "all blobs of a SmoothL1Loss must have one shape", of=use.message, code="E209")
            return
    # sigma ** 2 * d ** 2 / 2 up to 1 / sigma ** 2
    beta = 1 / sigma**2
    pair, weights = use.bottoms[:2], use.bottoms[2:]
    if weights:
        pair = [use.step("mul", {}, [value, weights[0]], f"inside{place}") for place, value in enumerate(pair)]
    if len(weights) < 2:
        _cost(use, "smooth_l1", {"beta": beta}, inputs=pair)
        return
    # With c = min(|d|, beta) a term is c * (|d| - c / 2) / beta. `smooth_l1` has one weight per sample, not per term.
    difference = use.step("eltwise", {"coefficients": [1.0, -1.0]}, pair, "difference")
    size = use.step("abs", {}, [difference])
    limited = use.step("clip", {"min": 0.0, "max": beta}, [size])
    line = use.step("eltwise", {"coefficients": [1 / beta, -0.5 / beta]}, [size, limited], "line")
    terms = use.step("eltwise", {"operation": "PROD"}, [limited, line, weights[1]], "terms")
    _cost(use, "sum_cost", inputs=[terms])


@converts("SigmoidCrossEntropyLoss", bottoms=(2, 2), tops=(0, 1))
def sigmoid_cross_entropy_loss(use: Use) -> None:
    use.target(1, use.dims())
    _cost(use, "sigmoid_cross_entropy", _of_labels(use.message["loss_param"], _normalization(use, "BATCH_SIZE")))


@converts("HingeLoss", bottoms=(2, 2), tops=(0, 1))
def hinge_loss(use: Use) -> None:
    dims = use.dims()
    if math.prod(dims[1:]) != 1:
        use.refuse("bottom", "only one label per sample is supported", of=use.message)
    use.label(1, dims[0] if dims else 1)
    _cost(use, "hinge_loss", {"norm": use.settings["norm"]})


@converts("ContrastiveLoss", bottoms=(3, 3), tops=(0, 1))
def contrastive_loss(use: Use) -> None:
    p = use.settings
    use.label(2, 2)
    _cost(use, "contrastive_loss", {"margin": p["margin"], "legacy_version": p["legacy_version"]})


@converts("Accuracy", bottoms=(2, 2), tops=(0, 2))
def accuracy(use: Use) -> None:
    """A statistic gives nothing that a layer could read; the second top, of single classes, is left to `evaluate`."""
    p = use.settings
    classes = _classes(use)
    if len(use.tops) == 2:
        use.note("the second `top` is left out; `paddle-layers evaluate` reports the accuracy per class")
    top_k = p["top_k"]
    if top_k > classes:
        use.refuse("top_k", f"`top_k` is {top_k}, but there are only {classes} classes", code="E209")
    use.add("accuracy", {"top_k": top_k, "ignore_label": p["ignore_label"]}, outputs=[])
    for value in use.tops:
        value.type = Type.dense()
        # A metric has no value here, so a reader is an error, reported as for losses.
        value.is_loss = bool(value.readers)
