"""Operator schemas of ONNX: numbers of inputs, names and types of attributes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .model import OnnxNode, shown

KINDS = {"FLOAT": float, "INT": int, "STRING": str, "FLOATS": list, "INTS": list, "STRINGS": list, "TENSOR": np.ndarray}
"""Python types of attribute values, by schema type."""


@cache
def _schema(operator: str, opset: int, domain: str) -> Any:
    import onnx

    try:
        return onnx.defs.get_schema(operator, opset, domain)
    except onnx.defs.SchemaError:
        return None


def fault_of(node: OnnxNode, opset: int) -> str | None:
    """Violation of ONNX's schema by a node: number of inputs, names and types of attributes."""
    schema = _schema(node.operator, opset, node.domain)
    # A domain or an operator that ONNX does not know is reported by the conversion, with a better message.
    if schema is None:
        return None
    # An empty name is an absent input, which is only legal for optional ones.
    if not schema.min_input <= len(node.inputs) <= schema.max_input or not all(node.inputs[: schema.min_input]):
        return f"got {len(node.inputs)} inputs, ONNX expects {schema.min_input} to {schema.max_input}"
    for name, value in node.attributes.items():
        declared = schema.attributes.get(name)
        if declared is None:
            return f"unknown attribute `{shown(name)}`"
        # Checked here, so that the functions of operators may rely on the types: the file is untrusted, and onnx's own
        # checker stops at the first error.
        kind = KINDS.get(declared.type.name)
        if kind is not None and not isinstance(value, kind):
            return f"attribute `{shown(name)}` must be of type {declared.type.name}"
        if isinstance(value, list) and declared.type.name in ("INTS", "FLOATS"):
            wanted = int if declared.type.name == "INTS" else float
            if not all(isinstance(one, wanted) for one in value):
                return f"attribute `{shown(name)}` must be of type {declared.type.name}"
    missing = [name for name, one in schema.attributes.items() if one.required and name not in node.attributes]
    return f"missing attribute `{missing[0]}`" if missing else None
