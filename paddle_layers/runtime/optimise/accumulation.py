"""Gradient accumulation over several batches, equivalent to one larger batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Argument, Setting, external_address, flat_ref
from paddle_layers.runtime.launches.builtin import ADD, RUNNING_SUM, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter, ParameterSet

from .finite import ARENA, check_launches
from .row_forms import add_rows_launch

if TYPE_CHECKING:
    from paddle_layers.runtime.devices import LaunchTable

Gradients = Sequence[SparseGradient | None]


class Accumulation:
    """The sum of the gradients since the last step; sparse gradients are scattered into whole tables.

    Each pass has divided the losses by the divisors of the whole step, so the sum is the gradient of the step.
    """

    def __init__(self, arena: ParameterSet, by_rows: Sequence[Parameter], device: Device, dtype: str) -> None:
        self._device, self._dtype, self._arena = device, dtype, arena
        self._sum = Flat(device, arena.gradients.size, dtype)
        self.tables = {parameter.name: Flat(device, parameter.size, dtype) for parameter in by_rows}
        """For each parameter whose gradient is by rows, the whole of it."""
        self._by_rows = by_rows
        self._begun = False
        self._gradients: Gradients | None = None
        self._adding: LaunchTable | None = None
        copy = simple_launch(ADD, "gradients", [flat_ref(arena.gradients), flat_ref(self._sum)])
        self._finishing = device.table([copy], dtype, external_address)
        self._finishing.set_rows(Rows({}))

    def add(self, gradients: Gradients) -> None:
        """Adds the gradients of a backward pass. Raises `NonFiniteGradients`, and adds nothing then."""
        if self._adding is None or gradients != self._gradients:
            self._gradients, launches = gradients, self._add_launches(gradients)
            # Rebuilt only if the gradients come from another plan.
            self._adding = self._device.table(launches, self._dtype, external_address)
            self._count = len(launches)
        # Whole tables are only cleared at the beginning of a step, and only the rows of each batch are added.
        if not self._begun:
            for table in self.tables.values():
                table.write(np.zeros(1))
        self._adding.set_rows(Rows({one.use.ids: len(one.ids) for one in gradients if one is not None}))
        self._adding.set_numbers({"kept": float(self._begun)})
        # Checked before anything is added: a batch with NaN can be skipped without losing the sum of the others.
        self._adding.run(0, self._checks)
        self._check.raise_found(self._arena.trained)
        self._adding.run(self._checks, self._count)
        self._begun = True

    def discard(self) -> None:
        """Discards the sum: the next one begins with zero."""
        self._begun = False

    def finish(self) -> None:
        """Moves the sum to the gradients of the step; the next sum begins with zero."""
        self._finishing.run(0, 1)
        self._begun = False

    def _add_launches(self, gradients: Gradients) -> list[Launch]:
        pairs = zip(self._by_rows, gradients, strict=True)
        arrays = {parameter.name: rows.flat for parameter, rows in pairs if rows is not None}
        dense = flat_ref(self._arena.gradients)
        self._check, launches = check_launches({ARENA: dense, **arrays}, self._device, self._dtype)
        self._checks = len(launches)
        launches.append(simple_launch(RUNNING_SUM, ARENA, [flat_ref(self._sum), dense, Setting("kept")]))
        for parameter, gradient in zip(self._by_rows, gradients, strict=True):
            if gradient is not None:
                rows = parameter.shape[0]
                shape = (Extent(rows), Extent(parameter.size // max(rows, 1)))
                table = flat_ref(self.tables[parameter.name])._replace(shape=shape)
                args: dict[str, Argument] = {
                    "dense": table,
                    "gradient": gradient.table,
                    "ids_": gradient.used,
                }
                launches.append(add_rows_launch(parameter.name, args, self._device.whole_rows))
        return launches
