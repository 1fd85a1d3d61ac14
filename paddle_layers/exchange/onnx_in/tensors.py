"""Tensors of a model file as arrays: claimed sizes are compared with the available bytes before reading."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import ImportFailure, shown, text

MOST_AXES = 32
LARGEST = 1 << 48
"""Maximum product of the axes: NumPy refuses larger shapes even for empty tensors."""
KINDS: dict[int, str] = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
"""NumPy types of TensorProto's data types."""
TEXTS = 8
"""Strings are class names, which are never computed with."""
FIELDS = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint64": "uint64_data",
    "uint32": "uint64_data",
}  # fmt: skip


class Tensors:
    """Reads the tensors of one file. Bytes of external data are read once: overlapping tensors are rejected."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._taken: dict[Path, int] = {}

    def read(self, proto: Any) -> NDArray[Any]:
        """The numbers. Raises `ImportFailure` with the tensor's name."""
        if proto.data_type == TEXTS:
            return np.empty(0, "U1")
        kind = KINDS.get(proto.data_type)
        if kind is None:
            raise _wrong(proto, f"has unsupported data type {proto.data_type}")
        dims = tuple(proto.dims)
        if len(dims) > MOST_AXES or any(size < 0 for size in dims):
            raise _wrong(proto, f"has invalid shape {str(dims)[:60]}")
        if math.prod(size for size in dims if size) > LARGEST:
            raise _wrong(proto, f"has shape {str(dims)[:60]}, which is too large")
        count = math.prod(dims)
        if proto.data_location == 1:
            return _array(self._beside(proto, kind, count), kind).reshape(dims)
        if proto.HasField("raw_data"):
            expected = count * _itemsize(kind)
            if len(proto.raw_data) != expected:
                raise _wrong(proto, f"has {len(proto.raw_data)} bytes, but its shape {dims} needs {expected}")
            return _array(proto.raw_data, kind).reshape(dims)
        stored = getattr(proto, FIELDS.get(kind, "int32_data"))
        if len(stored) != count:
            raise _wrong(proto, f"has {len(stored)} values, but its shape {dims} needs {count}")
        return _listed(np.array(stored, np.float64 if kind.startswith("float") else None), kind, proto).reshape(dims)

    def _beside(self, proto: Any, kind: str, count: int) -> bytes:
        facts = {text(entry.key): text(entry.value) for entry in proto.external_data}
        path = self._path(proto, facts.get("location", ""))
        try:
            offset, length = int(facts.get("offset", "0")), int(facts.get("length", "-1"))
        except ValueError:
            raise _wrong(proto, "has an invalid offset or length of external data") from None
        expected = count * _itemsize(kind)
        size = path.stat().st_size
        if length not in (-1, expected) or offset < 0 or offset + expected > size:
            raise _wrong(proto, f"needs {expected} bytes at offset {offset} of a file of {size} bytes")
        # A small file could otherwise claim any amount of memory through tensors that all refer to the same bytes.
        self._taken[path] = self._taken.get(path, 0) + expected
        if self._taken[path] > size:
            raise _wrong(proto, "overlaps another tensor in the external data")
        with path.open("rb") as file:
            file.seek(offset)
            found = file.read(expected)
        if len(found) != expected:
            raise _wrong(proto, "has truncated external data")
        return found

    def _path(self, proto: Any, location: str) -> Path:
        """A plain file in the folder of the model, and nothing else."""
        parts = PurePosixPath(location).parts
        if not parts or location.startswith(("/", "\\")) or ".." in parts or "\\" in location or "\0" in location:
            raise _wrong(
                proto,
                f"has external data at `{shown(location)}`, expected a file name relative to the model, without `..`",
            )
        found = self.folder.joinpath(*parts)
        try:
            # Links are resolved before the comparison: a model must not make the importer read other files.
            real = Path(os.path.realpath(found, strict=True))
            plain = stat.S_ISREG(real.stat().st_mode)
        except OSError as error:
            raise _wrong(proto, f"has external data at `{shown(location)}`: {error.strerror}") from None
        if not real.is_relative_to(Path(os.path.realpath(self.folder))) or not plain:
            raise _wrong(
                proto, f"has external data at `{shown(location)}`, outside of the model's folder or not a regular file"
            )
        return real


def _itemsize(kind: str) -> int:
    return 2 if kind == "bfloat16" else np.dtype(kind).itemsize


def _array(data: bytes, kind: str) -> NDArray[Any]:
    if kind == "bfloat16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    if kind == "bool":
        found: NDArray[Any] = np.frombuffer(data, np.uint8) != 0
        return found
    return np.frombuffer(data, np.dtype(kind).newbyteorder("<"))


def _listed(stored: NDArray[Any], kind: str, proto: Any) -> NDArray[Any]:
    """Values in a list of the message; half precision is encoded as bits."""
    if kind in ("float16", "bfloat16"):
        bits = np.array(proto.int32_data, np.int64).astype(np.uint16)
        return _array(bits.astype("<u2").tobytes(), kind)
    with np.errstate(over="ignore"):
        found: NDArray[Any] = stored.astype(kind)
    return found


def _wrong(proto: Any, what: str) -> ImportFailure:
    return ImportFailure(f"tensor `{shown(proto.name)}` {what}")
