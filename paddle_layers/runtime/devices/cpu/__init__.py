"""The CPU: compiled drivers, and the loop that runs them."""

from __future__ import annotations

from .device import Cpu, CpuBlock

__all__ = ["Cpu", "CpuBlock", "missing", "open_device"]


def missing() -> None:
    """It is always there."""


def open_device(_number: int = 0) -> Cpu:
    """All cores: as a device there is one CPU, whatever the number."""
    return Cpu()
