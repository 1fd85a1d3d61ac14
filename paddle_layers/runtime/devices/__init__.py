"""Devices: each is a subpackage with `missing()` and `open_device()`."""

from __future__ import annotations

import importlib
from typing import Any

from paddle_layers.runtime.memory.blocks import DeviceError

from .protocol import Device

NAMES = ("cuda", "cpu")
"""The subpackages, fastest first."""
DEVICES = (*reversed(NAMES), "auto")
"""Valid device names; `auto` is the first available device."""


def open_device(name: str, number: int = 0) -> Device:
    """The device of this name, one of `DEVICES`; of several GPUs the one with this number, modulo their count.

    Raises `DeviceError` with the missing requirements.
    """
    if name not in DEVICES:
        raise DeviceError(f"unknown device {name!r}; available: {', '.join(map(repr, DEVICES))}")
    wanted = NAMES if name == "auto" else (name,)
    for module in map(_module, wanted):
        reason = module.missing()
        if reason is None:
            device: Device = module.open_device(number)
            return device
    raise DeviceError(reason)


def _module(name: str) -> Any:
    """The module of a device; its import may be slow."""
    return importlib.import_module(f".{name}", __name__)
