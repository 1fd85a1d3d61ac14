"""Trust in cached code: permissions and checksums, since numba and Python load any content of their files.

Only the user or root may have written a file. A list has the name and the checksum of each file: truncated files, as
after a power failure, and files with a wrong bit are removed before they are loaded, and so compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = 0
OTHERS = stat.S_IWGRP | stat.S_IWOTH
ENDING = ".sums"


def make_private_folder(folder: Path) -> None:
    """Creates the folder and missing parents, private to the user whatever the umask."""
    if folder.is_dir():
        return
    # One by one, because the mode of `mkdir(parents=True)` does not apply to parents.
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def why_distrusted(path: Path) -> str:
    """Why another user may write the file here, or the target of a link; empty if trusted. Raises `OSError`."""
    facts = path.stat()
    if not hasattr(os, "getuid"):  # Windows separates the folders of users by other means
        return ""
    # Drivers are executed and numba's results unpickled: whoever can write them can run code as this user.
    if facts.st_uid not in (ROOT, os.getuid()):
        return "it belongs to another user"
    if facts.st_mode & OTHERS:
        command = f"find {shlex.quote(str(path))} -type d -exec chmod go-w {{}} +"  # files stay as they are, distrusted
        return f"other users may write to it; run `{command}`"
    return ""


def is_trusted(path: Path) -> bool:
    """Whether the file exists and only the user may have written it."""
    try:
        return not why_distrusted(path)
    except OSError:
        return False


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
