"""ONNX's own node tests through our layers: `python -m tests.exchange.onnx_nodes` lists what is expressed and what not.

An entry of `NODES` says which layer an operator is, given a node's attributes and its inputs; what it cannot say it
refuses with the reason. The first axis of a test is taken for the rows.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from onnx import NodeProto, helper

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

Arrays = list[Any]
TOLERANCE = {"rtol": 1e-3, "atol": 1e-5}


class NotExpressed(Exception):
    """Why a node has no layer."""


class Use(NamedTuple):
    """A layer, its attributes, the arrays it is fed with, and its parameters."""

    layer: str
    attributes: Mapping[str, Any]
    feeds: Arrays
    parameters: Mapping[str, Any] = MappingProxyType({})


def refuse_unless(condition: bool, reason: str) -> None:
    if not condition:
        raise NotExpressed(reason)


def rows_axis(axis: int, x: Any) -> int:
    """An axis behind the rows, counted from 0 as ONNX does."""
    found = axis + x.ndim if axis < 0 else axis
    refuse_unless(found > 0, "operates along the batch axis")
    return found


def same(layer: str, **attributes: Any) -> Callable[..., Use]:
    return lambda _, inputs: Use(layer, attributes, inputs)


def renamed(layer: str, names: dict[str, str], **defaults: float) -> Callable[..., Use]:
    """A layer of one input whose attributes have other names."""

    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        return Use(layer, {own: node.get(name, defaults[name]) for name, own in names.items()}, inputs)

    return use


def along(layer: str, default: int) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        return Use(layer, {"axis": rows_axis(node.get("axis", default), inputs[0])}, inputs[:1])

    return use


def concat(node: dict[str, Any], inputs: Arrays) -> Use:
    return Use("concat", {"axis": rows_axis(node["axis"], inputs[0])}, inputs)


def split(node: dict[str, Any], inputs: Arrays) -> Use:
    x, axis = inputs[0], rows_axis(node.get("axis", 0), inputs[0])
    if len(inputs) > 1 or "split" in node:
        sizes = [int(size) for size in (inputs[1] if len(inputs) > 1 else node["split"])]
        refuse_unless(all(sizes), "empty slices")
        return Use("slice", {"axis": axis, "sizes": sizes}, [x])
    parts = node["outputs"]
    each = -(-x.shape[axis] // parts)
    sizes = [each] * (parts - 1) + [x.shape[axis] - each * (parts - 1)]
    return Use("slice", {"axis": axis, "sizes": sizes}, [x])


def transpose(node: dict[str, Any], inputs: Arrays) -> Use:
    order = node.get("perm", list(range(inputs[0].ndim))[::-1])
    refuse_unless(order[0] == 0, "moves the batch axis")
    return Use("permute", {"order": order[1:]}, inputs)


def reduction(operation: str) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        x, axes = inputs[0], node.get("axes")
        if len(inputs) > 1:
            axes = [int(axis) for axis in inputs[1]]
        refuse_unless(bool(axes), "reduction over all axes including the batch, or over none")
        places = [rows_axis(axis, x) for axis in axes or ()]
        return Use(
            "reduction", {"operation": operation, "axes": places, "keep_dims": bool(node.get("keepdims", 1))}, [x]
        )

    return use


def arg(operation: str) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        settings = {"operation": operation, "axis": rows_axis(node.get("axis", 0), inputs[0])}
        settings |= {"last": bool(node.get("select_last_index", 0)), "keep_dims": bool(node.get("keepdims", 1))}
        return Use("arg_max", settings, inputs)

    return use


def grid_sample(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(inputs[0].ndim == 4, "volumes instead of images")
    modes = {"linear": "BILINEAR", "nearest": "NEAREST", "cubic": "BICUBIC"}
    settings = {"mode": modes[node.get("mode", "linear")], "align_corners": bool(node.get("align_corners", 0))}
    return Use("grid_sample", {**settings, "padding_mode": node.get("padding_mode", "zeros").upper()}, inputs)


def top_k(node: dict[str, Any], inputs: Arrays) -> Use:
    settings = {"k": int(inputs[1][0]), "axis": rows_axis(node.get("axis", -1), inputs[0])}
    return Use("top_k", {**settings, "largest": bool(node.get("largest", 1))}, inputs[:1])


def crop(node: dict[str, Any], inputs: Arrays) -> Use:
    x, starts, ends = inputs[0], *(list(map(int, one)) for one in inputs[1:3])
    axes = [int(axis) for axis in inputs[3]] if len(inputs) > 3 else list(range(len(starts)))
    steps = [int(step) for step in inputs[4]] if len(inputs) > 4 else [1] * len(starts)
    begin, sizes, places = [], [], []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        refuse_unless(step > 0, "negative steps")
        place = axis + x.ndim if axis < 0 else axis
        found = range(*slice(start, end, step).indices(x.shape[place]))
        refuse_unless(len(found) > 0, "empty slices")
        if place == 0:
            refuse_unless(len(found) == len(x), "slices along the batch axis")
        else:
            begin, sizes, places = [*begin, found[0]], [*sizes, len(found)], [*places, place]
    return Use(
        "crop",
        {"axes": places, "begin": begin, "sizes": sizes, "steps": [s for s, a in zip(steps, axes, strict=True) if a]},
        [x],
    )


def pad(node: dict[str, Any], inputs: Arrays) -> Use:
    x, pads = inputs[0], [int(size) for size in inputs[1]]
    axes = [axis % x.ndim for axis in map(int, inputs[3])] if len(inputs) > 3 else list(range(x.ndim))
    mode, half = node.get("mode", "constant"), len(pads) // 2
    refuse_unless(min(pads) >= 0, "a negative number of elements, which `crop` takes away")
    refuse_unless(mode != "wrap", "the mode wrap")
    sides = {axis: (pads[at], pads[at + half]) for at, axis in enumerate(axes)}
    refuse_unless(sides.pop(0, (0, 0)) == (0, 0), "pads axis 0, the rows")
    value = float(inputs[2]) if len(inputs) > 2 and np.size(inputs[2]) else 0.0
    begin, end = ([side[at] for side in sides.values()] for at in (0, 1))
    return Use("pad", {"axes": list(sides), "begin": begin, "end": end, "mode": mode.upper(), "value": value}, [x])


def layer_norm(node: dict[str, Any], inputs: Arrays) -> Use:
    x, axis = inputs[0], rows_axis(node.get("axis", -1), inputs[0])
    parameters = {name: value.reshape(-1) for name, value in zip(("gain", "bias"), inputs[1:], strict=False)}
    settings = {"axis": axis, "epsilon": node.get("epsilon", 1e-5), "bias": len(inputs) > 2}
    return Use("layer_norm", settings, [x], parameters)


NAMES = {1: "1d", 2: "", 3: "3d"}
"""What the layers for lines, images and volumes end in."""


def window(node: dict[str, Any], x: Any, kernel: list[int]) -> dict[str, Any]:
    """Strides, dilation and padding along the axes."""
    axes = len(kernel)
    strides, dilations = node.get("strides", [1] * axes), node.get("dilations", [1] * axes)
    how, pads = node.get("auto_pad", "NOTSET"), node.get("pads", [0] * 2 * axes)
    if how.startswith("SAME"):
        places = zip(x.shape[2:], kernel, strides, dilations, strict=True)
        wanted = [max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) for n, k, s, d in places]
        low, high = [size // 2 for size in wanted], [-(-size // 2) for size in wanted]
        pads = [*low, *high] if how == "SAME_UPPER" else [*high, *low]
    found = {"stride": strides, "padding": pads[:axes], "padding_end": pads[axes:], "dilation": dilations}
    return {key: one for name, numbers in found.items() for key, one in of_axes(name, numbers).items()}


def of_axes(name: str, numbers: list[int]) -> dict[str, Any]:
    """One attribute for lines and volumes, two for images."""
    if len(numbers) == 2:
        return {f"{name}_y": numbers[0], name: numbers[1]}
    return {name: numbers[0] if len(numbers) == 1 else list(numbers)}


def conv(node: dict[str, Any], inputs: Arrays) -> Use:
    x, weight = inputs[:2]
    kernel = list(weight.shape[2:])
    settings = {"num_filters": len(weight), **of_axes("filter_size", kernel), **window(node, x, kernel)}
    part = "conv." if len(kernel) == 1 else ""
    parameters = dict(zip((f"{part}weight", f"{part}bias"), inputs[1:], strict=False))
    layer = f"conv{NAMES[len(kernel)]}"
    return Use(layer, {**settings, "groups": node.get("group", 1), "bias": len(inputs) > 2}, [x], parameters)


def pool(kind: str) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        kernel = node["kernel_shape"]
        settings = window(node, inputs[0], kernel)
        spread = {name: settings.pop(name) for name in list(settings) if name.startswith("dilation")}
        refuse_unless(set(np.ravel(list(spread.values()))) == {1}, "dilated pooling")
        refuse_unless(node["outputs"] == 1, "indices of the maxima as an output")
        refuse_unless(inputs[0].dtype == np.float32, "8-bit integers")
        settings |= {**of_axes("pool_size", kernel), "pool_type": kind}
        settings |= {"rounding": "CEIL" if node.get("ceil_mode") else "FLOOR"}
        settings |= {"divisor": "PADDED" if node.get("count_include_pad") else "VALID"}
        return Use(f"pool{NAMES[len(kernel)]}", settings, inputs)

    return use


def fc(node: dict[str, Any], inputs: Arrays) -> Use:
    a, b, *c = inputs
    refuse_unless(not node.get("transA"), "transposed first matrix")
    refuse_unless(node.get("alpha", 1.0) == 1 and node.get("beta", 1.0) == 1, "scale factors")
    weight = b.T if node.get("transB") else b
    bias = [np.broadcast_to(one, (1, weight.shape[1])).reshape(-1) for one in c if one.ndim < 2 or len(one) == 1]
    refuse_unless(len(bias) == len(c), "addition of a per-sample matrix")
    return Use(
        "fc", {"size": weight.shape[1], "bias": bool(c)}, [a], {"weight": weight} | ({"bias": bias[0]} if c else {})
    )


def matmul(node: dict[str, Any], inputs: Arrays) -> Use:
    a, b = inputs
    refuse_unless(b.ndim == 2 and a.ndim > 1, "matrix product of two values, or of vectors")
    return Use("fc", {"size": b.shape[1], "bias": False, "axis": -1}, [a], {"weight": b})


def arithmetic(layer: str) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        x, other = inputs
        refuse_unless(x.ndim > 1, "scalars: no axis after the batch axis")
        refuse_unless(other.ndim == x.ndim and other.shape[0] == x.shape[0], "broadcasting over the batch axis")
        refuse_unless(
            all(n in (1, m) for n, m in zip(other.shape, x.shape, strict=True)), "broadcasting of the first input"
        )
        behind = other.shape[2:] == x.shape[2:] or set(other.shape[2:]) <= {1}
        refuse_unless(behind, "broadcasting along some of the axes behind the channels")
        return Use(layer, {}, inputs)

    return use


def several(layer: str, **settings: Any) -> Callable[..., Use]:
    def use(node: dict[str, Any], inputs: Arrays) -> Use:
        refuse_unless(inputs[0].dtype == np.float32, "integers, or another precision")
        refuse_unless(len({one.shape for one in inputs}) == 1, "broadcasting of more than two inputs")
        return Use(layer, settings, inputs)

    return use


def clip(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(inputs[0].dtype == np.float32, "8-bit integers")
    limits = {name: float(one) for name, one in zip(("min", "max"), inputs[1:], strict=False) if one is not None}
    refuse_unless(bool(limits), "no limits (identity)")
    refuse_unless(limits.get("min", -np.inf) <= limits.get("max", np.inf), "minimum above maximum")
    return Use("clip", limits, inputs[:1])


def batch_norm(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(not node.get("training_mode"), "updated running averages as outputs")
    parameters = dict(zip(("gain", "bias", "running_mean", "running_var"), inputs[1:], strict=True))
    return Use("batch_norm", {"epsilon": node.get("epsilon", 1e-5)}, inputs[:1], parameters)


def lrn(node: dict[str, Any], inputs: Arrays) -> Use:
    settings = {"size": node["size"], "scale": node.get("alpha", 1e-4), "power": node.get("beta", 0.75)}
    return Use("lrn", {**settings, "shift": node.get("bias", 1.0)}, inputs)


def reshape(node: dict[str, Any], inputs: Arrays) -> Use:
    x, (first, *dims) = inputs[0], [int(size) for size in inputs[1]]
    refuse_unless(first in (0, len(x)) and not node.get("allowzero"), "changes the batch size")
    return Use("reshape", {"dims": dims}, [x])


def flatten(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(node.get("axis", 1) in (1, 1 - inputs[0].ndim), "merges axes into the batch axis")
    return Use("flatten", {}, inputs)


def selu(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(not {"alpha", "gamma"} & node.keys(), "other constants than those of the activation")
    return Use("selu", {}, inputs)


def gelu(node: dict[str, Any], inputs: Arrays) -> Use:
    return Use("gelu", {"approximate": node.get("approximate", "none").upper()}, inputs)


def mod(node: dict[str, Any], inputs: Arrays) -> Use:
    refuse_unless(inputs[0].shape == inputs[1].shape, "broadcasting of the first input")
    return Use("mod", {"rounding": "TRUNCATE" if node.get("fmod") else "FLOOR"}, inputs)


NODES: dict[str, Callable[..., Use]] = {
    "Abs": same("abs"), "Add": arithmetic("add"), "ArgMax": arg("MAX"), "ArgMin": arg("MIN"),
    "AveragePool": pool("AVERAGE"), "BatchNormalization": batch_norm, "Ceil": same("round", mode="CEIL"), "Clip": clip,
    "Concat": concat, "Conv": conv, "Cos": same("cos"), "Div": arithmetic("div"),
    "Elu": renamed("elu", {"alpha": "alpha"}, alpha=1.0), "Erf": same("erf"),
    "Exp": same("exp"), "Flatten": flatten, "Floor": same("round", mode="FLOOR"),
    "Gelu": gelu, "Gemm": fc, "GridSample": grid_sample,
    "GlobalAveragePool": same("pool", pool_type="AVERAGE", global_pooling=True),
    "GlobalMaxPool": same("pool", pool_type="MAX", global_pooling=True),
    "HardSigmoid": renamed("hard_sigmoid", {"alpha": "slope", "beta": "offset"}, alpha=0.2, beta=0.5),
    "HardSwish": same("hard_swish"), "Identity": same("linear"), "LRN": lrn, "LayerNormalization": layer_norm,
    "LeakyRelu": renamed("relu", {"alpha": "negative_slope"}, alpha=0.01), "Log": same("log"),
    "LogSoftmax": along("log_softmax", -1), "MatMul": matmul, "Max": several("eltwise", operation="MAX"),
    "MaxPool": pool("MAX"), "Min": several("eltwise", operation="MIN"), "Mod": mod, "Mul": arithmetic("mul"),
    "Neg": same("slope_intercept", slope=-1.0), "Pad": pad, "Reciprocal": same("power", power=-1.0),
    "ReduceL1": reduction("ASUM"), "ReduceL2": reduction("L2"), "ReduceLogSumExp": reduction("LOG_SUM_EXP"),
    "ReduceMax": reduction("MAX"), "ReduceMean": reduction("MEAN"), "ReduceMin": reduction("MIN"),
    "ReduceProd": reduction("PROD"), "ReduceSum": reduction("SUM"), "ReduceSumSquare": reduction("SUMSQ"),
    "Relu": same("relu"), "Reshape": reshape, "Round": same("round"), "Selu": selu, "Sigmoid": same("sigmoid"),
    "Sign": same("sign"), "Sin": same("sin"), "Slice": crop,
    "Softmax": along("softmax", -1), "Softplus": same("softplus"), "Softsign": same("softsign"), "Split": split,
    "Sqrt": same("power", power=0.5), "Sub": arithmetic("sub"), "Sum": several("addto"), "Tanh": same("tanh"),
    "TopK": top_k, "Transpose": transpose,
}  # fmt: skip
"""The layers that ONNX's operators are."""


class Test(NamedTuple):
    """A node test of one node: its name, operator, attributes, inputs and outputs."""

    name: str
    operator: str
    attributes: dict[str, Any]
    inputs: Arrays
    outputs: Arrays


@cache
def node_cases() -> list[Any]:
    """ONNX's node tests, which take 10 s to compute."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(load_model_tests(kind="node"))


def node_tests() -> Iterator[Test]:
    """The tests of single nodes whose operators are in the table."""
    for case in node_cases():
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in NODES and nodes[0].domain == "":
            yield _test(case, nodes[0])


def _test(case: Any, node: NodeProto) -> Test:
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    attributes = {key: value.decode() if isinstance(value, bytes) else value for key, value in attributes.items()}
    inputs, outputs = case.data_sets[0]
    given = iter(inputs)
    arrays = [next(given) if name else None for name in node.input]
    arrays = [np.asarray(one) if isinstance(one, np.generic) else one for one in arrays]
    return Test(case.name, node.op_type, {**attributes, "outputs": len(node.output)}, arrays, list(outputs))


def use_of(test: Test) -> Use:
    """The layer that does the same. Raises `NotExpressed`."""
    known = all(one is None or isinstance(one, np.ndarray) for one in test.inputs)
    refuse_unless(known and test.inputs[0].dtype.kind == "f", "integers, or another data type")
    refuse_unless(test.inputs[0].ndim > 0, "a value without axes, so without rows")
    refuse_unless(test.inputs[0].size > 0, "empty tensors")
    refuse_unless(np.isfinite(test.inputs[0]).all(), "infinite values or NaN, which a network does not accept")
    return NODES[test.operator](test.attributes, test.inputs)


def run(use: Use) -> Arrays:
    """The outputs of the layer, in the phase test, as Python."""
    data = "\n".join(
        f'layer {{ name: "x{at}" type: "data" data {{ shape: {list(one.shape[1:])} }} }}'
        for at, one in enumerate(use.feeds)
    )
    inputs = " ".join(f'input: "x{at}"' for at in range(len(use.feeds)))
    settings = " ".join(f"{name}: {json.dumps(value, default=float)}" for name, value in use.attributes.items())
    network = pl.loads(f'{data}\nlayer {{ name: "y" type: "{use.layer}" {inputs} {use.layer} {{ {settings} }} }}')

    def forward() -> Arrays:
        with pl.Net(network, dtype="float64") as net:
            for name, value in use.parameters.items():
                held = net.parameters if f"y.{name}" in net.parameters else net.states
                held[f"y.{name}"].value = value
            found = net.forward({f"x{at}": one for at, one in enumerate(use.feeds)}, phase="test")
            return [np.asarray(found[name]) for name in network["y"].output_names]

    return list(as_python(forward))


def problem(test: Test) -> str | None:
    """What is wrong with the layer's outputs, or None. Raises `NotExpressed`."""
    try:
        outputs = run(use_of(test))
    except pl.ConfigError as error:
        return error.diagnostics[0].message
    for at, (found, wanted) in enumerate(zip(outputs, test.outputs, strict=False)):  # LayerNormalization has more
        if found.shape != wanted.shape:
            return f"output {at} is {found.shape}, not {wanted.shape}"
        if not np.allclose(found, wanted, equal_nan=True, **TOLERANCE):
            return f"output {at} has other numbers"
    return None


class Outcome(NamedTuple):
    """Tests that are expressed by operator, those that are not by reason and operator, and what is wrong."""

    done: Counter[str]
    reasons: Counter[tuple[str, str]]
    wrong: list[str]

    @property
    def table(self) -> list[str]:
        """A line for each reason."""
        found = []
        for reason in sorted({reason for reason, _ in self.reasons}):
            counts = [f"{name} {count}" for (why, name), count in sorted(self.reasons.items()) if why == reason]
            found.append(f"| {reason} | {', '.join(counts)} |")
        return found


def outcome() -> Outcome:
    """All tests, run."""
    found = Outcome(Counter(), Counter(), [])
    for test in node_tests():
        try:
            wrong = problem(test)
            found.done[test.operator] += 1
            found.wrong.extend([f"{test.name}: {wrong}"] if wrong else [])
        except NotExpressed as reason:
            found.reasons[str(reason), test.operator] += 1
    return found


def main() -> None:
    """Print the list."""
    found = outcome()
    print(f"{found.done.total()} tests of {len(found.done)} operators are expressed, {found.reasons.total()} are not:")
    print(*found.table, *(f"WRONG {line}" for line in found.wrong), sep="\n")


if __name__ == "__main__":
    main()
