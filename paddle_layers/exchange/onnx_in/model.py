"""ONNX models as plain Python: nodes, constants, inputs, outputs; checks of nodes by the schemas of their operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.escaping import message_line, printable_line

SHOWN = 80
"""Maximum length of names in messages."""
KINDS = {"FLOAT": float, "INT": int, "STRING": str, "FLOATS": list, "INTS": list, "STRINGS": list, "TENSOR": np.ndarray}
"""Python types of attribute values, by schema type."""


class ImportFailure(ValueError):
    """A model cannot be imported. The message has a line for each thing that is wrong."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(message_line, lines)))


@dataclass(frozen=True, eq=False)
class OnnxSubgraph:
    """The graph that an attribute holds, as loops and branches have it."""

    nodes: list[OnnxNode]
    constants: dict[str, NDArray[Any]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def captured(self) -> tuple[str, ...]:
        """Captured values of the surrounding graph."""
        own = {*self.inputs, *self.constants, *(name for node in self.nodes for name in node.outputs)}
        # A dict keeps the order of first use, so that an import gives the same text every time.
        inside = [name for node in self.nodes for name in (*node.inputs, *node.captured)]
        read = dict.fromkeys([*inside, *self.outputs])
        return tuple(name for name in read if name and name not in own)


@dataclass(frozen=True, eq=False)
class OnnxNode:
    """A node; `place` counts from 0, unset attributes are for those that hold several graphs."""

    place: int
    name: str
    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    @cached_property
    def captured(self) -> tuple[str, ...]:
        """Values that its subgraphs capture."""
        bodies = [one for one in self.attributes.values() if isinstance(one, OnnxSubgraph)]
        return tuple(dict.fromkeys(name for body in bodies for name in body.captured))

    @property
    def label(self) -> str:
        """Name in messages and in the report."""
        # Names of nodes are optional in ONNX; outputs are not.
        name = self.name or next(filter(None, self.outputs), f"number {self.place + 1}")
        return f"{shown(name)} ({shown(self.operator)})"


@dataclass(frozen=True)
class GraphInput:
    """An input or output of the graph: its axes are sizes, names, or None if unknown."""

    name: str
    kind: str
    axes: tuple[int | str | None, ...] | None


@dataclass
class Model:
    """The graph, with the version of the operators for each domain.

    `nodes` are those of the graph, of which there are `own`, then those of the branches of If.
    """

    name: str
    producer: str
    nodes: list[OnnxNode]
    own: int
    constants: dict[str, NDArray[Any]]
    inputs: list[GraphInput]
    outputs: list[GraphInput]
    opsets: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Inputs that were replaced by constants."""


def text(name: str | bytes) -> str:
    """A string of the file: protobuf returns bytes if it is not valid UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def shown(name: str | bytes) -> str:
    """A name of the file, harmless and of a length that can be read."""
    line = printable_line(text(name))
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."


def is_inlined(node: OnnxNode) -> bool:
    """Whether the nodes of a subgraph replace the node: of an If, or a Loop whose steps only change its states."""
    body = node.attributes.get("body")
    loop = node.operator == "Loop" and isinstance(body, OnnxSubgraph) and len(body.outputs) == len(body.inputs) - 1
    return node.operator == "If" or loop


def nodes_for(nodes: list[OnnxNode], outputs: set[str]) -> set[int]:
    """The places of the nodes on which outputs rest."""
    wanted, found = set(outputs), set()
    # ONNX requires topological order, so one backward walk suffices.
    for node in reversed(nodes):
        if wanted.intersection(filter(None, node.outputs)):
            found.add(node.place)
            wanted.update((*node.inputs, *node.captured))
    return found


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
    given, least, most = len(node.inputs), schema.min_input, schema.max_input
    if not least <= given <= most:
        # Without a limit, the maximum is that of an integer.
        expected = f"{least} to {most}" if most < 1 << 30 else f"at least {least}"
        return f"got {given} inputs, ONNX expects {expected}"
    # An empty name is an absent input, which is only legal for optional ones, such as both limits of a Loop.
    for name, formal in zip(node.inputs, schema.inputs, strict=False):
        if not name and formal.option == formal.option.Single:
            return f"input `{formal.name}` is absent, but ONNX requires it"
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
