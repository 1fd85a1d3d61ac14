"""Row metadata of a batch with its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.graph.value import Value

from .values import Csr, Sequences


@dataclass(eq=False)
class BatchRows(Rows):
    """Arrays by name: feeds, and indices derived from sequence starts."""

    arrays: dict[str, Any] = field(default_factory=dict)

    def fed_sparse(self, value: Value) -> Csr:
        """The sparse rows of a data layer; without values if all are ones."""
        rows = self.arrays[value.name]
        return Csr(rows.start, rows.id, rows.value if value.type.kind == "SPARSE" else None)

    def in_sequences(self, value: Value, rows: Any) -> Any:
        """The rows of a value as sequences."""
        if value.type.level == 0:
            return rows
        inner, *outer = value.domain.ancestors()
        starts = self.starts[value.domain, inner]
        return (
            Sequences(rows, starts) if value.type.level == 1 else Sequences(rows, self.starts[inner, outer[0]], starts)
        )
