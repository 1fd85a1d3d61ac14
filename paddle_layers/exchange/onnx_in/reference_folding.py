"""Constant folding by ONNX's reference implementation, for operators that are rare between constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import NotSupported
from .model import OnnxNode

Array = NDArray[Any]
OPERATORS = frozenset(
    (
        *("ArgMax", "ArgMin", "BatchNormalization", "Celu", "Clip", "Conv", "CumSum", "DepthToSpace", "Elu", "Erf"),
        *("GatherElements", "GatherND", "Gelu", "GlobalAveragePool", "HardSigmoid", "HardSwish"),
        *("InstanceNormalization", "LayerNormalization", "LeakyRelu", "LogSoftmax", "OneHot", "Pad", "Relu", "Resize"),
        *("Round", "ScatterElements", "ScatterND", "Sigmoid", "Sign", "Softmax", "Softplus", "SpaceToDepth", "Tan"),
    )
)
"""Operators without subgraphs and random numbers, whose results ONNX can size before they are computed."""
CONV = 1 << 26
"""Maximum number of multiplications of a convolution: the reference takes a second for it."""


def folded_by_reference(node: OnnxNode, arrays: Sequence[Array | None], opset: int, limited: Any) -> list[Array] | None:
    """Results of a node of constants; None for other operators. `limited` refuses a number of elements.

    Raises:
        NotSupported: The result is too large, or the node is invalid.
    """
    if node.operator not in OPERATORS or any(one is not None and one.dtype.kind == "O" for one in arrays):
        return None
    import onnx
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = [f"i{place}" if one is not None else "" for place, one in enumerate(arrays)]
    outputs = [f"o{place}" if name else "" for place, name in enumerate(node.outputs)]
    given = {name: one for name, one in zip(names, arrays, strict=True) if one is not None}
    made = helper.make_node(node.operator, names, outputs, **_attributes(node))
    graph = helper.make_graph(
        [made],
        "constants",
        [],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs if name],
        [onnx.numpy_helper.from_array(one, name) for name, one in given.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        for count in _sizes(onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True), node.operator):
            limited(count)
        if node.operator == "Conv":
            _limit_conv(model, arrays)
        found = ReferenceEvaluator(model).run(None, {})
    except NotSupported:
        raise
    except Exception as error:  # the reference raises whatever NumPy or its own code does
        raise NotSupported(f"invalid constants: {str(error).splitlines()[0] if str(error) else error!r}") from None
    return [np.asarray(one) for one in found]


def _attributes(node: OnnxNode) -> dict[str, Any]:
    from onnx import numpy_helper

    return {
        name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for name, value in node.attributes.items()
    }


def _sizes(model: Any, operator: str) -> list[int]:
    """Elements of the results, by ONNX's inference. Raises `NotSupported` where it does not know them."""
    counts = []
    for output in model.graph.output:
        type_ = output.type.tensor_type
        dims = type_.shape.dim
        if not type_.HasField("shape") or not all(dim.HasField("dim_value") for dim in dims):
            raise NotSupported(f"the size of {operator} of constants is unknown")
        counts.append(math.prod(dim.dim_value for dim in dims))
    return counts


def _limit_conv(model: Any, arrays: Sequence[Array | None]) -> None:
    import onnx

    (count,) = _sizes(onnx.shape_inference.infer_shapes(model), "Conv")
    kernel = arrays[1]
    assert kernel is not None
    if count * math.prod(kernel.shape[1:]) > CONV:
        raise NotSupported(f"a convolution of constants with {count} results is too large to be computed")
