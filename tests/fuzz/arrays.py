"""Arrays in npy and npz files."""

from __future__ import annotations

import io
import struct
import zipfile
from random import Random
from typing import Any

import numpy as np

from .data_files import DataTarget
from .mutators import HOSTILE, ODD_NUMBERS, ODD_TEXTS, changed_bytes, several

NUMBERS = ("<f4", "<f8", ">f8", "<f2", "<i8", "<i4", ">i4", "|i1", "|u1", "<u8", "|b1")
DTYPES = (
    *("<c8", "<U3", "|S2", "|S0", "|V0", "|V8", "|O", "<m8[s]", "<M8[D]", "<f16", "x", "", "<i3", "<f8,<f8", "3<f8"),
)
SIZES = ("0", "1", "2", "3", "4", "12", "-1", "True", "None", "'2'", "1.0", "[2]", "2**3", "4L", *ODD_NUMBERS)
EXPRESSIONS = (
    *("()", "[]", "{}", "[('a', '<f8')]", "('<f8', (2,))", "1j", "'\\ud800'", "-" * 500 + "1", "(" * 300, "x", "f()"),
)
"""What a header may have in place of a value."""


def npy(rng: Random) -> bytes:
    """An npy array, with something odd in its header more often than not."""
    if rng.random() < 0.3:
        return saved(_array(rng))
    shape = [rng.choice("01234") for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    if rng.random() < 0.5:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice(SIZES))
    if rng.random() < 0.05:
        shape *= rng.choice((9, 100))
    members = {
        "descr": repr(rng.choice(NUMBERS if rng.random() < 0.7 else DTYPES)),
        "fortran_order": rng.choice(("False", "False", "True", "0", "None")),
        "shape": f"({', '.join(shape)}{',' * (rng.random() < 0.9)})",
    }
    if rng.random() < 0.2:
        members[rng.choice(("descr", "shape", "x", "fortran_order"))] = rng.choice(EXPRESSIONS)
    if rng.random() < 0.1:
        del members[rng.choice(list(members))]
    header = "{" + ", ".join(f"'{name}': {value}" for name, value in members.items()) + "}"
    return _with_header(header + rng.choice(("\n", "", " " * 50 + "\n", "\n\n  x", "\0")), rng)


def _with_header(header: str, rng: Random) -> bytes:
    """A version, the header's length, right mostly, the header, and some numbers."""
    version = rng.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\0\0", b"\xff\xff"))
    text = header.encode("utf-8", "replace")
    length = len(text) + (rng.choice((-1, 1, 60000)) if rng.random() < 0.05 else 0)
    size = struct.pack("<H", length % 65536) if version == b"\1\0" else struct.pack("<I", length)
    return b"\x93NUMPY" + version + size + text + bytes(rng.choice((0, 1, 8, 16, 96, 96, 1000)))


def _array(rng: Random) -> Any:
    shape = [rng.randrange(5) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    if shape and rng.random() < 0.8:
        shape[0] = 4
    with np.errstate(all="ignore"):
        values = np.array([rng.choice((0, 1, 2, 39, 40, -1, 2.5, 1e30)) for _ in range(int(np.prod(shape)))])
        return values.reshape(shape).astype(rng.choice(NUMBERS))


def saved(array: Any) -> bytes:
    """The bytes of an npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Npy(DataTarget):
    """Arrays in npy files."""

    name = source = "npy"

    def make(self, rng: Random) -> bytes:
        """An odd header, or changed bytes."""
        found = npy(rng)
        return changed_bytes(found, rng) if rng.random() < 0.4 else found

    def check(self, case: bytes) -> None:
        """Mapped as a field."""
        self.opened(case, file=["f"])


NAMES = ("x", "x.starts", "x.sub_starts", "s.ids", "s.starts", "s.row_starts", "s.values", ".starts", ".ids", "starts")
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
PLACES = {4: "<H", 6: "<H", 8: "<H", 10: "<H", 16: "<I", 20: "<I", 24: "<I", 28: "<H", 30: "<H", 42: "<I"}
"""What the directory of a zip file says of a member: versions, method, sum, sizes, lengths of names, place."""


class Npz(DataTarget):
    """Arrays in npz files: fields, sequences and sparse rows."""

    name = source = "npz"

    def make(self, rng: Random) -> bytes:
        """Fields that may go together or not; then changes of the directory, or of any bytes."""
        members = {"x": saved(np.arange(12.0).reshape(4, 3))} if rng.random() < 0.5 else {}
        for name in rng.sample(NAMES, rng.choice((0, 1, 2, 3))):
            members[name] = _starts(rng) if "starts" in name and rng.random() < 0.8 else npy(rng)
        if rng.random() < 0.5:
            ids = [rng.choice((0, 1, 5, 39, 40, -1, 2**31)) for _ in range(rng.choice((0, 4, 4, 4, 5)))]
            members |= {
                "s.ids": saved(np.array(ids).astype(rng.choice(("<i8", "<i4", "<u8", "<f8")))),
                "s.starts": _starts(rng),
            }
        if rng.random() < 0.1:
            members[rng.choice((*ODD_TEXTS[:-3], HOSTILE))] = npy(rng)
        file = io.BytesIO()
        kind = rng.choice(PACKINGS)
        with zipfile.ZipFile(file, "w", kind) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name.encode("utf-8", "replace").decode() + ".npy"), content, kind)
        data = bytearray(file.getvalue())
        if rng.random() < 0.4:
            _patch(data, rng)
        return changed_bytes(bytes(data), rng) if rng.random() < 0.3 else bytes(data)

    def check(self, case: bytes) -> None:
        """Read as a data set."""
        self.opened(case, file="f")


def _starts(rng: Random) -> bytes:
    starts = sorted(rng.randrange(5) for _ in range(3))
    starts = rng.choice(
        ([0, *starts, 4], [0, 1, 2, 3, 4], [0, 4], [0, 2, 4], starts, starts[::-1], [], [0], [0, 2**40, 4])
    )
    kind = rng.choice(("<i8", "<i8", "<i4", "<u8", ">i8", "|u1", "<f8", "|b1"))
    with np.errstate(all="ignore"):
        return saved(np.array(starts).astype(kind).reshape(-1, *([1] * rng.choice((0, 0, 0, 1)))))


def _patch(data: bytearray, rng: Random) -> None:
    """One of the numbers in the directory, or in front of a member."""
    for _ in range(several(rng)):
        mark, shift = rng.choice(((b"PK\1\2", 0), (b"PK\1\2", 0), (b"PK\3\4", -2), (b"PK\5\6", 0)))
        found = [at for at in range(len(data)) if data.startswith(mark, at)]
        if found:
            place, layout = rng.choice(list(PLACES.items()))
            most = 2 ** (8 * struct.calcsize(layout)) - 1
            value = rng.choice((0, 1, 7, 30, 100, most - 1, most, rng.randrange(most)))
            at = rng.choice(found) + max(place + shift, 4)
            data[at : at + struct.calcsize(layout)] = struct.pack(layout, min(value, most))
