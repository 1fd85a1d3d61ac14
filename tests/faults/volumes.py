"""Small file systems of their own, where the machine allows to mount them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .cases import NotTried


class Volume:
    """A file system in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def change(self, option: str) -> None:
        """Give it another size (`size=1m`), or let nobody write (`ro`), root neither."""
        subprocess.run(["mount", "-o", f"remount,{option}", str(self.folder)], check=True)


@contextlib.contextmanager
def volume(folder: Path, size: str) -> Iterator[Volume]:
    """A volume of a size such as `64k`. Raises `NotTried` where mounting is not allowed."""
    folder.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(folder)],
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise NotTried("there is no `mount` here") from None
    except subprocess.CalledProcessError as error:
        raise NotTried(f"mounting is not allowed here: {error.stderr.strip()}") from None
    try:
        yield Volume(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
