"""Atomic output files of commands."""

from __future__ import annotations

import errno
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define.output_folders import Folder


@contextmanager
def empty_folder(path: Path) -> Iterator[Folder]:
    """A new or empty folder; exits with status 1 for any other path."""
    from paddle_layers.define.output_folders import new_folder

    if not path.exists() or path.is_dir():
        with new_folder(path) as folder:
            if not folder.names():
                yield folder
                return
    echo(f"{path} already exists and is not an empty folder; choose another name", err=True)
    raise click.exceptions.Exit(1)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically; it keeps its permissions. Raises `OSError`."""
    from paddle_layers.define.output_folders import open_folder

    # A link stays a link: its target is replaced.
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o644
    with open_folder(real.parent) as folder:
        folder.write(real.name, content, mode=mode)


def ending_of(name: str | None, kinds: Collection[str]) -> str:
    """The extension of an output file, which selects the format; the first of `kinds` without a file.

    Raises a usage error for an unsupported extension.
    """
    if name is None:
        return next(iter(kinds))
    ending = Path(name).suffix.lower()
    if ending not in kinds:
        raise click.UsageError(f"{name}: unsupported extension; expected {', '.join(kinds)}")
    return ending


def check_new(path: Path, advice: str = "choose another name") -> None:
    """Check before a long computation that a new file can be written. Raises `OSError`."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, f"already exists; {advice}", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
