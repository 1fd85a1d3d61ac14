"""Atomic output files of commands."""

from __future__ import annotations

import errno
import os
import tempfile
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
    """Write a file atomically. Raises `OSError`."""
    # A link stays a link: its target is replaced.
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    # In the same folder, because a rename is only atomic within a file system.
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # `mkstemp` creates files that only the user can read.
        Path(name).chmod(real.stat().st_mode if real.exists() else 0o644)
        Path(name).replace(real)
    except BaseException:
        # Ctrl-C, too, must leave no temporary file.
        Path(name).unlink(missing_ok=True)
        raise


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
