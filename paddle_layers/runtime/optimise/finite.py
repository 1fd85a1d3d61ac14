"""Detection of NaN and infinity in gradients, in one pass over their memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import ExternalMemory, Ref
from paddle_layers.runtime.launches.builtin import BLOCK, NON_FINITE, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter

ARENA = "gradients"
"""Name of the dense gradients, which are contiguous, in checks."""


class NonFiniteGradients(FloatingPointError):
    """Gradients contain NaN or infinity; the step that would use them is not made."""

    def __init__(self, names: list[str]) -> None:
        more = f" and of {len(names) - 1} other parameters" if len(names) > 1 else ""
        super().__init__(f"NaN or infinity in the gradient of `{names[0]}`{more}")
        self.names = names


class FiniteCheck:
    """A flag per block of some arrays, which launches set if the block contains NaN or infinity.

    The pass reads the gradients once: 11 GB/s on two cores, in addition to the 25 to 60 bytes per element of an
    optimizer step.
    """

    def __init__(self, sizes: Mapping[str, int], device: Device, dtype: str) -> None:
        self._names, self._dtype = list(sizes), dtype
        # One flag per block, so that items are independent: a single flag would need an atomic operation.
        counts = [max(1, -(-size // BLOCK)) for size in sizes.values()]
        self._first = np.cumsum([0, *counts])
        self._flags = Flat(device, int(self._first[-1]), dtype)

    def launch(self, name: str, array: Ref) -> Launch:
        """Sets the flags of an array of at most the declared size."""
        at = self._names.index(name)
        first, count = self._first[at], self._first[at + 1] - self._first[at]
        address = self._flags.block.address + int(first) * np.dtype(self._dtype).itemsize
        kind = "float64" if self._dtype == "float64" else "real"
        flags = Ref(ExternalMemory(address), (Extent(int(count)),), kind)
        return simple_launch(NON_FINITE, name, [flags, array, array.shape[0], Extent(BLOCK)])

    def found(self) -> list[str]:
        """Names of the arrays with such values."""
        blocks = np.flatnonzero(self._flags.read())
        return [self._names[at] for at in dict.fromkeys(np.searchsorted(self._first, blocks, "right") - 1)]

    def raise_found(self, trained: Sequence[Parameter]) -> None:
        """Raises `NonFiniteGradients` with the affected parameters, those of the last layers first."""
        if names := self.found():
            if ARENA in names:
                # Only after a failure: which parameter is affected is not known from the arena as a whole. The last
                # layers first, as NaN spreads from the loss downward.
                dense = (one for one in reversed(trained) if not one.by_rows)
                names += [one.name for one in dense if not np.isfinite(np.asarray(one.gradient)).all()]
                names.remove(ARENA)
            raise NonFiniteGradients(names)


def check_launches(arrays: Mapping[str, Ref], device: Device, dtype: str) -> tuple[FiniteCheck, list[Launch]]:
    """The check of these arrays, by parameter or `ARENA` for the dense gradients, and its launches."""
    check = FiniteCheck({name: array.shape[0].capacity for name, array in arrays.items()}, device, dtype)
    return check, [check.launch(name, array) for name, array in arrays.items()]
