"""Lexical rules of the protobuf text format: numbers and strings."""

from __future__ import annotations

import re

from paddle_layers.define.decimals import MANTISSA

_HEX = re.compile(r"[-+]?0[xX][0-9a-fA-F]+")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9]\d*)")
_REAL = re.compile(MANTISSA + r"(?:[eE][-+]?[0-9]++)?[fF]?")
LONGEST = 300
"""Characters of a number."""

HALF = re.compile("[\ud800-\udfff]")
"""Half of a character beyond the first 65,536, without the other half: no encoding can write it."""

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.S)
_SIMPLE = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def parse_number(raw: str) -> int | float:
    """A number as the text format writes it: decimal, hexadecimal, octal or real. Raises ValueError."""
    if len(raw) > LONGEST:
        raise ValueError("more digits than any number needs")
    if _DECIMAL.fullmatch(raw):
        return int(raw)
    if _HEX.fullmatch(raw):
        return int(raw, 16)
    if _OCTAL.fullmatch(raw):
        return int(raw, 8)
    if re.match(r"[-+]?0\d", raw) or not _REAL.fullmatch(raw):
        raise ValueError(f"`{raw}` is no number")
    return float(raw.rstrip("fF"))


def unescape(raw: str) -> str:
    """The contents of a quoted string, escapes resolved. Raises ValueError."""
    if "\\" not in raw:
        return raw
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
        raise ValueError("the escapes of this text do not form UTF-8") from None


def _escaped(match: re.Match[str]) -> bytes:
    byte, short, long, octal, simple = match.groups()
    if byte is not None:
        return bytes([int(byte, 16)])
    if octal is not None:
        if int(octal, 8) > 255:
            raise ValueError(f"`{match[0]}` is more than one byte")
        return bytes([int(octal, 8)])
    if short is not None or long is not None:
        point = int(short or long, 16)
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            raise ValueError(f"`{match[0]}` is no character")
        return chr(point).encode()
    if simple not in _SIMPLE:
        raise ValueError(f"`{match[0]}` is no escape")
    return bytes([_SIMPLE[simple]])


def quote(text: str) -> str:
    """The text in double quotes, as the text format reads it; characters beyond ASCII stay as they are."""
    out = ['"']
    for character in text:
        if character in '"\\':
            out.append("\\" + character)
        elif character == "\n":
            out.append("\\n")
        elif character == "\t":
            out.append("\\t")
        elif ord(character) < 32 or ord(character) == 127:
            out.append(f"\\{ord(character):03o}")
        else:
            out.append(character)
    return "".join(out) + '"'
