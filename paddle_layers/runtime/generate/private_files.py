"""Files that are run as code: nobody but the user, or root, may have written them."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

ROOT = 0
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def make_private_folder(folder: Path) -> None:
    """Make the folder and those above it that are missing, for the user alone whatever the umask."""
    if folder.is_dir():
        return
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def why_distrusted(path: Path) -> str:
    """Why what lies here, or where a link here leads, may be another's work; empty if it can't. Raises `OSError`."""
    facts = path.stat()
    if not hasattr(os, "getuid"):  # Windows keeps the folders of users apart by other means
        return ""
    if facts.st_uid not in (ROOT, os.getuid()):
        return "it belongs to another user"
    if facts.st_mode & OTHERS:
        command = f"find {shlex.quote(str(path))} -type d -exec chmod go-w {{}} +"  # files stay as they are, distrusted
        return f"others may write there until you run `{command}`"
    return ""


def is_trusted(path: Path) -> bool:
    """Whether there is such a file and nobody else may have written it."""
    try:
        return not why_distrusted(path)
    except OSError:
        return False
