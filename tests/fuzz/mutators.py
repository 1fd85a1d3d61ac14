"""Changes of bytes and of texts, and the odd values that readers stumble over."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

ODD_NUMBERS = (
    *("0", "-0", "1", "-1", "2", "3", "7", "100", "1000", "2147483647", "2147483648", "-2147483648", "4294967296"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1" + "0" * 18),
    *("0.5", "-0.0", "1.5", "1e-320", "5e-324", "1e30", "1e39", "1.7976931348623157e308", "1e309", "-1e999", "1e-999"),
    *("9" * 60, "9" * 400, "0." + "1" * 400),
)
TEXT_NUMBERS = (
    "0x7f",
    "0xffffffffffffffffff",
    "-0x1",
    "017",
    "08",
    "1.5f",
    "1.",
    ".5",
    "inf",
    "-inf",
    "nan",
    "-nan",
    "1_0",
)
HOSTILE = "a\x1b[31m\u202eb\x9bc\x00d\re\x7f\u2028"
ODD_TEXTS = (
    *("", " ", "a", "A", "0", "-1", "true", "null", "a b", "a/b", "../x", "/", ".", "..", "a.b", "a,b", "x\ty", "\n"),
    *("\x00", "\x1b[2J", "\x7f", "\x9b", "\u202e", "\u2028", "\ufeff", "\ufffe", "\u00e9", "e\u0301", "\U0001d11e"),
    *("\ud800", "%s%n", "{0}", "<&>\"'", "[red]x[/red]", ":smile:", "::error::x", "x" * 300, "\u00e9" * 3000, HOSTILE),
)
PIECES = (
    *('"', "'", "{", "}", "[", "]", "<", ">", ":", ",", ";", "#", "\\", "-", "\n", "\r\n", "\r", "\t", "\x0c", "\x00"),
    *("layer { ", "step { ", "net { ", "{}", "[]", "[[", "]]", "//", "/*", "\\x", "\\u12", "\\ud800", "\\777", '""'),
    *("true", "false", "null", "1e999", "nan", "-inf", "0x", "9" * 400, "\u2028", "\u00e9", "\ufeff", "\U0001d11e"),
)
_TOKEN = re.compile(r'"[^"\n]*"|[\w.+-]+|\s+|.', re.S)


def several(rng: Random) -> int:
    """How many changes to make: mostly one, so that what comes behind it is still reached."""
    return rng.choice((1, 1, 1, 1, 2, 3, 6))


def changed_bytes(data: bytes, rng: Random, donors: Sequence[bytes] = ()) -> bytes:
    """Some bytes flipped, left out, put in, repeated, cut off, or taken from another file."""
    found = bytearray(data)
    for _ in range(several(rng)):
        rng.choice(_BYTE_CHANGES)(found, rng)
    if donors and rng.random() < 0.05:
        other = rng.choice(donors)
        at = rng.randrange(len(found) + 1)
        start = rng.randrange(len(other) + 1)
        found[at:] = other[start:]
    return bytes(found)


def changed_text(text: str, rng: Random, donors: Sequence[str] = ()) -> str:
    """Some tokens or characters left out, doubled, exchanged, or put in from elsewhere."""
    for _ in range(several(rng)):
        text = rng.choice(_TEXT_CHANGES)(text, rng)
    if donors and rng.random() < 0.05:
        other = rng.choice(donors)
        text = text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]
    return text


def _span(data: Sequence[object], rng: Random, longest: int) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(1, longest))


def _flip(data: bytearray, rng: Random) -> None:
    if data:
        at = rng.randrange(len(data))
        data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256), data[at] ^ (1 << rng.randrange(8))))


def _drop(data: bytearray, rng: Random) -> None:
    start, end = _span(data, rng, rng.choice((1, 4, 8, 64)))
    del data[start:end]


def _insert(data: bytearray, rng: Random) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 40)))


def _repeat(data: bytearray, rng: Random) -> None:
    start, end = _span(data, rng, 64)
    at = rng.randrange(len(data) + 1)
    data[at:at] = data[start:end] * rng.choice((1, 1, 2, 50))


def _cut(data: bytearray, rng: Random) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _number(data: bytearray, rng: Random) -> None:
    """A number in place of one, as binary files hold them."""
    size = rng.choice((1, 2, 4, 8))
    value = rng.choice(
        (0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, rng.randrange(2**16))
    )
    at = rng.randrange(len(data) + 1)
    data[at : at + size] = (value % 2 ** (8 * size)).to_bytes(size, rng.choice(("little", "big")))


_BYTE_CHANGES: tuple[Callable[[bytearray, Random], None], ...] = (
    *(_flip, _flip, _flip, _drop, _insert, _repeat, _cut, _number),
)


def _tokens(text: str, rng: Random) -> tuple[int, int]:
    """The place of a token near a random one."""
    match = _TOKEN.search(text, rng.randrange(len(text) + 1))
    return match.span() if match else (len(text), len(text))


def _piece(text: str, rng: Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice((*PIECES, rng.choice(ODD_TEXTS))) + text[at:]


def _drop_token(text: str, rng: Random) -> str:
    start, end = _tokens(text, rng)
    return text[:start] + text[end:]


def _swap_token(text: str, rng: Random) -> str:
    (start, end), (first, last) = _tokens(text, rng), _tokens(text, rng)
    return text[:start] + text[first:last] + text[end:]


def _double_token(text: str, rng: Random) -> str:
    start, end = _tokens(text, rng)
    return text[:end] + " " * rng.randrange(2) + text[start:]


def _odd_number(text: str, rng: Random) -> str:
    found = list(re.finditer(r"-?\d[\w.+-]*", text))
    if not found:
        return _piece(text, rng)
    match = rng.choice(found)
    return text[: match.start()] + rng.choice((*ODD_NUMBERS, *TEXT_NUMBERS)) + text[match.end() :]


def _odd_text(text: str, rng: Random) -> str:
    found = list(re.finditer(r'"[^"\n]*"', text))
    if not found:
        return _piece(text, rng)
    match = rng.choice(found)
    return text[: match.start() + 1] + rng.choice(ODD_TEXTS) + text[match.end() - 1 :]


def _copy(text: str, rng: Random) -> str:
    start, end = _span(text, rng, 200)
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[start:end] * rng.choice((1, 1, 1, 3)) + text[at:]


def _drop_part(text: str, rng: Random) -> str:
    start, end = _span(text, rng, rng.choice((1, 3, 30, 200)))
    return text[:start] + text[end:]


def _nest(text: str, rng: Random) -> str:
    """A token in many brackets, closed or not."""
    start, end = _tokens(text, rng)
    opening, closing = rng.choice((("a {", "}"), ("[", "]"), ("layer { step {", "}}"), ('{"a":', "}"), ("<", ">")))
    depth = rng.choice((50, 97, 101, 3000))
    return text[:start] + opening * depth + text[start:end] + closing * rng.choice((0, depth)) + text[end:]


_TEXT_CHANGES: tuple[Callable[[str, Random], str], ...] = (
    *(_piece, _piece, _piece, _drop_token, _drop_token, _swap_token, _swap_token, _double_token, _double_token),
    *(_odd_number, _odd_number, _odd_text, _odd_text, _copy, _drop_part, _drop_part, _nest),
    lambda text, rng: text[: rng.randrange(len(text) + 1)],
)
