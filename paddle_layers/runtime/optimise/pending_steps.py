"""Pending (lazy) optimizer steps: steps of unused rows of a table, applied before these rows are read.

An optimizer moves a weight even if its gradient is zero: by momentum, by decay. Doing this for all rows of a table in
every step is expensive. So the number of steps of each row is recorded, and the steps, in the form that the optimizer
declares (`define/definitions/lazy_updates.py`). A row makes its pending steps when a batch is about to use it, and all
rows do when the parameter is read. That takes no longer for many steps than for few, and the result is that of the
dense step, up to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import AdaptiveStep
from paddle_layers.define.definitions.lazy_updates import LinearStep
from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Domain, Extent, rows_of
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Argument, Ref, external_address, flat_ref
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Flat

from .adaptive_history import FACTORS, AdaptiveHistory, stored
from .row_forms import adaptive_launch, linear_launch

Ints = NDArray[np.int64]
HISTORY = 1 << 14
"""Maximum number of recorded steps; then all rows make theirs, which is so rare that its cost is negligible."""
# Limits the size of the kernel's arguments; rows of a batch mostly fit into one chunk.
CHUNK = 1 << 14
"""Rows that make their steps at a time."""


class PendingSteps(ABC):
    """The pending steps of the rows of one parameter; `tables` are its values and the optimizer's states.

    `states` hold the memory: pending steps have to be made even when the optimizer is gone.
    """

    def __init__(self, tables: Mapping[str, Ref], states: object, rows: int, device: Device, dtype: str) -> None:
        self._tables, self._held, self._device, self._dtype = tables, states, device, dtype
        # 32 bits suffice for `HISTORY` and halve the memory for tables of many million rows.
        self._done = np.zeros(rows, np.int32)
        """For each row, how many of the remembered steps it has made."""
        self._steps = 0
        self._chunk = Domain("rows with pending steps", capacity=CHUNK)
        self._ids = self._per_row()
        self._launches = device.table([self._launch()], dtype, external_address)

    @abstractmethod
    def _launch(self) -> Launch:
        """The kernel, with its memory."""

    @abstractmethod
    def _remember(self, step: Any) -> None:
        """Records a step."""

    @abstractmethod
    def _write(self, done: Ints) -> None:
        """Writes the kernel's arguments for rows that have made so many steps."""

    @abstractmethod
    def _forget(self) -> None:
        """Clears the history: all rows have made all steps."""

    @abstractmethod
    def _saved(self) -> dict[str, NDArray[Any]]:
        """The steps."""

    @abstractmethod
    def _restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        """Restores the steps of `_saved`."""

    def add(self, step: LinearStep | AdaptiveStep, moved: Ints) -> None:
        """Records a step, which the rows `moved` have made."""
        if self._steps == HISTORY:
            self.make()
        self._remember(step)
        self._steps += 1
        self._done[moved] = self._steps

    def make(self, rows: Ints | None = None) -> None:
        """Makes the pending steps of these rows; without any, those of all rows, and the steps are cleared."""
        if self._steps == 0:
            return
        if rows is None:
            behind = np.flatnonzero(self._done < self._steps)
        else:
            behind = np.sort(rows[self._done[rows] < self._steps])
            # An id may occur several times in a batch, but its row must move once.
            behind = behind[np.diff(behind, prepend=-1) > 0]
        for start in range(0, len(behind), CHUNK):
            self._make_some(behind[start : start + CHUNK])
        if rows is None:
            self._done[:] = self._steps = 0
            self._forget()
        else:
            self._done[behind] = self._steps

    def saved(self) -> dict[str, NDArray[Any]]:
        """State for `restore`; empty if no step is pending."""
        return {"done": self._done, **self._saved()} if self._steps else {}

    def restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        """Restores the pending steps of `saved`. Raises `ValueError` for others."""
        self._restore(found)
        done = stored(found, "done", self._done.shape, "iu")
        # Untrusted values from a checkpoint become indices of a kernel.
        if not np.all((done >= 0) & (done <= self._steps)):
            raise ValueError("a row has more applied steps than there are pending steps")
        self._done[:] = done

    def _make_some(self, rows: Ints) -> None:
        self._ids.block.write(0, rows, "int64")
        self._write(self._done[rows].astype(np.int64))
        self._launches.set_rows(Rows({self._chunk: len(rows)}))
        self._launches.run(0, 1)

    def _per_row(self) -> Flat:
        return Flat(self._device, CHUNK, "int64")

    def _row_ref(self, flat: Flat, *more: Extent) -> Ref:
        return flat_ref(flat, rows_of(self._chunk), *more)


class LinearSteps(PendingSteps):
    """Steps that are linear maps of value and states: several steps are a product of matrices."""

    def _launch(self) -> Launch:
        size = len(self._tables)
        self._maps = np.zeros((size, (HISTORY + 1) * size))
        """Next to each other, for each remembered step, the map from before it to now."""
        self._maps[:, :size] = np.eye(size)
        self._factors = Flat(self._device, CHUNK * size * size, self._dtype)
        maps = self._row_ref(self._factors, Extent(size * size))
        args: dict[str, Argument] = {**self._tables, "ids_": self._row_ref(self._ids), "maps_": maps}
        return linear_launch("pending steps", list(self._tables), args, self._device.whole_rows)

    def _remember(self, step: LinearStep) -> None:
        size, now = len(self._tables), self._steps
        known = self._maps[:, : (now + 1) * size]
        # In float64: a product of thousands of matrices would drift in float32.
        known[...] = np.array(step, np.float64) @ known
        self._maps[:, (now + 1) * size : (now + 2) * size] = np.eye(size)

    def _write(self, done: Ints) -> None:
        size = len(self._tables)
        maps = self._maps.reshape(size, HISTORY + 1, size)[:, done]
        self._factors.block.write(0, maps.transpose(1, 0, 2), self._dtype)

    def _forget(self) -> None:
        size = len(self._tables)
        self._maps[:, :size] = np.eye(size)

    def _saved(self) -> dict[str, NDArray[Any]]:
        return {"maps": self._maps[:, : (self._steps + 1) * len(self._tables)]}

    def _restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        size = len(self._tables)
        steps = len(stored(found, "maps", (size, None), "f")[0]) // size - 1
        if not 0 <= steps <= HISTORY:
            raise ValueError(f"too many pending steps: {steps}, at most {HISTORY}")
        width = (steps + 1) * size
        self._maps[:, :width] = stored(found, "maps", (size, width), "f")
        self._steps = steps


class AdaptiveSteps(PendingSteps):
    """Steps along a decaying mean: blocks of them are made at once, see `adaptive_history`."""

    def _launch(self) -> Launch:
        self._history = history = AdaptiveHistory(HISTORY, self._dtype)
        self._changed = 0
        """The first step whose sums the device does not have yet."""
        self._sums = Flat(self._device, history.sums.size, self._dtype)
        self._tails = Flat(self._device, history.tails.size, self._dtype)
        self._starts = Flat(self._device, history.starts.size, "int64")
        self._rows = {name: self._per_row() for name in ("done_", "first_", "last_")}
        args: dict[str, Argument] = {
            **self._tables,
            "ids_": self._row_ref(self._ids),
            **{name: self._row_ref(flat) for name, flat in self._rows.items()},
            "starts_": flat_ref(self._starts, Extent(len(history.starts))),
            "sums_": flat_ref(self._sums, *map(Extent, history.sums.shape)),
            "tails_": flat_ref(self._tails, *map(Extent, history.tails.shape)),
        }
        return adaptive_launch(
            "pending steps", list(self._tables), args, FACTORS, history.terms, self._device.whole_rows
        )

    def _remember(self, step: AdaptiveStep) -> None:
        self._changed = min(self._changed, self._history.add(step))

    def _write(self, done: Ints) -> None:
        history = self._history
        first, last = history.blocks_from(done)
        for flat, numbers in zip(self._rows.values(), (done, first, last), strict=True):
            flat.block.write(0, numbers, "int64")
        # Only what has changed since the last transfer: most steps change one block.
        if self._changed < history.steps:
            width = history.sums.shape[1] * np.dtype(self._dtype).itemsize
            self._sums.block.write(self._changed * width, history.sums[self._changed : history.steps], self._dtype)
            self._starts.block.write(0, history.starts[: history.blocks], "int64")
            self._tails.block.write(0, history.tails[: history.blocks + 1], self._dtype)
            self._changed = history.steps

    def _forget(self) -> None:
        self._history.forget()
        self._changed = 0

    def _saved(self) -> dict[str, NDArray[Any]]:
        return self._history.saved()

    def _restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        self._history.restore(found)
        self._steps, self._changed = self._history.steps, 0


def pending_steps(
    step: LinearStep | AdaptiveStep,
    tables: Mapping[str, Ref],
    states: object,
    rows: int,
    device: Device,
    dtype: str,
) -> PendingSteps:
    """Memory for steps of this kind."""
    kind = AdaptiveSteps if isinstance(step, AdaptiveStep) else LinearSteps
    return kind(tables, states, rows, device, dtype)
