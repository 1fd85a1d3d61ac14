"""Lexical grammar of configs: regular expressions of the text format, and tokens of text format and JSON.

One match of the reader takes a whole field; possessive quantifiers never backtrack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paddle_layers.define.decimals import MANTISSA

_BLANK = r"[ \t\r\n\f\v]*+"
_COMMENT = r"\#[^\n]*+"
# The loops are unrolled and possessive: alternatives in an atomic group cost 132 bytes per character.
_DOUBLE, _SINGLE = (rf"{mark}[^{mark}\\\n]*+(?:\\.[^{mark}\\\n]*+)*+" for mark in "\"'")
_QUOTED = r'"[^"\\\n]*+"'
_NAME = r"[A-Za-z_]\w*+"
GAP = rf"{_BLANK}(?:{_COMMENT}{_BLANK})*+"
"""Spaces and comments."""
_END = rf"(?:{GAP}[,;])?"
_NOT_A_NAME = rf"(?!{GAP}[:{{])"
COMMENT, STRING, WORD = "comment", "string", "word"
"""Kinds of tokens; the kind of a bracket or separator is its character."""
# `< >` and `;` are other spellings of `{ }` and `,`.
_KINDS = {"#": COMMENT, '"': STRING, "'": STRING, "<": "{", ">": "}", ";": ","} | {mark: mark for mark in "{}[]:,"}


def _values(word_end: str, end: str) -> str:
    """The values of fields and of list items; the number of a group is the kind of its value."""
    return rf"""
        (-?(?:0|[1-9][0-9]{{0,17}}+))(?![\w.+-]){end}            # 2 integer
      | ([-+]?\.?[0-9][\w.+-]*+){end}                            # 3 another number
      | (-?{GAP}{_NAME}){word_end}{end}                          # 4 word, -inf
      | ({_QUOTED})(?!{GAP}["']){end}                            # 5 simple string
      | ([{{<])                                                  # 6 block
      | (\[)                                                     # 7 list
      | (?=["'])()                                               # 8 other strings
      | ()                                                       # 9 no value
    """


# One expression for a whole field, whose group number is the kind of the field: in the prototype, a layer took 6 to 7.5
# us this way, 49 us in protobuf's `text_format`, which is written in Python. The last alternatives are empty: it always
# matches, and an error is at its end.
EVENT = re.compile(
    GAP
    + rf"""(?:
  ({_NAME}){GAP}(?:
      :{GAP}(?:{_values(_NOT_A_NAME, _END)})                     # a word is not the name of the next field
    | ([{{<])                                                    # 10 block without a colon
    | ()                                                         # 11 neither colon nor brace
    )
  | ([}}>]){_END}                                                # 12 closing bracket
  | (\Z)                                                         # 13 end
  | ()                                                           # 14 no field
)""",
    re.X | re.A,
)
ITEM = re.compile(rf"{GAP}(?=(\]?))(?:{_values('', '')})", re.X | re.A)
"""An item of a list. Group 1 is empty, as items have no names, or the end of the list."""


class EventGroup:
    """Groups of `EVENT` and `ITEM`. The groups 2 to 7 are numbered like the kinds of fields; group 1 is the name."""

    OTHER_STRING, NO_VALUE, BRACE, NO_COLON, CLOSING, END, NO_FIELD = range(8, 15)


STRING_PART = re.compile(rf"{GAP}({_DOUBLE}\"|{_SINGLE}')", re.X)
"""One of several adjacent strings."""
AFTER_ITEM = re.compile(GAP + r"([,\]])", re.X)
SEPARATOR = re.compile(_END, re.X)
SPACE = re.compile(GAP, re.X)

# By lines and not by brackets: in a file with an error, brackets are what cannot be trusted.
RESUME = re.compile(r"\n[ \t]*(?=[A-Za-z_]\w*[ \t]*[:{<]|[}>])|(?=[}>])|\Z")
"""After an error: the next line that starts like a field, or a closing bracket."""

JSON_TOKEN = re.compile(rf"{_DOUBLE}\"?+|{_SINGLE}'?+|[{{}}<>\[\]:,;]|[^\s{{}}<>\[\],:;\"'\#]++")
"""A token for the formatter and the editor: a string that may be unfinished, a bracket, a separator or a word."""
TEXT_TOKEN = re.compile(f"{_COMMENT}|{JSON_TOKEN.pattern}")
WORD_END = re.compile(r"[\s:{},]")
"""The end of the first word of a string whose closing quote is missing."""

_PLAIN = r"[^{}\"'\#<>]++"


# Repeated alternatives are in atomic groups, `(?>(?:a|b)*)`: up to Python 3.11.4, `(?:a|b)*+` may match half of what it
# repeats, and an attribute without a value passed.
#
# Python's regular expressions have no recursion, so the nesting is written out to four levels. `param { init { constant
# { } } }` takes three; a deeper layer is left to the parser.
def _balanced(depth: int) -> str:
    inner = rf"|\{{{_balanced(depth - 1)}\}}" if depth else ""
    return rf"(?>(?:{_PLAIN}|{_QUOTED}|{_COMMENT}{inner})*)"


LAYER = re.compile(
    GAP
    + rf"""layer{GAP}:?{GAP}\{{
    {GAP}name{GAP}:{GAP}"([^"\\\n]*+)"
    {GAP}type{GAP}:{GAP}"([^"\\\n]*+)"
    ((?:{GAP}input{GAP}:{GAP}{_QUOTED})*+)
    ({_balanced(4)})
    \}}""",
    re.X | re.A,
)
"""A whole layer in the order that `fmt` writes: name, type, inputs, everything else as one string."""


class Token:
    """A token with its position; only blanks, and characters that no token may contain, are between tokens."""

    __slots__ = ("kind", "lines", "start", "text")

    def __init__(self, kind: str, text: str, start: int, lines: int) -> None:
        self.kind, self.text, self.start, self.lines = kind, text, start, lines
        """`lines` is the number of line breaks before it; 1 for the first token."""

    @property
    def end(self) -> int:
        """The position after it."""
        return self.start + len(self.text)

    @property
    def closed(self) -> bool:
        """Whether it is a string with its closing quote."""
        return self.kind == STRING and _is_closed(self.text)

    @property
    def word(self) -> str:
        """The text without quotes."""
        return self.text[1 : len(self.text) - self.closed] if self.kind == STRING else self.text

    @property
    def range(self) -> tuple[int, int]:
        """Start and end without quotes."""
        return self.start + (self.kind == STRING), self.end - self.closed


def tokens(text: str, *, json: bool = False) -> Iterator[Token]:
    """The tokens of the text, comments included; JSON has no comments."""
    pattern = JSON_TOKEN if json else TEXT_TOKEN
    position = line_end = 0
    odd = False
    while match := pattern.search(text, position):
        start, end = match.span()
        kind = _KINDS.get(text[start], WORD)
        # Where a quote is missing, strings and text between them swap roles. Each string of such a line ends with its
        # first word, so that what follows keeps its meaning.
        if kind == STRING and (word_end := WORD_END.search(text, start, end)):
            if start >= line_end:  # each line is checked once
                line_start, line_end = line_bounds(text, start)
                strings = pattern.finditer(text, line_start, line_end)
                odd = any(_KINDS.get(found[0][0]) == STRING and not _is_closed(found[0]) for found in strings)
            end = word_end.start() if odd else end
        lines = text.count("\n", position, start) if position else 1
        yield Token(kind, text[start:end], start, lines)
        position = end


def line_bounds(text: str, position: int) -> tuple[int, int]:
    """Start and end of the line that contains a position."""
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


def _is_closed(string: str) -> bool:
    return len(string) > 1 and string[-1] == string[0]


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
