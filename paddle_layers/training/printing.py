"""Values of a network as a few lines of text: the first rows, long ones with their middle left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime import Sequences

LONGEST = 40
"""Words of a line, or columns of a row; of longer ones the first and the last are shown."""


def value_text(value: Any, rows: int, best: int | None, words: Sequence[str]) -> str:
    """A line for each of the first `rows` rows, or sequences where it is ids in sequences.

    With `best` only the best columns of a row are shown, each with its value; `words` stand for ids and columns.
    """
    data: NDArray[Any] = np.asarray(value.data if isinstance(value, Sequences) else value)
    starts = _innermost(value) if isinstance(value, Sequences) else None
    if data.dtype.kind == "i":
        spans = [slice(0, rows)] if starts is None else map(slice, starts[:rows], starts[1:])
        lines = [_shortened([word_of(number, words) for number in data[span].tolist()]) for span in spans]
    else:
        flat = map(np.ravel, data[:rows])
        lines = [_row(row) if best is None else " ".join(_best(row, best, words)) for row in flat]
    return "\n".join(f"  {line}" for line in lines)


def word_of(number: int, words: Sequence[str]) -> str:
    """The word of an id, or the id where there is none."""
    return words[number] if 0 <= number < len(words) else str(number)


def _innermost(value: Sequences) -> NDArray[np.int64]:
    return value.starts if value.sub_starts is None else value.sub_starts


def _row(row: NDArray[Any]) -> str:
    return _shortened(f"{number:.4g}" for number in row)


def _best(row: NDArray[Any], count: int, words: Sequence[str]) -> list[str]:
    order = np.argsort(-row, kind="stable")[:count]
    return [f"{word_of(column, words)}:{row[column]:.4g}" for column in order.tolist()]


def _shortened(parts: Iterable[str]) -> str:
    """The parts in a line, those in the middle of many left out."""
    shown = list(parts)
    if len(shown) > LONGEST:
        shown[LONGEST // 2 : -LONGEST // 2] = [f"... ({len(shown)} in all) ..."]
    return " ".join(shown)
