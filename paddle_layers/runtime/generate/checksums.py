"""Checksums of cached code: numba and Python load any content of their files.

A list has the name and the checksum of each file. Truncated files, as after a power failure, and files with a wrong bit
are removed before they are loaded, and so compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from .private_files import is_trusted

ENDING = ".sums"


def remove_damaged(files: Iterable[Path], listed: Path) -> None:
    """Removes files that do not match the list, or that another user may have written."""
    sums = _read(listed) if is_trusted(listed) else {}
    for file in files:
        # Removed instead of reported: the driver is compiled again, which is always correct.
        if not is_trusted(file) or sums.get(file.name) != sum_of(file.read_bytes()):
            file.unlink(missing_ok=True)


def sums_text(files: Iterable[Path]) -> bytes:
    """The list of these files; one that another process has just removed is skipped."""
    lines = []
    for file in sorted(files):
        with contextlib.suppress(FileNotFoundError):
            lines.append(f"{sum_of(file.read_bytes())}  {file.name}\n")
    return "".join(lines).encode()


def sum_of(data: bytes) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(data).hexdigest()


def _read(listed: Path) -> Mapping[str, str]:
    lines = (line.split("  ", 1) for line in listed.read_text(encoding="utf-8", errors="replace").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2}
