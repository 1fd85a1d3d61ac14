"""HDF5 and Parquet files, read lazily; the rows of several files are concatenated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from pathlib import Path

from paddle_layers.define import Strings, source

from ..dataset import Dataset
from ..formats.files import check_regular, inside
from ..formats.text_lines import read_lines
from ..problems import DataError, missing_file

LIST = ".txt"
"""End of the name of a list of files, where other files are meant as well."""


class SeveralFiles(ABC):
    """Base of sources that concatenate the rows of several files; `opened` reads them."""

    file = Strings(
        "paths of the files, relative to the training file; or of one list that ends in .txt: a path on each line, "
        "relative to the list and below its folder",
        min_items=1,
    )

    def open(self, base: Path) -> Dataset:
        """The fields of the files."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""
        return self.opened(several_files(base, self.file), wanted)

    @abstractmethod
    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""


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
        from ..formats.hdf5 import Hdf5Files

        return Hdf5Files(paths, wanted).dataset()


@source("parquet", terms=("Parquet",))
class Parquet(SeveralFiles):
    """Parquet files: every column is a field of its name.

    Columns contain numbers, lists of numbers of one length, or words, which are encoded as ids in alphabetical order of
    the training data; the vocabulary is stored with the weights. For data layers of sequences, strings are text, as in
    the source `text`, and lists of numbers, or of lists of one length such as boxes, are sequences. Samples are read
    lazily, a row group as a whole: shuffling mixes the samples of a few groups, which are in random order, so write
    groups of some thousand rows. Several files are concatenated. Requires pyarrow: `pip install
    'paddle-layers[arrow]'`.
    """

    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""
        from ..formats.parquet import ParquetFiles

        return ParquetFiles(paths, wanted).dataset()


def several_files(base: Path, names: Sequence[str]) -> list[Path]:
    """The files that a source names, or that the one list does which it names. Raises `DataError`."""
    paths = [base / name for name in names]
    if len(paths) == 1 and paths[0].suffix == LIST:
        lines = [(line, text.strip()) for line, text in read_lines(paths[0]) if text.strip()]
        if not lines:
            raise DataError(f"{paths[0]} lists no files")
        remedy = "to allow it, name the file in `file` of the source instead of the list"
        paths = [Path(inside(paths[0].parent, name, f"{paths[0]}:{line}", remedy)) for line, name in lines]
    for path in paths:
        check_regular(path)
        if not path.is_file():
            raise missing_file(path, "paths are relative to the training file, in a list to the list")
    return paths
