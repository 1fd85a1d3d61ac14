"""Tensors in safetensors files: written whole or not at all, and read with a plain word when something is wrong."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.escaping import message_line

Tensors = dict[str, NDArray[Any]]

_TYPES = ("F16", "F32", "F64", "BOOL", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64")
_SLACK = 1 << 24
"""Bytes besides the tensors."""
_MOST_AXES = 32
"""What every version of NumPy can hold."""


class WeightsError(ValueError):
    """A file of weights can't be read: missing, cut short, or of another kind. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


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


def read_tensors(path: str | Path, names: Iterable[str] | None = None) -> tuple[Tensors, dict[str, str]]:
    """The arrays by name, all or those asked for, and the facts of the header. Raises `WeightsError` with the file."""
    with _opened(path) as file:
        wanted = list(file.keys()) if names is None else list(names)
        for name in wanted:
            _check(path, name, file.get_slice(name))
        return {name: file.get_tensor(name) for name in wanted}, dict(file.metadata() or {})


def read_shapes(path: str | Path) -> dict[str, tuple[int, ...]]:
    """The shape of each array by its name: the header, nothing else. Raises `WeightsError` that names the file."""
    with _opened(path) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
        for name, stored in slices.items():
            _check(path, name, stored)
        return {name: tuple(stored.get_shape()) for name, stored in slices.items()}


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except FileNotFoundError:
        raise WeightsError(f"there is no file {path}") from None
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, WeightsError):
            raise
        if os.path.isdir(path):
            raise WeightsError(
                f"{path} is a folder; name the file in it, such as {Path(path) / 'weights.safetensors'}"
            ) from None
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
