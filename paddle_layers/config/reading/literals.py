"""Literals of the protobuf text format: numbers and strings."""

from __future__ import annotations

import re

from paddle_layers.define.decimals import MANTISSA

_HEX = re.compile(r"[-+]?0[xX][0-9a-fA-F]+")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9]\d*)")
_REAL = re.compile(MANTISSA + r"(?:[eE][-+]?[0-9]++)?[fF]?")
# Python's `int` is quadratic in the number of digits. A double has at most 309 before the point, so nothing useful is
# longer.
LONGEST = 300
"""Maximum length of a number."""

HALF = re.compile("[\ud800-\udfff]")
"""An unpaired surrogate, which no encoding can represent."""

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.S)
_SIMPLE = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def parse_number(raw: str) -> int | float:
    """A number in text format: decimal, hexadecimal, octal or floating-point. Raises ValueError."""
    if len(raw) > LONGEST:
        raise ValueError(f"more than {LONGEST} characters")
    if _DECIMAL.fullmatch(raw):
        return int(raw)
    if _HEX.fullmatch(raw):
        return int(raw, 16)
    if _OCTAL.fullmatch(raw):
        return int(raw, 8)
    # `float` accepts leading zeros, the text format does not: `08` is neither octal nor decimal.
    if re.match(r"[-+]?0\d", raw) or not _REAL.fullmatch(raw):
        raise ValueError(f"`{raw}` is not a number")
    return float(raw.rstrip("fF"))


def unescape(raw: str) -> str:
    """The contents of a quoted string, escapes resolved. Raises ValueError."""
    # The usual case without a loop.
    if "\\" not in raw:
        return raw
    # Bytes, because escapes of text format are bytes: one character of UTF-8 may be written as several of them.
    out = bytearray()
    at = 0
    for match in _ESCAPE.finditer(raw):
        out += raw[at : match.start()].encode()
        out += _escaped(match)
        at = match.end()
    out += raw[at:].encode()
    try:
        return out.decode()
    except UnicodeDecodeError:
        raise ValueError("the escape sequences of this string are not valid UTF-8") from None


def _escaped(match: re.Match[str]) -> bytes:
    byte, short, long, octal, simple = match.groups()
    if byte is not None:
        return bytes([int(byte, 16)])
    if octal is not None:
        if int(octal, 8) > 255:
            raise ValueError(f"octal escape sequence `{match[0]}` is larger than one byte")
        return bytes([int(octal, 8)])
    if short is not None or long is not None:
        point = int(short or long, 16)
        # An unpaired surrogate could be read, but never be written to a file or to the terminal again.
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            raise ValueError(f"`{match[0]}` is not a Unicode character")
        return chr(point).encode()
    if simple not in _SIMPLE:
        raise ValueError(f"unknown escape sequence `{match[0]}`")
    return bytes([_SIMPLE[simple]])
