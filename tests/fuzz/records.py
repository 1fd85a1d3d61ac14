"""Data files whose records are read when they are wanted: pictures, lists of them, databases, HDF5."""

from __future__ import annotations

import io
import json
import struct
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import lmdb
import numpy as np
import pyarrow
import pyarrow.parquet
from PIL import Image

from paddle_layers.schema.datum_pb2 import Datum

from .data_files import DataTarget
from .mutators import ODD_TEXTS, changed_bytes, changed_text
from .words import WithSettings

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)


@cache
def pictures() -> tuple[bytes, ...]:
    """The same picture in every format and mode."""
    found = []
    for mode, formats in (
        ("RGB", ("png", "jpeg", "bmp", "webp", "ppm")),
        ("L", ("png", "jpeg", "gif", "ppm")),
        ("P", ("png", "gif", "bmp")),
        ("RGBA", ("png", "webp")),
        ("LA", ("png",)),
        ("1", ("png", "ppm")),
        ("CMYK", ("jpeg",)),
        ("I;16", ("png",)),
    ):
        grey = Image.fromarray(PIXELS[..., 0].astype(np.uint16) * 200)
        image = grey if mode == "I;16" else Image.fromarray(PIXELS).convert(mode)
        exif = Image.Exif()
        exif[0x0112] = 8
        for kind in formats:
            options: dict[str, Any] = {"exif": exif} if kind in {"jpeg", "png", "webp"} and mode == "RGB" else {}
            file = io.BytesIO()
            image.save(file, kind, **options)
            found.append(file.getvalue())
    for mode, key in (("L", 7), ("RGB", (1, 2, 3)), ("P", b"\0\x80\xff"), ("I;16", 200)):  # transparent colors
        grey = Image.fromarray(PIXELS[..., 0].astype(np.uint16) * 200)
        file = io.BytesIO()
        (grey if mode == "I;16" else Image.fromarray(PIXELS).convert(mode)).save(file, "png", transparency=key)
        found.append(file.getvalue())
    return tuple(found)


class Picture(WithSettings):
    """Picture files: a line of settings, and the file."""

    name, source = "picture", "image_folder"

    def make(self, rng: Random) -> bytes:
        """A picture with changed bytes, or a part of another in it."""
        settings: dict[str, Any] = {"color": rng.choice(("rgb", "grey", "bgr"))}
        if rng.random() < 0.6:
            settings |= {"height": rng.choice((6, 1, 40)), "fit": rng.choice(("stretch", "crop", "pad"))}
            settings |= {"width": 8} if rng.random() < 0.5 else {}
        if rng.random() < 0.3:
            settings["background_color"] = rng.choice(([0], [1, 2, 3], [1, 2]))
        return json.dumps(settings).encode() + b"\n" + changed_bytes(rng.choice(pictures()), rng, pictures())

    def opened(self, content: bytes, **attributes: Any) -> None:
        """One picture of one class."""
        path = self.folder / "p" / "c" / "p.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        del attributes["file"]
        self.read(**attributes | {"folder": "p"})


class PictureList(WithSettings):
    """Lists of pictures."""

    name, source = "picture-list", "image_list"

    def make(self, rng: Random) -> bytes:
        """Names that are there or not, odd labels."""
        names = ("p.png", "p q.png", "d/p.png", "../p.png", "/etc/passwd", "none.png", "d", *ODD_TEXTS[:20])
        labels = ("0", "1", "39", "40", "-1", "9" * 30, "rose", "", *ODD_TEXTS)
        lines = [f"{rng.choice(names[:3] if rng.random() < 0.7 else names)} {rng.choice(labels[:2])}" for _ in range(4)]
        for _ in range(rng.choice((0, 0, 1, 2))):
            lines[rng.randrange(4)] = rng.choice(names) + rng.choice((" ", "\t", "")) + rng.choice(labels)
        settings: dict[str, Any] = rng.choice(({}, {}, {"classes": ["0", "1"]}, {"folder": "d"}, {"folder": "/"}))
        text = "\n".join(lines) + rng.choice(("", "\n"))
        if rng.random() < 0.4:
            text = changed_text(text, rng)
        return json.dumps(settings).encode() + b"\n" + text.encode("utf-8", "replace")

    def opened(self, content: bytes, **attributes: Any) -> None:
        """The list, beside a few pictures."""
        (self.folder / "d").mkdir(exist_ok=True)
        for name in ("p.png", "p q.png", "d/p.png"):
            if not (self.folder / name).exists():
                (self.folder / name).write_bytes(pictures()[0])
        super().opened(content, **attributes)


class BoxList(PictureList):
    """Lists of pictures with boxes."""

    name = "box-list"

    def make(self, rng: Random) -> bytes:
        """Boxes within a picture and beyond it, odd numbers and classes, names that are there or not."""
        numbers = ("0", "2.5", "6", "8", "-1", "nan", "1e3", "9" * 30, "", *ODD_TEXTS[:20])
        classes = ("1", "39", "40", "cat", "9" * 30, *ODD_TEXTS[:20])
        lines = []
        for _ in range(4):
            boxes = [[*map(str, (rng.randrange(3), rng.randrange(3), rng.randrange(3, 9), 6)), "1"] for _ in range(3)]
            if rng.random() < 0.15:
                boxes[rng.randrange(3)][rng.randrange(4)] = rng.choice(numbers)
            if rng.random() < 0.15:
                boxes[rng.randrange(3)][4] = rng.choice(classes)
            name = rng.choice(("p.png", "p q.png", "d/p.png", "none.png", "/etc/passwd"))
            lines.append(name + rng.choice("\t\t ") + " ".join(map(",".join, boxes[: rng.randrange(4)])))
        settings: dict[str, Any] = {"labels": "boxes", "fit": rng.choice(("stretch", "crop", "pad"))}
        settings |= rng.choice(({}, {"height": 6, "width": 8}, {"height": 1, "width": 40}))
        settings |= rng.choice(({}, {}, {"classes": ["0", "1", "cat"]}))
        text = "\n".join(lines)
        if rng.random() < 0.2:
            text = changed_text(text, rng)
        return json.dumps(settings).encode() + b"\n" + text.encode("utf-8", "replace")


class WindowFile(PictureList):
    """Windows of pictures."""

    name, source = "window-list", "window_list"

    def make(self, rng: Random) -> bytes:
        """Windows in and outside of pictures that are there or not, some of another size."""
        words = ("0", "1", "7", "-1", "0.4", "1e9", "nan", "9" * 30, "# 0", "p.png", "/etc/passwd", *ODD_TEXTS[:20])
        lines: list[str] = []
        for number in range(3):
            size = rng.choice((["8", "6"], ["8", "6"], ["30", "40"]))
            lines += [f"# {number}", rng.choice(("p.png", "p q.png", "d/p.png")), "3", *size, "3"]
            for _ in range(3):
                lines.append(f"{rng.randrange(1, 3)} {rng.random():.2f} {rng.randrange(4)} 0 {rng.randrange(3, 6)} 7")
        for _ in range(rng.choice((0, 0, 1, 2))):
            odd = [rng.choice(words) for _ in range(rng.choice((1, 6)))]
            lines[rng.randrange(len(lines))] = " ".join(odd)
        settings: dict[str, Any] = {"height": rng.choice((4, 7)), "context": rng.choice((0, 1))}
        settings["square"] = rng.random() < 0.5
        return json.dumps(settings).encode() + b"\n" + "\n".join(lines).encode("utf-8", "replace")


@cache
def databases() -> tuple[bytes, ...]:
    """Databases of pages of their own, of one level and of two, of bytes, files and real numbers."""
    bytes_ = [Datum(channels=3, height=6, width=8, data=PIXELS.tobytes(), label=n % 40) for n in range(5)]
    files = [Datum(data=picture, encoded=True, label=1) for picture in pictures()[:3]]
    reals = [Datum(channels=1, height=30, width=40, float_data=[0.5] * 1200, label=2) for _ in range(3)]
    many = [Datum(channels=3, height=1, width=1, data=b"abc", label=3)] * 150
    return tuple(map(_database, (bytes_, files, reals, many)))


def _database(records: list[Datum]) -> bytes:
    with TemporaryDirectory() as folder:
        with lmdb.open(folder, map_size=2**22) as environment, environment.begin(write=True) as transaction:
            for number, record in enumerate(records):
                transaction.put(b"%08d" % number, record.SerializeToString())
        return Path(folder, "data.mdb").read_bytes()


class Lmdb(DataTarget):
    """Databases of Caffe's records."""

    name = source = "lmdb"

    def make(self, rng: Random) -> bytes:
        """Changes at the places that say something: heads of pages, nodes, records."""
        data = bytearray(rng.choice(databases()))
        for _ in range(rng.choice((1, 1, 2, 4))):
            page = rng.randrange(len(data) // 4096) * 4096
            size = rng.choice((1, 2, 4, 8))
            at = page + rng.choice((rng.randrange(16), rng.randrange(16, 170), rng.randrange(4096)))
            odd = (0, 1, 2, 3, 7, 16, 255, 4096, 2**15, 2**31, 2**32 - 1, 2**63, rng.randrange(2**16))
            data[at : at + size] = struct.pack("<Q", rng.choice(odd))[:size]
        return changed_bytes(bytes(data), rng) if rng.random() < 0.3 else bytes(data)

    def check(self, case: bytes) -> None:
        """Read as a database in one file."""
        self.opened(case, file="f")


HDF5_LAYOUTS: tuple[dict[str, Any], ...] = (
    {},
    {"chunks": (2, 3)},
    {"chunks": (3, 3), "compression": "gzip", "fletcher32": True},
    {"chunks": (3, 3), "compression": "lzf", "shuffle": True},
    {"chunks": (3, 3), "scaleoffset": 2},
)
"""Whole or in chunks, and every filter that h5py brings with it."""


@cache
def hdf5_files() -> tuple[bytes, ...]:
    """Files of the oldest and of the newest layout, in chunks or not, packed or not."""
    found = []
    for version in ("earliest", "latest"):
        for options in HDF5_LAYOUTS:
            file = io.BytesIO()
            with h5py.File(file, "w", libver=version) as opened:
                opened.create_dataset("x", data=np.arange(18, dtype=np.float32).reshape(6, 3), **options)
                opened.create_dataset("label", data=np.arange(6))
            found.append(file.getvalue())
    return tuple(found)


class Hdf5(DataTarget):
    """HDF5 files."""

    name = source = "hdf5"

    def make(self, rng: Random) -> bytes:
        """Changed bytes, most of them in the heads."""
        return changed_bytes(rng.choice(hdf5_files()), rng, hdf5_files())

    def check(self, case: bytes) -> None:
        """Read as a data set."""
        self.opened(case, file=["f"])


@cache
def parquet_files() -> tuple[bytes, ...]:
    """Files of several row groups, packed in several ways."""
    lists = pyarrow.FixedSizeListArray.from_arrays(np.arange(18, dtype=np.float32), 3)
    columns = {"x": lists, "label": pyarrow.array(range(6)), "kind": pyarrow.array(["a", "b", "c"] * 2)}
    boxes = pyarrow.list_(pyarrow.list_(pyarrow.float32(), 1))
    gaps = {
        "gaps": pyarrow.array([1, None, 3] * 2),
        "boxes": pyarrow.array([[[1.0]], None, [], [[2.0]], [], []], boxes),
    }
    found = []
    for packing in ("none", "snappy", "gzip", "zstd"):
        for words in (True, False):
            file = io.BytesIO()
            pyarrow.parquet.write_table(
                pyarrow.table(columns | (gaps if packing == "gzip" else {})),
                file,
                row_group_size=4,
                compression=packing,
                use_dictionary=words,
            )
            found.append(file.getvalue())
    return tuple(found)


class Parquet(DataTarget):
    """Parquet files."""

    name = source = "parquet"

    def make(self, rng: Random) -> bytes:
        """Changed bytes."""
        return changed_bytes(rng.choice(parquet_files()), rng, parquet_files())

    def check(self, case: bytes) -> None:
        """Read as a data set."""
        self.opened(case, file=["f"])
