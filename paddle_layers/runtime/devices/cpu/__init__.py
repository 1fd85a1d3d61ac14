"""The CPU: compiled drivers, and the loop that runs them."""

from __future__ import annotations

from .device import Cpu, CpuBlock

__all__ = ["Cpu", "CpuBlock", "missing", "open_device"]


def missing() -> None:
    """It is always there."""


def open_device(number: int = 0) -> Cpu:  # noqa: ARG001  there is one
    """All cores."""
    return Cpu()
