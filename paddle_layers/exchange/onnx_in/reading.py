"""Reading of model files: untrusted protobuf messages, validated during conversion, and their tensors as arrays.

Claimed sizes of tensors are compared with the available bytes before reading.
"""

from __future__ import annotations

import math
import os
import stat
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from .model import GraphInput, ImportFailure, Model, OnnxNode, OnnxSubgraph, is_inlined, shown, text

MOST_AXES = 32
LARGEST = 1 << 48
"""Maximum product of the axes: NumPy refuses larger shapes even for empty tensors."""
KINDS: dict[int, str] = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
"""NumPy types of TensorProto's data types."""
TEXTS = 8
"""Strings are class names, which are never computed with."""
FIELDS = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint64": "uint64_data",
    "uint32": "uint64_data",
}  # fmt: skip
LARGEST_FILE = (1 << 31) - 1
"""Maximum file size in bytes: the limit of protobuf."""
MOST_NODES = 100_000
MOST_DIMS = 8
OLDEST, NEWEST = 7, 28
"""Supported opsets."""


class Tensors:
    """Reads the tensors of one file. Bytes of external data are read once: overlapping tensors are rejected."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._taken: dict[Path, int] = {}

    def read(self, proto: Any) -> NDArray[Any]:
        """The numbers. Raises `ImportFailure` with the tensor's name."""
        if proto.data_type == TEXTS:
            return np.empty(0, "U1")
        kind = KINDS.get(proto.data_type)
        if kind is None:
            raise _wrong(proto, f"has unsupported data type {proto.data_type}")
        dims = tuple(proto.dims)
        if len(dims) > MOST_AXES or any(size < 0 for size in dims):
            raise _wrong(proto, f"has invalid shape {str(dims)[:60]}")
        if math.prod(size for size in dims if size) > LARGEST:
            raise _wrong(proto, f"has shape {str(dims)[:60]}, which is too large")
        count = math.prod(dims)
        if proto.data_location == 1:
            return _array(self._beside(proto, kind, count), kind).reshape(dims)
        if proto.HasField("raw_data"):
            expected = count * _itemsize(kind)
            if len(proto.raw_data) != expected:
                raise _wrong(proto, f"has {len(proto.raw_data)} bytes, but its shape {dims} needs {expected}")
            return _array(proto.raw_data, kind).reshape(dims)
        stored = getattr(proto, FIELDS.get(kind, "int32_data"))
        if len(stored) != count:
            raise _wrong(proto, f"has {len(stored)} values, but its shape {dims} needs {count}")
        return _listed(np.array(stored, np.float64 if kind.startswith("float") else None), kind, proto).reshape(dims)

    def _beside(self, proto: Any, kind: str, count: int) -> bytes:
        facts = {text(entry.key): text(entry.value) for entry in proto.external_data}
        path = self._path(proto, facts.get("location", ""))
        try:
            offset, length = int(facts.get("offset", "0")), int(facts.get("length", "-1"))
        except ValueError:
            raise _wrong(proto, "has an invalid offset or length of external data") from None
        expected = count * _itemsize(kind)
        size = path.stat().st_size
        if length not in (-1, expected) or offset < 0 or offset + expected > size:
            raise _wrong(proto, f"needs {expected} bytes at offset {offset} of a file of {size} bytes")
        # A small file could otherwise claim any amount of memory through tensors that all refer to the same bytes.
        self._taken[path] = self._taken.get(path, 0) + expected
        if self._taken[path] > size:
            raise _wrong(proto, "overlaps another tensor in the external data")
        with path.open("rb") as file:
            file.seek(offset)
            found = file.read(expected)
        if len(found) != expected:
            raise _wrong(proto, "has truncated external data")
        return found

    def _path(self, proto: Any, location: str) -> Path:
        """A plain file in the folder of the model, and nothing else."""
        parts = PurePosixPath(location).parts
        if not parts or location.startswith(("/", "\\")) or ".." in parts or "\\" in location or "\0" in location:
            raise _wrong(
                proto,
                f"has external data at `{shown(location)}`, expected a file name relative to the model, without `..`",
            )
        found = self.folder.joinpath(*parts)
        try:
            # Links are resolved before the comparison: a model must not make the importer read other files.
            real = Path(os.path.realpath(found, strict=True))
            plain = stat.S_ISREG(real.stat().st_mode)
        except OSError as error:
            raise _wrong(proto, f"has external data at `{shown(location)}`: {error.strerror}") from None
        if not real.is_relative_to(Path(os.path.realpath(self.folder))) or not plain:
            raise _wrong(
                proto, f"has external data at `{shown(location)}`, outside of the model's folder or not a regular file"
            )
        return real


def _itemsize(kind: str) -> int:
    return 2 if kind == "bfloat16" else np.dtype(kind).itemsize


def _array(data: bytes, kind: str) -> NDArray[Any]:
    if kind == "bfloat16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    if kind == "bool":
        found: NDArray[Any] = np.frombuffer(data, np.uint8) != 0
        return found
    return np.frombuffer(data, np.dtype(kind).newbyteorder("<"))


def _listed(stored: NDArray[Any], kind: str, proto: Any) -> NDArray[Any]:
    """Values in a list of the message; half precision is encoded as bits."""
    if kind in ("float16", "bfloat16"):
        bits = np.array(proto.int32_data, np.int64).astype(np.uint16)
        return _array(bits.astype("<u2").tobytes(), kind)
    with np.errstate(over="ignore"):
        found: NDArray[Any] = stored.astype(kind)
    return found


def _wrong(proto: Any, what: str) -> ImportFailure:
    return ImportFailure(f"tensor `{shown(proto.name)}` {what}")


def onnx_package() -> ModuleType:
    """The package onnx. Raises `ImportFailure` where it is not installed."""
    try:
        import onnx
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise ImportFailure("ONNX import requires onnx: pip install 'paddle-layers[onnx]'") from None
    return onnx


def read_model(path: Path) -> Model:
    """The model of a file. Raises `ImportFailure`, `OSError` if it does not exist."""
    onnx = onnx_package()
    facts = path.stat()
    # A pipe or device would never end.
    if not stat.S_ISREG(facts.st_mode):
        raise ImportFailure(f"{path} is not a regular file")
    if facts.st_size > LARGEST_FILE:
        raise ImportFailure(f"{path} has {facts.st_size:,} bytes, more than the protobuf limit of 2 GiB")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise ImportFailure(f"{path} is truncated or not an ONNX model: {error}") from None
    if not proto.HasField("graph") or not proto.opset_import:
        raise ImportFailure(f"{path} is not an ONNX model: it has no graph or no opset")
    try:
        return _model(proto, Tensors(path.parent))
    except ImportFailure as failure:
        raise ImportFailure(*(f"{path}: {line}" for line in str(failure).split("\n"))) from None


def _model(proto: Any, tensors: Tensors) -> Model:
    graph = proto.graph
    opsets = {_domain(one.domain): one.version for one in proto.opset_import}
    version = opsets.get("", NEWEST)
    if not OLDEST <= version <= NEWEST:
        raise ImportFailure(f"opset {version} is not supported, expected {OLDEST} to {NEWEST}")
    odd = [domain for domain, number in opsets.items() if not 0 <= number < 1 << 31]
    if odd:
        raise ImportFailure(f"invalid opset version {opsets[odd[0]]} of domain `{shown(odd[0])}`")
    # Counted before anything is converted: the file is untrusted.
    count = _count(graph)
    if count > MOST_NODES:
        raise ImportFailure(f"the model has {count:,} nodes, the limit is {MOST_NODES:,}")
    if graph.sparse_initializer:
        raise ImportFailure("sparse initializers are not supported: convert them to dense tensors")
    if proto.functions:
        names = ", ".join(sorted({shown(one.name) for one in proto.functions})[:5])
        raise ImportFailure(
            f"local functions are not supported ({names}): inline them with onnx.inliner.inline_local_functions"
        )
    constants = _constants(graph, tensors)
    nodes = _nodes(graph, tensors)
    _check_names(nodes, {*constants, *(text(one.name) for one in graph.input)})
    # Before IR version 4 initializers had to be listed among the inputs as well.
    inputs = [_entry(one) for one in graph.input if text(one.name) not in constants]
    outputs = [_entry(one) for one in graph.output]
    producer = " ".join(filter(None, map(text, (proto.producer_name, proto.producer_version))))
    own = len(nodes)
    _add_branches(nodes)
    return Model(text(graph.name), shown(producer), nodes, own, constants, inputs, outputs, opsets)


def _count(graph: Any) -> int:
    """The number of nodes, including those of graphs in attributes; protobuf limits the depth to about 30."""
    return len(graph.node) + sum(_count(one.g) for node in graph.node for one in node.attribute if one.HasField("g"))


def _add_branches(nodes: list[OnnxNode]) -> None:
    """The nodes of branches and steps after those of the graph, so that layers and messages can name them by place."""
    for node in nodes:  # including those that are added
        if is_inlined(node):
            for body in filter(lambda one: isinstance(one, OnnxSubgraph), node.attributes.values()):
                body.nodes[:] = [replace(one, place=len(nodes) + at) for at, one in enumerate(body.nodes)]
                nodes.extend(body.nodes)


def _constants(graph: Any, tensors: Tensors) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for one in graph.initializer:
        if text(one.name) in found:
            raise ImportFailure(f"duplicate initializer `{shown(one.name)}`")
        found[text(one.name)] = tensors.read(one)
    return found


def _body(graph: Any, tensors: Tensors) -> OnnxSubgraph:
    """A graph in an attribute."""
    ports = [tuple(text(one.name) for one in port) for port in (graph.input, graph.output)]
    found = OnnxSubgraph(_nodes(graph, tensors), _constants(graph, tensors), *ports)
    _check_names(found.nodes, {*found.inputs, *found.constants, *found.captured})
    return found


def _domain(domain: str | bytes) -> str:
    return "" if domain == "ai.onnx" else text(domain)


def _check_names(nodes: list[OnnxNode], known: set[str]) -> None:
    for node in nodes:
        for name in filter(None, (*node.inputs, *node.captured)):
            if name not in known:
                raise ImportFailure(f"node {node.label}: unknown input `{shown(name)}`")
        for name in filter(None, node.outputs):
            if name in known:
                raise ImportFailure(f"node {node.label}: duplicate output `{shown(name)}`")
            known.add(name)


def _nodes(graph: Any, tensors: Tensors) -> list[OnnxNode]:
    return [_node(place, one, tensors) for place, one in enumerate(graph.node)]


def _node(place: int, proto: Any, tensors: Tensors) -> OnnxNode:
    attributes = {text(one.name): _attribute(one, tensors) for one in proto.attribute}
    domain = _domain(proto.domain)
    inputs, outputs = (tuple(map(text, names)) for names in (proto.input, proto.output))
    return OnnxNode(place, text(proto.name), text(proto.op_type), domain, inputs, outputs, attributes)


def _attribute(proto: Any, tensors: Tensors) -> Any:
    """A value: a number, a string, a list, an array, a graph; None for several graphs."""
    kind = proto.type
    if kind == 1:
        return proto.f
    if kind == 2:
        return proto.i
    if kind == 3:
        return proto.s.decode("utf-8", "replace")
    if kind == 4:
        return tensors.read(proto.t)
    if kind == 5:
        return _body(proto.g, tensors)
    if kind == 6:
        return list(proto.floats)
    if kind == 7:
        return list(proto.ints)
    if kind == 8:
        return [one.decode("utf-8", "replace") for one in proto.strings]
    return None


def _entry(proto: Any) -> GraphInput:
    if not proto.type.HasField("tensor_type"):
        return GraphInput(text(proto.name), proto.type.WhichOneof("value") or "", None)
    tensor = proto.type.tensor_type
    kind = KINDS.get(tensor.elem_type, "text" if tensor.elem_type == 8 else "unknown")
    if not tensor.HasField("shape"):
        return GraphInput(text(proto.name), kind, None)
    if len(tensor.shape.dim) > MOST_DIMS:
        raise ImportFailure(f"`{shown(proto.name)}` has {len(tensor.shape.dim)} axes, the limit is {MOST_DIMS}")
    axes: list[int | str | None] = []
    for one in tensor.shape.dim:
        if one.HasField("dim_value") and one.dim_value != -1:  # Paddle2ONNX writes -1 for a dynamic size
            if not 0 < one.dim_value < np.iinfo(np.int32).max:
                raise ImportFailure(f"`{shown(proto.name)}` has an axis of invalid size {one.dim_value}")
            axes.append(int(one.dim_value))
        else:
            axes.append(text(one.dim_param) or None)
    return GraphInput(text(proto.name), kind, tuple(axes))
