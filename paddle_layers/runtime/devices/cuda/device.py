"""CUDA implementation of the device protocol."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import first_line
from paddle_layers.runtime.devices import Progress
from paddle_layers.runtime.generate.drivers import TunedCall
from paddle_layers.runtime.memory.blocks import DeviceError

from .card import Card
from .compile import CudaDriver, launch_driver
from .fallback import HostLaunch, MixedTable, warn_of
from .table import CudaTable

if TYPE_CHECKING:
    from paddle_layers.runtime.launches.arguments import Ref
    from paddle_layers.runtime.launches.launch import Launch


NONE = -1
"""Handle of a missing kernel."""


class CudaBlock:
    """GPU memory."""

    def __init__(self, card: Card, nbytes: int) -> None:
        self._card = card
        self.address = card.allocate(nbytes)
        # Not `__del__`: at interpreter exit it may run after the driver's module is gone.
        weakref.finalize(self, card.free, self.address)

    def read(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """A read-only copy, since writes to it would not reach the GPU."""
        values = np.empty(count, dtype)
        self._card.download(self.address + offset, values)
        values.flags.writeable = False
        return values

    def write(self, offset: int, values: NDArray[Any], dtype: str) -> None:
        """Enqueues a host-to-device copy."""
        self._card.upload(self.address + offset, values, dtype)


class Cuda:
    """A GPU; launches are asynchronous, and only reads wait for them."""

    name = "cuda"
    whole_rows = False

    def __init__(self, card: Card, *, simulated: bool) -> None:
        self._card, self._simulated = card, simulated
        self._kernels: dict[str, int] = {}
        self._reasons: dict[str, str] = {}
        """Why kernels could not be compiled, by their text."""

    def allocate(self, nbytes: int) -> CudaBlock:
        """Allocates GPU memory."""
        return CudaBlock(self._card, nbytes)

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compiles and loads kernels that are not loaded yet."""
        self._load([self.driver(launch, dtype) for launch in launches], progress)

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> CudaTable | MixedTable:
        """Launches with the handles of their kernels."""
        drivers = [self.driver(launch, dtype) for launch in launches]
        kernels = self._load(drivers, None)
        table = CudaTable(self._card, launches, drivers, kernels, address)
        failed = [row for row, kernel in enumerate(kernels) if kernel == NONE]
        if not failed:
            return table
        for row in failed:
            # One step on the host would synchronize the GPU in every iteration.
            if launches[row].loop is not None:
                raise DeviceError(
                    f"`{launches[row].op}` has no CUDA kernel ({self._reasons[drivers[row].text]}), but the steps of a "
                    'recurrent group run on one device; the device "cpu" runs them all'
                )
        hosts = {row: HostLaunch(self._card, launches[row], dtype, address) for row in failed}
        warn_of([(launches[row], host, self._reasons[drivers[row].text]) for row, host in hosts.items()])
        return MixedTable(table, hosts)

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""
        return self._card.free_bytes()

    def synchronise(self) -> None:
        """Waits for the GPU."""
        self._card.synchronise()

    def driver(self, launch: Launch, dtype: str) -> CudaDriver:
        """The driver of a launch: a tuned kernel, a point function, or one whose loops the threads of a block share."""
        return launch_driver(launch, dtype, simulated=self._simulated)

    def _load(self, drivers: Sequence[CudaDriver], progress: Progress | None) -> list[int]:
        # In one process: compilation of PTX is fast compared with LLVM for the CPU, and modules belong to the context.
        missing: dict[str, CudaDriver] = {d.text: d for d in drivers if d.text not in self._kernels}
        for done, driver in enumerate(missing.values()):
            if progress is not None:
                progress(done, len(missing), driver.name)
            self._kernels[driver.text] = self._load_one(driver)
        if progress is not None and missing:
            progress(len(missing), len(missing), "")
        return [self._kernels[driver.text] for driver in drivers]

    def _load_one(self, driver: CudaDriver) -> int:
        """The handle of a kernel; `NONE` for a point function that does not compile for CUDA."""
        try:
            return self._card.load(driver)
        except DeviceError:
            raise
        except Exception as error:  # numba, NVVM and nvJitLink have no common exception class; the user gets the reason
            reason = first_line(error)
            # A tuned kernel is the library's own, so it is an error; for a point function the CPU is a correct
            # substitute.
            if isinstance(driver.code, TunedCall):
                raise DeviceError(f"the tuned kernel {driver.name} does not compile for CUDA: {reason}") from error
            self._reasons[driver.text] = reason
            return NONE
