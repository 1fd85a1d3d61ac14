"""What an optimizer and a regularizer do to one parameter, by a dense gradient or by rows of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.elementwise import Elementwise
from paddle_layers.define.functions import Function

from .arguments import Argument, Fixed, Ref, Setting, plain_argument
from .blocks import Flat
from .builtin import FILL, flat_launch, simple_launch
from .catchup import Lag
from .device_protocol import Device
from .domains import Extent
from .idle import Idle
from .launches import Launch
from .parameters import Parameter
from .rowforms import penalty_launch, spread_launch, step_launch
from .rows import RowGradient

log = logging.getLogger("paddle_layers")


class Rules(NamedTuple):
    """How parameters are updated; `regularizer` has a definition and attributes, or is None."""

    optimizer: Elementwise
    attributes: Mapping[str, Any]
    regularizer: Any

    @property
    def step(self) -> Function:
        """The function of the optimizer."""
        if self.optimizer.function is None:
            raise self.optimizer.error("has no @step function")
        return self.optimizer.function

    def decay(self, parameter: Parameter) -> float:
        """Factor of the regularizer's penalty."""
        own = parameter.settings.decay_mult if parameter.settings is not None else 1.0
        return float(own) if self.regularizer is not None else 0.0


def rate_factor(parameter: Parameter) -> float:
    """What the learning rate is multiplied by."""
    return parameter.settings.lr_mult if parameter.settings is not None else 1.0


def update_launches(
    rules: Rules,
    parameter: Parameter,
    tables: Mapping[str, Ref],
    gradient: Ref,
    ids: Ref | None = None,
    device: str = "cpu",
) -> list[Launch]:
    """The penalty and the step; `tables` are the value and the states. `ids`: for these rows only, on a device."""
    launches = []
    if decay := rules.decay(parameter):
        penalty = rules.regularizer.definition.function
        offered: dict[str, Argument] = {"value": tables["value"], **_plain(rules.regularizer.attributes)}
        args: dict[str, Argument] = {"gradient": gradient, **{name: offered[name] for name in penalty.args[1:]}}
        args["decay_mult_"] = decay
        if ids is None:
            add = flat_launch(penalty, parameter.name, ["gradient"], args, accumulate=True, factor="decay_mult_")
        else:
            add = penalty_launch(penalty, parameter.name, {**args, "value": tables["value"], "ids_": ids}, device)
        launches.append(add)
    offered = {
        "gradient": gradient,
        "rate": Setting("rate", rate_factor(parameter)),
        "count": Setting("count"),
        **_plain(rules.attributes),
    }
    args = {**tables, **{name: offered[name] for name in rules.step.args[1:] if name not in tables}}
    if ids is None:
        return [*launches, flat_launch(rules.step, parameter.name, list(tables), args)]
    return [*launches, step_launch(rules.step, parameter.name, list(tables), {**args, "ids_": ids}, device)]


def _plain(attributes: Mapping[str, Any]) -> dict[str, Argument]:
    return {name: plain_argument(value) for name, value in attributes.items()}


class RowUpdate:
    """The update of a parameter whose gradient is by rows.

    It touches these rows only, where what the optimizer does to the others can be put off; else it spreads the rows
    to a dense gradient.
    """

    def __init__(
        self,
        rules: Rules,
        parameter: Parameter,
        tables: Mapping[str, Ref],
        states: Mapping[str, Flat],
        device: Device,
        dtype: str,
    ) -> None:
        self.rules, self.parameter, self.tables, self._device = rules, parameter, tables, device.name
        rows = parameter.shape[0]
        shape = (Extent(rows), Extent(parameter.size // max(rows, 1)))
        self._by_rows = {name: table._replace(shape=shape) for name, table in tables.items()}
        self._dense: Flat | None = None
        parameter.catch_up()
        parameter.lag = None
        idle = Idle(rules.optimizer, rules.attributes, rules.regularizer, rules.decay(parameter), dtype)
        if idle.turns is None:
            self._dense = Flat(device, parameter.size, dtype)
            penalty = f" with {idle.regularizer.definition.name}" if idle.regularizer is not None else ""
            log.info(
                "`%s`: every step goes over all its %d rows, since what %s%s does to rows without a gradient cannot be "
                "put off",
                *(parameter.name, rows, rules.optimizer.name, penalty),
            )
        elif not idle.changes_nothing:
            parameter.lag = Lag(idle, self._by_rows, states, rows, device, dtype)

    def launches(self, gradient: RowGradient | None) -> list[Launch]:
        """The launches for the gradient of a plan, or for none at all."""
        if self._dense is not None:
            return self._dense_launches(self._dense, gradient)
        if gradient is None:
            return []
        table, used = gradient.table, gradient.used
        return update_launches(self.rules, self.parameter, self._by_rows, table, used, self._device)

    def _dense_launches(self, dense: Flat, gradient: RowGradient | None) -> list[Launch]:
        whole = Ref(Fixed(dense.block.address), (Extent(dense.size),))
        launches = [simple_launch(FILL, self.parameter.name, [whole, 0.0])]
        if gradient is not None:
            table = whole._replace(shape=self._by_rows["value"].shape)
            spread = {"dense": table, "gradient": gradient.table, "ids_": gradient.used}
            launches.append(spread_launch(self.parameter.name, spread, self._device))
        return launches + update_launches(self.rules, self.parameter, self.tables, whole)

    def catch_up(self) -> None:
        """Bring the rows of the gradient up to date, if they are not since the forward pass."""
        if self.parameter.lag is not None and self.parameter.row_gradient is not None:
            self.parameter.lag.catch_up(self.parameter.row_gradient.ids)

    def put_off(self) -> dict[str, NDArray[Any]]:
        """What has been put off, with the values before it, by name."""
        found = self.parameter.lag.saved() if self.parameter.lag is not None else {}
        return {**found, "value": self.parameter.stored} if "done" in found else found

    def put_back(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put off what `put_off` gave."""
        if "value" in arrays:
            self.parameter.stored = arrays["value"]
        if self.parameter.lag is not None:
            self.parameter.lag.restore(arrays)

    def note(self, rate: float, count: float) -> None:
        """Put the step off for all rows without a gradient."""
        if self.parameter.lag is not None:
            gradient = self.parameter.row_gradient
            moved = gradient.ids if gradient is not None else np.zeros(0, np.int64)
            self.parameter.lag.note(rate * rate_factor(self.parameter), count, moved)
