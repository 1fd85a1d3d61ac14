"""Cases that once failed, as files: `corpus/TARGET/NAME`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from .judging import Fault

FOLDER = Path(__file__).with_name("corpus")


def kept(target: str) -> Iterator[tuple[str, bytes]]:
    """Names and cases of a target."""
    for path in sorted((FOLDER / target).glob("*")):
        yield path.name, path.read_bytes()


def keep(fault: Fault) -> Path:
    """Save a case; gives its file. It may be renamed to what it shows."""
    folder = FOLDER / fault.target
    folder.mkdir(parents=True, exist_ok=True)
    words = "-".join(re.findall(r"[a-z_0-9]+", fault.kind.lower())[:6])
    path = folder / f"{words}-{hashlib.sha256(fault.case).hexdigest()[:8]}"
    path.write_bytes(fault.case)
    return path
