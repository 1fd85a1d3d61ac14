"""Values of a graph: outputs of operations, and feeds."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_layers.define import Type

from .domains import Domain


@dataclass(eq=False)
class Value:
    """An array with rows, as a node of the graph."""

    name: str
    type: Type
    domain: Domain
    entries: Domain | None = None
    """Domain of the entries of a sparse value."""
    points_to: Domain | None = None
    """For ids that are row indices: the domain of these rows."""
