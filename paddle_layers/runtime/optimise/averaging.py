"""Weight averaging over the steps (EMA or window), for evaluation and saved weights."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Setting, external_address, flat_ref
from paddle_layers.runtime.launches.builtin import TOWARDS, simple_launch
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import ParameterSet

Array = NDArray[Any]


class Average:
    """Average of all trained parameters: exponential with `decay` (EMA), or the mean over a `window` of the last steps.

    The window is that fraction of the steps so far, at most `max_window` of them. As in Paddle two sums implement it: a
    new one begins when the window is full, and the average is over both, so it covers one window to two.
    """

    def __init__(
        self,
        arena: ParameterSet,
        device: Device,
        dtype: str,
        *,
        decay: float | None,
        window: float | None,
        max_window: int,
    ) -> None:
        self._arena, self._decay, self._window, self._most = arena, decay, window or 1.0, max_window
        names = ("average",) if decay is not None else ("average", "average_before")
        self.states = {name: Flat(device, arena.values.size, dtype) for name in names}
        self._steps = self._now = self._before = 0
        average, value = flat_ref(self.states["average"]), flat_ref(arena.values)
        launch = simple_launch(TOWARDS, "average", [average, value, Setting("share")])
        self._table = device.table([launch], dtype, external_address)
        self._table.set_rows(Rows({}))

    def begin(self) -> None:
        """Starts from the initial values."""
        self.states["average"].write(self._arena.values.read())

    def note(self) -> None:
        """Adds the parameters after a step to the average."""
        self._steps += 1
        self._now += 1
        share = 1.0 / self._now
        if self._decay is not None:  # short at first, as initial values have no weight
            share = 1.0 - min(self._decay, (1 + self._steps) / (10 + self._steps))
        self._table.set_numbers({"share": share})
        self._table.run(0, 1)
        # Two sums instead of a buffer of the last values: a sliding window would need as many copies of the parameters
        # as it has steps.
        if self._decay is None and self._now >= min(self._most, math.ceil(self._window * self._steps)):
            self.states["average_before"].write(self.states["average"].read())
            self._before, self._now = self._now, 0

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Context manager: the parameters are replaced by their averages."""
        # A copy, as the arena itself is overwritten; the optimizer continues from exactly these bits.
        kept = self._arena.values.read().copy()
        changes = self._arena.changes
        with changes.made():
            self._arena.values.write(self._mean())
        try:
            yield
        finally:
            with changes.made():
                self._arena.values.write(kept)

    def saved(self) -> dict[str, Array]:
        """State for `restore`, besides the states."""
        counts = np.array([self._steps, self._now, self._before], np.float64)
        return {"average_counts": counts}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Restores `saved`, whose arrays are on the device. Raises `ValueError` for invalid counts."""
        counts = arrays["average_counts"]
        if not np.all((counts >= 0) & (counts < 2**53) & (counts == np.floor(counts))):
            raise ValueError("`average_counts` must be integers >= 0")
        self._steps, self._now, self._before = map(int, counts)

    def _mean(self) -> Array:
        average = self.states["average"].read()
        if self._decay is not None or not self._before:
            return average
        share = self._now / (self._now + self._before)
        return np.asarray(share * average + (1.0 - share) * self.states["average_before"].read())
