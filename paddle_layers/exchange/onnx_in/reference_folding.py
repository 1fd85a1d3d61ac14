"""Constant folding by ONNX's reference implementation, for operators that are rare between constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import NotSupported
from .model import OnnxNode

Array = NDArray[Any]
OPERATORS = frozenset(
    (
        *("ArgMax", "ArgMin", "BatchNormalization", "Celu", "Clip", "Conv", "CumSum", "DepthToSpace", "Elu", "Erf"),
        *("DequantizeLinear", "GatherND", "Gelu", "Gemm", "GlobalAveragePool", "HardSigmoid", "HardSwish"),
        *("InstanceNormalization", "LayerNormalization", "LeakyRelu", "OneHot", "Pad"),
        *("QuantizeLinear", "Relu", "Resize"),
        *("Round", "ScatterElements", "ScatterND", "Sigmoid", "Sign", "Softplus", "SpaceToDepth", "Tan"),
    )
)
"""Operators without subgraphs and random numbers, whose results ONNX can size before they are computed."""
_CORRECT_SINCE = {"BatchNormalization": 15, "DequantizeLinear": 21, "QuantizeLinear": 21}
"""First opset that the reference computes correctly; older versions only have fewer attributes."""
# The reference takes 0.8 s for a filter of 3x3 on one channel of so many multiplications, much less for many channels.
MAX_CONV_WORK = 1 << 24
"""Maximum number of multiplications of a convolution."""


def folded_by_reference(
    node: OnnxNode, arrays: Sequence[Array | None], opset: int, check_size: Callable[[int], None]
) -> list[Array] | None:
    """Results of a node of constants; None for other operators.

    Args:
        node: The node.
        arrays: Its inputs; None for an omitted one.
        opset: Version of the operators.
        check_size: Raises `NotSupported` for too many elements; called before anything is computed.

    Raises:
        NotSupported: The result is too large, or the node is invalid.
    """
    if node.operator not in OPERATORS or any(array is not None and array.dtype.kind == "O" for array in arrays):
        return None
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = _model_of(node, arrays, opset)
    try:
        sizes = _sizes(onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True), node.operator)
        for size in sizes:
            check_size(size)
        if node.operator == "Conv":
            _check_conv(sizes[0], arrays[1])
        results = ReferenceEvaluator(model).run(None, {})
    except NotSupported:
        raise
    except Exception as error:  # the reference checks nothing: invalid nodes of the file fail anywhere in its code
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise NotSupported(f"invalid constants: {reason}") from None
    return [np.asarray(result) for result in results]


def reference_of(node: OnnxNode, opset: int) -> Callable[[Sequence[Any]], list[Any]]:
    """The reference implementation of a node, as a function of its inputs, None for an omitted one."""
    from onnx.reference import ReferenceEvaluator

    model = _model_of(node, [], opset)
    evaluator = ReferenceEvaluator(model)

    def call(inputs: Sequence[Any]) -> list[Any]:
        feeds = {name: value for name, value in zip(model.graph.node[0].input, inputs, strict=True) if name}
        return list(evaluator.run(None, feeds))

    return call


def _model_of(node: OnnxNode, arrays: Sequence[Array | None], opset: int) -> Any:
    """A model of one node; `arrays` are constants among its inputs."""
    import onnx
    from onnx import helper, numpy_helper

    opset = max(opset, 0 if node.domain else _CORRECT_SINCE.get(node.operator, 0))
    inputs = [f"i{position}" if name else "" for position, name in enumerate(node.inputs)]
    outputs = [f"o{position}" if name else "" for position, name in enumerate(node.outputs)]
    attributes: dict[str, Any] = {
        name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for name, value in node.attributes.items()
    }
    pairs = zip(inputs, arrays, strict=False)
    constants = [numpy_helper.from_array(array, name) for name, array in pairs if array is not None]
    known = {one.name for one in constants}
    ports, types = (
        [helper.make_value_info(name, onnx.TypeProto()) for name in names if name and name not in known]
        for names in (inputs, outputs)
    )
    nodes = [helper.make_node(node.operator, inputs, outputs, domain=node.domain, **attributes)]
    graph = helper.make_graph(nodes, "node", ports, types, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)])


def _sizes(model: Any, operator: str) -> list[int]:
    """Numbers of elements of the results, by ONNX's inference. Raises `NotSupported` where it does not know them."""
    sizes = []
    for output in model.graph.output:
        type_ = output.type.tensor_type
        dims = type_.shape.dim
        if not type_.HasField("shape") or not all(dim.HasField("dim_value") for dim in dims):
            raise NotSupported(f"the size of {operator} of constants is unknown")
        sizes.append(math.prod(dim.dim_value for dim in dims))
    return sizes


def _check_conv(size: int, kernel: Array | None) -> None:
    if kernel is not None and size * math.prod(kernel.shape[1:]) > MAX_CONV_WORK:
        raise NotSupported(f"a convolution of constants with {size} results is too large to be computed")
