"""Weights of a caffemodel, matched by layer name, as in Caffe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.define.escaping import message_line
from paddle_layers.define.fields.types import shape_text
from paddle_layers.runtime.graph.building import parameter_shapes

from .binary import Blob, CaffeError
from .layers import BlobConversion

_SHOWN = 20


@dataclass
class Weights:
    """Arrays by name; parameters that the caffemodel lacks, and its layers that the network lacks."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def weights_of(model: Mapping[str, list[Blob]], stored: list[BlobConversion], network: Network, path: Path) -> Weights:
    """The weights of a network in a model. Raises `CaffeError` with every blob that does not fit, one line each."""
    wanted = parameter_shapes(network, "float32")
    found, problems = Weights(), list[str]()
    for one in stored:
        blobs = model.get(one.layer.name)
        if blobs is None:
            continue
        problem = _problem(blobs, one)
        if problem:
            # All at once: a prototxt of another variant usually differs in several layers.
            problems.append(message_line(f"layer `{one.layer.name}`: {problem}"))
            continue
        arrays = [blob.numbers.reshape(shape) for blob, shape in zip(blobs, one.shapes, strict=True)]
        with np.errstate(all="ignore"):  # what is not finite is refused below
            made = one.make(arrays)
        # of parameters that are shared, the weights have the first alone
        found.arrays |= {name: np.ascontiguousarray(made[name], np.float32) for name in made if name in wanted}
    if problems:
        raise _CaffemodelMismatch(path, problems)
    for name, array in found.arrays.items():
        # A running average that is divided by its weight may overflow; infinity would only show as NaN in training.
        if array.shape != wanted[name] or not np.isfinite(array).all():
            reason = "NaN or infinite values" if array.shape == wanted[name] else f"the shape {array.shape}"
            raise CaffeError(f"{path}: `{name}` has {reason}")
    # Unused layers are no error: a deployed net has no loss, a fine-tuned one another last layer.
    names = {one.layer.name for one in stored}
    found.missing = [name for name in wanted if name not in found.arrays]
    found.unread = [name for name in model if name not in names]
    return found


class _CaffemodelMismatch(CaffeError):
    def __init__(self, path: Path, problems: list[str]) -> None:
        more = [f"... and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        self.problems = [*problems[:_SHOWN], *more]
        super().__init__(f"{path} does not match the prototxt")

    def __str__(self) -> str:
        return "\n  ".join([f"{super().__str__()}:", *self.problems])


def _problem(blobs: list[Blob], stored: BlobConversion) -> str:
    if len(blobs) != len(stored.shapes):
        return f"expected {len(stored.shapes)} blobs, got {len(blobs)}"
    for at, (blob, shape) in enumerate(zip(blobs, stored.shapes, strict=True)):
        # Without leading ones: old files have four axes for everything, a bias of 10 as 1x1x1x10.
        if _core(blob.shape) != _core(shape):
            return f"expected shape {shape_text(shape)} for blob {at}, got {shape_text(blob.shape)}"
    return ""


def _core(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without ones in front: blobs once had four axes, whatever was in them."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape
