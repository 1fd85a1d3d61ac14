"""What the CUDA device asks of a card, be it real or simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .compile import CudaDriver


class Card(Protocol):
    """Memory by address, and kernels by handle; everything happens in the order in which it was asked for."""

    threads: int
    """Threads of a block of a point function."""
    blocks: int
    """Blocks of a point function at most; more elements are taken by the same threads in turn."""

    def load(self, driver: CudaDriver) -> int:
        """The handle of a kernel, compiled if need be."""

    def launch(self, rows: NDArray[np.int64]) -> None:
        """Queue kernels: rows of a `CudaTable`. Kernels without blocks are left out."""

    def allocate(self, nbytes: int) -> int:
        """Address of new memory, all zeros."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def upload(self, address: int, values: NDArray[Any], dtype: str) -> None:
        """Queue a copy to the card, brought to `dtype`; `values` may be changed at once."""

    def download(self, address: int, into: NDArray[Any]) -> None:
        """Wait for the card and copy from it."""

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""

    def synchronise(self) -> None:
        """Wait until everything is done."""
