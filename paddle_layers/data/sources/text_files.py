"""Text sources."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from pathlib import Path

import numpy as np

from paddle_layers.define import Bool, Choice, Int, String, Strings, source

from ..columns import PUNCTUATION, Vocabulary
from ..dataset import Dataset
from ..formats.converted_files import ENCODINGS, Utf8File
from ..formats.text_files import Coding, WordSequences, large_text
from ..formats.text_lines import is_large
from ..formats.tokenizers import Tokenizer, read_dictionary
from ..problems import DataError

_EXCLUSIVE = {
    "tokenizer": ("dictionary", "unknown", "lowercase", "punctuation", "min_count", "max_words"),
    "dictionary": ("min_count", "max_words"),
}
"""A tokenizer splits lines by its own rules; it and a dictionary have their words."""


@source(
    "text",
    terms=("text file", "tokenizer", "vocabulary", "corpus"),
)
class TextFile:
    """Text file: every line is a sequence of ids of words or tokens.

    Fields: `words`, sequences of ids, and with `classes` also `label`, the id of the word before the line's first tab.
    Words are separated by spaces; empty lines are skipped. Without a `dictionary` the words get their ids from the
    training data, the most frequent one first, and the vocabulary is stored beside the weights; the id after the last
    is for out-of-vocabulary words, if the `size` of the data layer includes it. A `tokenizer` splits lines into
    subwords instead: byte-pair encoding, WordPiece, or another model of the library tokenizers
    (`pip install 'paddle-layers[tokenizers]'`); truncation, padding and dropout in its file are ignored. Lines of files
    over 256 MiB are read lazily, and their errors are reported then.
    """

    file = String("path of the text file, relative to the training file; it may be compressed by gzip")
    dictionary = String("path of the vocabulary: one word per line, whose line number, from 0, is the id", default="")
    unknown = String("word of the dictionary for out-of-vocabulary words; absent: these are errors", default="")
    tokenizer = String("path of a `tokenizer.json`, instead of a dictionary", default="")
    classes = Strings("class names of the label in the order of their ids; absent: lines have no label", default=())
    lowercase = Bool("convert to lower case", default=False)
    punctuation = Choice("punctuation marks and symbols", options=PUNCTUATION, default="keep")
    min_count = Int("minimum frequency of words in the training data; others are unknown", default=1, min=1)
    max_words = Int("maximum size of the vocabulary: its most frequent words; 0: unlimited", default=0, min=0)
    encoding = Choice("encoding of the text file", options=ENCODINGS, default="utf_8")

    @property
    def vocabulary(self) -> Vocabulary:
        """How lines become words, and which of these have an id."""
        return Vocabulary(self.lowercase, self.punctuation, self.min_count, self.max_words)

    def names(self, base: Path) -> dict[str, tuple[str, ...]]:
        """The names of classes that are listed, and the words of the dictionary where it is there."""
        found = {"label": self.classes} if self.classes else {}
        path = base / self.dictionary
        return found | ({"words": tuple(read_dictionary(path))} if self.dictionary and path.is_file() else {})

    def open(self, base: Path) -> Dataset:
        """The lines of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`: where `label` is not, lines may be without."""
        path, coding = base / self.file, self.coding(base)
        labelled = bool(self.classes) and (wanted is None or "label" in wanted)
        words = {"label": self.classes} | ({"words": coding.names} if coding.names else {})
        file = Utf8File(path, "", self.encoding)
        parse = partial(WordSequences, file, coding, self.classes, labelled=labelled)
        if is_large(file):
            return large_text(file, parse, words)
        lines = parse()
        if not len(lines.lines):
            raise DataError(f"{path} has no words")
        labels = {"label": np.frombuffer(lines.labels, np.int64)} if labelled else {}
        return Dataset({"words": lines.words, **labels}, origin=str(lines.path), place=lines.place, words=words)

    def coding(self, base: Path) -> Coding:
        """How lines become ids. Raises `DataError` for settings that exclude each other."""
        self._check(base / self.file)
        ids = read_dictionary(base / self.dictionary) if self.dictionary else None
        if self.unknown and ids is not None and self.unknown not in ids:
            raise DataError(f"{base / self.dictionary}: missing word `{self.unknown}`, the value of `unknown`")
        tokenizer = Tokenizer(base / self.tokenizer) if self.tokenizer else None
        return Coding(ids, (ids or {}).get(self.unknown), tokenizer, self.vocabulary)

    def _check(self, path: Path) -> None:
        """Raises `DataError` for settings that exclude each other."""
        given = {name for name in ("tokenizer", "dictionary", "unknown", "lowercase") if getattr(self, name)}
        given |= {"punctuation"} if self.punctuation != "keep" else set()
        given |= {"min_count"} if self.min_count > 1 else set()
        given |= {"max_words"} if self.max_words else set()
        for first, others in _EXCLUSIVE.items():
            for other in others:
                if {first, other} <= given:
                    raise DataError(f"{path}: `{first}` and `{other}` are mutually exclusive")
        if self.unknown and not self.dictionary:
            raise DataError(f"{path}: `unknown` requires a `dictionary`")

    def word_fields(self) -> set[str]:
        """The fields whose values are ids of words."""
        return {"words", "label"} if self.classes else {"words"}
