"""Norms of gradients and parameters, computed on the device: deterministic for any number of threads."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import ExternalMemory, Ref
from paddle_layers.runtime.launches.builtin import BLOCK, NORM, NORM_FACTOR, SCALE, SQUARES, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Flat


class Norms:
    """Creates launches that compute norms, and holds their memory."""

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
