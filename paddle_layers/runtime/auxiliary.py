"""Arrays that describe the rows of a batch: starts of sequences, entries of sparse rows, rows that use an id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arguments import Ref
from .buffers import Buffer
from .domains import Domain, rows_of
from .graph import Value
from .names import SequenceKey
from .step_arrays import index_in_steps, sequences_in_steps, starts_room

if TYPE_CHECKING:
    from .plan import Plan
    from .steps import Steps

Ints = NDArray[np.int64]


def transpose(starts: Ints, ids: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Which rows use an id: used ids, starts, rows, places of the entries. Stable, so sums keep their order."""
    count = len(ids)
    ordered, order = np.divmod(np.sort(ids.astype(np.int64) * count + np.arange(count)), max(count, 1))
    first = np.flatnonzero(np.diff(ordered, prepend=-1 if not count else ordered[0] - 1))
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
    return ordered[first], np.append(first, count), rows, order


class Used:
    """The transpose of a value of ids or of a sparse value; it is made anew before every backward pass."""

    def __init__(self, value: Value, dtype: str) -> None:
        self.value = value
        self.ids = Domain(f"ids used by {value.name}")
        self.entries = value.entries or value.domain
        self.host: Ints = np.zeros(0, np.int64)
        """The used ids of the last backward pass, where asking a device for them would wait for it."""
        self.buffers = {
            "id": Buffer(f"{value.name} used ids", rows_of(self.ids), "int64"),
            "start": Buffer(f"{value.name} used starts", rows_of(self.ids, 1, 1), "int64"),
            "row": Buffer(f"{value.name} used rows", rows_of(self.entries), "int64"),
        }
        if value.type.kind == "SPARSE":
            self.buffers["value"] = Buffer(f"{value.name} used values", rows_of(self.entries), dtype)


class Auxiliary:
    """The auxiliary arrays that the launches of a plan ask for; made once for each use."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.sequences: dict[SequenceKey, Buffer] = {}
        self.indices: dict[tuple[Value, Steps], tuple[Value, Steps, Buffer]] = {}
        """Rows counted from the first of each step, by the absolute ones and of the group."""
        self.csr: dict[tuple[str, str], Buffer] = {}
        self.uses: dict[str, Used] = {}
        self.ids: dict[str, Buffer] = {}
        """Buffers of values of ids that are transposed."""
        self._fed: dict[tuple[str, str], NDArray[Any]] = {}
        """What the batch brought for values that are transposed, on the host."""

    def sequence(self, key: SequenceKey) -> Ref:
        """Starts of sequences (`starts`), sequence of each row (`map`) or the row before (`before`)."""
        extent = rows_of(key.group, 1, 1) if key.kind == "starts" else rows_of(key.leaf)
        room = extent if key.steps is None or key.kind != "starts" else starts_room(key.group, key.steps)
        buffer = self.sequences.setdefault(key, Buffer(f"{key.kind} of {key.leaf.name}", room, "int64"))
        return Ref(buffer, (extent,), "int64")

    def index(self, value: Value, steps: Steps) -> Buffer:
        """Ids that are rows, counted from the first row of each step."""
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
        """Part of the transpose of a value: `id`, `start`, `row` or `value`."""
        use = self.uses.setdefault(value.name, Used(value, self.dtype))
        use.ids.reserve(max(use.entries.capacity, 1))
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

    def fill_sequences(self, plan: Plan, starts: dict[tuple[Domain, Domain], Ints]) -> None:
        """Write starts, maps and predecessors of a batch; `starts` by leaf and group."""
        for key, buffer in self.sequences.items():
            begin = starts.get((key.leaf, key.group))
            if begin is None:  # made in the middle of the pass
                continue
            if key.steps is not None:
                plan.write(buffer, sequences_in_steps(key, begin, sequence_array(key, begin)))
            else:
                plan.write(buffer, sequence_array(key, begin))

    def fill_indices(self, plan: Plan, arrays: Mapping[str, Any]) -> None:
        """Write rows counted from the first row of each step."""
        for value, steps, buffer in self.indices.values():
            if value.name in arrays:  # else made in the middle of the pass
                plan.write(buffer, index_in_steps(value, steps, arrays[value.name]))

    def fill_sparse(self, plan: Plan, name: str, parts: dict[str, Any]) -> None:
        """Write the entries of a sparse feed."""
        for part, array in parts.items():
            if (name, part) in self.csr:
                plan.write(self.csr[name, part], array)
                self._fed[name, part] = array

    def note_ids(self, name: str, ids: Ints) -> None:
        """Remember ids that are fed: asking the device for them would wait for it."""
        if name in self.uses:
            self._fed[name, "id"] = ids

    def transpose(self, plan: Plan) -> bool:
        """Make the transposes of this batch. True when sizes changed."""
        for name, use in self.uses.items():
            ids = self._fed.get((name, "id"))
            if ids is None:  # an operation computed them
                ids = plan.read(self.ids[name])
            starts = self._fed.get((name, "start"))
            parts = transpose(np.arange(len(ids) + 1) if starts is None else starts, ids)
            use.host, use.ids.rows = parts[0], len(parts[0])
            for part, array in zip(("id", "start", "row"), parts, strict=False):
                plan.write(use.buffers[part], array)
            if "value" in use.buffers:
                plan.write(use.buffers["value"], self._fed[name, "value"][parts[3]])
        return bool(self.uses)


def sequence_array(key: SequenceKey, begin: Ints) -> Ints:
    """Starts, maps or predecessors of sequences that start at `begin`."""
    if key.kind == "starts":
        return begin
    if key.kind == "map":
        return np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    return _neighbours(begin, key.reverse)


def _neighbours(starts: Ints, reverse: bool) -> Ints:
    """The row before each row in its sequence, or -1."""
    rows = np.arange(starts[-1]) + (1 if reverse else -1)
    filled = np.diff(starts) > 0
    rows[(starts[1:] - 1)[filled] if reverse else starts[:-1][filled]] = -1
    return rows
