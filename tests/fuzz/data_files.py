"""Data files, opened by the sources of training files and read to the last row."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

from paddle_layers.data import DataError, Dataset, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.define import Type, registries
from paddle_layers.runtime.memory.weights import MismatchError

from .target import Target, demand

TYPES = (
    Type.dense(3),
    Type.dense(3, 6, 8),
    Type.dense(4, level=1),
    Type.ids(40),
    Type.ids(40, 1),
    Type.sparse(40),
    Type.sparse(40, values=True),
)


class DataTarget(Target):
    """A source of data over one file."""

    source = ""

    def opened(self, content: bytes, **attributes: Any) -> None:
        """Write the file, open it and read all rows, as feeds too. What is refused is told in one line."""
        (self.folder / "f").write_bytes(content)
        self.read(**attributes)

    def read(self, **attributes: Any) -> None:
        """Open the source over what is in the folder, and read all rows, as feeds too."""
        try:
            definition = registries["source"][self.source]
            dataset = definition.create(definition.bind(attributes)).open(self.folder)
            first = learn(dataset, np.arange(1 + len(dataset) // 2))
            self._read(encoded(dataset, first, str(self.folder)))
        except DataError as error:
            check_message(error, str(self.folder))

    def _read(self, dataset: Dataset) -> None:
        rows = np.arange(len(dataset))
        dataset.rows(rows[:1000])
        for name in dataset.fields:
            for type_ in TYPES:
                try:
                    (feed,) = make_feeds(dataset, {name: type_})
                except DataError as error:
                    check_message(error, str(self.folder))
                else:
                    feed.take(rows[-100:], None)


def check_message(error: Exception, name: str) -> None:
    """One line that names the file; not that memory has run out, which is to be seen before.

    Weights that don't fit have a line each, for the first of them.
    """
    text = str(error)
    lines = text.split("\n")
    demand(name in lines[0], f"names no file: {text!r}")
    demand(len(lines) <= (23 if isinstance(error, MismatchError) else 1), f"{len(lines)} lines: {text!r}")
    demand(all(len(line) < 3000 for line in lines), f"{len(text)} characters: {text[:200]!r}")
    cause: BaseException | None = error
    while cause is not None:
        demand(not _ran_out(cause), f"memory ran out: {text!r}")
        cause = cause.__cause__ or cause.__context__


def _ran_out(error: BaseException) -> bool:
    """Whether memory ran out. Python's parser says the same of brackets that are too deep for it."""
    if not isinstance(error, MemoryError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return not (frames and frames[-1].filename.endswith("ast.py"))
