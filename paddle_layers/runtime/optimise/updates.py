"""What an optimizer and a regularizer do to one parameter, by a dense gradient or by rows of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.elementwise import Elementwise
from paddle_layers.define.functions import Function
from paddle_layers.define.lazy_updates import AdaptiveStep, LinearStep, find_lazy_update
from paddle_layers.runtime.devices.protocol import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, Fixed, Ref, Setting, plain_argument
from paddle_layers.runtime.launches.builtin import FILL, flat_launch, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.row_gradients import RowGradient
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter

from .pending_steps import PendingSteps, pending_steps
from .ranges import Updated, ranges
from .row_forms import penalty_launch, spread_launch, step_launch

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

    def decay(self, parameter: Updated) -> float:
        """Factor of the regularizer's penalty."""
        own = parameter.settings.decay_mult if parameter.settings is not None else 1.0
        return float(own) if self.regularizer is not None else 0.0

    def ranges(self, parameters: Sequence[Updated], dtype: str) -> Sequence[Updated]:
        """The parameters, given in the order of the arena, as few parts of it: neighbours updated alike are one.

        Where a zero between them would be moved, each parameter is updated by itself.
        """
        if not self.rest_at_zero():
            return parameters
        return ranges(parameters, lambda parameter: (rate_factor(parameter), self.decay(parameter)), dtype)

    def rest_at_zero(self) -> bool:
        """Whether a zero with a gradient of zero stays one, and the states beside it, too."""
        zero = [0.0]
        given = {"value": zero, "gradient": zero, "rate": 1.0, "count": 1.0, **self.attributes}
        moved = [_at_zero(self.step, {**given, **dict.fromkeys(self.optimizer.states, zero)})]
        if self.regularizer is not None:
            moved.append(_at_zero(self.regularizer.definition.function, {"value": zero, **self.regularizer.attributes}))
        return not any(moved)


def _at_zero(function: Function, given: Mapping[str, Any]) -> bool:
    """Whether a function of a weight, run as Python, gives anything but zeros."""
    try:
        found = function.call(0, *(given[name] for name in function.args[1:]))
    except ArithmeticError:  # a kernel gives NaN or infinity there
        return True
    return bool(np.any(np.asarray(found) != 0.0))


def rate_factor(parameter: Updated) -> float:
    """What the learning rate is multiplied by."""
    return parameter.settings.lr_mult if parameter.settings is not None else 1.0


def update_launches(
    rules: Rules,
    parameter: Updated,
    tables: Mapping[str, Ref],
    gradient: Ref,
    ids: Ref | None = None,
    whole_rows: bool = True,
) -> list[Launch]:
    """The penalty and the step; `tables` are the value and the states. `ids`: for these rows only."""
    launches = []
    if decay := rules.decay(parameter):
        penalty = rules.regularizer.definition.function
        offered: dict[str, Argument] = {"value": tables["value"], **_plain(rules.regularizer.attributes)}
        args: dict[str, Argument] = {"gradient": gradient, **{name: offered[name] for name in penalty.args[1:]}}
        args["decay_mult_"] = decay
        if ids is None:
            add = flat_launch(penalty, parameter.name, ["gradient"], args, accumulate=True, factor="decay_mult_")
        else:
            add = penalty_launch(penalty, parameter.name, {**args, "value": tables["value"], "ids_": ids}, whole_rows)
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
    return [*launches, step_launch(rules.step, parameter.name, list(tables), {**args, "ids_": ids}, whole_rows)]


def _plain(attributes: Mapping[str, Any]) -> dict[str, Argument]:
    return {name: plain_argument(value) for name, value in attributes.items()}


class RowUpdate:
    """The update of a parameter whose gradient is by rows.

    It touches these rows only, where the optimizer declares a lazy update. Else it spreads the rows to a dense
    gradient.
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
        self.rules, self.parameter, self.tables, self._states = rules, parameter, tables, states
        self._device, self._dtype = device, dtype
        rows = parameter.shape[0]
        shape = (Extent(rows), Extent(parameter.size // max(rows, 1)))
        self._by_rows = {name: table._replace(shape=shape) for name, table in tables.items()}
        decay = rules.decay(parameter)
        self._lazy = find_lazy_update(rules.optimizer, rules.attributes, rules.regularizer, decay)
        self._dense = Flat(device, parameter.size, dtype) if self._lazy is None else None
        self._pending: PendingSteps | None = None
        parameter.catch_up()
        parameter.before_read = None
        if self._lazy is None:
            penalty = f" with {rules.regularizer.definition.name}" if rules.regularizer is not None and decay else ""
            log.info(
                "`%s`: every step goes over all its %d rows, since %s%s declares no lazy update",
                *(parameter.name, rows, rules.optimizer.name, penalty),
            )

    def launches(self, gradient: RowGradient | None) -> list[Launch]:
        """The launches for the gradient of a plan, or for none at all."""
        if self._dense is not None:
            return self._dense_launches(self._dense, gradient)
        if gradient is None:
            return []
        table, used = gradient.table, gradient.used
        return update_launches(self.rules, self.parameter, self._by_rows, table, used, self._device.whole_rows)

    def _dense_launches(self, dense: Flat, gradient: RowGradient | None) -> list[Launch]:
        whole = Ref(Fixed(dense.block.address), (Extent(dense.size),))
        launches = [simple_launch(FILL, self.parameter.name, [whole, 0.0])]
        if gradient is not None:
            table = whole._replace(shape=self._by_rows["value"].shape)
            spread = {"dense": table, "gradient": gradient.table, "ids_": gradient.used}
            launches.append(spread_launch(self.parameter.name, spread, self._device.whole_rows))
        return launches + update_launches(self.rules, self.parameter, self.tables, whole)

    def catch_up(self) -> None:
        """Make the pending steps of the rows of the gradient, if they are not made since the forward pass.

        Where another optimizer has pending steps for the parameter, all rows make those first.
        """
        own = self._pending.make if self._pending is not None else None
        if self.parameter.before_read not in (None, own):
            self.parameter.catch_up()
            self.parameter.before_read = own
        if self._pending is not None and self.parameter.row_gradient is not None:
            self._pending.make(self.parameter.row_gradient.ids)

    def note(self, rate: float, count: float) -> None:
        """Let the step be pending for all rows without a gradient."""
        if self._lazy is None:
            return
        step = self._lazy.step(rate * rate_factor(self.parameter), count)
        if _changes_nothing(step):
            return
        gradient = self.parameter.row_gradient
        moved = gradient.ids if gradient is not None else np.zeros(0, np.int64)
        self._memory(step).add(step, moved)

    def saved(self) -> dict[str, NDArray[Any]]:
        """The pending steps, with the values before them, by name; nothing where there are none."""
        found = self._pending.saved() if self._pending is not None else {}
        return {**found, "value": self.parameter.stored} if found else {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Let the steps be pending that `saved` gave."""
        if arrays and self._lazy is not None:
            self.parameter.stored = arrays["value"]
            self._memory(self._lazy.step(1.0, 1.0)).restore(arrays)

    def _memory(self, step: LinearStep | AdaptiveStep) -> PendingSteps:
        """Where steps are remembered; the parameter has them made before it is read."""
        if self._pending is None:
            rows = self.parameter.shape[0]
            self._pending = pending_steps(step, self._by_rows, self._states, rows, self._device, self._dtype)
        self.parameter.before_read = self._pending.make
        return self._pending


def _changes_nothing(step: LinearStep | AdaptiveStep) -> bool:
    """Whether it leaves the value as it is, and every state that a step reads: those without are columns of zeros."""
    if isinstance(step, AdaptiveStep):
        return False
    matrix = np.array(step, np.float64)
    read = [at for at in range(len(matrix)) if at == 0 or matrix[:, at].any()]
    return np.array_equal(matrix[read], np.eye(len(matrix))[read])
