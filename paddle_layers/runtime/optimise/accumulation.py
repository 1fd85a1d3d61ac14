"""Gradients of several batches added up, so that one step is that of the batch that they would be together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.runtime.devices.protocol import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Argument, Fixed, Ref, Setting
from paddle_layers.runtime.launches.builtin import SHARE, WEIGHTED_SUM, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.row_gradients import RowGradient
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter, ParameterSet

from .row_forms import add_rows_launch

if TYPE_CHECKING:
    from paddle_layers.runtime.devices.protocol import LaunchTable

Gradients = Sequence[RowGradient | None]


class Accumulation:
    """The weighted sum of the gradients since the last step; gradients by rows are spread over whole tables."""

    def __init__(self, arena: ParameterSet, by_rows: Sequence[Parameter], device: Device, dtype: str) -> None:
        self._device, self._dtype, self._arena = device, dtype, arena
        self._sum = Flat(device, arena.gradients.size, dtype)
        self.tables = {parameter.name: Flat(device, parameter.size, dtype) for parameter in by_rows}
        """For each parameter whose gradient is by rows, the whole of it."""
        self._by_rows = by_rows
        self._weight = 0.0
        self._gradients: Gradients | None = None
        self._adding: LaunchTable | None = None
        self._finishing = device.table(self._finish_launches(), dtype, _address)
        self._finishing.set_rows(Rows({}))

    def add(self, gradients: Gradients, weight: float) -> None:
        """Add the gradients of a backward pass, which count as much as `weight` says beside the others."""
        if self._adding is None or gradients != self._gradients:
            self._gradients, launches = gradients, self._add_launches(gradients)
            self._adding = self._device.table(launches, self._dtype, _address)
            self._count = len(launches)
        if not self._weight:
            for table in self.tables.values():
                table.write(np.zeros(1))
        self._adding.set_rows(Rows({one.use.ids: len(one.ids) for one in gradients if one is not None}))
        self._adding.set_numbers({"weight": weight, "kept": float(self._weight > 0)})
        self._adding.run(0, self._count)
        self._weight += weight

    def finish(self) -> None:
        """Put the weighted mean where the step looks for gradients; what is added next begins anew."""
        self._finishing.set_numbers({"share": 1.0 / self._weight if self._weight else 0.0})
        self._finishing.run(0, 1 + len(self.tables))
        self._weight = 0.0

    def _add_launches(self, gradients: Gradients) -> list[Launch]:
        numbers = Setting("kept"), Setting("weight")
        launches = [simple_launch(WEIGHTED_SUM, "gradients", [_ref(self._sum), _ref(self._arena.gradients), *numbers])]
        for parameter, gradient in zip(self._by_rows, gradients, strict=True):
            if gradient is not None:
                rows = parameter.shape[0]
                shape = (Extent(rows), Extent(parameter.size // max(rows, 1)))
                table = _ref(self.tables[parameter.name])._replace(shape=shape)
                args: dict[str, Argument] = {
                    "dense": table,
                    "gradient": gradient.table,
                    "ids_": gradient.used,
                    "weight": Setting("weight"),
                }
                launches.append(add_rows_launch(parameter.name, args, self._device.whole_rows))
        return launches

    def _finish_launches(self) -> list[Launch]:
        share = Setting("share")
        gradients = _ref(self._arena.gradients)
        launches = [simple_launch(SHARE, "gradients", [gradients, _ref(self._sum), share])]
        return launches + [
            simple_launch(SHARE, name, [_ref(one), _ref(one), share]) for name, one in self.tables.items()
        ]


def _ref(flat: Flat) -> Ref:
    return Ref(Fixed(flat.block.address), (Extent(flat.size),), "float64" if flat.dtype == "float64" else "real")


def _address(ref: Ref) -> int:
    assert isinstance(ref.owner, Fixed)
    return ref.owner.address
