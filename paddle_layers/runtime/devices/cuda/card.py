"""Protocol of a GPU, real or simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .compile import CudaDriver


class Card(Protocol):
    """Memory by address, and kernels by handle; all operations run in order."""

    threads: int
    """Threads per block of a point function."""
    blocks: int
    """Maximum number of blocks of a point function; threads process several elements if there are more (grid
    stride).
    """

    def load(self, driver: CudaDriver) -> int:
        """The handle of a kernel, compiled if necessary."""

    def launch(self, rows: NDArray[np.int64]) -> None:
        """Enqueues kernels: rows of a `CudaTable`. Kernels without blocks are skipped."""

    def allocate(self, nbytes: int) -> int:
        """Address of newly allocated memory, all zeros."""

    def free(self, address: int) -> None:
        """Frees memory."""

    def upload(self, address: int, values: NDArray[Any], dtype: str) -> None:
        """Enqueues a host-to-device copy, converted to `dtype`; `values` may be changed immediately."""

    def download(self, address: int, into: NDArray[Any]) -> None:
        """Waits for the GPU and copies to the host."""

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""

    def synchronise(self) -> None:
        """Waits until all operations are finished."""
