"""Files: positioned reads by several threads, names in folders and in lists, rows of several files."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import weakref
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, ClassVar

import numpy as np

from paddle_layers.define.concurrency import ForkSafeLock

from ..columns import Rows
from ..problems import DataError, missing_file

SPOOLED = 2**32
"""Bytes that are read of a pipe, which has no size; it may have no end, as `/dev/zero` has none."""

_PIECE = 2**20

MOST_COMPRESSION = 1100
"""Maximum ratio of declared to stored bytes; zlib compresses no more."""


class PositionedFile:
    """A file that is read at any position; `size` is that when it was opened. Raises `DataError`.

    A pipe (`/dev/stdin`, a FIFO, the file of a process substitution) gives its bytes once and has no positions, so it
    is copied to an unnamed temporary file.
    """

    advice: ClassVar[str] = "save the file as UTF-8"
    """Advice for files that are not UTF-8."""

    def __init__(self, path: Path, base: str = "paths are relative to the training file") -> None:
        self.path = path
        try:
            file: IO[bytes] = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise missing_file(path, base) from None
        except (OSError, ValueError) as error:  # a zero byte in the name
            raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', error)}") from None
        self._moving = ForkSafeLock()
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            with file as pipe:
                file = _spooled(path, pipe)
        self._own(file)

    def _own(self, file: IO[bytes]) -> None:
        """Read from a file, and close it with the last reference to this object."""
        self._file, self.size = file, os.fstat(file.fileno()).st_size
        # `__del__` may come after the finalizer of the file, which warns, if both are parts of a reference cycle.
        weakref.finalize(self, file.close)

    def read(self, at: int, size: int) -> bytes:
        """So many bytes from a position on; fewer at the end of the file."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, at)
        with self._moving.current:  # Windows has one position for all threads
            self._file.seek(at)
            return self._file.read(size)


def check_regular(path: Path | str) -> None:
    """Raise `DataError` for a pipe or a device where a format needs a file; opening one might wait forever.

    What is missing or is a folder passes: whoever opens it reports that.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(f"{path} is a pipe or a device; this format requires random access: write it to a file")


def _spooled(path: Path, pipe: IO[bytes]) -> IO[bytes]:
    """A temporary file with the bytes of a pipe; it has no name and ends with its last reader."""
    with contextlib.ExitStack() as stack:
        copy = stack.enter_context(tempfile.TemporaryFile())
        size = 0
        try:
            while piece := pipe.read(_PIECE):
                size += len(piece)
                if size > SPOOLED:
                    raise DataError(f"{path} is a pipe of more than {SPOOLED} bytes; write the data to a file")
                copy.write(piece)
            copy.flush()
        except OSError as error:
            raise DataError(f"cannot copy {path} to a temporary file: {error.strerror}") from None
        if not size:
            raise DataError(
                f"{path} is an empty pipe; a pipe can only be read once: for several sources or trainings, "
                "write the data to a file"
            )
        stack.pop_all()
        return copy


def files_in(folder: Path, endings: Collection[str]) -> list[str]:
    """Files below a folder whose names have one of the endings, in the order of the alphabet.

    Names are relative to the folder and parted by `/`. Those that begin with a dot, and folders that are links, are
    left out. Raises `DataError` for a folder that cannot be read.
    """
    found: list[str] = []
    for top, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = Path(top).relative_to(folder).as_posix()
        prefix = "" if inner == "." else f"{inner}/"
        found += [
            prefix + name for name in files if not name.startswith(".") and os.path.splitext(name)[1].lower() in endings
        ]
    return sorted(found)


def inside(folder: Path, name: str, place: str, remedy: str) -> str:
    """The path of a listed file, which must be below the folder: otherwise the list could select any file.

    Raises `DataError` for any other, which begins with `place` and ends with the `remedy`.
    """
    if not name or "\0" in name:
        raise DataError(f"{place}: invalid file name {name!r}")
    top = os.path.abspath(folder)
    path = os.path.normpath(os.path.join(top, name))
    if os.path.commonpath([top, path]) != top:
        raise DataError(f"{place}: {name} is outside of {top}, the folder of the list; {remedy}")
    return path


def folder_of(base: Path, given: str) -> Path:
    """A folder that a source names. Raises `DataError` if it is not a folder."""
    path = base / given
    try:
        there = path.is_dir()
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"cannot read {str(path)!r}: {error}") from None
    if not there:
        kind = "is a file" if path.is_file() else "does not exist"
        raise DataError(f"folder {path} {kind}; paths are relative to the training file")
    return path


def names_of(paths: Sequence[Path]) -> str:
    """Files in a message."""
    return ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")


def _unreadable(error: OSError) -> None:
    raise DataError(f"cannot read folder {error.filename}: {error.strerror}")


class FileRows:
    """The first row of each file."""

    def __init__(self, paths: Sequence[Path], counts: Sequence[int]) -> None:
        self.paths = paths
        self.starts: Rows = np.cumsum([0, *counts])

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def origin(self) -> str:
        """The files in a message."""
        return names_of(self.paths)

    def place(self, row: int) -> str:
        """File and row."""
        file = int(np.searchsorted(self.starts, row, "right")) - 1
        return f"{self.paths[file]}, row {row - int(self.starts[file])}"
