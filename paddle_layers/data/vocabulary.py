"""Word-level tokenization of text, and selection of the words that get an id."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

PUNCTUATION = {
    "keep": "part of the words",
    "remove": "removed: `don't.` becomes `dont`",
    "separate": "each is a word: `don't.` becomes `don`, `'`, `t`, `.`",
}
"""Handling of punctuation marks and symbols, with descriptions."""


@dataclass(frozen=True)
class Vocabulary:
    """Settings of text columns: how text is split into words, and which of them have an id.

    Args:
        lowercase: Whether text is converted to lower case.
        punctuation: "keep", "remove", or "separate" for words of one character.
        min_count: Minimum frequency of a word.
        max_words: Maximum number of words; 0 for any.
    """

    lowercase: bool = False
    punctuation: str = "keep"
    min_count: int = 1
    max_words: int = 0

    def split(self, text: str) -> list[str]:
        """The words of a string."""
        if self.lowercase:
            text = text.lower()
        if self.punctuation != "keep":
            marks = filter(_is_punctuation, set(text))
            text = text.translate({ord(mark): "" if self.punctuation == "remove" else f" {mark} " for mark in marks})
        return text.split()

    def select(self, counts: Counter[str]) -> list[str]:
        """The words with an id in the order of their ids: by frequency, then alphabetically."""
        words = sorted(counts, key=lambda word: (-counts[word], word))
        frequent = [word for word in words if counts[word] >= self.min_count]
        return frequent[: self.max_words] if self.max_words else frequent


@lru_cache(maxsize=1 << 16)
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
