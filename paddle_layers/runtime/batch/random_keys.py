"""Keys of the counter-based random numbers of operations."""

from __future__ import annotations

import zlib


def operation_key(seed: int, step: int, op: str) -> int:
    """The random key of an operation in a step, the same on every device and after a resume."""
    # Not `hash`, which differs from process to process. Step and operation go to separate halves, so that the operation
    # part stays below 2^31 and the key is positive as an int64.
    low = zlib.crc32(f"{seed}/{step}".encode())
    return (zlib.crc32(op.encode()) & 0x7FFFFFFF) << 32 | low
