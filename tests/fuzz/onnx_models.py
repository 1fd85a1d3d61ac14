"""ONNX models as files: changed bytes, and sound messages with something odd in a node, a tensor or a port."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import onnx

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.conversion import OPERATORS
from paddle_layers.exchange.onnx_in.model import ImportFailure

from .data_files import check_message
from .mutators import ODD_TEXTS, changed_bytes, several
from .target import Target, demand

STORED = Path(__file__).resolve().parent.parent / "onnx_models"
SIZES = (0, 1, -1, 2, 3, 4, 5, 7, 8, 16, 31, 1 << 31, 1 << 40, -(1 << 63), (1 << 63) - 1)
NUMBERS = (0.0, 1.0, -1.0, 0.5, 1e-30, 1e38, float("inf"), float("nan"))
NAMES = sorted({name for _, name in OPERATORS} | {"If", "Loop", "Scan", "Mine", "ConstantOfShape", "Range", "Tile"})
ATTRIBUTES = (
    *("axis", "axes", "perm", "pads", "strides", "kernel_shape", "group", "to", "alpha", "epsilon", "direction"),
    *("hidden_size", "value", "dilations", "ceil_mode", "auto_pad", "keepdims", "activations", "layout", "split"),
)
LONGEST = 1000


@cache
def sources() -> list[bytes]:
    """Sound models."""
    return [path.read_bytes() for path in sorted(STORED.rglob("*.onnx"))]


class Onnx(Target):
    """Models of other systems."""

    name = "onnx"
    second_per_byte = 1e-4

    def make(self, rng: Random) -> bytes:
        """Changed bytes seldom, a changed message mostly."""
        data = rng.choice(sources())
        if rng.random() < 0.2:
            return changed_bytes(data, rng, sources())
        model: Any = onnx.ModelProto.FromString(data)
        for _ in range(several(rng)):
            rng.choice((_node, _node, _attribute, _attribute, _tensor, _port, _wiring, _version))(model, rng)
        return bytes(model.SerializeToString())

    def check(self, case: bytes) -> None:
        """It is a network that can be read again, or refused line by line."""
        path = self.folder / "model.onnx"
        path.write_bytes(case)
        try:
            imported = pl.import_onnx(path)
        except ImportFailure as failure:
            lines = str(failure).split("\n")
            demand(str(path) in lines[0] or "the layers do not fit" in lines[0], "the file is not named")
            for line in lines:
                check_message(ImportFailure(line), "")
        else:
            network = pl.loads(imported.text)
            demand(pl.dumps(network) == imported.text, "the text is not that of the network")
            names = {node.output_names[0] for node in network.nodes} | set(imported.outputs.values())
            demand(set(imported.outputs.values()) <= names, "an output is missing")


def _graph(model: Any, rng: Random) -> Any:
    """The model's graph, or the body of a loop in it."""
    bodies = [one.g for node in model.graph.node for one in node.attribute if one.type == 5 and one.g.node]
    return rng.choice(bodies) if bodies and rng.random() < 0.5 else model.graph


def _node(model: Any, rng: Random) -> None:
    """Another operator, another domain, another place, or one node less."""
    nodes = _graph(model, rng).node
    node = rng.choice(nodes)
    way = rng.randrange(6)
    if way < 2:
        node.op_type = rng.choice(NAMES)
    elif way == 2:
        node.domain = rng.choice(("", "ai.onnx", "ai.onnx.ml", "com.microsoft", *ODD_TEXTS[:8]))
    elif way == 3 and len(nodes) > 1:
        nodes.remove(node)
    elif way == 4:
        other = nodes.add()
        other.CopyFrom(node)
        other.output[:] = [f"{name}{rng.randrange(3)}" for name in node.output]
    else:
        node.name = _odd(rng)


def _odd(rng: Random) -> str:
    return rng.choice(ODD_TEXTS).encode("utf-8", "replace").decode()


def _value(rng: Random) -> Any:
    return rng.choice(
        (
            rng.choice(SIZES),
            rng.choice(NUMBERS),
            _odd(rng),
            [rng.choice(SIZES) for _ in range(rng.randrange(1, 6))],
            [rng.choice(NUMBERS) for _ in range(rng.randrange(1, 4))],
            [0, 1, 2, 3][: rng.randrange(1, 5)],
        )
    )


def _attribute(model: Any, rng: Random) -> None:
    """Another value, a new attribute, or one less."""
    node = rng.choice(_graph(model, rng).node)
    given = [one for one in node.attribute if one.type in (1, 2, 6, 7)]
    way = rng.random()
    if given and way < 0.4:
        one = rng.choice(given)
        kinds = {1: rng.choice(NUMBERS), 2: rng.choice(SIZES), 6: [rng.choice(NUMBERS)] * 2, 7: list(one.ints)}
        value = kinds[one.type]
        if one.type == 7 and value:
            value[rng.randrange(len(value))] = rng.choice(SIZES)
            value = value * rng.choice((1, 1, 1, 2))
        one.CopyFrom(onnx.helper.make_attribute(one.name, value or 0))
    elif node.attribute and way < 0.6:
        node.attribute.remove(rng.choice(node.attribute))
    else:
        node.attribute.append(onnx.helper.make_attribute(rng.choice(ATTRIBUTES), _value(rng)))


def _tensor(model: Any, rng: Random) -> None:
    """Another shape, another type, fewer bytes, or a place beside the model."""
    graph = _graph(model, rng)
    if not graph.initializer:
        return
    one = rng.choice(graph.initializer)
    way = rng.randrange(6)
    if way == 0 and one.dims:
        one.dims[rng.randrange(len(one.dims))] = rng.choice(SIZES)
    elif way == 1:
        one.dims.append(rng.choice((1, 1, 0, *SIZES)))
    elif way == 2:
        one.data_type = rng.randrange(30)
    elif way == 3:
        one.raw_data = one.raw_data[: rng.randrange(len(one.raw_data) + 1)]
    elif way == 4:
        one.dims[:] = list(one.dims)[::-1]
    else:
        one.data_location = onnx.TensorProto.EXTERNAL
        one.external_data.add(key="location", value=rng.choice(("model.onnx", "/etc/passwd", "../x", ".", _odd(rng))))
        one.external_data.add(key="offset", value=str(rng.choice(SIZES)))


def _port(model: Any, rng: Random) -> None:
    """Another axis of what enters or leaves."""
    one = rng.choice([*model.graph.input, *model.graph.output])
    dims = one.type.tensor_type.shape.dim
    way = rng.randrange(5)
    if way == 0 and dims:
        rng.choice(dims).dim_value = rng.choice(SIZES)
    elif way == 1:
        dims.add().dim_param = _odd(rng)
    elif way == 2 and dims:
        del dims[rng.randrange(len(dims))]
    elif way == 3:
        one.type.tensor_type.elem_type = rng.randrange(20)
    else:
        one.name = rng.choice((_odd(rng), rng.choice(model.graph.node).output[0]))


def _wiring(model: Any, rng: Random) -> None:
    """A node reads something else."""
    graph = _graph(model, rng)
    node = rng.choice(graph.node)
    known = [name for other in graph.node for name in other.output] + [one.name for one in graph.initializer]
    if node.input and rng.random() < 0.7:
        node.input[rng.randrange(len(node.input))] = rng.choice((*known, ""))
    else:
        node.input.append(rng.choice(known))


def _version(model: Any, rng: Random) -> None:
    """Other operators are meant."""
    model.opset_import[0].version = rng.choice((-1, 0, 6, 7, 9, 11, 12, 13, 17, 20, 22, 26, 27, 1 << 40))
