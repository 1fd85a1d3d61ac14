"""Constraints on single parameters: gradient clipping, max-norm of units, pruning masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import ExternalMemory, Ref, flat_ref
from paddle_layers.runtime.launches.builtin import (
    BLOCK,
    CLAMP,
    MASK,
    NORM,
    NORM_FACTOR,
    SCALE,
    SQUARES,
    UNIT_FACTOR,
    UNIT_SCALE,
    simple_launch,
)
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter


class Norms:
    """Creates launches that compute norms, and holds their memory; deterministic for any number of threads."""

    def __init__(self, device: Device, dtype: str) -> None:
        self._device, self._dtype = device, dtype
        self._held: list[Flat] = []

    def norm(self, name: str, array: Ref) -> tuple[Ref, list[Launch]]:
        """The norm of an array, as an array of one element, and the launches that compute it."""
        squares, launches = self._squares(name, [array])
        norm = self._flat(1, self._dtype)
        return norm, [*launches, simple_launch(NORM, name, [norm, squares, squares.shape[0]])]

    def clip(self, name: str, arrays: Sequence[Ref], limit: float) -> list[Launch]:
        """Global norm clipping: scales arrays by one factor if their joint norm exceeds the limit."""
        # Sums of blocks, then one item that adds them in order: the same bits for any number of threads.
        squares, launches = self._squares(name, arrays)
        factor = self._flat(1, self._dtype)
        launches.append(simple_launch(NORM_FACTOR, name, [factor, squares, squares.shape[0], limit]))
        return [*launches, *(simple_launch(SCALE, name, [array, factor]) for array in arrays)]

    def _squares(self, name: str, arrays: Sequence[Ref]) -> tuple[Ref, list[Launch]]:
        """The sums of squares of all blocks of the arrays."""
        blocks = [-(-array.shape[0].capacity // BLOCK) for array in arrays]
        whole = self._flat(sum(blocks), "float64")
        assert isinstance(whole.owner, ExternalMemory)
        launches, first = [], whole.owner.address
        for array, count in zip(arrays, blocks, strict=True):
            squares = Ref(ExternalMemory(first), (Extent(count),), "float64")
            launches.append(simple_launch(SQUARES, name, [squares, array, array.shape[0], Extent(BLOCK)]))
            first += 8 * count
        return whole, launches

    def _flat(self, size: int, dtype: str) -> Ref:
        self._held.append(Flat(self._device, size, dtype))
        kind = "float64" if dtype == "float64" else "real"
        return Ref(ExternalMemory(self._held[-1].block.address), (Extent(size),), kind)


class Limits:
    """The constraints in the settings of parameters, and the masks of pruned ones."""

    def __init__(self, parameters: Sequence[Parameter], device: Device, dtype: str) -> None:
        self._device, self._dtype = device, dtype
        self._pruned = [one for one in parameters if _setting(one, "prune") is not None]
        self.masks = {one.name: Flat(device, one.size, dtype) for one in self._pruned}
        """1 where a number learns, 0 where it stays zero; made by `begin`."""
        self._factors = {
            one.name: Flat(device, units_of(one)[1], dtype)
            for one in parameters
            if _setting(one, "max_norm") is not None
        }

    def begin(self) -> None:
        """Computes the pruning masks from the initial values."""
        for parameter in self._pruned:
            mask = mask_of(parameter.value, _setting(parameter, "prune") or 0.0)
            self.masks[parameter.name].write(mask.ravel())
            parameter.value = parameter.value * mask

    def on_gradient(self, parameter: Parameter, gradient: Ref, norms: Norms, *, by_rows: bool = False) -> list[Launch]:
        """Launches that constrain a gradient before the penalty.

        One `by_rows` is not a whole table, and is not masked.
        """
        launches: list[Launch] = []
        if (limit := _setting(parameter, "clip")) is not None:
            launches.append(simple_launch(CLAMP, parameter.name, [gradient, limit]))
        if (limit := _setting(parameter, "clip_norm")) is not None:
            launches += norms.clip(parameter.name, [gradient], limit)
        return launches if by_rows else launches + self._masked(parameter, gradient)

    def on_value(self, parameter: Parameter, value: Ref) -> list[Launch]:
        """Launches that constrain the value after the step."""
        launches: list[Launch] = []
        if parameter.name in self._factors:
            outer, units, inner = map(Extent, units_of(parameter))
            factor, limit = flat_ref(self._factors[parameter.name]), _setting(parameter, "max_norm")
            launches.append(simple_launch(UNIT_FACTOR, parameter.name, [factor, value, outer, inner, units, limit]))
            launches.append(simple_launch(UNIT_SCALE, parameter.name, [value, factor, inner, units]))
        return launches + self._masked(parameter, value)

    def _masked(self, parameter: Parameter, array: Ref) -> list[Launch]:
        mask = self.masks.get(parameter.name)
        return [simple_launch(MASK, parameter.name, [array, flat_ref(mask)])] if mask is not None else []


def needs_all_rows(parameter: Parameter) -> bool:
    """Whether a constraint depends on rows that a batch does not use."""
    return _setting(parameter, "max_norm") is not None or _setting(parameter, "prune") is not None


def mask_of(value: NDArray[Any], share: float) -> NDArray[np.float64]:
    """0 for this fraction of the elements, rounded down: the smallest, among equal ones the first; 1 for the others."""
    mask = np.ones(value.size)
    # Stable, so that ties are broken in the same way on every machine.
    mask[np.argsort(np.abs(value), axis=None, kind="stable")[: int(share * value.size)]] = 0.0
    return mask.reshape(value.shape)


def units_of(parameter: Parameter) -> tuple[int, int, int]:
    """The layout of a parameter's units: number of parts, units per part, contiguous elements per unit.

    A unit is a filter or a column (all weights of one output), or a row of an embedding table; a bias as a whole, and
    so a parameter without a unit axis, such as that of `conv_trans`.
    """
    shape, layer = parameter.shape, parameter.layer
    if layer.inputs and all(set(one.kinds) == {"INT"} for one in layer.inputs.values()):
        return 1, shape[0], math.prod(shape[1:])
    outputs = {axis.name for axis in next(iter(layer.outputs.values())).axes}
    made = [axis.name in outputs for axis in parameter.definition.axes]
    if len(made) != len(shape) or all(made) or not any(made):
        return 1, 1, parameter.size
    first, last = made.index(True), len(made) - made[::-1].index(True)
    if not all(made[first:last]):
        return 1, 1, parameter.size
    return math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])


def _setting(parameter: Parameter, name: str) -> float | None:
    value: float | None = getattr(parameter.settings, name, None)
    return value
