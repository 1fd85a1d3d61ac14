"""Lazy text: lines of files that are too large for memory are read on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns import Rows, WordColumn
from ..dataset import Dataset
from ..lazy_columns import Records, read_together
from ..problems import DataError
from .files import PositionedFile
from .indexed_lines import IndexedLines
from .text_files import Lines
from .text_lines import words_lines


def large_text(file: PositionedFile, parse: Callable[..., Lines], words: Mapping[str, Sequence[str]]) -> Dataset:
    """The fields `words` and, where lines have such, `label`; `parse(lines=...)` makes them of numbered lines."""
    index = IndexedLines(file, words_lines(file))
    if not len(index):
        raise DataError(f"{file.path} has no words")

    def some(rows: Sequence[int]) -> Lines:
        return parse(lines=[(int(index.numbers[row]), index.text(row)) for row in rows])

    def read(rows: Rows) -> Mapping[str, Any]:
        found = read_together(rows, some)
        texts = found.words.cells if isinstance(found.words, WordColumn) else found.words
        return {"words": texts, "label": np.frombuffer(found.labels, np.int64)}

    records, none = Records(read), some([])
    fields: dict[str, Any] = {}
    if isinstance(none.words, WordColumn):
        fields["words"] = WordColumn(records.column("words", len(index), (), object), text=True)
    else:
        fields["words"] = records.column("words", len(index), (), np.int64, level=1)
    if none.labelled:
        fields["label"] = records.column("label", len(index), (), np.int64)
    return Dataset(fields, origin=str(file.path), place=index.place, words=words)
