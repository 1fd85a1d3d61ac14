"""ONNX's reference implementation: for constant folding of rare operators, and for all values of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import NotSupported
from .model import Model, OnnxNode, OnnxSubgraph

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
MOST_WORK, MOST_VALUES = 1 << 30, 1 << 25
"""Limits of a verified model: multiplications, and the elements of all weights and values."""
TOO_LARGE = f"it has more than {MOST_VALUES:,} weights and values, or takes more than {MOST_WORK:,} multiplications"
SLOW = frozenset({"GridSample", "MaxRoiPool", "Resize", "RoiAlign", "Upsample"})
"""Operators that the reference computes element by element, in Python."""


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
        found = iter(evaluator.run(None, feeds))
        return [next(found) if name else None for name in node.outputs]

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


# ---- whole models


class NotVerified(Exception):
    """The model cannot be computed by the reference; the message says why."""


@dataclass
class ReferenceRun:
    """All values of a model for one batch, with upper bounds of their elements and of the multiplications."""

    model: Model
    values: dict[str, Any]
    work: int = 0
    size: int = 0
    left: int = 100_000
    """Nodes, counted for each step of a loop."""
    calls: dict[OnnxNode, Any] = field(default_factory=dict)
    constants: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.constants = {"", *self.model.constants, *self.model.fixed}

    def run(self, nodes: Sequence[OnnxNode], values: dict[str, Any]) -> None:
        """Compute the outputs of nodes; in double precision, unless they are constants. Raises `NotVerified`."""
        for node in nodes:
            # What follows from constants, such as indices, is rounded as in the model.
            constant = node.operator in ("Shape", "Size") or self.constants.issuperset((*node.inputs, *node.captured))
            self.constants.update(node.outputs if constant else ())
            convert: Callable[[Any], Any] = (lambda one: one) if constant else in_double
            inputs = [convert(values.get(name)) if name else None for name in node.inputs]
            try:
                self._count(*work_of(node, inputs))
                results = self._results(node, inputs, values, constant=constant)
            except NotVerified:
                raise
            except Exception as error:  # the reference has no common exception, and lacks some operators
                reason = str(error).partition("\n")[0][:120] or type(error).__name__
                raise NotVerified(f"{node.label} in ONNX's reference implementation: {reason}") from None
            values.update((name, convert(one)) for name, one in zip(node.outputs, results, strict=False) if name)

    def _count(self, size: int, work: int) -> None:
        """Count a node, or a step of a loop. Raises `NotVerified` beyond the limits."""
        self.size, self.work, self.left = self.size + size, self.work + work, self.left - 1
        if self.work > MOST_WORK or self.size > MOST_VALUES or self.left < 0:
            raise NotVerified(TOO_LARGE)

    def _results(
        self, node: OnnxNode, inputs: list[Any], values: dict[str, Any], *, constant: bool = False
    ) -> Sequence[Any]:
        if node.operator in _CORRECTED:
            return [_CORRECTED[node.operator](node, *inputs)]
        if node.operator == "If" and not node.domain:
            return self._body(node.attributes["then_branch" if inputs[0].all() else "else_branch"], [], values)
        if node.operator == "Loop" and not node.domain:
            return self._loop(node.attributes["body"], inputs, values)
        cast = not constant and node.operator in ("Cast", "CastLike")
        if cast and inputs[0].dtype.kind == "f" and _to_float(node, inputs):
            return inputs[:1]  # layers have one precision
        usual = _ACTIVATIONS.get(node.operator)
        if len(inputs) > 4 and node.operator in ("RNN", *_ACTIVATIONS) and inputs[4] is not None:
            full = (inputs[4] == inputs[0].shape[1 if node.attributes.get("layout") else 0]).all()
            if not full:
                raise NotVerified(f"the lengths of {node.label} are ignored by ONNX's reference implementation")
        if usual and node.attributes.get("activations", usual) != usual:
            raise NotVerified(f"the activations of {node.label} are ignored by ONNX's reference implementation")
        if node.attributes.get("direction") == "reverse" and not node.attributes.get("layout"):
            # The reference computes every recurrence forward.
            forward = replace(node, attributes={**node.attributes, "direction": "forward"})
            rows, *ends = self._results(forward, [inputs[0][::-1], *inputs[1:]], values)
            return [None if rows is None else rows[::-1], *ends]
        opset = self.model.opsets.get(node.domain, 1)
        if node.operator in ("Softmax", "LogSoftmax") and opset < 13:
            return [_softmax(node, inputs[0])]
        if node not in self.calls:
            self.calls[node] = reference_of(node, opset)
        results: Sequence[Any] = self.calls[node](inputs)
        return results

    def _body(self, body: OnnxSubgraph, given: Sequence[Any], values: dict[str, Any]) -> list[Any]:
        inner = {**values, **body.constants, **dict(zip(body.inputs, given, strict=True))}
        self.constants.update(body.constants)
        self.run(body.nodes, inner)
        return [inner[name] for name in body.outputs]

    def _loop(self, body: OnnxSubgraph, inputs: list[Any], values: dict[str, Any]) -> list[Any]:
        trips = math.inf if inputs[0] is None else int(inputs[0].reshape(()))
        going, states = inputs[1] is None or bool(inputs[1].all()), inputs[2:]
        rows: list[list[Any]] = [[] for _ in body.outputs[1 + len(states) :]]
        number = 0
        while number < trips and going:
            condition, *found = self._body(body, [np.array(number), np.array(True), *states], values)
            states, going = found[: len(states)], bool(condition.all())
            self._count(sum(map(np.size, found[len(states) :])), 0)  # rows are stacked afterwards
            for row, one in zip(rows, found[len(states) :], strict=True):
                row.append(one)
            number += 1
        return [*states, *map(np.stack, rows)]


def work_of(node: OnnxNode, inputs: Sequence[Any]) -> tuple[int, int]:
    """Upper bounds of the elements of a result and of the multiplications, before anything is computed."""
    arrays = [one for one in inputs if isinstance(one, np.ndarray)]
    elements = sum(one.size for one in arrays)
    if not arrays:
        return 1, 1
    x, *others = arrays
    size = _GROWTH[node.operator](node, x, others) if node.operator in _GROWTH else _broadcast_size(arrays)
    if node.operator in ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "RNN") and others:
        rows = x.size // max(x.shape[1] if "Conv" in node.operator else x.shape[-1], 1)
        return size, elements + rows * others[0].size
    window = math.prod(map(abs, node.attributes.get("kernel_shape", ())))
    return size, (elements + size * max(window, 1)) * (1000 if node.operator in SLOW else 1)


def _broadcast_size(arrays: Sequence[Array]) -> int:
    try:
        return math.prod(np.broadcast_shapes(*(one.shape for one in arrays)))
    except ValueError:
        return sum(one.size for one in arrays)


def _whole(array: Array) -> int:
    """The product of sizes; -1 and 0 are unchanged ones."""
    return math.prod(max(int(one), 1) for one in array.reshape(-1).tolist())


def _windows_size(node: OnnxNode, x: Array, others: Sequence[Array]) -> int:
    """Of images padded and with other channels; those of ConvTranspose are larger by the strides."""
    rank, up = x.ndim - 2, node.operator == "ConvTranspose"
    pads, strides = (node.attributes.get(name, [one] * 2 * rank) for name, one in (("pads", 0), ("strides", 1)))
    by = [abs(one) for one in strides[:rank]]
    sizes = [size * stride if up else (size + abs(pads[at]) + abs(pads[rank + at])) // max(stride, 1) + 1
             for at, (size, stride) in enumerate(zip(x.shape[2:], by, strict=True))]  # fmt: skip
    if not others:
        return int(x.shape[0] * x.shape[1] * math.prod(sizes))
    kernel, group = others[0].shape, node.attributes.get("group", 1)
    more = kernel[2:] if up else (0,) * rank
    channels = kernel[1] * group if up else kernel[0]
    return int(x.shape[0] * channels * math.prod(size + one for size, one in zip(sizes, more, strict=True)))


def _chosen_size(node: OnnxNode, x: Array, others: Sequence[Array]) -> int:
    axis = node.attributes.get("axis", 0) if node.operator == "Gather" else 0
    return int(x.size // max(x.shape[axis], 1) * others[0].size)


def _resized_size(_: OnnxNode, x: Array, others: Sequence[Array]) -> int:
    scales = [float(x.size * np.prod(np.abs(one))) for one in others if one.dtype.kind == "f"]
    return int(max([1.0, *scales, *(float(_whole(one)) for one in others if one.dtype.kind == "i")]))


def _pooled_boxes_size(node: OnnxNode, x: Array, others: Sequence[Array]) -> int:
    names = ("output_height", "output_width", "sampling_ratio", "sampling_ratio")
    return int(x.shape[1] * len(others[0]) * math.prod(max(node.attributes.get(name, 1), 1) for name in names))


_GROWTH: dict[str, Callable[[OnnxNode, Array, Sequence[Array]], int]] = {
    "ConstantOfShape": lambda _, x, __: _whole(x),
    "Expand": lambda _, x, others: math.prod(np.broadcast_shapes(x.shape, tuple(others[0].tolist()))),
    "Tile": lambda _, x, others: x.size * _whole(others[0]),
    "Range": lambda _, x, others: int(abs(float(others[0]) - float(x)) / max(abs(float(others[1])), 1e-30)) + 1,
    "OneHot": lambda _, x, others: x.size * _whole(others[0]),
    **dict.fromkeys(("Gather", "GatherND"), _chosen_size),
    **dict.fromkeys(("Resize", "Upsample"), _resized_size),
    **dict.fromkeys(("Conv", "ConvTranspose", "MaxPool", "AveragePool"), _windows_size),
    "Pad": lambda node, x, others: math.prod(
        size + sum(map(abs, node.attributes.get("pads") or others[0].tolist())) for size in x.shape
    ),
    "MatMul": lambda _, x, others: x.size * math.prod(others[0].shape[-1:] + others[0].shape[:-2]),
    "Gemm": lambda _, x, others: x.size * max(others[0].shape),
    "Einsum": lambda _, x, others: x.size * math.prod(one.size for one in others),
    "LRN": lambda node, x, _: x.size * max(node.attributes["size"], 1),
    "RoiAlign": _pooled_boxes_size,
}  # fmt: skip
"""Bounds of the elements of results that are larger than the inputs."""


def _softmax(node: OnnxNode, x: Array) -> Array:
    """Before opset 13: along all axes from `axis` on."""
    axis = node.attributes.get("axis", 1)
    rows = x.reshape(*x.shape[:axis], -1)
    rows = rows - rows.max(-1, keepdims=True)
    logarithm = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    found: Array = logarithm if node.operator == "LogSoftmax" else np.exp(logarithm)
    return found.reshape(x.shape)


def _pooled(node: OnnxNode, x: Array) -> Array:
    """Max and average pooling; elements outside of the padding are NaN, which no window counts."""
    kernel = node.attributes["kernel_shape"]
    rank, average = len(kernel), node.operator == "AveragePool"
    strides, dilations = (node.attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads, whole = node.attributes.get("pads", [0] * 2 * rank), node.attributes.get("ceil_mode", 0)
    spans = [by * (size - 1) + 1 for by, size in zip(dilations, kernel, strict=True)]
    same, padding, counts = node.attributes.get("auto_pad", "NOTSET"), [], []
    for at, size in enumerate(x.shape[2:]):
        before, after = pads[at], pads[rank + at]
        if same.startswith("SAME"):
            total = max((-(-size // strides[at]) - 1) * strides[at] + spans[at] - size, 0)
            before, after = sorted((total // 2, total - total // 2), reverse=same == "SAME_LOWER")
        room = size + before + after - spans[at]
        count = (-(-room // strides[at]) if whole else room // strides[at]) + 1
        counts.append(count - (whole and (count - 1) * strides[at] >= size + before))
        padding.append((before, after))
    full = np.pad(
        x, [(0, 0), (0, 0), *padding], constant_values=0 if node.attributes.get("count_include_pad") else np.nan
    )
    ends = [max((count - 1) * by + span - size, 0)
            for count, by, span, size in zip(counts, strides, spans, full.shape[2:], strict=True)]  # fmt: skip
    full = np.pad(full, [(0, 0), (0, 0), *((0, end) for end in ends)], constant_values=np.nan)
    axes = tuple(range(2, 2 + rank))
    windows = np.lib.stride_tricks.sliding_window_view(full, spans, axes)
    chosen = (
        slice(None),
        slice(None),
        *(slice(0, (count - 1) * by + 1, by) for count, by in zip(counts, strides, strict=True)),
    )
    windows = windows[(*chosen, *(slice(None, None, by) for by in dilations))]
    reduce = np.nanmean if average else np.fmax.reduce
    found: Array = reduce(windows, axis=tuple(range(2 + rank, 2 + 2 * rank)))
    return found


def _lrn(node: OnnxNode, x: Array) -> Array:
    size = node.attributes["size"]
    around = [(0, 0), ((size - 1) // 2, size // 2), *[(0, 0)] * (x.ndim - 2)]
    sums = np.lib.stride_tricks.sliding_window_view(np.pad(x, around) ** 2, size, 1).sum(-1)
    alpha, beta, bias = (node.attributes.get(name, one) for name, one in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1)))
    found: Array = x / (bias + alpha / size * sums) ** beta
    return found


def _elements(node: OnnxNode, x: Array, places: Array) -> Array:
    axis = node.attributes.get("axis", 0) % x.ndim
    own = x[tuple(slice(None) if at == axis else slice(size) for at, size in enumerate(places.shape))]
    found: Array = np.take_along_axis(own, places % x.shape[axis], axis)
    return found


_ACTIVATIONS = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_CORRECTED: dict[str, Callable[..., Any]] = {
    "AveragePool": _pooled, "MaxPool": _pooled, "LRN": _lrn, "GatherElements": _elements,
    "GlobalMaxPool": lambda _, x: x.max(tuple(range(2, x.ndim)), keepdims=True),
    "ZipMap": lambda _, x: x,
}  # fmt: skip
"""Operators that the reference lacks, or computes incorrectly (onnx 1.22), as compared with onnxruntime."""


def _to_float(node: OnnxNode, inputs: Sequence[Any]) -> bool:
    return node.attributes.get("to") in (1, 10, 11, 16) if len(inputs) == 1 else inputs[1].dtype.kind == "f"


def in_double(value: Any) -> Any:
    """Floats in double precision, also in lists."""
    if value is None or isinstance(value, (list, tuple)):
        return value if value is None else [in_double(one) for one in value]
    found = np.asarray(value)
    return found.astype(np.float64) if found.dtype.kind == "f" else found
