"""Arrays in npy and npz files: mapped where they are stored as they are, never unpickled, sizes checked before use."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .problems import DataError

_DEFLATE_LIMIT = 1040  # deflate cannot shrink anything further than about 1032 times


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an npy file, mapped into memory. Raises `DataError` naming the file."""
    with _opened(path) as file:
        return _mapped(path, file, path.stat().st_size, str(path))


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file by name; those that `np.savez` stored are mapped, compressed ones are read."""
    with _opened(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise DataError(
                f"{path} is no npz file or is cut short ({error}); write it with np.savez(path, field=array)"
            ) from None
        return {
            info.filename.removesuffix(".npy"): _member(path, file, archive, info)
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; paths are relative to the training file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _member(path: Path, file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    name = f"{path}, array `{info.filename.removesuffix('.npy')}`"
    if info.compress_type == zipfile.ZIP_STORED:
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
        if len(lengths) < 4:
            raise DataError(f"{name} is cut short")
        file.seek(sum(struct.unpack("<HH", lengths)), io.SEEK_CUR)
        return _mapped(path, file, info.file_size, name)
    if info.file_size > _DEFLATE_LIMIT * info.compress_size + 4096:
        raise DataError(f"{name} claims {info.file_size} bytes but holds {info.compress_size}; the file is damaged")
    try:
        with archive.open(info) as member:
            dtype, shape, fortran, start = _header(member, info.file_size, name)
            flat = np.frombuffer(member.read(info.file_size - start), dtype)
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError) as error:
        raise DataError(f"{name} is damaged: {error}") from None
    except MemoryError:
        raise DataError(
            f"{name} of {info.file_size} bytes does not fit into memory; "
            "np.savez instead of np.savez_compressed lets it be read bit by bit"
        ) from None
    if flat.size != math.prod(shape):
        raise DataError(f"{name} is cut short")
    return flat.reshape(shape, order="F" if fortran else "C")


def _mapped(path: Path, file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    begin = file.tell()
    dtype, shape, fortran, start = _header(file, size, name)
    if path.stat().st_size < begin + size:
        raise DataError(f"{name} is cut short")
    if math.prod(shape) == 0:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", begin + start, shape, "F" if fortran else "C")


def _header(file: IO[bytes], size: int, name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Type, shape, Fortran order and length of the header; checked against the size of the member."""
    counted = _Counted(file)
    try:
        version = npy.read_magic(counted)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the npy format")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(counted)
    except ValueError as error:
        raise DataError(f"{name} is no npy array: {error}") from None
    if dtype.hasobject:
        raise DataError(f"{name} holds Python objects, which would need pickle; store numbers instead")
    if counted.count + math.prod(shape) * dtype.itemsize > size:
        raise DataError(f"{name} is cut short: shape {shape} of {dtype} needs more than the {size} bytes there are")
    return dtype, shape, fortran, counted.count


class _Counted:
    """A reader that knows how many bytes it gave."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.count = file, 0

    def read(self, size: int = -1, /) -> bytes:
        data = self.file.read(size)
        self.count += len(data)
        return data
