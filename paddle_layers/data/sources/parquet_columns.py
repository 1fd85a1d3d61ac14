"""Columns of Parquet files, read when a batch wants their rows."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from paddle_layers.define import Strings, source

from ..dataset import Dataset
from ..listed_files import several_files
from ..parquet_files import ParquetFiles


@source("parquet")
class Parquet:
    """Columns of Parquet files: every one is a field of its name.

    Columns hold numbers, lists of numbers of one length, or words, which get their ids from the training data in the
    order of the alphabet and are kept beside the weights. Rows are read when they are wanted, a row group as a whole:
    shuffling mixes the rows of a few groups, which come in random order, so write groups of some thousand rows. Rows
    of several files come one behind the other. Needs pyarrow: `pip install 'paddle-layers[arrow]'`.
    """

    indexed = True

    file = Strings(
        "paths of the files, relative to the training file; or of one list that ends in .txt: a path on each line, "
        "relative to the list and below its folder",
        min_items=1,
    )

    def open(self, base: Path) -> Dataset:
        """The columns of the files."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""
        return ParquetFiles(several_files(base, self.file), wanted).dataset()
