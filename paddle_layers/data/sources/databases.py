"""LMDB databases, read lazily."""

from __future__ import annotations

from pathlib import Path

from paddle_layers.define import String, source

from ..dataset import Dataset
from ..formats.datums import Datums
from ..formats.lmdb import LmdbFile
from .images import PictureSettings


@source("lmdb", elsewhere={"Caffe": "Data"}, terms=("LMDB",))
class Lmdb(PictureSettings):
    """LMDB database of Caffe `Datum` records, in the order of their keys.

    Fields: `image` (channels, height, width) and `label`. Pixels are integers from 0 to 255, or floats if the records
    contain such; all records have the size of the first. `color`, `height`, `width` and `fit` apply to records that
    contain image files (`convert_imageset --encoded`), which need Pillow: `pip install 'paddle-layers[images]'`. The
    others are returned as stored, by Caffe's tools as blue, green, red. The `lmdb` library is not needed, and damaged
    files are rejected, while it would crash the process.
    """

    file = String("path of the database, a folder with `data.mdb` or such a file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The records, found by their keys; none of them is read but the first."""
        return Datums("lmdb", LmdbFile(base / self.file), self).dataset()
