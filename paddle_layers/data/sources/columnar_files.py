"""HDF5 datasets, read lazily."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from paddle_layers.define import source

from ..dataset import Dataset
from ..formats.hdf5 import Hdf5Files
from ..formats.several_files import SeveralFiles


@source("hdf5", elsewhere={"Caffe": "HDF5Data", "Mocha": "HDF5DataLayer, AsyncHDF5DataLayer"}, terms=("HDF5",))
class Hdf5(SeveralFiles):
    """HDF5 files: every dataset of the top level is a field, named as in the file; its first axis counts samples.

    Fields of varying length, such as the boxes of an image, are sequences: `box` has those of all images concatenated,
    and `box.starts` the start of each image's boxes, and the end, as in an npz file.

    Samples are read lazily, so files may be larger than memory; several files are concatenated. In chunked datasets a
    chunk is read as a whole: shuffling mixes the samples of a few chunks, which are in random order. Links to other
    files are not followed. Requires h5py: `pip install 'paddle-layers[hdf5]'`.
    """

    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""
        return Hdf5Files(paths, wanted).dataset()
