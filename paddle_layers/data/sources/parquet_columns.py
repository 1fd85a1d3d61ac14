"""Parquet columns, read lazily."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from paddle_layers.define import source

from ..dataset import Dataset
from ..formats.parquet import ParquetFiles
from ..formats.several_files import SeveralFiles


@source("parquet", terms=("Parquet",))
class Parquet(SeveralFiles):
    """Parquet files: every column is a field of its name.

    Columns contain numbers, lists of numbers of one length, or words, which are encoded as ids in alphabetical order of
    the training data; the vocabulary is stored with the weights. Lists of varying length, of numbers or of lists of one
    length such as boxes, are sequences. Samples are read lazily, a row group as a whole: shuffling mixes the samples of
    a few groups, which are in random order, so write groups of some thousand rows. Several files are concatenated.
    Requires pyarrow: `pip install 'paddle-layers[arrow]'`.
    """

    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""
        return ParquetFiles(paths, wanted).dataset()
