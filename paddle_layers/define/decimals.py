"""Numbers in text files: decimal notation in ASCII, as CSV files and configs have it.

`float` and `int` also take the notation of Python programs, `2020_01`, and digits of other scripts; in data these are
names, dates or damage, and the numbers that Python makes of them are wrong.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


def number_of(text: str) -> float | None:
    """The number that a text is, with spaces around it or not; NaN and infinity too; None for any other text."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def is_plain(text: str) -> bool:
    """Whether `float` takes nothing in a text that `number_of` refuses."""
    return "_" not in text and text.isascii()


def is_integer(text: str) -> bool:
    """Whether a text is an integer of at most 18 digits, which 64 bits hold."""
    return _INTEGER.fullmatch(text) is not None
