"""Data files: arrays, tables and lines of words, opened by the sources of training files and read to the last row."""

from __future__ import annotations

import io
import json
import struct
import traceback
import zipfile
from random import Random
from typing import Any

import numpy as np

from paddle_layers.data import DataError, Dataset, make_feeds
from paddle_layers.data.learning import encoded, learn
from paddle_layers.define import Type, registries
from paddle_layers.runtime.memory.weights import MismatchError

from .mutators import HOSTILE, ODD_NUMBERS, ODD_TEXTS, changed_bytes, changed_text, several
from .target import Target, demand

DTYPES = (
    *("<f4", "<f8", ">f8", "<f2", "<i8", "<i4", ">i4", "|i1", "|u1", "<u8", "|b1"),
    *("<c8", "<U3", "|S2", "|S0", "|V0", "|V8", "|O", "<m8[s]", "<M8[D]", "<f16", "x", "", "<i3", "<f8,<f8", "3<f8"),
)
SIZES = ("0", "1", "2", "3", "4", "12", "-1", "True", "None", "'2'", "1.0", "[2]", "2**3", "4L", *ODD_NUMBERS)
TYPES = (Type.dense(3), Type.ids(40), Type.ids(40, 1), Type.sparse(40), Type.sparse(40, values=True))


class DataTarget(Target):
    """A source of data over one file."""

    source = ""

    def opened(self, content: bytes, **attributes: Any) -> None:
        """Write the file, open it and read all rows, as feeds too. What is refused is told in one line."""
        path = self.folder / "f"
        path.write_bytes(content)
        try:
            definition = registries["source"][self.source]
            dataset = definition.create(definition.bind(attributes)).open(self.folder)
            first = learn(dataset, np.arange(1 + len(dataset) // 2))
            self._read(encoded(dataset, first, str(self.folder)))
        except DataError as error:
            check_message(error, str(self.folder))

    def _read(self, dataset: Dataset) -> None:
        rows = np.arange(len(dataset))
        dataset.rows(rows[:1000])
        for name in dataset.fields:
            for type_ in TYPES:
                try:
                    (feed,) = make_feeds(dataset, {name: type_})
                except DataError as error:
                    check_message(error, str(self.folder))
                else:
                    feed.take(rows[-100:], None)


def check_message(error: Exception, name: str) -> None:
    """One line that names the file; not that memory has run out, which is to be seen before.

    Weights that don't fit have a line each, for the first of them.
    """
    text = str(error)
    lines = text.split("\n")
    demand(name in lines[0], f"names no file: {text!r}")
    demand(len(lines) <= (23 if isinstance(error, MismatchError) else 1), f"{len(lines)} lines: {text!r}")
    demand(all(len(line) < 3000 for line in lines), f"{len(text)} characters: {text[:200]!r}")
    cause: BaseException | None = error
    while cause is not None:
        demand(not _ran_out(cause), f"memory ran out: {text!r}")
        cause = cause.__cause__ or cause.__context__


def _ran_out(error: BaseException) -> bool:
    """Whether memory ran out. Python's parser says the same of brackets that are too deep for it."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, MemoryError) and not (frames and frames[-1].filename.endswith("ast.py"))


# ---- arrays


def npy(rng: Random) -> bytes:
    """An npy array, with something odd in its header more often than not."""
    if rng.random() < 0.3:
        return saved(_array(rng))
    shape = [rng.choice(("0", "1", "2", "3", "4")) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    if rng.random() < 0.5:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice(SIZES))
    if rng.random() < 0.05:
        shape *= rng.choice((9, 100))
    members = {
        "descr": repr(rng.choice(DTYPES[:11] if rng.random() < 0.7 else DTYPES)),
        "fortran_order": rng.choice(("False", "False", "True", "0", "None")),
        "shape": f"({', '.join(shape)}{',' * (rng.random() < 0.9)})",
    }
    if rng.random() < 0.2:
        members[rng.choice(("descr", "shape", "x", "fortran_order"))] = rng.choice(
            (
                "()",
                "[]",
                "{}",
                "[('a', '<f8')]",
                "('<f8', (2,))",
                "1j",
                "'\\ud800'",
                "-" * 500 + "1",
                "(" * 300,
                "x",
                "f()",
            )
        )
    if rng.random() < 0.1:
        del members[rng.choice(list(members))]
    header = "{" + ", ".join(f"'{name}': {value}" for name, value in members.items()) + "}"
    header += rng.choice(("\n", "", " " * 50 + "\n", "\n\n  x", "\0"))
    version = rng.choice(((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (0, 0), (255, 255)))
    text = header.encode("utf-8", "replace")
    length = len(text) + (rng.choice((-1, 1, 60000)) if rng.random() < 0.05 else 0)
    size = struct.pack("<H", max(length, 0) % 65536) if version == (1, 0) else struct.pack("<I", max(length, 0))
    return b"\x93NUMPY" + bytes(version) + size + text + bytes(rng.choice((0, 1, 8, 16, 96, 96, 1000)))


def _array(rng: Random) -> Any:
    shape = [rng.randrange(5) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    if shape and rng.random() < 0.8:
        shape[0] = 4
    with np.errstate(all="ignore"):
        values = np.array([rng.choice((0, 1, 2, 39, 40, -1, 2.5, 1e30)) for _ in range(int(np.prod(shape)))])
        return values.reshape(shape).astype(rng.choice(DTYPES[:11]))


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
PLACES = (
    (4, "<H"),
    (6, "<H"),
    (8, "<H"),
    (10, "<H"),
    (16, "<I"),
    (20, "<I"),
    (24, "<I"),
    (28, "<H"),
    (30, "<H"),
    (42, "<I"),
)
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
        kind = rng.choice(
            (zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        )
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
            place, layout = rng.choice(PLACES)
            most = 2 ** (8 * struct.calcsize(layout)) - 1
            value = rng.choice((0, 1, 7, 30, 100, most - 1, most, rng.randrange(most)))
            at = rng.choice(found) + max(place + shift, 4)
            data[at : at + struct.calcsize(layout)] = struct.pack(layout, min(value, most))


# ---- texts


class WithSettings(DataTarget):
    """A case is a line of JSON, the settings of the source, and then the file."""

    def check(self, case: bytes) -> None:
        """Opened with the settings."""
        settings, _, content = case.partition(b"\n")
        attributes = json.loads(settings)
        (self.folder / "words").write_text(
            attributes.pop("words", "a\nb\nc\n"), encoding="utf-8", errors="replace", newline=""
        )
        self.opened(content, file="f", **attributes)


class Csv(WithSettings):
    """Tables of numbers."""

    name = source = "csv"

    def make(self, rng: Random) -> bytes:
        """Odd cells, rows of other lengths, quotes; settings that fit or do not."""
        delimiter = rng.choice((",", ",", ",", ";", "\t", " ", "a", "1", '"', "\n", "\0", ",,"))
        width = rng.choice((1, 2, 3, 3, 3, 8))
        rows = [[str(rng.randrange(40)) for _ in range(width)] for _ in range(rng.choice((0, 1, 3, 4)))]
        if rng.random() < 0.6:
            rows.insert(0, ["height", "width", "kind", *"abcde"][:width])
        for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
            row = rng.choice(rows or [[]])
            odd = rng.choice(
                (*ODD_NUMBERS, *ODD_TEXTS, '"', '"a', '"1"', "1_0", "\u0663", "0x1", "inf", "nan", "1" * 140000)
            )
            row[rng.randrange(len(row) + 1) :][:1] = [odd]
            row.insert(rng.randrange(len(row) + 1), odd) if rng.random() < 0.2 else None
            if row:
                row[rng.randrange(len(row))] = odd
        end = rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
        text = end.join(delimiter.join(row) for row in rows)
        attributes: dict[str, Any] = {"delimiter": delimiter} if delimiter != "," else {}
        if rng.random() < 0.4:
            attributes["label"] = rng.choice(("kind", "3", "1", "0", "99", "-1", "\u0663", "9" * 5000, "", HOSTILE))
        if rng.random() < 0.2:
            attributes["classes"] = rng.choice((["1", "2"], [str(n) for n in range(40)], ["a", "a"], [""], ["\n"]))
        if rng.random() < 0.3:
            columns = (
                "size = width, height",
                "x = 1-2",
                "x = 2-1",
                "x = 1-99",
                "x =",
                "= 1",
                "x = 1, 1",
                "x = -",
                "x=1-" + "9" * 30,
            )
            attributes["columns"] = [rng.choice(columns) for _ in range(rng.choice((1, 1, 2)))]
        for name in ("ids", "text"):
            if rng.random() < 0.2:
                attributes[name] = [rng.choice(("kind", "label = kind", "2", "x = 3", "=", "kind =", "", HOSTILE))]
        if rng.random() < 0.2:
            attributes["leave_out"] = rng.choice(("width", "width, kind", "2-3", "3-2", ",", " ", "no", HOSTILE))
        if rng.random() < 0.3:
            attributes["empty"] = rng.choice(("mean", "mark"))
        if rng.random() < 0.3:
            attributes["header"] = rng.choice(("yes", "no", "auto"))
        return _with(attributes, _encoded(text, rng))


class Text(WithSettings):
    """Lines of words, and their dictionary."""

    name = "words"
    source = "text"

    def make(self, rng: Random) -> bytes:
        """Words that the dictionary has or lacks, labels, odd spaces; odd dictionaries."""
        words = (
            "a",
            "b",
            "c",
            "c",
            "\t",
            " ",
            "\n",
            "\n",
            "\x0b",
            "\x1c",
            "\x85",
            "\u2028",
            "\xa0",
            "\r",
            rng.choice(ODD_TEXTS),
        )
        text = "".join(f"{rng.choice(words)}{rng.choice((' ', ' ', chr(9), ''))}" for _ in range(rng.randrange(30)))
        if rng.random() < 0.3:
            text = "a\t" + text.replace("\n", "\nb\t")
        attributes: dict[str, Any] = {"dictionary": rng.choice(("words", "words", "words", ""))}
        if rng.random() < 0.4:
            attributes["classes"] = rng.choice((["a", "b"], ["a"], ["a", "a"], [""], [HOSTILE]))
        if rng.random() < 0.4:
            attributes["unknown"] = rng.choice(("a", "c", "zzz", HOSTILE))
        if rng.random() < 0.4:
            attributes["words"] = rng.choice(
                ("", "a", "a\na\n", "a b\n", "\n", "\ufeffa\nb\nc", "a\r\nb\rc", f"{HOSTILE}\n", "a\x85b\n", "c\x0bd\n")
            )
        return _with(attributes, _encoded(text, rng))


def _encoded(text: str, rng: Random) -> bytes:
    if rng.random() < 0.2:
        text = changed_text(text, rng)
    data = text.encode("utf-8" if rng.random() < 0.97 else "utf-16", "surrogatepass")
    return changed_bytes(data, rng) if rng.random() < 0.2 else data


def _with(attributes: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(attributes).encode() + b"\n" + content
