"""Tensors in safetensors files: written whole or not at all, and read with a plain word when something is wrong."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]


class WeightsError(ValueError):
    """A file of weights can't be read: missing, cut short, or of another kind."""


class SaveError(OSError):
    """Something could not be saved; what stood there before is unchanged."""

    def __str__(self) -> str:
        return str(self.args[1])


def write_tensors(
    path: str | Path, tensors: Mapping[str, NDArray[Any]], facts: Mapping[str, str] | None = None
) -> None:
    """Write arrays by name, with `facts` in the header. Raises `SaveError`; an older file then stays as it was."""
    from safetensors.numpy import save

    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write_file(Path(path), save(whole, metadata=dict(facts) if facts else None))


def read_tensors(path: str | Path) -> tuple[Tensors, dict[str, str]]:
    """The arrays by name, and the facts of the header. Raises `WeightsError` that names the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            names = file.keys()
            return {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
    except FileNotFoundError:
        raise WeightsError(f"there is no file {path}") from None
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{path} is no safetensors file or is cut short: {error}") from None


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: beside it first, to the disk, then renamed. Raises `SaveError`."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise save_error(path, error) from error
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def save_error(path: Path, error: OSError) -> SaveError:
    """The error to raise when `path` could not be written."""
    if isinstance(error, SaveError):
        return error
    full = " Free some space, or write elsewhere." if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    reason = error.strerror or str(error)
    return SaveError(
        error.errno or errno.EIO, f"{path} could not be saved: {reason}. What was saved before is unchanged.{full}"
    )
