"""Statistics of metric layers: sums over rows and batches, and the numbers reported for them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .arguments import Fixed, Ref
from .builtin import SUM, simple_launch
from .devices import Device, Flat
from .domains import Extent
from .launches import Launch

if TYPE_CHECKING:
    from .buffers import Buffer
    from .graph import Op
    from .plan import Plan


class Statistics:
    """Sums of every statistic, in float64 on the device, until they are reset."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._sums: dict[str, dict[str, Flat]] = {}
        self._counted: dict[str, Op] = {}

    def launches(self, found: Iterable[tuple[Op, dict[str, Buffer]]]) -> list[Launch]:
        """Launches that add the rows of a batch to the sums."""
        made = []
        for op, buffers in found:
            sums = self._sums.setdefault(op.name, {name: Flat(self._device, 1, "float64") for name in buffers})
            for name, buffer in buffers.items():
                total = Ref(Fixed(sums[name].block.address), (Extent(1),), "float64")
                rows = Ref(buffer, (buffer.extent,))
                made.append(simple_launch(SUM, op.name, [total, rows, buffer.extent], accumulate=True))
        return made

    def add(self, plan: Plan) -> None:
        """Add the batch that a plan has just run."""
        if plan.stats:
            plan.count()
            self._counted |= {op.name: op for op, _ in plan.stats}

    def results(self) -> dict[str, float]:
        """`layer.statistic` to the reported number."""
        return {f"{op.name}.{op.layer.name}": self._result(op) for op in self._counted.values()}

    def _result(self, op: Op) -> float:
        call = op.layer.hooks["result"]
        sums = {**op.attributes, **{name: float(total.read()[0]) for name, total in self._sums[op.name].items()}}
        value = call(*(sums[argument] for argument in inspect.signature(call).parameters))
        return float(value) if value is not None else math.nan

    def reset(self) -> None:
        """Set all sums to zero."""
        for sums in self._sums.values():
            for total in sums.values():
                total.write(np.zeros(1))
        self._counted.clear()
