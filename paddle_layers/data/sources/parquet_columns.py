"""Columns of Parquet files, read when a batch wants their rows."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from paddle_layers.define import source

from ..dataset import Dataset
from ..formats.parquet import ParquetFiles
from ..formats.several_files import SeveralFiles


@source("parquet")
class Parquet(SeveralFiles):
    """Columns of Parquet files: every one is a field of its name.

    Columns hold numbers, lists of numbers of one length, or words, which get their ids from the training data in the
    order of the alphabet and are kept beside the weights. Lists of varying length, of numbers or of lists of one length
    such as boxes, are sequences. Rows are read when they are wanted, a row group as a whole:
    shuffling mixes the rows of a few groups, which come in random order, so write groups of some thousand rows. Rows
    of several files come one behind the other. Needs pyarrow: `pip install 'paddle-layers[arrow]'`.
    """

    def opened(self, paths: Sequence[Path], wanted: Container[str] | None) -> Dataset:
        """The wanted fields of the files. Raises `DataError`."""
        return ParquetFiles(paths, wanted).dataset()
