"""Keys of the counter-based random numbers of operations."""

from __future__ import annotations

import zlib


def operation_key(seed: int, step: int, op: str) -> int:
    """The random key of an operation in a step, the same on every device and after a resume."""
    low = zlib.crc32(f"{seed}/{step}".encode())
    return (zlib.crc32(op.encode()) & 0x7FFFFFFF) << 32 | low
