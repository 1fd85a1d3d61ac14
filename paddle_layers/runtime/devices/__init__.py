"""The devices that there are: each is a folder of this one with `missing()` and `open_device()`."""

from __future__ import annotations

import importlib
from typing import Any

from paddle_layers.runtime.memory.blocks import DeviceError

from .protocol import Device

NAMES = ("cuda", "cpu")
"""The folders, the fastest first."""
DEVICES = (*reversed(NAMES), "auto")
"""What a user may ask for; `auto` is the first device that lacks nothing here."""


def open_device(name: str, number: int = 0) -> Device:
    """The device of this name, one of `DEVICES`; of several cards that of this number, counted round.

    Raises `DeviceError` with what it lacks here.
    """
    if name not in DEVICES:
        raise DeviceError(f"there is no device {name!r}; there is {', '.join(map(repr, DEVICES))}")
    wanted = NAMES if name == "auto" else (name,)
    for module in map(_module, wanted):
        reason = module.missing()
        if reason is None:
            device: Device = module.open_device(number)
            return device
    raise DeviceError(reason)


def _module(name: str) -> Any:
    """The folder of a device, which may import what is heavy."""
    return importlib.import_module(f".{name}", __name__)
