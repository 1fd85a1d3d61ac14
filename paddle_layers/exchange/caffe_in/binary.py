"""Caffe's binary files: a parser by the numbers of the few required fields; weights of a caffemodel by layer name."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.define.escaping import message_line, printable_line
from paddle_layers.define.fields.types import product, shape_text
from paddle_layers.runtime.graph.building import parameter_shapes

from .layers import BlobConversion

LARGEST = (1 << 31) - 1
"""Maximum file size in bytes: the limit of protobuf."""
# Caffe's own limit, `kMaxBlobAxes`.
MOST_AXES = 32
# Only the fields that are needed, so that neither Caffe nor its caffe.proto is required; protobuf skips all others.
_FIELDS = {
    "Net": {"name": (1, "bytes"), "layers": (2, "bytes*"), "layer": (100, "bytes*")},
    "Layer": {"name": (1, "bytes"), "blobs": (7, "bytes*")},
    # `name` and `blobs` have other numbers in the format of 2014, and `layer` (1) is the nested message of that of
    # 2013.
    "OldLayer": {"name": (4, "bytes"), "blobs": (6, "bytes*"), "layer": (1, "bytes")},
    # Repeated numbers are declared as bytes: protobuf then returns a packed array as one buffer for `np.frombuffer`
    # instead of an object per number.
    "Blob": {
        **{name: (number, "int32") for number, name in enumerate(("num", "channels", "height", "width"), 1)},
        # Names are bytes, too, since old files have names that are not UTF-8.
        **{"data": (5, "bytes*"), "shape": (7, "bytes"), "double_data": (8, "bytes*")},
    },
    # Files that repeat the tag before each number have no such buffer and are parsed a second time.
    "UnpackedBlob": {"data": (5, "float*"), "double_data": (8, "double*")},
    "Shape": {"dim": (1, "int64*")},
}
"""Number and type of each field; `*` marks repeated ones."""
_SHOWN = 20


class CaffeError(ValueError):
    """A binary file of Caffe cannot be used. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


class Blob(NamedTuple):
    """An array of a file: its numbers in a row, and the shape that it claims, which fits them."""

    numbers: NDArray[np.float32]
    shape: tuple[int, ...]


def read_model(path: Path) -> dict[str, list[Blob]]:
    """The blobs of each layer of a caffemodel that has some, by the layer's name. Raises `CaffeError`."""
    net = _parsed("Net", _content(path), path, "a caffemodel")
    found: dict[str, list[Blob]] = {}
    for kind, layers in (("OldLayer", net.layers), ("Layer", net.layer)):
        for content in layers:
            layer = _parsed(kind, content, path, "a caffemodel")
            # The format of 2013 nests the settings, name included, in a message whose fields have other numbers.
            if kind == "OldLayer" and layer.HasField("layer"):
                raise CaffeError(
                    f"{path} has the layer format of 2013: convert it with Caffe's `upgrade_net_proto_binary`"
                )
            name = printable_line(layer.name.decode(errors="replace"))
            blobs = [_blob(one, path, f"blob {at} of layer `{name}`") for at, one in enumerate(layer.blobs)]
            # Weights are matched by name.
            if blobs and name in found:
                raise CaffeError(f"{path}: two layers with weights are named `{name}`")
            if blobs:
                found[name] = blobs
    if not found:
        raise CaffeError(f"{path} has no weights; expected a caffemodel, the snapshot of Caffe's solver")
    return found


def read_mean(path: Path) -> NDArray[np.float32]:
    """The array of a binaryproto, channels first. Raises `CaffeError`."""
    numbers, shape = _blob(_content(path), path, "the mean")
    # Caffe writes means as a batch of one image.
    while len(shape) > 3 and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > 3 or not len(numbers):
        raise CaffeError(f"{path}: expected a mean of shape channels x height x width, got {_shown(shape)}")
    return numbers.reshape(shape)


def _content(path: Path) -> bytes:
    try:
        facts = path.stat()
        # A pipe or device would never end.
        if not stat.S_ISREG(facts.st_mode):
            raise CaffeError(f"{path} is not a regular file")
        if facts.st_size > LARGEST:
            raise CaffeError(f"{path} has {facts.st_size:,} bytes, more than the protobuf limit of 2 GiB")
        content = path.read_bytes()
    except OSError as error:
        raise CaffeError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # a zero byte in the name
        if isinstance(error, CaffeError):
            raise
        raise CaffeError(f"cannot read {str(path)!r}: {error}") from None
    if content.startswith(b"\x89HDF"):
        raise CaffeError(f"{path} is an HDF5 file: save it in Caffe with `snapshot_format: BINARYPROTO`")
    return content


def _parsed(kind: str, content: bytes, path: Path, what: str) -> Any:
    message: Any = _classes()[kind]()
    try:
        message.ParseFromString(content)
    except DecodeError:
        raise CaffeError(f"{path} is truncated or not {what}") from None
    return message


def _blob(content: bytes, path: Path, what: str) -> Blob:
    """One array. Its shape has to hold as many numbers as there are."""
    message = _parsed("Blob", content, path, "a file of Caffe blobs")
    numbers = _numbers(content, message, path, what)
    if message.HasField("shape"):
        shape = tuple(_parsed("Shape", message.shape, path, "a file of Caffe blobs").dim)
    elif any(message.HasField(name) for name in ("num", "channels", "height", "width")):
        # Older blobs always have these four axes.
        shape = (message.num, message.channels, message.height, message.width)
    else:
        shape = (len(numbers),)
    # The declared shape is untrusted: NumPy has a limit of axes, and `reshape` would infer a negative size.
    if len(shape) > MOST_AXES or any(size < 0 for size in shape) or product(shape) != len(numbers):
        raise CaffeError(f"{path}: {what} has {len(numbers):,} values, but declares the shape {_shown(shape)}")
    return Blob(numbers, shape)


def _numbers(content: bytes, message: Any, path: Path, what: str) -> NDArray[np.float32]:
    for chunks, kind in ((message.data, "<f4"), (message.double_data, "<f8")):
        data = b"".join(chunks)
        if len(data) % np.dtype(kind).itemsize:
            raise CaffeError(f"{path}: {what} is truncated: its length is not a multiple of the item size")
        if data:
            return _single(np.frombuffer(data, kind))
    plain = _parsed("UnpackedBlob", content, path, "a file of Caffe blobs")
    return _single(np.array(plain.data or plain.double_data, np.float64))


def _single(numbers: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # infinity is refused where the weights are written
        return numbers.astype(np.float32, copy=False)


def _shown(shape: tuple[int, ...]) -> str:
    return shape_text(shape[:MOST_AXES])


@cache
def _classes() -> dict[str, Any]:
    """Message classes for the fields of the table, in a separate descriptor pool."""
    # The default pool is global: names and files in it must be unique in the whole process.
    file = descriptor_pb2.FileDescriptorProto(name="caffe_fields.proto", package="caffe_fields", syntax="proto2")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        message.field.extend(_descriptors(fields))
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"caffe_fields.{name}")) for name in _FIELDS
    }


def _descriptors(fields: dict[str, tuple[int, str]]) -> Iterator[descriptor_pb2.FieldDescriptorProto]:
    field = descriptor_pb2.FieldDescriptorProto
    for name, (number, kind) in fields.items():
        label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
        yield field(name=name, number=number, label=label, type=getattr(field, f"TYPE_{kind.rstrip('*').upper()}"))


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
