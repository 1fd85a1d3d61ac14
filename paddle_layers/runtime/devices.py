"""Devices that a network can be bound to."""

from __future__ import annotations

DEVICES = ("cpu",)


class DeviceError(ValueError):
    """A device is not there."""


def check_device(device: str) -> None:
    """Raise `DeviceError` unless a network can run on `device`."""
    if device not in DEVICES:
        raise DeviceError(f"there is no device {device!r}; there is {', '.join(map(repr, DEVICES))}")
