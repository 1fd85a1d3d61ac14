"""Header of npy arrays: type, shape and order, fully validated before allocation."""

from __future__ import annotations

import math
import sys
import warnings
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ..problems import DataError, as_data_error

LONGEST = 10_000
"""Bytes of a header: NumPy's own limit. A longer one describes no array of numbers."""

MOST_AXES = 32
"""Dtypes that every version of NumPy supports."""

_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


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
