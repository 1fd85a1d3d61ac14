"""Regular expressions of the text format. One match takes a whole field; possessive quantifiers never backtrack."""

from __future__ import annotations

import re

GAP = r"[ \t\r\n\f\v]*+(?:\#[^\n]*+[ \t\r\n\f\v]*+)*+"
"""Spaces and comments."""

_END = rf"(?:{GAP}[,;])?"

# One expression for a whole field, whose group number is the kind of the field: in the prototype, a layer took 6 to 7.5
# us this way, 49 us in protobuf's `text_format`, which is written in Python. The last alternatives are empty: it always
# matches, and an error is at its end.
EVENT = re.compile(
    GAP
    + rf"""(?:
  ([A-Za-z_]\w*+){GAP}(?:
      :{GAP}(?: (-?(?:0|[1-9][0-9]{{0,17}}+))(?![\w.+-]){_END}   # 2 integer
              | ([-+]?\.?[0-9][\w.+-]*+){_END}                   # 3 another number
              | (-?{GAP}[A-Za-z_]\w*+)(?!{GAP}[:{{]){_END}        # 4 word, -inf; not the next field's name
              | ("[^"\\\n]*+")(?!{GAP}["']){_END}                # 5 simple string
              | ([{{<])                                          # 6 block after a colon
              | (\[)                                             # 7 list
              | (?=["'])()                                       # 8 other strings
              | ()                                               # 9 value missing
        )
    | ([{{<])                                                    # 10 block
    | ()                                                         # 11 neither colon nor brace
    )
  | ([}}>]){_END}                                                # 12 close
  | (\Z)                                                         # 13 end
  | ()                                                           # 14 no field
)""",
    re.X | re.A,
)


class Found:
    """The match of `EVENT`, by the number of its group; group 1 is the name of the field."""

    INTEGER, OTHER_NUMBER, WORD, SIMPLE_STRING, BLOCK_AFTER_COLON, LIST, OTHER_STRING, NO_VALUE = range(2, 10)
    BLOCK, NO_COLON, CLOSING, END, NO_FIELD = range(10, 15)


VALUE = re.compile(
    GAP
    + rf"""(?:
    ([-+]?\.?[0-9][\w.+-]*+)                                     # 1 number
  | (-?{GAP}[A-Za-z_]\w*+)                                       # 2 word
  | (?=["'])()                                                   # 3 string
  | ([{{<])                                                      # 4 block
  | (\])                                                         # 5 end of the list
  | ()                                                           # 6 no value
)""",
    re.X | re.A,
)


class ValueGroup:
    """The match of `VALUE`, by the number of its group."""

    NUMBER, WORD, STRING, BLOCK, END_OF_LIST, NONE = range(1, 7)


# Lengths are limited in the pattern, so that integers fit into 64 bits and no number exceeds the maximum length.
# Repeated alternatives are in atomic groups, `(?>(?:a|b)*)`: up to Python 3.11.4, `(?:a|b)*+` may match half of what it
# repeats, and an attribute without a value passed.
SIMPLE_BLOCK = re.compile(
    r"""\s*+([A-Za-z_]\w*+)\s*+\{
    ((?>(?:\s*+[A-Za-z_]\w*+\s*+:\s*+
        (?:-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,250}+)?(?:[eE][-+]?[0-9]{1,3}+)?(?![\w.+-])|[A-Za-z_]\w*+|"[^"\\\n]*+"))*))
    \s*+\}\s*+""",
    re.X | re.A,
)
"""A block of simple numbers, words and strings only: its name and its contents. All numbers are short."""
SIMPLE_FIELD = re.compile(r'(\w++)\s*+:\s*+(?:(-?[0-9]++)(?![.eE])|(-?[0-9][^\s]*+)|([A-Za-z_]\w*+)|"([^"]*+)")', re.A)
"""One field of such a block: name, integer, other number, word, string."""

STRING_PART = re.compile(
    GAP + r"""("[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')""",
    re.X,
)
"""One string. The loop is unrolled and possessive: alternatives in an atomic group cost 132 bytes per character."""
COMMA = re.compile(GAP + ",", re.X)
SEPARATOR = re.compile(_END, re.X)
SPACE = re.compile(GAP, re.X)

# By lines and not by brackets: in a file with an error, brackets are what cannot be trusted.
RESUME = re.compile(r"\n[ \t]*(?=[A-Za-z_]\w*[ \t]*[:{<]|[}>])|(?=[}>])|\Z")
"""After an error: the next line that starts like a field, or a closing bracket."""

_QUOTED = r'"[^"\\\n]*+"'
_PLAIN = r"[^{}\"'\#<>]++"


# Python's regular expressions have no recursion, so the nesting is written out to four levels. `param { init { constant
# { } } }` takes three; a deeper layer is left to the parser.
def _balanced(depth: int) -> str:
    inner = rf"|\{{{_balanced(depth - 1)}\}}" if depth else ""
    return rf"(?>(?:{_PLAIN}|{_QUOTED}|\#[^\n]*+{inner})*)"


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
