"""Vocabulary files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .text_files import read_dictionary
from .tokenizers import Tokenizer


def read_words(path: Path) -> Sequence[str]:
    """The vocabulary of ids, from a dictionary with one word per line, or from a tokenizer file in JSON."""
    return Tokenizer(path).pieces if path.suffix.lower() == ".json" else list(read_dictionary(path))
