"""Trust in cached code: only the user or root may have written it."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

ROOT = 0
OTHERS = stat.S_IWGRP | stat.S_IWOTH


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
