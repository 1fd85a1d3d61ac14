"""The machine that this process runs on."""

from __future__ import annotations

import os


def memory_bytes() -> int | None:
    """Bytes of all the memory of the machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # there is no such call, or no such name
        return None


def as_bytes(size: int) -> str:
    """Bytes in a unit that leaves at most four digits."""
    amount, units = float(size), ["TiB", "GiB", "MiB", "KiB", "B"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop()
    unit = units[-1]
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
