"""Records in databases, read when a batch wants them."""

from __future__ import annotations

from pathlib import Path

from paddle_layers.define import String, source

from ..dataset import Dataset
from ..formats.datums import Datums
from ..formats.lmdb import LmdbFile
from .pictures import PictureSettings


@source("lmdb", elsewhere={"Caffe": "Data"})
class Lmdb(PictureSettings):
    """Records as Caffe's tools write them: an LMDB database of `Datum` messages, in the order of their keys.

    Fields: `image` (channels, height, width) and `label`. Pixels are whole numbers from 0 to 255, or real numbers where
    the records have such; all records are as large as the first. `color`, `height`, `width` and `fit` are for records
    that hold picture files (`convert_imageset --encoded`), which need Pillow: `pip install 'paddle-layers[images]'`.
    The others are as they were stored, by Caffe's tools as blue, green, red. The `lmdb` library is not needed, and
    damaged files are refused, where it would end the process.
    """

    file = String("the database, a folder with `data.mdb` or such a file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The records, found by their keys; none of them is read but the first."""
        return Datums("lmdb", LmdbFile(base / self.file), self).dataset()
