"""Text files: a sequence of words or tokens per line, with an optional label before it, for all lines or on demand."""

from __future__ import annotations

import difflib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..columns import Rows, SequenceColumn, Vocabulary, WordColumn
from ..dataset import Dataset
from ..lazy_columns import RecordReader, read_together
from ..problems import DataError
from .files import PositionedFile
from .text_lines import IndexedLines, numbered_lines, words_lines

if TYPE_CHECKING:
    from .tokenizers import Tokenizer

_UNKNOWN = "; add it to the dictionary, or set the out-of-vocabulary word with `unknown: ...`"


class Coding(NamedTuple):
    """Encoding of lines as ids.

    Without `ids` the words stay words: their ids come from the training data. `unknown` is the id of out-of-vocabulary
    words; without it they raise `DataError`, with file and line. With a `tokenizer` the ids are those of the tokens of
    a line.
    """

    ids: Mapping[str, int] | None
    unknown: int | None
    tokenizer: Tokenizer | None
    vocabulary: Vocabulary


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
        ids, unknown, tokenizer, vocabulary = coding
        path = self.path = file.path
        self.lines, self.labels = array("q"), array("q")
        self.labelled = bool(classes) and labelled
        numbers = {word: number for number, word in enumerate(classes)}
        words, starts = array("q"), array("q", [0])
        texts: list[str] = []
        for line, text in numbered_lines(file) if lines is None else lines:
            if lines is None and not text.strip():
                continue
            label, tab, rest = text.partition("\t")
            if classes and labelled:
                if not tab:
                    raise DataError(f"{path}:{line}: missing label; write it before the words, followed by a tab")
                self.labels.append(
                    self._number(label.strip(), numbers, None, line, "class", f"; expected one of {', '.join(classes)}")
                )
            sentence = rest if classes and tab else text
            if ids is None:
                if tokenizer is not None and (fault := tokenizer.fault(sentence)):
                    raise DataError(f"{path}:{line}: {fault}")
                texts.append(sentence)
            else:
                for word in vocabulary.split(sentence):
                    words.append(self._number(word, ids, unknown, line, "word", _UNKNOWN))
                starts.append(len(words))
            self.lines.append(line)
        self.words: SequenceColumn | WordColumn = WordColumn(texts, text=vocabulary)
        if tokenizer is not None:
            self.words = tokenizer.column(texts, self.place)
        elif ids is not None:
            self.words = SequenceColumn(np.frombuffer(words, np.int64), np.frombuffer(starts, np.int64))

    def _number(self, word: str, ids: Mapping[str, int], unknown: int | None, line: int, what: str, remedy: str) -> int:
        number = ids.get(word, unknown)
        if number is None:
            near = difflib.get_close_matches(word, ids, 1)
            hint = f"; did you mean `{near[0]}`?" if near else remedy
            raise DataError(f"{self.path}:{line}: unknown {what} `{word}`{hint}")
        return number

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
