"""ONNX models whose nodes mostly read constants: large ones together, odd shapes, constants where a value is read."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from paddle_layers.exchange.onnx_in.conversion import OPERATORS
from paddle_layers.exchange.onnx_in.reference import OPERATORS as REFERENCE

from .onnx_models import Onnx

GROWING = ("Concat", "Tile", "Expand", "ConstantOfShape", "Range", "Gather", "MatMul", "Add", "Where", "Cast", "Split")
OPERATORS_TRIED = sorted({name for domain, name in OPERATORS if not domain} | REFERENCE)
SIZES = (0, 1, 2, 3, 4, 1000, 1 << 20, 1 << 26, 1 << 40, -1)
ATTRIBUTES: dict[str, tuple[Any, ...]] = {
    "axis": (0, 1, -1, 2), "to": (1, 7, 9, 10, 11), "perm": ([1, 0], [0, 2, 1], [0, 3, 2, 1]), "keepdims": (0, 1),
    "kernel_shape": ([2], [2, 2]), "axes": ([0], [1, 1], [2, 3]), "num_outputs": (1, 2, 1 << 26), "mode": ("linear",),
    "hidden_size": (2,), "noop_with_empty_axes": (1,), "equation": ("ij,jk->ik",), "upper": (0,),
}  # fmt: skip


class OnnxConstants(Onnx):
    """Graphs of constants."""

    name = "onnx-constants"
    second_per_byte = 1e-3

    def make(self, rng: Random) -> bytes:
        """A few tensors, then nodes that read them, each other and the inputs."""
        tensors = [_tensor(rng, f"c{place}") for place in range(rng.randrange(2, 7))]
        known = [one.name for one in tensors] * 2 + ["x", "image", "words"]
        opset = rng.choice((9, 11, 13, 17, 18, 20))
        nodes = []
        for place in range(rng.choice((1, 2, 5, 10, 40))):
            operator = rng.choice(GROWING if rng.random() < 0.6 else OPERATORS_TRIED)
            outputs = [f"n{place}"] + [f"m{place}"] * (rng.random() < 0.1)
            inputs = [rng.choice(known[-6:] if rng.random() < 0.5 else known) for _ in range(rng.randrange(1, 4))]
            given = {name: rng.choice(values) for name, values in ATTRIBUTES.items() if _takes(operator, name, opset)}
            kept = {name: value for name, value in given.items() if rng.random() < 0.7}
            nodes.append(helper.make_node(operator, inputs, outputs, **kept))
            known += outputs
        ports = [_port("x", 1, 4), _port("image", 1, 2, 3, 3), _port("words", 7, 5)]
        ends = dict.fromkeys((known[-1], rng.choice(known)))
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ends]
        graph = helper.make_graph(nodes, "constants", ports, made, tensors)
        opsets = [helper.make_opsetid("", opset)]
        return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True))


@cache
def _takes(operator: str, name: str, opset: int) -> bool:
    """Whether an operator has an attribute: others are refused before anything is computed."""
    import onnx

    try:
        return name in onnx.defs.get_schema(operator, opset, "").attributes
    except onnx.defs.SchemaError:
        return False


def _port(name: str, kind: int, *dims: int) -> Any:
    return helper.make_tensor_value_info(name, kind, ["N", *dims])


def _tensor(rng: Random, name: str) -> Any:
    if rng.random() < 0.4:  # sizes, places and axes
        found: Any = np.array([rng.choice(SIZES) for _ in range(rng.randrange(4))], np.int64)
        return numpy_helper.from_array(found if rng.random() < 0.8 or not found.size else found[0], name)
    kind = rng.choice(("f4", "f4", "f8", "f2", "?", "i8"))
    shape = [rng.choice((0, 1, 1, 2, 3, 4, 4)) for _ in range(rng.randrange(5))]
    return numpy_helper.from_array(np.ones(shape, kind), name)
