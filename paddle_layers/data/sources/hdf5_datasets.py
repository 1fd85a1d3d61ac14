"""Datasets in HDF5 files, read when a batch wants their rows."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from paddle_layers.define import Strings, source

from ..dataset import Dataset
from ..hdf5_files import Hdf5Files
from ..listed_files import several_files


@source("hdf5", elsewhere={"Caffe": "HDF5Data"})
class Hdf5:
    """Datasets of HDF5 files: every one of the top level is a field, named as in the file; its first axis counts rows.

    Rows are read when they are wanted, so files may be larger than memory; those of several files come one behind the
    other. Where datasets are stored in chunks, a chunk is read as a whole: shuffling mixes rows within a few chunks,
    which come in random order. Links to other files are not followed. Needs h5py: `pip install 'paddle-layers[hdf5]'`.
    """

    indexed = True

    file = Strings(
        "paths of the files, relative to the training file; or of one list that ends in .txt: a path on each line, "
        "relative to the list and below its folder",
        min_items=1,
    )

    def open(self, base: Path) -> Dataset:
        """The datasets of the files."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""
        return Hdf5Files(several_files(base, self.file), wanted).dataset()
