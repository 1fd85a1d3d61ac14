"""An ONNX model as plain Python: nodes, constants, what enters and what leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from paddle_layers.define.escaping import message_line, printable_line

SHOWN = 80
"""Characters of a name in messages."""


class ImportFailure(ValueError):
    """A model cannot be imported. The message has a line for each thing that is wrong."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(message_line, lines)))


@dataclass(frozen=True, eq=False)
class Node:
    """A node; `place` counts from 0, attributes that hold graphs are None."""

    place: int
    name: str
    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    @property
    def label(self) -> str:
        """How messages and the report name it."""
        name = self.name or next(filter(None, self.outputs), f"number {self.place + 1}")
        return f"{shown(name)} ({shown(self.operator)})"


@dataclass(frozen=True)
class Entry:
    """What enters or leaves: its axes are sizes, names, or None where nothing is known."""

    name: str
    kind: str
    axes: tuple[int | str | None, ...] | None


@dataclass
class Model:
    """The graph, with the version of the operators for each domain."""

    name: str
    producer: str
    nodes: list[Node]
    constants: dict[str, NDArray[Any]]
    inputs: list[Entry]
    outputs: list[Entry]
    opsets: dict[str, int] = field(default_factory=dict)


def text(name: str | bytes) -> str:
    """A text of the file: protobuf gives bytes where they are no UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def shown(name: str | bytes) -> str:
    """A name of the file, harmless and of a length that can be read."""
    line = printable_line(text(name))
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."
