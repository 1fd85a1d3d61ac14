"""Text files: a sequence of words or tokens per line, with an optional label before it, for all lines or on demand."""

from __future__ import annotations

import difflib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..columns import Rows, SequenceColumn, Vocabulary, WordColumn
from ..dataset import Dataset
from ..lazy_columns import RecordReader, StoredColumn, read_together
from ..problems import DataError
from .files import PositionedFile
from .text_lines import IndexedLines, numbered_lines, words_lines

if TYPE_CHECKING:
    from .tokenizers import Tokenizer

_UNKNOWN = "; add it to the dictionary, or set the out-of-vocabulary word with `unknown: ...`"


class Coding(NamedTuple):
    """Encoding of lines as ids.

    Without `ids` the words stay words: their ids come from the training data. `unknown` is the id of out-of-vocabulary
    words; without it they raise `DataError`, with the place of the line. With a `tokenizer` the ids are those of the
    tokens of a line.
    """

    ids: Mapping[str, int] | None = None
    unknown: int | None = None
    tokenizer: Tokenizer | None = None
    vocabulary: Vocabulary = Vocabulary()

    @property
    def names(self) -> Sequence[str]:
        """The names of the ids, as far as they are known."""
        return self.tokenizer.pieces if self.tokenizer is not None else tuple(self.ids or ())

    def column(self, lines: Sequence[str], place: Callable[[int], str]) -> SequenceColumn | WordColumn:
        """Lines as sequences. Raises `DataError`, which begins with the place of a line."""
        if self.tokenizer is not None:
            for row, line in enumerate(lines):
                if fault := self.tokenizer.fault(line):
                    raise DataError(f"{place(row)}: {fault}")
            return self.tokenizer.column(lines, place)
        if self.ids is None:
            return WordColumn(lines, text=self.vocabulary)
        numbers, starts = array("q"), array("q", [0])
        for row, line in enumerate(lines):
            for word in self.vocabulary.split(line):
                number = self.ids.get(word, self.unknown)
                if number is None:
                    raise _unknown_name(place(row), "word", word, self.ids, _UNKNOWN)
                numbers.append(number)
            starts.append(len(numbers))
        return SequenceColumn(np.frombuffer(numbers, np.int64), np.frombuffer(starts, np.int64))

    def encode(self, dataset: Dataset, field: str) -> None:
        """Read the strings of a field as lines. Raises `DataError`."""
        column = dataset.raw[field]
        assert isinstance(column, WordColumn), "strings"
        cells = column.cells
        if self.tokenizer is None and self.ids is None:
            dataset.raw[field] = WordColumn(cells, text=self.vocabulary)
            return
        found: Any
        if isinstance(cells, StoredColumn):
            found = cells.then(partial(self.column, place=lambda _: dataset.origin), (), np.int64, level=1)
        else:
            found = self.column(cells, dataset.place)
        del dataset.raw[field]
        dataset.fields[field], dataset.words[field] = found, tuple(self.names)


def _unknown_name(place: str, what: str, name: str, known: Mapping[str, int], remedy: str) -> DataError:
    near = difflib.get_close_matches(name, known, 1)
    return DataError(f"{place}: unknown {what} `{name}`" + (f"; did you mean `{near[0]}`?" if near else remedy))


class WordSequences:
    """Words of a file as ids; `lines[row]` is the line in the file. Empty lines are skipped.

    `lines` are some of its lines with their numbers, instead of all. With `classes` the first word, up to a tab, is the
    label; unless it is `labelled`, it is skipped and may be missing.
    """

    def __init__(
        self,
        file: PositionedFile,
        coding: Coding,
        classes: Sequence[str],
        *,
        labelled: bool = True,
        lines: Iterable[tuple[int, str]] | None = None,
    ) -> None:
        path = self.path = file.path
        self.lines, self.labels = array("q"), array("q")
        self.labelled = bool(classes) and labelled
        numbers = {word: number for number, word in enumerate(classes)}
        texts: list[str] = []
        for line, text in numbered_lines(file) if lines is None else lines:
            if lines is None and not text.strip():
                continue
            label, tab, rest = text.partition("\t")
            if classes and labelled:
                if not tab:
                    raise DataError(f"{path}:{line}: missing label; write it before the words, followed by a tab")
                number = numbers.get(label.strip())
                if number is None:
                    remedy = f"; expected one of {', '.join(classes)}"
                    raise _unknown_name(f"{path}:{line}", "class", label.strip(), numbers, remedy)
                self.labels.append(number)
            texts.append(rest if classes and tab else text)
            self.lines.append(line)
        self.words = coding.column(texts, self.place)

    def place(self, row: int) -> str:
        """The origin of a row."""
        return f"{self.path}:{self.lines[row]}"


def large_text(
    file: PositionedFile, parse: Callable[..., WordSequences], words: Mapping[str, Sequence[str]]
) -> Dataset:
    """The fields `words` and, where lines have such, `label`; `parse(lines=...)` makes them of numbered lines."""
    index = IndexedLines(file, words_lines(file))
    if not len(index):
        raise DataError(f"{file.path} has no words")

    def some(rows: Sequence[int]) -> WordSequences:
        return parse(lines=[(int(index.numbers[row]), index.text(row)) for row in rows])

    def read(rows: Rows) -> Mapping[str, Any]:
        found = read_together(rows, some)
        texts = found.words.cells if isinstance(found.words, WordColumn) else found.words
        return {"words": texts, "label": np.frombuffer(found.labels, np.int64)}

    records, none = RecordReader(read), some([])
    fields: dict[str, Any] = {}
    if isinstance(none.words, WordColumn):
        fields["words"] = WordColumn(records.column("words", len(index), (), object), text=none.words.text)
    else:
        fields["words"] = records.column("words", len(index), (), np.int64, level=1)
    if none.labelled:
        fields["label"] = records.column("label", len(index), (), np.int64)
    return Dataset(fields, origin=str(file.path), place=index.place, words=words)
