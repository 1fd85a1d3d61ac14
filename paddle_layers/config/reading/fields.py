"""Fields, the result of both parsers, with the offsets of name and value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

INT, FLOAT, WORD, STRING, BLOCK, LIST, KNOWN = range(2, 9)
"""Kinds of values. A WORD has no quotes: a choice, true, false, inf. KNOWN blocks in a row were recalled, not read."""

Recall: TypeAlias = Callable[[re.Match[str]], Any]
"""Memoized layers, by the match of their whole text; None: not yet parsed."""

Field: TypeAlias = tuple[str, int, Any, int, int]
Fields: TypeAlias = list[Field]

BROKEN = "!"
"""A field of this name marks a block with a syntax error: fields that seem to be missing may exist."""

DEEPEST = 100
"""Maximum nesting depth of blocks."""

KIND_WORDS = {
    INT: "an integer",
    FLOAT: "a number",
    WORD: "an identifier",
    STRING: "a quoted string",
    BLOCK: "a block",
    LIST: "a list",
}


def broken(start: int) -> Field:
    """The mark of a syntax error."""
    # A field like any other, so that readers need no second channel; its name cannot occur in a file.
    return (BROKEN, 0, None, start, start)


def items(field: Field) -> Fields:
    """The values of a field as nameless fields: those of its list, or its one value."""
    if field[1] == LIST:
        values: Fields = field[2]
        return values
    return [field]


def shown(field: Field) -> str:
    """The value in a message."""
    kind, value = field[1], field[2]
    if kind == STRING:
        return f'"{value}"' if len(value) <= 40 else f'"{value[:37]}..."'
    if kind in (INT, FLOAT, WORD):
        return f"{value}" if kind == WORD else f"{value!r}"
    return KIND_WORDS.get(kind, "nothing")
