"""Vocabularies of text: tokenizer files of the library `tokenizers`, and dictionaries with one word per line."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle_layers.define.errors import brief

from ..columns import Array, SequenceColumn
from ..problems import DataError, as_data_error, optional_module
from .files import PositionedFile
from .text_lines import read_lines

LARGEST = 2**27
"""Bytes of a tokenizer file; those of large language models have some 2**25."""
LONGEST = 2**26
"""Maximum size in bytes of a string in the steps of a tokenizer."""
STEP = 4
"""Maximum growth of a string in a step, unless `_growth` knows a lower one: bytes that become characters."""
NFKC = 18
"""Maximum number of characters into which Unicode normalization decomposes one."""
TOGETHER = 2**20
"""Bytes of the lines that are split at once, on all cores."""

LARGEST_DICTIONARY = 2**28
"""Characters of a dictionary; 2**27 are enough for ten million words."""


class Pieces(tuple[str, ...]):
    """The vocabulary of a tokenizer in the order of the ids; `decode` converts ids to text."""

    decode: Callable[[Sequence[int]], str]


class Tokenizer:
    """A `tokenizer.json` as `tokenizers` and `transformers` write it.

    The file is untrusted: its size, its ids and the growth of a string in its steps are checked. Its settings of
    truncation, padding and dropout are ignored: sequences keep their length, and tokenization is deterministic. Raises
    `DataError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._none = f"{path} is not a tokenizer file as written by `Tokenizer.save` of the library tokenizers"
        library = optional_module("tokenizers", "tokenizers", "tokenizers", "the source `text`")
        facts = _read(path)
        try:
            self._growth = _growth(facts.get("normalizer")) * _growth(facts.get("pre_tokenizer"))
            self._decoded_growth = _growth(facts.get("decoder"))
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{self._none}: {error}") from None
        with as_data_error(self._none):
            self._tokenizer = library.Tokenizer.from_str(json.dumps(facts))
        self.pieces = self._pieces()

    def _pieces(self) -> Pieces:
        with as_data_error(self._none):
            ids: Mapping[str, int] = self._tokenizer.get_vocab()
        if not ids:
            raise DataError(f"{self._none}: empty vocabulary")
        count = max(ids.values()) + 1
        if count > 2 * len(ids) + 1000:
            raise DataError(f"{self._none}: {len(ids)} tokens, but ids up to {count - 1}")
        pieces = [""] * count
        for piece, number in ids.items():
            pieces[number] = piece
        found = Pieces(pieces)
        found.decode = self.decode
        return found

    def fault(self, text: str) -> str | None:
        """The error for a string that is too long to be tokenized."""
        longest = LONGEST // self._growth
        if len(text) <= longest:
            return None
        return f"the line has {len(text)} characters, the limit of {self.path} is {longest}"

    def column(self, texts: Sequence[str], place: Callable[[int], str]) -> SequenceColumn:
        """The ids of each text. `place(number)` names one of them for messages. Raises `DataError`."""
        ids, starts = [np.zeros(0, np.int64)], np.zeros(len(texts) + 1, np.int64)
        for first, part in _parts(texts):
            try:
                with as_data_error(f"{self.path} cannot tokenize lines from {place(first)} on"):
                    found = [one.ids for one in self._tokenizer.encode_batch_fast(part)]
            except DataError:
                self._split_each(first, part, place)
                raise
            ids += [np.array(one, np.int64) for one in found]
            starts[first + 1 : first + 1 + len(part)] = [len(one) for one in found]
        return SequenceColumn(np.concatenate(ids), np.cumsum(starts))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; those that mark something, such as an end, and those without a piece are left out."""
        known = [number for number in ids if 0 <= number < len(self.pieces)]
        if sum(len(self.pieces[number]) for number in known) * self._decoded_growth > LONGEST:
            raise DataError(f"{self.path} decodes {len(known)} ids to more than {LONGEST} bytes")
        with as_data_error(self._none):
            return str(self._tokenizer.decode(known))

    def _split_each(self, first: int, part: Sequence[str], place: Callable[[int], str]) -> None:
        """Find the text that cannot be split. Raises `DataError` with its place."""
        for number, text in enumerate(part, start=first):
            with as_data_error(f"{place(number)}: {self.path} cannot tokenize this line"):
                self._tokenizer.encode(text)


def _read(path: Path) -> dict[str, Any]:
    """The file without what makes the same text other ids. Written anew, so that the library reads what was checked."""
    file = PositionedFile(path, "")
    if file.size > LARGEST:
        raise DataError(f"{path} has more than {LARGEST} bytes, the limit of a tokenizer file")
    content = file.read(0, file.size)
    with as_data_error(f"{path} is not a tokenizer file"):
        facts = json.loads(content)
    if not isinstance(facts, dict) or not isinstance(facts.get("model"), dict):
        raise DataError(f"{path} is not a tokenizer file: it has no `model`")
    facts |= {"truncation": None, "padding": None}
    if "dropout" in facts["model"]:
        facts["model"]["dropout"] = None
    return facts


def _growth(step: Any) -> int:
    """The maximum growth of a string, in bytes, in a step and its nested steps."""
    if not isinstance(step, dict):
        return 1
    kind = step.get("type")
    own = STEP
    if kind == "Sequence":
        own = 1
    elif kind == "Replace":
        own = 1 + len(str(step.get("content")).encode("utf-8", "replace"))
    elif kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "BertNormalizer"):
        own = NFKC
    elif kind == "Precompiled" or "precompiled_charsmap" in step:  # old files have it without `type`
        own = _longest_replacement(step.get("precompiled_charsmap"))
    elif kind == "Prepend":
        own = 1 + len(str(step.get("prepend")).encode("utf-8", "replace"))
    for inner in step.values():
        for one in inner if isinstance(inner, list) else [inner]:
            own *= _growth(one)
            if own > LONGEST:
                raise ValueError("its steps could expand the input without limit")
    return own


def _longest_replacement(charsmap: Any) -> int:
    """Bytes of the longest text that SentencePiece's table puts in the place of a character."""
    if not isinstance(charsmap, str):
        raise TypeError(f"`precompiled_charsmap` is {brief(charsmap)}, expected a base64 string")
    table = base64.b64decode(charsmap)
    size = int.from_bytes(table[:4], "little")
    # The library allocates what the table announces and aborts the process where that fails.
    if len(table) < 4 or size > len(table) - 4:
        raise ValueError(f"`precompiled_charsmap` declares {size} bytes, but has {max(len(table) - 4, 0)}")
    if size % 4:
        raise ValueError(f"`precompiled_charsmap` declares a trie of {size} bytes, which are not whole units of 4")
    texts = table[4 + size :]
    _check_trie(np.frombuffer(table, "<u4", size // 4, 4), np.frombuffer(texts, np.uint8))
    return 1 + max(map(len, texts.split(b"\0")))


def _check_trie(units: Array, texts: Array) -> None:
    """The invariants of a double-array trie (darts-clone) on which the library indexes without a check.

    It would panic in the middle of a line instead, and print that from each of its threads. Raises `ValueError`.
    """
    offsets = units >> 10 << ((units & 2**9) >> 6)
    children = np.arange(len(units)) ^ offsets
    inner = units < 2**31  # the others are values
    leaves = children[inner & (units & 2**8 > 0)]
    # The library reads the child of each byte, and compares its label afterwards.
    if not len(units) or (children[inner] | 255).max() >= len(units):
        raise ValueError(f"`precompiled_charsmap` refers to units beyond the {len(units)} of its trie")
    starts = units[leaves] & (2**31 - 1)
    if starts.max(initial=0) >= len(texts) or (texts[starts] & 0xC0 == 0x80).any():
        raise ValueError("`precompiled_charsmap` refers to replacements that do not start within its strings")


def _parts(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Groups of strings that are tokenized together, each with the number of the first one."""
    first = held = 0
    for number, text in enumerate(texts):
        held += len(text) + 64
        if held > TOGETHER or number == len(texts) - 1:
            yield first, texts[first : number + 1]
            first, held = number + 1, 0


def read_dictionary(path: Path) -> dict[str, int]:
    """Words, one on each line, with their ids: the number of the line, from 0. `DataError` for one that is twice."""
    ids: dict[str, int] = {}
    size = 0
    for line, text in read_lines(path):
        word = text.strip()
        size += len(text) + 1
        if size > LARGEST_DICTIONARY:
            raise DataError(f"{path} has more than {LARGEST_DICTIONARY} characters, the limit of a dictionary")
        if not word or len(word.split(maxsplit=1)) > 1:
            raise DataError(f"{path}:{line}: expected one word per line in a dictionary, got {word[:80]!r}")
        if word in ids:
            raise DataError(f"{path}:{line}: duplicate word `{word[:80]}`, first in line {ids[word] + 1}")
        ids[word] = len(ids)
    return ids


def read_words(path: Path) -> Sequence[str]:
    """The vocabulary of ids, from a dictionary with one word per line, or from a tokenizer file in JSON."""
    return Tokenizer(path).pieces if path.suffix.lower() == ".json" else list(read_dictionary(path))
