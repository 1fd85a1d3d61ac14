"""Tensors in safetensors files: written whole or not at all, and read with a plain word when something is wrong."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_TYPES = ("F16", "F32", "F64", "BOOL", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64")
_SLACK = 1 << 24
"""Bytes besides the tensors."""
_MOST_AXES = 32
"""What every version of NumPy can hold."""


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

    try:
        whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        # safetensors ends the process where it gets no memory for its copy, and Python's of each tensor: ask first
        np.empty(2 * sum(array.nbytes for array in whole.values()) + _SLACK, np.uint8)
        data = save(whole, metadata=dict(facts) if facts else None)
    except MemoryError:
        raise save_error(Path(path), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))) from None
    write_file(Path(path), data)


def read_tensors(path: str | Path) -> tuple[Tensors, dict[str, str]]:
    """The arrays by name, and the facts of the header. Raises `WeightsError` that names the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())
            for name in names:
                _check(path, name, file.get_slice(name))
            return {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
    except FileNotFoundError:
        raise WeightsError(f"there is no file {path}") from None
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"{path} is no safetensors file or is cut short: {error}") from None


def _check(path: str | Path, name: str, stored: Any) -> None:
    """Whether NumPy can hold a tensor; that the file has its bytes was checked when it was opened."""
    dtype, shape = stored.get_dtype(), stored.get_shape()
    if dtype not in _TYPES:
        raise WeightsError(
            f"{path}: `{name}` is stored as {dtype}; convert it to F32, the types are {', '.join(_TYPES)}"
        )
    if len(shape) > _MOST_AXES or math.prod(max(axis, 1) for axis in shape) > sys.maxsize // 8:
        raise WeightsError(f"{path}: no tensor has the shape of `{name}`, {str(shape)[:80]}")


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
