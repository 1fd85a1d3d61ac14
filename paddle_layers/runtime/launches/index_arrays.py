"""Index arrays of launches: sequence starts, entries of sparse rows, rows that use an id."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain, Extent, Value, rows_of
from paddle_layers.runtime.graph.steps import Steps

from .arguments import Ref
from .buffers import Buffer

Ints = NDArray[np.int64]


class SequenceKey(NamedTuple):
    """An array about sequences by kind (`starts`, `map`, `before`), the domain of the rows and that of the groups."""

    kind: str
    leaf: Domain
    group: Domain
    reverse: bool = False
    steps: Steps | None = None
    """The group whose steps only see their own rows, counted from the first of them."""


class Used:
    """The transpose of a value of ids or of a sparse value; it is recomputed before every backward pass.

    `entry` is the position of an entry among those of all rows; it exists if a function requests it. Of ids with a
    shape, `row` is the position among those of all rows.
    """

    def __init__(self, value: Value, dtype: str) -> None:
        self.value = value
        self.ids = Domain(f"ids used by {value.name}")
        self.entries = value.entries or value.domain
        self.per_row = 1 if value.entries is not None else math.prod(value.type.dims)
        self.buffers = {
            "id": Buffer(f"{value.name} used ids", rows_of(self.ids), "int64"),
            "start": Buffer(f"{value.name} used starts", rows_of(self.ids, 1, 1), "int64"),
            "row": Buffer(f"{value.name} used rows", rows_of(self.entries, self.per_row), "int64"),
        }
        if value.type.kind == "SPARSE":
            self.buffers["value"] = Buffer(f"{value.name} used values", rows_of(self.entries), dtype)


class IndexArrays:
    """The index arrays that the launches of a plan request, each of them once."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.sequences: dict[SequenceKey, Buffer] = {}
        self.indices: dict[tuple[Value, Steps], tuple[Value, Steps, Buffer]] = {}
        """Rows counted from the first of each step, by the absolute ones and of the group."""
        self.csr: dict[tuple[str, str], Buffer] = {}
        self.uses: dict[str, Used] = {}
        self.ids: dict[str, Buffer] = {}
        """Buffers of values of ids that are transposed."""

    def sequence(self, key: SequenceKey) -> Ref:
        """Sequence starts (`starts`), sequence of each row (`map`) or the previous row (`before`)."""
        extent = rows_of(key.group, 1, 1) if key.kind == "starts" else rows_of(key.leaf)
        capacity = extent if key.steps is None or key.kind != "starts" else starts_capacity(key.group, key.steps)
        # One array per key, however many launches ask for it: each is computed and copied once per batch.
        buffer = self.sequences.setdefault(key, Buffer(f"{key.kind} of {key.leaf.name}", capacity, "int64"))
        return Ref(buffer, (extent,), "int64")

    def index(self, value: Value, steps: Steps) -> Buffer:
        """Ids that are row indices, relative to the first row of each step."""
        made = value, steps, Buffer(f"{value.name} in a step", rows_of(value.domain), "int64")
        return self.indices.setdefault((value, steps), made)[2]

    def sparse(self, value: Value, part: str) -> Ref:
        """Part of a sparse value: `start`, `id` or `value`."""
        assert value.entries is not None
        extent = rows_of(value.domain, 1, 1) if part == "start" else rows_of(value.entries)
        dtype = self.dtype if part == "value" else "int64"
        buffer = self.csr.setdefault((value.name, part), Buffer(f"{value.name} {part}", extent, dtype))
        return Ref(buffer, (extent,), "real" if part == "value" else "int64")

    def used(self, value: Value, part: str) -> Ref:
        """Part of the transpose of a value: `id`, `start`, `row`, `entry` or `value`."""
        use = self.uses.setdefault(value.name, Used(value, self.dtype))
        # In the worst case every entry has another id.
        use.ids.reserve(max(use.entries.capacity * use.per_row, 1))
        if part == "entry" and part not in use.buffers:
            use.buffers[part] = Buffer(f"{value.name} used entries", rows_of(use.entries), "int64")
        buffer = use.buffers[part]
        if value.entries is not None:
            for needed in ("start", "id", *(("value",) if value.type.kind == "SPARSE" else ())):
                self.sparse(value, needed)
        return Ref(buffer, (buffer.extent,), "real" if part == "value" else "int64")

    @property
    def kept(self) -> list[Buffer]:
        """Buffers that are filled from outside the launches."""
        uses = [buffer for use in self.uses.values() for buffer in use.buffers.values()]
        indices = [buffer for _, _, buffer in self.indices.values()]
        return [*self.sequences.values(), *indices, *self.csr.values(), *uses]

    @property
    def at_boundary(self) -> list[Buffer]:
        """Buffers that are read between the forward and the backward pass."""
        return list(self.ids.values())


def starts_capacity(group: Domain, steps: Steps) -> Extent:
    """Capacity for the starts of all steps: one more than sequences for each; a step has at least one row."""
    return Extent(group.capacity + steps.rows.capacity + 1)
