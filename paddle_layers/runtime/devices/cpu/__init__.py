"""CPU device: compiled drivers, and the loop that runs them."""

from __future__ import annotations

from .device import Cpu, CpuBlock

__all__ = ["Cpu", "CpuBlock", "missing", "open_device"]


def missing() -> None:
    """Always available."""


def open_device(_number: int = 0) -> Cpu:
    """All cores: there is one CPU device, whatever the number."""
    return Cpu()
