"""The devices that there are, by name."""

from __future__ import annotations

from paddle_layers.runtime.memory.blocks import DeviceError

from .protocol import Device

DEVICES = ("cpu", "cuda", "auto")
"""Names of devices; `auto` is a CUDA card where there is one, and else the CPU."""


def open_device(name: str) -> Device:
    """The device of this name, one of `DEVICES`. Raises `DeviceError` with what is missing."""
    from .cpu.device import Cpu

    if name not in DEVICES:
        raise DeviceError(f"there is no device {name!r}; there is {', '.join(map(repr, DEVICES))}")
    if name == "cpu":
        return Cpu()
    from .cuda import missing, open_cuda

    reason = missing()
    if reason is None:
        return open_cuda()
    if name == "auto":
        return Cpu()
    raise DeviceError(reason)
