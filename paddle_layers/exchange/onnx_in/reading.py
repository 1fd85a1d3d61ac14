"""Reading of model files: untrusted protobuf messages, validated during conversion."""

from __future__ import annotations

import stat
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from .model import GraphInput, ImportFailure, Model, OnnxNode, OnnxSubgraph, shown, text
from .tensors import KINDS, Tensors

LARGEST_FILE = (1 << 31) - 1
"""Maximum file size in bytes: the limit of protobuf."""
MOST_NODES = 100_000
MOST_DIMS = 8
OLDEST, NEWEST = 7, 26
"""Supported opsets."""


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
    count = len(graph.node) + sum(len(one.g.node) for node in graph.node for one in node.attribute)
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
    nodes = [_node(place, one, tensors) for place, one in enumerate(graph.node)]
    _check_names(nodes, {*constants, *(text(one.name) for one in graph.input)})
    # Before IR version 4 initializers had to be listed among the inputs as well.
    inputs = [_entry(one) for one in graph.input if text(one.name) not in constants]
    outputs = [_entry(one) for one in graph.output]
    producer = " ".join(filter(None, map(text, (proto.producer_name, proto.producer_version))))
    return Model(text(graph.name), shown(producer), nodes, constants, inputs, outputs, opsets)


def _constants(graph: Any, tensors: Tensors) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for one in graph.initializer:
        if text(one.name) in found:
            raise ImportFailure(f"duplicate initializer `{shown(one.name)}`")
        found[text(one.name)] = tensors.read(one)
    return found


def _body(graph: Any, tensors: Tensors) -> OnnxSubgraph:
    """A graph in an attribute. Its nodes have no graphs, so that nothing is read deeper than this."""
    # One level of graphs: recursion depth must not depend on the file.
    nodes = [_node(place, one, tensors, deeper=False) for place, one in enumerate(graph.node)]
    ports = [tuple(text(one.name) for one in port) for port in (graph.input, graph.output)]
    return OnnxSubgraph(nodes, _constants(graph, tensors), *ports)


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


def _node(place: int, proto: Any, tensors: Tensors, *, deeper: bool = True) -> OnnxNode:
    attributes = {text(one.name): _attribute(one, tensors, deeper=deeper) for one in proto.attribute}
    domain = _domain(proto.domain)
    inputs, outputs = (tuple(map(text, names)) for names in (proto.input, proto.output))
    return OnnxNode(place, text(proto.name), text(proto.op_type), domain, inputs, outputs, attributes)


def _attribute(proto: Any, tensors: Tensors, *, deeper: bool) -> Any:
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
    if kind == 5 and deeper:
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
        if one.HasField("dim_value"):
            if not 0 < one.dim_value < np.iinfo(np.int32).max:
                raise ImportFailure(f"`{shown(proto.name)}` has an axis of invalid size {one.dim_value}")
            axes.append(int(one.dim_value))
        else:
            axes.append(text(one.dim_param) or None)
    return GraphInput(text(proto.name), kind, tuple(axes))
