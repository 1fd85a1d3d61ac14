"""Files of what ids stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .lines import read_dictionary
from .tokenizers import Tokenizer


def read_words(path: Path) -> Sequence[str]:
    """What ids stand for, by a dictionary of one word a line, or by a tokenizer where the file is one of JSON."""
    return Tokenizer(path).pieces if path.suffix.lower() == ".json" else list(read_dictionary(path))
