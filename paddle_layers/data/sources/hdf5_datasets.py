"""Datasets in HDF5 files, read when a batch wants their rows."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from paddle_layers.define import source

from ..dataset import Dataset
from ..formats.hdf5 import Hdf5Files
from ..formats.several_files import SeveralFiles


@source("hdf5", elsewhere={"Caffe": "HDF5Data", "Mocha": "HDF5DataLayer, AsyncHDF5DataLayer"})
class Hdf5(SeveralFiles):
    """Datasets of HDF5 files: every one of the top level is a field, named as in the file; its first axis counts rows.

    Rows of varying number, such as the boxes of a picture, are sequences: `box` holds those of all pictures end to end,
    and `box.starts` says where each picture's begin, and the end, as in an npz file.

    Rows are read when they are wanted, so files may be larger than memory; those of several files come one behind the
    other. Where datasets are stored in chunks, a chunk is read as a whole: shuffling mixes rows within a few chunks,
    which come in random order. Links to other files are not followed. Needs h5py: `pip install 'paddle-layers[hdf5]'`.
    """

    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""
        return Hdf5Files(paths, wanted).dataset()
