"""Makes a failing case smaller."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

_UNIT = re.compile(rb'"[^"\n]*"|\w+|[^\S\n]+|.', re.S)


def minimised(case: bytes, fails: Callable[[bytes], bool], deadline: float) -> bytes:
    """The case without all that can be left out, first in large parts, then token by token, then byte by byte."""
    for split in (lambda data: data.splitlines(keepends=True), _UNIT.findall, lambda data: [*map(_byte, data)]):
        parts = split(case)
        if len(parts) < 5000:
            case = _without(parts, fails, deadline)
    return case


def _byte(value: int) -> bytes:
    return bytes([value])


def _without(parts: list[bytes], fails: Callable[[bytes], bool], deadline: float) -> bytes:
    size = len(parts) // 2
    while size:
        at = 0
        while at < len(parts) and time.monotonic() < deadline:
            shorter = parts[:at] + parts[at + size :]
            if fails(b"".join(shorter)):
                parts = shorter
            else:
                at += size if size > 4 else 1
        size //= 2
    return b"".join(parts)
