"""Model files: nodes and weights as an ONNX model, checked before writing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from paddle_layers.define.escaping import message_line, printable_line
from paddle_layers.runtime.memory.tensorfiles import write_file

from .graph import NodeText, SubgraphText
from .writing import ExportedNetwork, Port

OPSET = 20
"""Opset of the model, supported by onnxruntime 1.18 (2024) and later."""
# The version that came with opset 20 (ONNX 1.15); engines refuse models with a newer one.
IR_VERSION = 9
EXTERNAL_FROM = 1 << 30
"""Size of weights in bytes from which they are stored as external data: protobuf is limited to 2 GiB."""
BESIDE = 1 << 10
"""Size in bytes of float constants that are moved to external data; engines need shapes in the model."""


class ExportError(ValueError):
    """A network cannot be exported. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


def import_onnx() -> ModuleType:
    """The package onnx. Raises `ExportError` where it is not installed."""
    try:
        onnx = import_module("onnx")
        for name in ("checker", "numpy_helper", "shape_inference"):
            import_module(f"onnx.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise ExportError("ONNX export requires onnx: pip install 'paddle-layers[onnx]'") from None
    return onnx


def write_model(written: ExportedNetwork, name: str, path: Path) -> list[Path]:
    """Write the model; returns the files. Raises `ExportError` for errors of ONNX's checker, `SaveError`."""
    onnx = import_onnx()
    nbytes = sum(array.nbytes for array in written.graph.constants.values())
    data = path.with_name(f"{path.name}.data") if nbytes >= EXTERNAL_FROM else None
    chunks: list[bytes] = []
    tensors = [_tensor(onnx, key, array, data, chunks) for key, array in written.graph.constants.items()]
    model = _model(onnx, written, name, tensors)
    if data is None:
        model = _checked(onnx, model)
        write_file(path, model.SerializeToString())
        return [path]
    # The data first: a model never refers to a file that is missing or older.
    write_file(data, b"".join(chunks))
    write_file(path, model.SerializeToString())
    # By path: the checker has to find the data, and a message of more than 2 GiB cannot be passed.
    _checked(onnx, str(path))
    return [path, data]


def _model(onnx: ModuleType, written: ExportedNetwork, name: str, tensors: list[Any]) -> Any:
    from paddle_layers._version import __version__

    helper = onnx.helper
    nodes = _nodes(onnx, written.graph.nodes)
    inputs, outputs = ([_port(onnx, port) for port in ports] for ports in (written.inputs, written.outputs))
    return helper.make_model(
        helper.make_graph(nodes, printable_line(name), inputs, outputs, tensors),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="paddle-layers",
        producer_version=__version__,
    )


def _nodes(onnx: ModuleType, nodes: list[NodeText]) -> list[Any]:
    return [
        onnx.helper.make_node(
            node.operator, node.inputs, node.outputs, node.name,
            **{key: _body(onnx, one) if isinstance(one, SubgraphText) else one for key, one in node.attributes.items()},
        )
        for node in nodes
    ]  # fmt: skip


def _body(onnx: ModuleType, body: SubgraphText) -> Any:
    inputs, outputs = ([onnx.ValueInfoProto(name=name) for name in ends] for ends in (body.inputs, body.outputs))
    return onnx.helper.make_graph(_nodes(onnx, body.nodes), printable_line(body.name), inputs, outputs)


def _port(onnx: ModuleType, port: Port) -> Any:
    kind = onnx.TensorProto.INT64 if port.ids else onnx.TensorProto.FLOAT
    return onnx.helper.make_tensor_value_info(port.name, kind, list(port.axes))


def _tensor(onnx: ModuleType, name: str, array: Any, data: Path | None, chunks: list[bytes]) -> Any:
    # Integers are shapes and axes, which engines read while they load the model.
    if data is None or array.nbytes < BESIDE or array.dtype.kind != "f":
        return onnx.numpy_helper.from_array(np.asarray(array, order="C"), name)
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = onnx.TensorProto(name=name, dims=array.shape, data_type=kind)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    place = {"location": data.name, "offset": sum(map(len, chunks)), "length": array.nbytes}
    for key, value in place.items():
        tensor.external_data.add(key=key, value=str(value))
    chunks.append(np.ascontiguousarray(array).tobytes())
    return tensor


def _checked(onnx: ModuleType, model: Any) -> Any:
    """The model with the shapes of the values inside, for those who look at it."""
    try:
        if isinstance(model, str):
            onnx.checker.check_model(model)
            return model
        # Strict: otherwise the inference skips what it cannot infer, and contradictory shapes pass.
        found = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(found, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ExportError(f"the ONNX checker rejects the model: {error}") from None
    for value in found.graph.value_info:
        for axis in value.type.tensor_type.shape.dim:
            if axis.dim_param.startswith("unk__"):  # a symbolic size that onnx created: it is unknown
                axis.ClearField("dim_param")
    return found
