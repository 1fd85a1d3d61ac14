"""Updates of parameters by an optimizer and a regularizer, from dense or sparse gradients.

One launch updates contiguous parameters with the same update.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import registries
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.definitions.lazy_updates import AdaptiveStep, LinearStep, find_lazy_update
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, ExternalMemory, Ref, Setting, plain_argument
from paddle_layers.runtime.launches.builtin import FILL, flat_launch, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter

from .limits import Limits, Norms, needs_all_rows
from .pending_steps import PendingSteps, pending_steps
from .row_forms import penalty_launch, spread_launch, step_launch

log = logging.getLogger("paddle_layers")


class Updated(Protocol):
    """A part of the arena, and its update."""

    @property
    def name(self) -> str:
        """Name in errors and plans."""

    @property
    def settings(self) -> Any:
        """Settings of the parameter, or None."""

    @property
    def offset(self) -> int:
        """Bytes from the start of the arena."""

    @property
    def size(self) -> int:
        """Number of elements."""


@dataclass(frozen=True)
class Range:
    """Adjacent parameters in the arena including the padding between them: zeros, which an update does not change."""

    name: str
    settings: Any
    offset: int
    size: int


def ranges(parameters: Iterable[Updated], factors: Callable[[Updated], Hashable], dtype: str) -> list[Range]:
    """The parameters, in the order of the arena, as few ranges: adjacent ones with equal factors are merged."""
    found: list[Range] = []
    itemsize = np.dtype(dtype).itemsize
    for parameter in parameters:
        own = Range(parameter.name, parameter.settings, parameter.offset, parameter.size)
        if found and factors(found[-1]) == factors(own):
            before = found.pop()
            size = (own.offset - before.offset) // itemsize + own.size
            own = replace(before, name="parameters", size=size)
        found.append(own)
    return found


class Penalty(NamedTuple):
    """A regularizer with its attributes, and its factor."""

    definition: Any
    attributes: Mapping[str, Any]
    factor: float


class Rules(NamedTuple):
    """Update rules of parameters; `regularizer` has a definition and attributes, or is `None`."""

    optimizer: Elementwise
    attributes: Mapping[str, Any]
    regularizer: Any
    scheduled: bool = False
    """Whether the momentum changes in every step."""

    @property
    def step(self) -> Function:
        """The function of the optimizer."""
        if self.optimizer.function is None:
            raise self.optimizer.error("has no @step function")
        return self.optimizer.function

    def penalty(self, parameter: Updated) -> Penalty | None:
        """The penalty that is added to the gradient: the parameter's own, or the regularizer's; or None."""
        settings, regularizer = parameter.settings, self.regularizer
        own = {name: getattr(settings, name, None) or 0.0 for name in ("l1", "l2")}
        if settings is not None and (settings.l1, settings.l2) != (None, None):
            given = [name for name, rate in own.items() if rate]
            if not given:
                return None
            definition = registries["regularizer"]["_".join(given)]
            attributes = own if len(given) > 1 else {"rate": own[given[0]]}
            return Penalty(definition, definition.bind(attributes), 1.0)
        factor = float(settings.decay_mult) if settings is not None else 1.0
        if regularizer is None or not factor:
            return None
        return Penalty(regularizer.definition, regularizer.attributes, factor)

    def attributes_of(self, parameter: Updated) -> Mapping[str, Any]:
        """The attributes of the optimizer for a parameter, which may have a separate momentum."""
        own = getattr(parameter.settings, "momentum", None)
        if own is None:
            return self.attributes
        if "momentum" not in self.attributes:
            raise ValueError(
                f"`{parameter.name}` sets `momentum`, but the optimizer `{self.optimizer.name}` has no momentum"
            )
        return {**self.attributes, "momentum": own}

    def follows_schedule(self, parameter: Updated) -> bool:
        """Whether the momentum of a parameter is the scheduled one."""
        return self.scheduled and getattr(parameter.settings, "momentum", None) is None

    def ranges(self, parameters: Sequence[Updated], dtype: str) -> Sequence[Updated]:
        """The parameters, in the order of the arena, as few parts of it: adjacent ones with the same update are merged.

        If padding would be moved, or norms of a parameter matter, each is updated separately.
        """
        # Such optimizers (LAMB) scale a step by norms of the whole parameter.
        if self.optimizer.direction is not None or not self.rest_at_zero():
            return parameters
        return ranges(parameters, self._alike, dtype)

    def _alike(self, parameter: Updated) -> Hashable:
        """Key that is equal for parameters with the same update."""
        settings = parameter.settings
        own = (settings.l1, settings.l2, settings.momentum) if settings is not None else (None, None, None)
        decay = settings.decay_mult if settings is not None and self.regularizer is not None else 1.0
        return rate_factor(parameter), decay, own

    def rest_at_zero(self) -> bool:
        """Whether a zero with a zero gradient stays zero, and its states, too."""
        # Tried by calling the functions: authors of optimizers do not have to declare it.
        zero = [0.0]
        given = {"value": zero, "gradient": zero, "rate": 1.0, "count": 1.0, **self.attributes}
        moved = [_at_zero(self.step, {**given, **dict.fromkeys(self.optimizer.states, zero)})]
        if self.regularizer is not None:
            moved.append(_at_zero(self.regularizer.definition.function, {"value": zero, **self.regularizer.attributes}))
        return not any(moved)


def _at_zero(function: Function, given: Mapping[str, Any]) -> bool:
    """Whether a function of a weight, run as Python, returns only zeros."""
    try:
        found = function.call(0, *(given[name] for name in function.args[1:]))
    except ArithmeticError:  # a kernel returns NaN or infinity there
        return True
    return bool(np.any(np.asarray(found) != 0.0))


def rate_factor(parameter: Updated) -> float:
    """Factor of the learning rate."""
    return parameter.settings.lr_mult if parameter.settings is not None else 1.0


def update_launches(
    rules: Rules, parameter: Updated, tables: Mapping[str, Ref], gradient: Ref, norms: Norms
) -> list[Launch]:
    """The penalty and the step for a dense gradient; `tables` are the value and the states."""
    name, launches = parameter.name, []
    if penalty := rules.penalty(parameter):
        function, args = _penalty(penalty, tables["value"], gradient)
        launches.append(flat_launch(function, name, ["gradient"], args, accumulate=True, factor="decay_mult_"))
    direction, offered = rules.optimizer.direction, _offered(rules, parameter, tables, gradient)
    targets = list(tables)
    if direction is not None:
        targets = ["value"]
        moved = ["gradient", *rules.optimizer.states]
        launches.append(flat_launch(direction, name, moved, _asked(direction, offered, moved)))
        for asked in ("value", "gradient"):
            offered[f"{asked}_norm"], counted = norms.norm(name, tables["value"] if asked == "value" else gradient)
            launches += counted
    return [*launches, flat_launch(rules.step, name, targets, _asked(rules.step, offered, targets))]


def row_launches(
    rules: Rules, parameter: Updated, tables: Mapping[str, Ref], gradient: Ref, ids: Ref, whole_rows: bool
) -> list[Launch]:
    """The penalty and the step for the rows of these ids, for a sparse gradient."""
    name, launches = parameter.name, []
    if penalty := rules.penalty(parameter):
        function, args = _penalty(penalty, tables["value"], gradient)
        launches.append(penalty_launch(function, name, {**args, "value": tables["value"], "ids_": ids}, whole_rows))
    args = {**_asked(rules.step, _offered(rules, parameter, tables, gradient), list(tables)), "ids_": ids}
    return [*launches, step_launch(rules.step, name, list(tables), args, whole_rows)]


def _penalty(penalty: Penalty, value: Ref, gradient: Ref) -> tuple[Function, dict[str, Argument]]:
    """The function of a penalty, and its arguments."""
    function = penalty.definition.function
    offered: dict[str, Argument] = {"value": value, **_plain(penalty.attributes)}
    asked = {name: offered[name] for name in function.args[1:]}
    return function, {"gradient": gradient, **asked, "decay_mult_": penalty.factor}


def _offered(rules: Rules, parameter: Updated, tables: Mapping[str, Ref], gradient: Ref) -> dict[str, Argument]:
    """Arguments that a step may request."""
    return {
        **tables,
        "gradient": gradient,
        "rate": Setting("rate", rate_factor(parameter)),
        "count": Setting("count"),
        **_plain(rules.attributes_of(parameter)),
        **({"momentum": Setting("momentum")} if rules.follows_schedule(parameter) else {}),
    }


def _asked(function: Function, offered: Mapping[str, Argument], targets: Sequence[str]) -> dict[str, Argument]:
    """The targets, then the requested arguments."""
    names = [*targets, *(name for name in function.args[1:] if name not in targets)]
    return {name: offered[name] for name in names}


def _plain(attributes: Mapping[str, Any]) -> dict[str, Argument]:
    return {name: plain_argument(value) for name, value in attributes.items()}


class RowUpdate:
    """The update of a parameter with a sparse gradient.

    Only these rows are touched if the optimizer declares a lazy update. Otherwise the rows are scattered into a dense
    gradient.
    """

    def __init__(
        self,
        rules: Rules,
        parameter: Parameter,
        tables: Mapping[str, Ref],
        states: Mapping[str, Flat],
        limits: Limits,
        accumulated: Flat | None,
        device: Device,
        dtype: str,
    ) -> None:
        self.rules, self.parameter, self.tables, self._states = rules, parameter, tables, states
        self._limits, limits_all = limits, needs_all_rows(parameter)
        self._device, self._dtype = device, dtype
        rows = parameter.shape[0]
        shape = (Extent(rows), Extent(parameter.size // max(rows, 1)))
        self._by_rows = {name: table._replace(shape=shape) for name, table in tables.items()}
        penalty = rules.penalty(parameter)
        self._lazy = None
        if not limits_all and accumulated is None:
            factor = penalty.factor if penalty is not None else 0.0
            self._lazy = find_lazy_update(rules.optimizer, rules.attributes_of(parameter), penalty, factor)
        self._accumulated = accumulated
        self._dense = accumulated or (Flat(device, parameter.size, dtype) if self._lazy is None else None)
        self._pending: PendingSteps | None = None
        parameter.catch_up()
        parameter.before_read = None
        if self._lazy is None:
            why = (
                f"{rules.optimizer.name}{f' with {penalty.definition.name}' if penalty else ''} declares no lazy update"
            )
            if limits_all:
                why = "a constraint of the parameter depends on all rows"
            elif accumulated is not None:
                why = "gradients of several batches are accumulated"
            log.info("`%s`: every step updates all %d rows, because %s", parameter.name, rows, why)

    def launches(self, gradient: SparseGradient | None, norms: Norms) -> list[Launch]:
        """The launches for the gradient of a plan, or for an absent one."""
        if self._dense is not None:
            return self._dense_launches(self._dense, gradient, norms)
        if gradient is None:
            return []
        launches = self._limits.on_gradient(self.parameter, gradient.flat, norms, by_rows=True)
        table, used = gradient.table, gradient.used
        return launches + row_launches(self.rules, self.parameter, self._by_rows, table, used, self._device.whole_rows)

    def _dense_launches(self, dense: Flat, gradient: SparseGradient | None, norms: Norms) -> list[Launch]:
        whole = Ref(ExternalMemory(dense.block.address), (Extent(dense.size),))
        launches = [simple_launch(FILL, self.parameter.name, [whole, 0.0])] if self._accumulated is None else []
        if gradient is not None and self._accumulated is None:
            table = whole._replace(shape=self._by_rows["value"].shape)
            spread = {"dense": table, "gradient": gradient.table, "ids_": gradient.used}
            launches.append(spread_launch(self.parameter.name, spread, self._device.whole_rows))
        launches += self._limits.on_gradient(self.parameter, whole, norms)
        launches += update_launches(self.rules, self.parameter, self.tables, whole, norms)
        return launches + self._limits.on_value(self.parameter, self.tables["value"])

    def catch_up(self) -> None:
        """Makes the pending steps of the rows of the gradient, if not made since the forward pass.

        If another optimizer has pending steps for the parameter, all rows make those first.
        """
        own = self._pending.make if self._pending is not None else None
        if self.parameter.before_read not in (None, own):
            self.parameter.catch_up()
            self.parameter.before_read = own
        if self._pending is not None and self.parameter.sparse_gradient is not None:
            self._pending.make(self.parameter.sparse_gradient.ids)

    def note(self, rate: float, count: float, momentum: float | None = None) -> None:
        """Records the step as pending for all rows without a gradient."""
        if self._lazy is None:
            return
        now = {"momentum": momentum} if self.rules.follows_schedule(self.parameter) else {}
        step = self._lazy.step(rate * rate_factor(self.parameter), count, **now)
        # Plain SGD without decay: nothing has to be remembered.
        if _changes_nothing(step):
            return
        gradient = self.parameter.sparse_gradient
        moved = gradient.ids if gradient is not None else np.zeros(0, np.int64)
        self._memory(step).add(step, moved)

    def saved(self) -> dict[str, NDArray[Any]]:
        """The pending steps, with the values before them, by name; empty without pending steps."""
        found = self._pending.saved() if self._pending is not None else {}
        # The raw values: reading `value` would make the pending steps, and a resumed training would round differently
        # from an uninterrupted one.
        return {**found, "value": self.parameter.stored} if found else {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restores the pending steps of `saved`."""
        if arrays and self._lazy is not None:
            self.parameter.stored = arrays["value"]
            self._memory(self._lazy.step(1.0, 1.0)).restore(arrays)

    def _memory(self, step: LinearStep | AdaptiveStep) -> PendingSteps:
        """Memory of the pending steps, which the parameter makes before it is read."""
        if self._pending is None:
            rows = self.parameter.shape[0]
            self._pending = pending_steps(step, self._by_rows, self._states, rows, self._device, self._dtype)
        self.parameter.before_read = self._pending.make
        return self._pending


def _changes_nothing(step: LinearStep | AdaptiveStep) -> bool:
    """Whether it changes neither the value nor any state that a step reads: columns without are zeros."""
    if isinstance(step, AdaptiveStep):
        return False
    matrix = np.array(step, np.float64)
    read = [at for at in range(len(matrix)) if at == 0 or matrix[:, at].any()]
    return np.array_equal(matrix[read], np.eye(len(matrix))[read])
