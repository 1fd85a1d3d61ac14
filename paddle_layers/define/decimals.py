"""Number parsing for text files: decimal ASCII notation, as in CSV files and configs.

`float` and `int` also accept Python notation such as `2020_01` and digits of other scripts; in data these are names,
dates or damage, and the resulting numbers would be wrong.
"""

from __future__ import annotations

import re

MANTISSA = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
"""Pattern of a decimal number without its exponent. `[0-9]+\\.?[0-9]*` would take quadratic time for a long run of
digits followed by another character."""
_NUMBER = re.compile(rf"{MANTISSA}(?:e[-+]?[0-9]++)?|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
# `\d` with ASCII only; 18 digits always fit, and Python refuses to convert strings of thousands of digits.
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


def number_of(text: str) -> float | None:
    """The number that a string represents, spaces around it allowed, NaN and infinity too; None for other strings."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def is_plain(text: str) -> bool:
    """Whether the string is free of notation that `float` accepts and `number_of` rejects."""
    return "_" not in text and text.isascii()


def is_integer(text: str) -> bool:
    """Whether a string is an integer of at most 18 digits, which fits into 64 bits."""
    return _INTEGER.fullmatch(text) is not None
