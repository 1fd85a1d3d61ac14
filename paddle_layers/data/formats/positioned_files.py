"""Files that several threads read at places of their own."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from ..problems import DataError


class PositionedFile:
    """A file that is read at any place; `size` is that when it was opened. Raises `DataError`."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise DataError(f"there is no file {path}; paths are relative to the training file") from None
        except (OSError, ValueError) as error:  # a zero byte in the name
            raise DataError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
        self.size = os.fstat(self._file.fileno()).st_size
        self._moving = threading.Lock()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def read(self, at: int, size: int) -> bytes:
        """So many bytes from a place on; fewer at the end of the file."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, at)
        with self._moving:  # Windows has one place for all threads
            self._file.seek(at)
            return self._file.read(size)
