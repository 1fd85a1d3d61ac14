"""Positioned reads of files by several threads; pipes are copied first."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import IO

from paddle_layers.define.fork_locks import ForkSafeLock

from ..problems import DataError, missing_file

SPOOLED = 2**32
"""Bytes that are read of a pipe, which has no size; it may have no end, as `/dev/zero` has none."""

_PIECE = 2**20


class PositionedFile:
    """A file that is read at any position; `size` is that when it was opened. Raises `DataError`.

    A pipe (`/dev/stdin`, a FIFO, the file of a process substitution) gives its bytes once and has no positions, so it
    is copied to an unnamed temporary file.
    """

    def __init__(self, path: Path, base: str = "paths are relative to the training file") -> None:
        self.path = path
        try:
            self._file: IO[bytes] = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise missing_file(path, base) from None
        except (OSError, ValueError) as error:  # a zero byte in the name
            raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', error)}") from None
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            with self._file as pipe:
                self._file = _spooled(path, pipe)
        self.size = os.fstat(self._file.fileno()).st_size
        self._moving = ForkSafeLock()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

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
