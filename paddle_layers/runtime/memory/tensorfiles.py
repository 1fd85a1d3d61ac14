"""Tensors in safetensors files: atomic writes, and plain errors for invalid files."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.escaping import message_line
from paddle_layers.define.output_folders import LinkError, open_folder

Tensors = dict[str, NDArray[Any]]

TYPES = ("F16", "BF16", "F32", "F64", "BOOL", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64")
"""Supported data types; BF16, which NumPy lacks, becomes float32 exactly."""
_SLACK = 1 << 24
"""Bytes besides the tensors."""
_MOST_AXES = 32
"""Maximum in all versions of NumPy."""


class TensorInfo(NamedTuple):
    """Shape and data type of a tensor in a file; the type is one of `TYPES`."""

    shape: tuple[int, ...]
    dtype: str


class WeightsError(ValueError):
    """A weights file cannot be read: missing, truncated, or of another kind. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


class SaveError(OSError):
    """Something could not be saved; the previous file is unchanged."""

    def __str__(self) -> str:
        return str(self.args[1])


def write_tensors(
    path: str | Path, tensors: Mapping[str, NDArray[Any]], facts: Mapping[str, str] | None = None
) -> None:
    """Writes arrays by name, with `facts` (metadata) in the header.

    Raises:
        SaveError: It cannot be written; an older file is then unchanged.
    """
    from safetensors.numpy import save

    try:
        whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        # safetensors aborts the process if it gets no memory for its copy, and Python's of each tensor: check first
        np.empty(2 * sum(array.nbytes for array in whole.values()) + _SLACK, np.uint8)
        data = save(whole)
    except MemoryError:
        raise save_error(Path(path), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))) from None
    # safetensors before 0.5 cannot read a file of metadata only
    write_file(Path(path), *(_with_facts(data, facts) if facts and whole else (data,)))


def _with_facts(data: bytes, facts: Mapping[str, str]) -> tuple[bytes, memoryview]:
    """A file with metadata in its header, in two parts: safetensors writes it in another order in every process."""
    end = 8 + int.from_bytes(data[:8], "little")
    # Written in a fixed order, so that equal weights are equal files, byte by byte.
    whole = {"__metadata__": dict(facts), **json.loads(data[8:end])}
    header = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    # The format wants tensors aligned to 8 bytes.
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header, memoryview(data)[end:]


def read_tensors(path: str | Path, names: Iterable[str] | None = None) -> tuple[Tensors, dict[str, str]]:
    """The arrays by name, all or the requested ones, and the metadata. Raises `WeightsError` with the file."""
    with _opened(path) as file:
        stored = {name: _checked(path, name, file.get_slice(name)) for name in names or _names(file)}
        # NumPy has no bfloat16, and the NumPy interface of safetensors refuses it.
        brief = [name for name, one in stored.items() if one.dtype == "BF16"]
        widened = _widened(path, brief) if brief else {}
        tensors = {name: widened[name] if name in widened else file.get_tensor(name) for name in stored}
        return tensors, dict(file.metadata() or {})


def read_header(path: str | Path) -> tuple[dict[str, TensorInfo], dict[str, str]]:
    """Shape and type of each array by name, and the metadata: the header only. Raises `WeightsError`."""
    with _opened(path) as file:
        stored = {name: _checked(path, name, file.get_slice(name)) for name in _names(file)}
        return stored, dict(file.metadata() or {})


def _names(file: Any) -> list[str]:
    return list(file.keys())


def _widened(path: str | Path, names: Iterable[str]) -> Tensors:
    """Arrays of bfloat16, the upper halves of float32, as float32. The file was checked when it was opened."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        found = {}
        for name in names:
            first, last = header[name]["data_offsets"]
            file.seek(8 + size + first)
            halves = np.frombuffer(file.read(last - first), "<u2").astype("<u4")
            found[name] = (halves << 16).view("<f4").reshape(header[name]["shape"])
        return found


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except FileNotFoundError:
        raise WeightsError(f"file not found: {path}") from None
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, WeightsError):
            raise
        if os.path.isdir(path):
            raise WeightsError(
                f"{path} is a folder; pass a file in it, such as {Path(path) / 'weights.safetensors'}"
            ) from None
        raise WeightsError(f"{path} is not a safetensors file, or is truncated: {error}") from None


def _checked(path: str | Path, name: str, stored: Any) -> TensorInfo:
    """A tensor that NumPy can represent; that the file has its bytes was checked when it was opened."""
    dtype, shape = stored.get_dtype(), stored.get_shape()
    if dtype not in TYPES:
        raise WeightsError(
            f"{path}: `{name}` has unsupported dtype {dtype}; convert it to F32 (supported: {', '.join(TYPES)})"
        )
    # The product of all axes may overflow in C code although one of them is 0, which makes the tensor empty.
    if len(shape) > _MOST_AXES or math.prod(max(axis, 1) for axis in shape) > sys.maxsize // 8:
        raise WeightsError(f"{path}: `{name}` has an invalid shape, {str(shape)[:80]}")
    return TensorInfo(tuple(shape), dtype)


def write_file(path: Path, *data: bytes | memoryview) -> None:
    """Writes a file atomically: to a temporary file next to it, synced to disk, then renamed. Raises `SaveError`."""
    try:
        # Relative to an open folder: a link that replaces the folder between checks and renaming is not followed.
        with open_folder(path.parent) as folder:
            folder.write(path.name, *data)
    except OSError as error:
        raise save_error(path, error) from error


def save_error(path: Path, error: OSError) -> SaveError:
    """The exception for a failed write to `path`."""
    if isinstance(error, SaveError):
        return error
    full = " Free disk space, or choose another disk." if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    reason = f"{error.filename}: {error.strerror}" if isinstance(error, LinkError) else error.strerror or str(error)
    return SaveError(error.errno or errno.EIO, f"cannot save {path}: {reason}. The previous file is unchanged.{full}")
