"""CPU fallback of launches without a CUDA kernel; inputs and outputs are copied between host and GPU."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_layers.runtime.devices.cpu import Cpu, CpuBlock
from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Ref, refs_of
from paddle_layers.runtime.memory.blocks import DeviceWarning

from .card import Card
from .table import CudaTable

if TYPE_CHECKING:
    from paddle_layers.runtime.launches.launch import Launch


class HostLaunch:
    """One launch on the CPU."""

    def __init__(self, card: Card, launch: Launch, dtype: str, address: Callable[[Ref], int]) -> None:
        self._card, self._dtype, self._card_address = card, dtype, address
        self._refs = [ref for argument in launch.args for ref in refs_of(argument)]
        self._rows = Rows()
        assert isinstance(launch.code, Kernel)
        self._written = len(launch.code.targets)
        # By address: arguments that share memory on the GPU, as in place, must share it here.
        self._blocks = {address(ref): CpuBlock(self._capacity(ref)) for ref in self._refs}
        self.table = Cpu().table([launch], dtype, lambda ref: self._blocks[address(ref)].address)

    @property
    def nbytes(self) -> int:
        """Bytes that are copied for a full batch."""
        to = sum(self._capacity(ref) for ref in self._refs)
        return to + sum(self._capacity(ref) for ref in self._refs[: self._written])

    def set_rows(self, rows: Rows) -> None:
        """Updates sizes and totals for the rows of a batch."""
        self._rows = rows
        self.table.set_rows(rows)

    def run(self) -> None:
        """Waits for the GPU, downloads, computes, and uploads."""
        # Targets are downloaded, too: the launch may add to them, or write only some rows.
        for ref in self._refs:
            self._card.download(self._card_address(ref), self._host(ref))
        self.table.run(0, 1)
        for ref in self._refs[: self._written]:
            values = self._host(ref)
            self._card.upload(self._card_address(ref), values, values.dtype.name)

    def _host(self, ref: Ref) -> Any:
        dtype = self._kind(ref)
        count = self._nbytes(ref) // dtype.itemsize
        return self._blocks[self._card_address(ref)].read(0, count, dtype.name)

    def _kind(self, ref: Ref) -> np.dtype[Any]:
        return np.dtype(self._dtype if ref.dtype == "real" else ref.dtype)

    def _nbytes(self, ref: Ref) -> int:
        """Bytes for the rows of the last batch."""
        return math.prod(map(self._rows.size, ref.shape)) * self._kind(ref).itemsize

    def _capacity(self, ref: Ref) -> int:
        return math.prod(size.capacity for size in ref.shape) * self._kind(ref).itemsize


class MixedTable:
    """Launches of which some run on the CPU."""

    def __init__(self, table: CudaTable, hosts: Mapping[int, HostLaunch]) -> None:
        self._table, self._hosts = table, hosts
        self._tables = [table, *(host.table for host in hosts.values())]

    def set_rows(self, rows: Rows) -> None:
        """Updates sizes and totals for the rows of a batch."""
        self._table.set_rows(rows)
        for host in self._hosts.values():
            host.set_rows(rows)

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generate the random keys of operations for a step."""
        for table in self._tables:
            table.set_keys(key)

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Writes the floating-point scalars of a step."""
        for table in self._tables:
            table.set_numbers(values)

    def run(self, start: int, stop: int) -> None:
        """Runs launches in order, each on its device."""
        for row in sorted(row for row in self._hosts if start <= row < stop):
            self._table.run(start, row)
            self._hosts[row].run()
            start = row + 1
        self._table.run(start, stop)


def warn_of(hosts: Sequence[tuple[Launch, HostLaunch, str]]) -> None:
    """One warning with the names of the layers and their cost."""
    names = ", ".join(dict.fromkeys(f"`{launch.op}` ({launch.name})" for launch, _, _ in hosts))
    total = sum(host.nbytes for _, host, _ in hosts)
    warnings.warn(
        f"no CUDA kernel for {names}: {hosts[0][2]}; this runs on the CPU, and {total:,} bytes are copied each step",
        DeviceWarning,
        stacklevel=2,
    )
