"""Atomic output files of commands."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define.output_folders import Folder


@contextmanager
def empty_folder(path: Path) -> Iterator[Folder]:
    """A folder that is made, or an empty one; for any other a message and status 1."""
    from paddle_layers.define.output_folders import new_folder

    if not path.exists() or path.is_dir():
        with new_folder(path) as folder:
            if not folder.names():
                yield folder
                return
    echo(f"{path} exists already, and nothing is overwritten; choose another name", err=True)
    raise click.exceptions.Exit(1)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile sees the old or the new, never a part. Raises `OSError`."""
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(real.stat().st_mode if real.exists() else 0o644)
        Path(name).replace(real)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def ending_of(name: str | None, kinds: Mapping[str, str], what: str) -> str:
    """The ending of a file's name, which says what is written; the first of `kinds` where there is no file.

    Raises a usage error for an ending that is not known.
    """
    if name is None:
        return next(iter(kinds))
    ending = Path(name).suffix.lower()
    if ending not in kinds:
        known = ", ".join(f"{known} ({kind})" for known, kind in kinds.items())
        raise click.UsageError(f"{name}: {what} are written to files that end in {known}")
    return ending


def check_new(path: Path) -> None:
    """Raise `OSError` where a new file cannot be written, before the work is done."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, "exists already, and nothing is overwritten", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
