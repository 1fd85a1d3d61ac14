"""Optimizer step of a net: optimizer and regularizer functions over ranges of the flat arenas."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Held, Ref, external_address, flat_ref
from paddle_layers.runtime.launches.builtin import CLAMP, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter
from paddle_layers.runtime.passes import runs
from paddle_layers.runtime.passes.optimizer_in_backward import Updates

from .accumulation import Accumulation
from .averaging import Average
from .finite import ARENA, FiniteCheck, NonFiniteGradients, check_launches
from .limits import Limits, Norms
from .updates import RowUpdate, Rules, Updated, update_launches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddle_layers.define import Definition
    from paddle_layers.runtime.net import Net

PENDING = "pending/"
"""Prefix of the names of arrays with pending steps."""
Gradients = list[SparseGradient | None]


class Updater:
    """Updates the parameters of a net from their gradients.

    Order as in Caffe: gradients are clipped by their global norm, then by value, each according to its parameter, the
    penalty is added, then the optimizer makes its step; norms of units are constrained last. `regularizer` has a
    definition and attributes, `clip` has `norm` and `value`, each may be None. With `accumulate` each backward pass is
    followed by `add`, and a step is for all of them. `average` has `decay`, `window` and `max_window`. Raises
    `ValueError` for a parameter with a separate momentum if the optimizer has none.
    """

    def __init__(
        self,
        optimizer: Definition,
        attributes: Mapping[str, Any],
        net: Net,
        *,
        regularizer: Any = None,
        clip: Any = None,
        accumulate: bool = False,
        average: Any = None,
        momentum_scheduled: bool = False,
    ) -> None:
        if not isinstance(optimizer, Elementwise):
            raise TypeError(f"{optimizer!r} is not an optimizer")
        self.arena, self._device, self._dtype, self._clip = net.arena, net.target, net.dtype, clip
        # In the layout of the arena, so that adjacent parameters are updated by one launch, padding included.
        self._states = {name: Flat(net.target, net.arena.values.size, net.dtype) for name in optimizer.states}
        self._rules = Rules(optimizer, attributes, regularizer, momentum_scheduled)
        self._limits, self._begun = Limits(net.arena.trained, net.target, net.dtype), False
        by_rows = [parameter for parameter in self.arena.trained if parameter.by_rows]
        self._accumulation = Accumulation(self.arena, by_rows, net.target, net.dtype) if accumulate else None
        self._row_updates = [
            RowUpdate(
                self._rules,
                parameter,
                self._tables(parameter),
                self._states,
                self._limits,
                self._accumulation.tables[parameter.name] if self._accumulation is not None else None,
                net.target,
                net.dtype,
            )
            for parameter in by_rows
        ]
        self._build(self._found())
        self._early: Updates | None = None
        self.average: Average | None = None
        if average is not None:
            self.average = Average(self.arena, net.target, net.dtype, **dataclasses.asdict(average))

    @property
    def states(self) -> dict[str, Flat]:
        """The states of the optimizer, in the layout of the arena of parameters."""
        self.catch_up()
        return self._states

    def catch_up(self) -> None:
        """Makes all pending steps of rows that no batch has used since."""
        for update in self._row_updates:
            update.parameter.catch_up()

    def saved(self) -> dict[str, NDArray[Any]]:
        """Arrays for a bit-exact `restore`: the states, and pending steps.

        They are views where possible: do not access parameters before they are written.
        """
        self._begin()
        arrays = {name: flat.read() for name, flat in self._fixed().items()}
        arrays |= self.average.saved() if self.average is not None else {}
        for update in self._row_updates:
            arrays |= {f"{PENDING}{update.parameter.name}/{part}": array for part, array in update.saved().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restores `saved`, after the parameters have been loaded."""
        self.catch_up()  # with the states before: pending steps of the present optimizer are those of the old ones
        self._begun = True
        for name, flat in self._fixed().items():
            flat.write(arrays[name])
        if self.average is not None:
            self.average.restore(arrays)
        for update in self._row_updates:
            prefix = f"{PENDING}{update.parameter.name}/"
            update.restore({n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)})

    @property
    def sizes(self) -> dict[str, int]:
        """Size of each array of `saved` whose size does not change: all but pending steps."""
        counts = {"average_counts": 3} if self.average is not None else {}
        return {name: flat.size for name, flat in self._fixed().items()} | counts

    def _fixed(self) -> dict[str, Flat]:
        masks = {f"mask/{name}": mask for name, mask in self._limits.masks.items()}
        return {**self._states, **masks, **(self.average.states if self.average is not None else {})}

    def _begin(self) -> None:
        """Initialization from the initial values, which may have been loaded since."""
        if not self._begun:
            self._begun = True
            self._limits.begin()
            if self.average is not None:
                self.average.begin()

    def add(self) -> None:
        """Adds the gradients of the last backward pass to those of the step."""
        assert self._accumulation is not None, "it was not asked for"
        self.arena.gradient_owner.check()
        self._accumulation.add(self._row_gradients())

    def discard(self) -> None:
        """Discards the gradients that were accumulated since the last step."""
        if self._accumulation is not None:
            self._accumulation.discard()

    def averaged(self) -> contextlib.AbstractContextManager[None]:
        """Context manager: the parameters are replaced by their averages, if there are averages."""
        if self.average is None:
            return contextlib.nullcontext()
        self._begin()
        self.catch_up()
        return self.average.used()

    def update_in_backward(self, net: Net) -> None:
        """Lets backward passes make the steps, announced by `begin_step`, if they need one gradient at a time.

        Nothing changes if gradients are clipped by their global norm, accumulated or sparse, and if the first step
        computes masks of initial values, between its forward and its backward pass.
        """
        # A global norm is known only when all gradients are, which have to be kept until then.
        together = self._clip is not None and self._clip.norm is not None
        if together or self._accumulation is not None or self._row_updates or self._limits.masks:
            return
        if runs("optimizer-in-backward"):
            sizes = {parameter.name: parameter.size for parameter in self.arena.trained}
            self._check = FiniteCheck(sizes, self._device, self._dtype)
            self._early = Updates(self.arena.trained, self._update_of)
            net.update_in_backward(self._early)

    def _update_of(self, parameter: Parameter, gradient: Ref) -> list[Launch]:
        """The step of a single parameter; its launches are the same as those of a range that contains it."""
        value = Ref(Held(parameter, "value"), (Extent(parameter.size),), gradient.dtype)
        launches = [self._check.launch(parameter.name, gradient)]
        launches += self._by_value([gradient]) + self._limits.on_gradient(parameter, gradient, self._norms)
        tables = {**self._tables(parameter), "value": value}
        launches += update_launches(self._rules, parameter, tables, gradient, self._norms)
        return launches + self._limits.on_value(parameter, value)

    def begin_step(self, rate: float, count: int, momentum: float | None = None) -> None:
        """Announces a step, before its forward pass, for backward passes that make it; arguments as for `step`."""
        if self._early is not None:
            self._begin()
            self._early.numbers = self._numbers(rate, count, momentum)

    def _numbers(self, rate: float, count: int, momentum: float | None) -> dict[str, float]:
        if not self._rules.scheduled:
            return {"rate": rate, "count": float(count)}
        assert momentum is not None, "it is scheduled"
        return {"rate": rate, "count": float(count), "momentum": momentum}

    def step(self, rate: float, count: int, momentum: float | None = None) -> None:
        """Makes one step with the learning rate `rate`; `count` is the number of the step, from 1.

        `momentum` is that of this step if it is scheduled; parameters with a separate one keep it. Raises
        `NonFiniteGradients`: nothing has changed then, unless the backward pass has made the step.
        """
        self.arena.gradient_owner.check()
        if self._early is None:
            self._step(rate, count, momentum)
        elif names := self._check.found():
            # Parameters have been updated already: the caller decides whether to stop.
            raise NonFiniteGradients(names[::-1])  # the last layers first
        if self.average is not None:
            self.catch_up()
            self.average.note()

    def _step(self, rate: float, count: int, momentum: float | None) -> None:
        self._begin()
        if self._accumulation is not None:
            self._accumulation.finish()
        elif self._found() != self._gradients:
            self._build(self._found())
        for update in self._row_updates:
            update.catch_up()
        if self._row_updates:
            self._table.set_rows(self._rows())
        self._table.set_numbers(self._numbers(rate, count, momentum))
        # Checks first: nothing has changed if a gradient is not finite, so the caller may skip the batch.
        self._table.run(0, self._checks)
        self._check.raise_found(self.arena.trained)
        with self.arena.changes.made():
            self._table.run(self._checks, self._count)
        for update in self._row_updates:
            update.note(rate, float(count), momentum)

    def _found(self) -> Gradients:
        """Sparse gradients of a step; another plan has others."""
        return self._row_gradients() if self._accumulation is None else [None for _ in self._row_updates]

    def _row_gradients(self) -> Gradients:
        """Sparse gradients of the last backward pass."""
        found = (update.parameter.sparse_gradient for update in self._row_updates)
        return [gradient if isinstance(gradient, SparseGradient) else None for gradient in found]

    def _rows(self) -> Rows:
        """Number of rows of each sparse gradient."""
        return Rows({gradient.use.ids: len(gradient.ids) for gradient in self._gradients if gradient is not None})

    def _build(self, gradients: Gradients) -> None:
        self._norms = Norms(self._device, self._dtype)
        pairs = zip(self._row_updates, gradients, strict=True)
        by_rows = {update.parameter.name: rows.flat for update, rows in pairs if rows is not None}
        if self._accumulation is not None:
            by_rows = {name: flat_ref(table) for name, table in self._accumulation.tables.items()}
        arrays = {ARENA: flat_ref(self.arena.gradients), **by_rows}
        self._check, launches = check_launches(arrays, self._device, self._dtype)
        self._checks = len(launches)
        # Over the dense arena and all sparse gradients: the norm is that of the whole gradient.
        launches += self._clipping([*arrays.values()])
        dense = [parameter for parameter in self.arena.trained if not parameter.by_rows]
        for parameter in dense:
            launches += self._limits.on_gradient(parameter, _part(self.arena.gradients, parameter), self._norms)
        for alike in self._rules.ranges(dense, self._dtype):
            gradient = _part(self.arena.gradients, alike)
            launches += update_launches(self._rules, alike, self._tables(alike), gradient, self._norms)
        for parameter in dense:
            launches += self._limits.on_value(parameter, _part(self.arena.values, parameter))
        for update, rows in zip(self._row_updates, gradients, strict=True):
            launches += update.launches(rows, self._norms)
        self._gradients, self._count = gradients, len(launches)
        self._table = self._device.table(launches, self._dtype, external_address)
        self._table.set_rows(self._rows())

    def _tables(self, parameter: Updated) -> dict[str, Ref]:
        """The value and the states of a parameter."""
        return {name: _part(flat, parameter) for name, flat in {"value": self.arena.values, **self._states}.items()}

    def _clipping(self, arrays: Sequence[Ref]) -> list[Launch]:
        """Clipping by the global norm, then by value."""
        launches = []
        if self._clip is not None and self._clip.norm is not None:
            launches += self._norms.clip("gradients", arrays, self._clip.norm)
        return launches + self._by_value(arrays)

    def _by_value(self, arrays: Sequence[Ref]) -> list[Launch]:
        if self._clip is None or self._clip.value is None:
            return []
        return [simple_launch(CLAMP, "gradients", [array, self._clip.value]) for array in arrays]


def _part(flat: Flat, parameter: Updated) -> Ref:
    """A parameter's part of an arena."""
    return flat_ref(flat, Extent(parameter.size), offset=parameter.offset)
