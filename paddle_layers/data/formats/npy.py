"""npy and npz files: memory-mapped if possible, never unpickled, headers and sizes checked before allocation."""

from __future__ import annotations

import io
import math
import struct
import sys
import warnings
import zipfile
from collections.abc import Container
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..problems import DataError, NoFieldsError, as_data_error, missing_file
from .files import check_regular

LONGEST = 10_000
"""Bytes of a header: NumPy's own limit. A longer one describes no array of numbers."""

MOST_AXES = 32
"""Number of axes that every version of NumPy supports."""

_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

UNPACKED, RATIO = 2**28, 100
"""Maximum size in memory of a file of compressed arrays, in bytes and relative to its size."""

METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
"""Compression methods with little memory; LZMA may need 4 GiB for a file of a hundred bytes."""

_LOCAL_HEADER = 30
"""Bytes before a member of a zip file, and before its name."""


class Header(NamedTuple):
    """Header of an npy array; `start` is the offset of its data."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int

    @property
    def order(self) -> Any:
        """The order of the axes, as NumPy's functions take it."""
        return "F" if self.fortran else "C"


def read_header(file: IO[bytes], size: int, name: str) -> Header:
    """The header of an array that has `size` bytes with it. Raises `DataError` that begins with `name`."""
    counted = _Counted(file)
    with as_data_error(f"{name} is not an npy array"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote: they are read as any other
        version = npy.read_magic(counted)
        if version not in _READERS:
            raise ValueError(f"unsupported version {version} of the npy format")
        shape, fortran, dtype = _READERS[version](counted, max_header_size=LONGEST)
    header = Header(dtype, shape, fortran, counted.count)
    _check(header, size, name)
    return header


def _check(header: Header, size: int, name: str) -> None:
    dtype, shape = header.dtype, header.shape
    if dtype.hasobject:
        raise DataError(f"{name} contains Python objects, which would require pickle; store numbers instead")
    if dtype.kind not in "fiub":
        texts = (
            "; convert strings to ids with numpy.unique(array, return_inverse=True)[1]" if dtype.kind in "US" else ""
        )
        raise DataError(f"{name} contains {str(dtype)[:80]}, expected numbers{texts}")
    axes = str(shape) if len(str(shape)) < 80 else f"{str(shape)[:80]}..."
    if not all(type(axis) is int and axis >= 0 for axis in shape) or len(shape) > MOST_AXES:
        raise DataError(f"{name} is not an npy array: invalid shape {axes}")
    if header.start + math.prod(shape) * dtype.itemsize > size:
        raise DataError(f"{name} is truncated: shape {axes} of {dtype} needs more than its {size} bytes")
    if math.prod(max(axis, 1) for axis in shape) > sys.maxsize // dtype.itemsize:  # no rows, of endless length
        raise DataError(f"{name} is not an npy array: invalid shape {axes}")


class _Counted:
    """A reader that knows how many bytes it gave, and gives no more at once than a header has."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.count = file, 0

    def read(self, size: int = -1, /) -> bytes:
        if size > LONGEST:
            raise ValueError(f"its header declares {size} bytes, the limit is {LONGEST}")
        data = self.file.read(size)
        self.count += len(data)
        return data


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an npy file, mapped into memory. Raises `DataError` naming the file."""
    with _opened(path) as file:
        return _mapped(path, file, path.stat().st_size, str(path))


PARTS = (".starts", ".sub_starts", ".row_starts", ".ids", ".values")
"""Ends of the names of arrays that belong to the field before them."""


def open_npz(path: Path, wanted: Container[str] | None = None) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """The arrays of an npz file by name; those that `np.savez` stored are mapped, compressed ones are read.

    With `wanted` only the arrays of these fields: others may be anything. Returns also the names of the others. Raises
    `DataError`.
    """
    with _opened(path) as file:
        with as_data_error(f"{path} is truncated or not an npz file; write it with np.savez(path, field=array)"):
            archive = zipfile.ZipFile(file)
        every = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        members = [info for info in every if wanted is None or _is_wanted(_name(info), wanted)]
        if not members:
            raise NoFieldsError(path, "arrays", map(_name, every))
        _check_members(path, members)
        arrays = {_name(info): _member(path, file, archive, info) for info in members}
        return arrays, [_name(info) for info in every if _name(info) not in arrays]


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """As `open_npz`, all arrays."""
    return open_npz(path)[0]


def _is_wanted(name: str, wanted: Container[str]) -> bool:
    return name in wanted or any(name.endswith(part) and name.removesuffix(part) in wanted for part in PARTS)


def _opened(path: Path) -> IO[bytes]:
    check_regular(path)
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"cannot read {str(path)!r}: {error}") from None


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Check the directory of the archive: members do not overlap, and their total size is bounded."""
    for first, second in pairwise(sorted(members, key=lambda info: info.header_offset)):
        held = first.file_size if first.compress_type == zipfile.ZIP_STORED else first.compress_size
        if first.header_offset + _LOCAL_HEADER + held > second.header_offset:
            raise DataError(f"{path} is corrupt: the arrays `{_name(first)}` and `{_name(second)}` overlap")
    for info in members:
        if info.compress_type not in METHODS:
            raise DataError(
                f"{path}, array `{_name(info)}`: unsupported zip compression method {info.compress_type}; "
                "write it with np.savez or np.savez_compressed"
            )
    packed = [info for info in members if info.compress_type != zipfile.ZIP_STORED]
    claimed, held = sum(info.file_size for info in packed), sum(info.compress_size for info in packed)
    if claimed > max(UNPACKED, RATIO * held):
        raise DataError(
            f"{path}: {held} compressed bytes would expand to {claimed}; the limit is a factor of {RATIO}, "
            f"or {UNPACKED} bytes. If the file is valid, write it with np.savez instead of "
            "np.savez_compressed: uncompressed arrays have no limit"
        )


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename.removesuffix(".npy")


def _member(path: Path, file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    name = f"{path}, array `{_name(info)}`"
    if info.compress_type == zipfile.ZIP_STORED:
        with as_data_error(f"{name} is corrupt"):  # its place may be any number
            file.seek(info.header_offset + 26)
            file.seek(sum(struct.unpack("<HH", file.read(4))), io.SEEK_CUR)
        return _mapped(path, file, info.file_size, name)
    with as_data_error(f"{name} is corrupt"), archive.open(info) as member:
        header = read_header(member, info.file_size, name)
        flat = np.frombuffer(_content(member, info.file_size - header.start, name), header.dtype)
    if flat.size != math.prod(header.shape):
        raise DataError(f"{name} is truncated")
    return flat.reshape(header.shape, order=header.order)


def _content(member: IO[bytes], size: int, name: str) -> bytes:
    try:
        return member.read(size)
    except MemoryError:
        raise DataError(
            f"{name} of {size} bytes does not fit into memory; write it with np.savez instead of "
            "np.savez_compressed for memory mapping"
        ) from None


def _mapped(path: Path, file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    begin = file.tell()
    header = read_header(file, size, name)
    if path.stat().st_size < begin + size:
        raise DataError(f"{name} is truncated")
    if math.prod(header.shape) == 0:
        return np.zeros(header.shape, header.dtype)
    return np.memmap(path, header.dtype, "r", begin + header.start, header.shape, header.order)
