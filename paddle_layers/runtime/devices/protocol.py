"""What a net asks of a device: memory, compiled launches, and to wait until they are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Allocator

Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, name)` while drivers are compiled."""


class LaunchTable(Protocol):
    """Launches ready to run; only what a batch or a step changes is written again."""

    def set_rows(self, rows: Rows) -> None:
        """Bring sizes and totals to the rows of a batch."""

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations for a step."""

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Write the real numbers that are new in every step."""

    def run(self, start: int, stop: int) -> None:
        """Run launches `start` to `stop`, in order; it does not wait for the device."""


class Device(Allocator, Protocol):
    """Where a net's numbers lie and its launches run."""

    name: str
    whole_rows: bool
    """Whether a work item had better be a row, with an inner loop over its columns, than an element."""

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compile what launches need, so that their tables are made at once."""

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> LaunchTable:
        """Compiled launches with their arguments."""

    def free_bytes(self) -> int | None:
        """Bytes that can be allocated; None where nobody can say."""

    def synchronise(self) -> None:
        """Wait until everything that was launched is done. Raises `DeviceError` when a launch failed."""
