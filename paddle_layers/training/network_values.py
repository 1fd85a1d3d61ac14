"""Values of the last pass of a network: rows for output files, and text with words for ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data.formats.tokenizers import Pieces
from paddle_layers.data.sinks.values import Values
from paddle_layers.runtime import Csr, Sequences

from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.runtime import Net

LONGEST = 40
"""Words of a line, or columns of a row; of longer ones the first and the last are shown."""


def rows_and_starts(value: Any) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """The rows of a value, and where its sequences and sub-sequences begin; nothing for single rows.

    Raises `TrainingError` for sparse rows.
    """
    if isinstance(value.data if isinstance(value, Sequences) else value, Csr):
        raise TrainingError("sparse rows cannot be written as columns of a file; choose other values")
    if not isinstance(value, Sequences):
        return value, ()
    starts = (value.starts,) if value.sub_starts is None else (value.starts, value.sub_starts)
    return np.asarray(value.data), starts


def read_values(net: Net, names: Iterable[str]) -> Values:
    """The values of these names, ids as the text of their numbers, too."""
    found = Values({})
    for name in names:
        value = net.value(name)
        found.values[name], starts = rows_and_starts(value)
        if starts:
            found.starts[name] = starts
        if found.values[name].dtype.kind == "i":
            found.texts[name] = list(map(" ".join, words_of_ids(value, ())))
    return found


def value_text(value: Any, rows: int, best: int | None, words: Sequence[str]) -> str:
    """One line for each of the first `rows` rows, or sequences if it has ids in sequences.

    With `best` only the best columns of a row are shown, each with its value, and of sparse rows the nonzero ones;
    `words` replace ids and columns.
    """
    given = value.data if isinstance(value, Sequences) else value
    if isinstance(given, Csr):
        return "\n".join(f"  {_shortened(_entries(given, row, words))}" for row in range(len(given))[:rows])
    data: NDArray[Any] = np.asarray(given)
    if data.dtype.kind == "i":
        parts = words_of_ids(value, words)[:rows]
    elif best is None:
        parts = [[f"{number:.4g}" for number in row.ravel()] for row in data[:rows]]
    else:
        parts = [_best(row.ravel(), best, words) for row in data[:rows]]
    return "\n".join(f"  {_shortened(part)}" for part in parts)


def check_words(words: Sequence[str], classes: int, file: object, name: str) -> None:
    """Raises `TrainingError` for a dictionary of other classes, whose words would replace the wrong ids."""
    if len(words) > classes:
        raise TrainingError(
            f"{file} has {len(words)} words, but `{name}` has {classes} classes: write one word per line, in the order "
            "of the ids"
        )


def check_order(words: Sequence[str], known: Sequence[str], file: object) -> None:
    """Raises `TrainingError` for a dictionary with `known` names at other ids; words of another language are fine."""
    places = {name: number for number, name in enumerate(known) if name}
    for number, word in enumerate(words):
        if places.get(word, number) != number and word != next(iter(known[number : number + 1]), None):
            shown = ", ".join(known[:4]) + (", ..." if len(known) > 4 else "")
            own = f" instead of {known[number]!r}" if number < len(known) else ""
            raise TrainingError(
                f"{file} has {word!r} for class {number}{own}; remove the dictionary, or write the words in the "
                f"order of the training: {shown}"
            )


def words_of_ids(value: Any, words: Sequence[str]) -> list[list[str]]:
    """The words of every row, or of every sequence where the ids are in sequences; of ids with axes one by one."""
    data: NDArray[Any] = np.asarray(value.data if isinstance(value, Sequences) else value)
    if not isinstance(value, Sequences):
        return [[word_of(number, words) for number in row.ravel().tolist()] for row in data]
    starts = (value.starts if value.sub_starts is None else value.sub_starts).tolist()
    return [text_of(data[first:last].ravel().tolist(), words).split(" ") for first, last in pairwise(starts)]


def text_of(ids: Sequence[int], words: Sequence[str]) -> str:
    """The words of ids separated by spaces, or the text that a tokenizer decodes."""
    return words.decode(ids) if isinstance(words, Pieces) else " ".join(word_of(number, words) for number in ids)


def word_of(number: int, words: Sequence[str]) -> str:
    """The word of an id, or the id if it has none."""
    return words[number] if 0 <= number < len(words) else str(number)


def _entries(rows: Csr, row: int, words: Sequence[str]) -> list[str]:
    places = range(rows.start[row], rows.start[row + 1])
    if rows.value is None:
        return [word_of(int(rows.id[place]), words) for place in places]
    return [f"{word_of(int(rows.id[place]), words)}:{rows.value[place]:.4g}" for place in places]


def _best(row: NDArray[Any], count: int, words: Sequence[str]) -> list[str]:
    order = np.argsort(-row, kind="stable")[:count]
    return [f"{word_of(column, words)}:{row[column]:.4g}" for column in order.tolist()]


def _shortened(parts: Sequence[str]) -> str:
    """The parts in a line, those in the middle of many left out."""
    if len(parts) <= LONGEST:
        return " ".join(parts)
    return " ".join([*parts[: LONGEST // 2], f"... ({len(parts)} in total) ...", *parts[-LONGEST // 2 :]])
