"""A CUDA card as a device of a net."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.compiler import Progress

from .card import Card
from .compile import CudaDriver, cuda_driver
from .table import CudaTable

if TYPE_CHECKING:
    from paddle_layers.runtime.arguments import Ref
    from paddle_layers.runtime.launches import Launch


class CudaBlock:
    """Memory of a card."""

    def __init__(self, card: Card, nbytes: int) -> None:
        self._card = card
        self.address = card.allocate(nbytes)
        weakref.finalize(self, card.free, self.address)

    def read(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """A copy that is read-only, so that nobody writes into it and expects the card to know."""
        values = np.empty(count, dtype)
        self._card.download(self.address + offset, values)
        values.flags.writeable = False
        return values

    def write(self, offset: int, values: NDArray[Any], dtype: str) -> None:
        """Queue a copy to the card."""
        self._card.upload(self.address + offset, values, dtype)


class Cuda:
    """A card; launches are queued, and only reading waits for them."""

    name = "cuda"

    def __init__(self, card: Card, *, simulated: bool) -> None:
        self._card, self._simulated = card, simulated
        self._kernels: dict[str, int] = {}

    def allocate(self, nbytes: int) -> CudaBlock:
        """Memory of the card."""
        return CudaBlock(self._card, nbytes)

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compile and load kernels that are not loaded yet."""
        self._handles(launches, dtype, progress)

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> CudaTable:
        """Launches with the handles of their kernels."""
        return CudaTable(self._card, launches, self._handles(launches, dtype, None), dtype, address)

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""
        return self._card.free_bytes()

    def synchronise(self) -> None:
        """Wait for the card."""
        self._card.synchronise()

    def _handles(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> list[int]:
        drivers = [cuda_driver(launch.code, dtype, simulated=self._simulated) for launch in launches]
        missing: dict[str, CudaDriver] = {d.text: d for d in drivers if d.text not in self._kernels}
        for done, driver in enumerate(missing.values()):
            if progress is not None:
                progress(done, len(missing), driver.name)
            self._kernels[driver.text] = self._card.load(driver)
        if progress is not None and missing:
            progress(len(missing), len(missing), "")
        return [self._kernels[driver.text] for driver in drivers]
