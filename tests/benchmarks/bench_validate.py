"""Text to a typed network, side by side with onnx `check_model(full_check=True)` on the same topology.

Run by hand on a quiet machine: `python -m tests.benchmarks.bench_validate`. Each round measures ours and onnx's in turn
(CPU seconds of the process, garbage collected before); the table has medians and the ratio ours / onnx. Ours reads
text, checks every attribute and infers every type; onnx's model is in memory already.
"""

from __future__ import annotations

import gc
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import onnx
from onnx import TensorProto, helper

import paddle_layers as pl

LAYERS = 10_000
ROUNDS = 7


def layer(name: str, kind: str, inputs: list[str], settings: dict[str, Any]) -> str:
    lines = [f'  name: "{name}"', f'  type: "{kind}"', *(f'  input: "{value}"' for value in inputs)]
    if settings:
        lines += [f"  {kind} {{", *(f"    {key}: {value}" for key, value in settings.items()), "  }"]
    return "layer {\n" + "\n".join(lines) + "\n}\n"


def residual() -> tuple[str, Any]:
    """Residual blocks: few different settings, ours as text and onnx's as a model."""
    text = [layer("image", "data", [], {"shape": "[64, 56, 56]"})]
    nodes, values = [], ["bs", "bb", "bm", "bv"]
    inputs = [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 64, 56, 56])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64]) for name in values]
    conv = {"num_filters": 64, "filter_size": 3, "stride": 1, "padding": 1, "bias": "false"}
    last, number = "image", 1
    while number + 7 <= LAYERS:
        skip = last
        for half in range(2):
            name = f"conv_{number}"
            text.append(layer(name, "conv", [last], conv))
            inputs.append(helper.make_tensor_value_info(f"w{number}", TensorProto.FLOAT, [64, 64, 3, 3]))
            shape = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1], "group": 1}
            nodes.append(helper.make_node("Conv", [last, f"w{number}"], [name], name=name, **shape))
            norm = f"norm_{number + 1}"
            text.append(layer(norm, "batch_norm", [name], {"momentum": 0.9, "epsilon": 1e-5}))
            nodes.append(helper.make_node("BatchNormalization", [name, *values], [norm], name=norm, epsilon=1e-5))
            last, number = norm, number + 2
            if half == 0:
                last = f"relu_{number}"
                text.append(layer(last, "relu", [norm], {}))
                nodes.append(helper.make_node("Relu", [norm], [last], name=last))
                number += 1
        total, last = f"sum_{number}", f"relu_{number + 1}"
        text.append(layer(total, "addto", [norm, skip], {}) + layer(last, "relu", [total], {}))
        nodes.append(helper.make_node("Add", [norm, skip], [total], name=total))
        nodes.append(helper.make_node("Relu", [total], [last], name=last))
        number += 2
    return "".join(text), model(nodes, inputs, last)


def distinct() -> tuple[str, Any]:
    """A chain in which no two layers have the same settings."""
    rng = random.Random(1)
    text = [layer("image", "data", [], {"shape": "[64, 56, 56]"})]
    nodes, inputs = [], [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 64, 56, 56])]
    last, channels = "image", 64
    for number in range(1, LAYERS):
        name = f"layer_{number}"
        if number % 3 == 1:
            # Different in every layer, and few enough for the memory of a machine, which a warning compares them with.
            size, filters = rng.choice((1, 3, 5)), number // 3 + 1
            text.append(
                layer(name, "conv", [last], {"num_filters": filters, "filter_size": size, "padding": size // 2})
            )
            weight = helper.make_tensor_value_info(f"w{number}", TensorProto.FLOAT, [filters, channels, size, size])
            shape = {"kernel_shape": [size, size], "pads": [size // 2] * 4}
            nodes.append(helper.make_node("Conv", [last, f"w{number}"], [name], name=name, **shape))
            inputs, channels = [*inputs, weight], filters
        elif number % 3 == 2:
            settings = {"momentum": rng.random(), "epsilon": rng.random() * 1e-4}
            text.append(layer(name, "batch_norm", [last], settings))
            given = [f"{letter}{number}" for letter in "abcd"]
            inputs += [helper.make_tensor_value_info(value, TensorProto.FLOAT, [channels]) for value in given]
            nodes.append(helper.make_node("BatchNormalization", [last, *given], [name], name=name, **settings))
        else:
            slope = rng.random()
            text.append(layer(name, "relu", [last], {"negative_slope": slope}))
            nodes.append(helper.make_node("LeakyRelu", [last], [name], name=name, alpha=slope))
        last = name
    return "".join(text), model(nodes, inputs, last)


def model(nodes: list[Any], inputs: list[Any], last: str) -> Any:
    output = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", "C", "H", "W"])
    graph = helper.make_graph(nodes, "g", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    begin = time.process_time()
    call()
    return time.process_time() - begin


def wall_seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def faults(text: str) -> int:
    """How many diagnostics a text gets."""
    try:
        pl.loads(text)
    except pl.ConfigError as error:
        return len(error.diagnostics)
    return 0


def main() -> None:
    repetitive, same = residual()
    varied, other = distinct()
    wrong = repetitive.replace("stride: 1", "strid: 1", 100)
    lost = repetitive.replace('input: "relu_10"', 'input: "relu_x"', 1)
    all_lost = repetitive.replace('input: "norm_', 'input: "nurm_', 100)
    assert [*map(faults, (repetitive, varied, wrong, lost, all_lost))] == [0, 0, 100, 1, 100]
    rows = [
        ("repetitive", lambda: pl.loads(repetitive), same, 0.7),
        ("all distinct", lambda: pl.loads(varied), other, 2.0),
        ("100 attribute errors", lambda: faults(wrong), same, 3.0),
        ("an unknown input", lambda: faults(lost), same, 3.0),
        ("100 unknown inputs", lambda: faults(all_lost), same, 3.0),
    ]
    print(f"{LAYERS} layers, onnx {onnx.__version__}, median of {ROUNDS} rounds")
    print(f"{'network':<22}{'ours ms':>9}{'onnx ms':>9}{'ratio':>7}{'goal':>6}")
    for name, ours, theirs, goal in rows:
        check = partial(onnx.checker.check_model, theirs, full_check=True)
        pairs = [(seconds(ours), seconds(check)) for _ in range(ROUNDS)]
        mine, onnxs = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:<22}{mine:>9.1f}{onnxs:>9.1f}{ratio:>7.2f}{goal:>6}")
    small = [sys.executable, "-m", "paddle_layers", "validate", "docs/examples/digits/lenet.textproto"]
    numpy = [sys.executable, "-c", "import numpy"]
    turns = [(wall_seconds(small), wall_seconds(numpy)) for _ in range(2 * ROUNDS + 1)]
    ours, theirs = (statistics.median(column) * 1e3 for column in zip(*turns, strict=True))
    print(f"`validate` of a small file as a process: {ours:.0f} ms, `import numpy` {theirs:.0f} ms,", end=" ")
    print(f"ratio {ours / theirs:.2f} (goal 3)")


if __name__ == "__main__":
    main()
