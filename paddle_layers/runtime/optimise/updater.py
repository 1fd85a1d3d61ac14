"""Optimizers and regularizers at work: their functions over the ranges of the flat arenas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from paddle_layers.define.elementwise import Elementwise
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Fixed, Ref
from paddle_layers.runtime.launches.builtin import BLOCK, CLAMP, NORM_FACTOR, SCALE, SQUARES, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.row_gradients import RowGradient
from paddle_layers.runtime.memory.blocks import Flat

from .ranges import Updated
from .updates import RowUpdate, Rules, update_launches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddle_layers.define import Definition
    from paddle_layers.runtime.net import Net

PENDING = "pending/"
"""What the names of arrays begin with that hold pending steps."""
Gradients = list[RowGradient | None]


class Updater:
    """Changes the parameters of a net by their gradients.

    Order as in Caffe: gradients are clipped by the norm of all of them, then by value, the penalty is added, then
    the optimizer makes its step. `regularizer` has a definition and attributes, `clip` has `norm` and `value`, each
    may be None.
    """

    def __init__(
        self,
        optimizer: Definition,
        attributes: Mapping[str, Any],
        net: Net,
        *,
        regularizer: Any = None,
        clip: Any = None,
    ) -> None:
        if not isinstance(optimizer, Elementwise):
            raise TypeError(f"{optimizer!r} is no optimizer")
        self.arena, self._device, self._dtype, self._clip = net.arena, net.target, net.dtype, clip
        self._states = {name: Flat(net.target, net.arena.values.size, net.dtype) for name in optimizer.states}
        self._rules = Rules(optimizer, attributes, regularizer)
        self._row_updates = [
            RowUpdate(self._rules, parameter, self._tables(parameter), self._states, net.target, net.dtype)
            for parameter in self.arena.trained
            if parameter.by_rows
        ]
        self._build(self._found())

    @property
    def states(self) -> dict[str, Flat]:
        """The states of the optimizer, in the layout of the arena of parameters."""
        self.catch_up()
        return self._states

    def catch_up(self) -> None:
        """Make all pending steps of rows that no batch has used since."""
        for update in self._row_updates:
            update.parameter.catch_up()

    def saved(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `restore` goes on with the same bits: the states, and pending steps.

        They are views where they can be: look at no parameter before they are written.
        """
        arrays = {name: flat.read() for name, flat in self._states.items()}
        for update in self._row_updates:
            arrays |= {f"{PENDING}{update.parameter.name}/{part}": array for part, array in update.saved().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `saved`, after the parameters have been loaded."""
        for name, flat in self._states.items():
            flat.write(arrays[name])
        for update in self._row_updates:
            prefix = f"{PENDING}{update.parameter.name}/"
            update.restore({n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)})

    def step(self, rate: float, count: int) -> None:
        """One step with the learning rate `rate`; `count` is the number of the step, from 1."""
        if self._found() != self._gradients:
            self._build(self._found())
        for update in self._row_updates:
            update.catch_up()
        if self._row_updates:
            self._table.set_rows(self._rows())
        self._table.set_numbers({"rate": rate, "count": float(count)})
        self._table.run(0, self._count)
        for update in self._row_updates:
            update.note(rate, float(count))

    def _found(self) -> Gradients:
        """Gradients by rows of the last backward pass; another plan has others."""
        found = (update.parameter.row_gradient for update in self._row_updates)
        return [gradient if isinstance(gradient, RowGradient) else None for gradient in found]

    def _rows(self) -> Rows:
        """How many rows each gradient by rows has."""
        return Rows({gradient.use.ids: len(gradient.ids) for gradient in self._gradients if gradient is not None})

    def _build(self, gradients: Gradients) -> None:
        launches = self._clipping([gradient for gradient in gradients if gradient is not None])
        dense = [parameter for parameter in self.arena.trained if not parameter.by_rows]
        for alike in self._rules.ranges(dense, self._dtype):
            gradient = _ref(self.arena.gradients, alike)
            launches += update_launches(self._rules, alike, self._tables(alike), gradient)
        for update, rows in zip(self._row_updates, gradients, strict=True):
            launches += update.launches(rows)
        self._gradients, self._count = gradients, len(launches)
        self._table = self._device.table(launches, self._dtype, _address)
        self._table.set_rows(self._rows())

    def _tables(self, parameter: Updated) -> dict[str, Ref]:
        """The value and the states of a parameter."""
        return {name: _ref(flat, parameter) for name, flat in {"value": self.arena.values, **self._states}.items()}

    def _clipping(self, by_rows: Sequence[RowGradient]) -> list[Launch]:
        """By the norm of all gradients, by value, and by the value that a parameter has for itself."""
        arrays = [_ref(self.arena.gradients), *(gradient.flat for gradient in by_rows)]
        launches = []
        if self._clip is not None and self._clip.norm is not None:
            launches += self._norm_clipping(arrays)
        if self._clip is not None and self._clip.value is not None:
            launches += [simple_launch(CLAMP, "gradients", [array, self._clip.value]) for array in arrays]
        own = {gradient.parameter: gradient.flat for gradient in by_rows}
        for parameter in self.arena.trained:
            limit = parameter.settings.clip if parameter.settings is not None else None
            if limit is not None and (not parameter.by_rows or parameter in own):
                array = own.get(parameter) or _ref(self.arena.gradients, parameter)
                launches.append(simple_launch(CLAMP, parameter.name, [array, limit]))
        return launches

    def _norm_clipping(self, arrays: Sequence[Ref]) -> list[Launch]:
        blocks = [-(-array.shape[0].capacity // BLOCK) for array in arrays]
        self._squares = Flat(self._device, sum(blocks), "float64")
        self._factor = Flat(self._device, 1, self._dtype)
        launches, first = [], self._squares.block.address
        for array, count in zip(arrays, blocks, strict=True):
            squares = Ref(Fixed(first), (Extent(count),), "float64")
            launches.append(simple_launch(SQUARES, "gradients", [squares, array, array.shape[0], Extent(BLOCK)]))
            first += 8 * count
        every, factor = _ref(self._squares), _ref(self._factor)
        total = Extent(self._squares.size)
        launches.append(simple_launch(NORM_FACTOR, "gradients", [factor, every, total, self._clip.norm]))
        return [*launches, *(simple_launch(SCALE, "gradients", [array, factor]) for array in arrays)]


def _ref(flat: Flat, parameter: Updated | None = None) -> Ref:
    """All of an arena, or a parameter's part of it."""
    dtype = "float64" if flat.dtype == "float64" else "real"
    if parameter is None:
        return Ref(Fixed(flat.block.address), (Extent(flat.size),), dtype)
    return Ref(Fixed(flat.block.address + parameter.offset), (Extent(parameter.size),), dtype)


def _address(ref: Ref) -> int:
    assert isinstance(ref.owner, Fixed)
    return ref.owner.address
