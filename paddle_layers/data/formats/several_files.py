"""Rows of several files of one kind, concatenated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from pathlib import Path

import numpy as np

from paddle_layers.define import Strings

from ..columns import Rows
from ..dataset import Dataset
from ..problems import DataError, missing_file
from .files import check_regular
from .listed_files import LIST, inside, names_of
from .text_lines import read_lines

RATIO = 1100
"""So many times as large as the file may be what it claims to hold; zlib packs no more."""


class SeveralFiles(ABC):
    """A source of such files; `opened` reads them."""

    indexed = True

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


class FileRows:
    """The first row of each file."""

    def __init__(self, paths: Sequence[Path], counts: Sequence[int]) -> None:
        self.paths = paths
        self.starts: Rows = np.cumsum([0, *counts])

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def origin(self) -> str:
        """The files in a message."""
        return names_of(self.paths)

    def place(self, row: int) -> str:
        """File and row."""
        file = int(np.searchsorted(self.starts, row, "right")) - 1
        return f"{self.paths[file]}, row {row - int(self.starts[file])}"


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
