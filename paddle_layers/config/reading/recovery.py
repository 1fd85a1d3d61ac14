"""Recovery from common syntax mistakes of users of other formats, each with its fix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..diagnostics.diagnostic import Fix
from .lexer import line_bounds

_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u2018\u2019\u201a`"
"""Typographic quotes, which word processors write instead of `"`, and the backtick."""
# Comments of C, JavaScript, SQL, Lua and INI files.
_COMMENT = re.compile(r"//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|--[^\n]*|;[^\n]*")
_OTHER_SPACES = re.compile(r"[\x1c-\x1f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+")
_QUOTED = re.compile(rf'[{_QUOTES}]([^{_QUOTES}"\n]*)[{_QUOTES}]')
_ROUND = re.compile(r"\(([^()\[\]{}\n]*)\)")
_OTHER_QUOTES = re.compile(rf"[{_QUOTES}']([^{_QUOTES}'\"\n]*)[{_QUOTES}']")
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_ALONE = re.compile(r"[ \t]*+(?:#[^\n]*+)?+\n(?:[ \t]*+(?:#[^\n]*+)?+\n)*+([ \t]*+)\S")


class SyntaxMistake(NamedTuple):
    """A syntax mistake, its end, and the replacement."""

    code: str
    message: str
    help: str
    end: int
    fix: Fix | None = None
    value: str | None = None
    """The intended string."""


def mistake_at_name(text: str, position: int) -> SyntaxMistake | None:
    """A character that looks like a space, or a comment of another language, in the position of a field name."""
    if spaces := _OTHER_SPACES.match(text, position):
        code = f"U+{ord(spaces[0][0]):04X}"
        help_ = "replace it with a plain space; text that is copied from a web page may contain others"
        space = Fix(position, spaces.end(), " ")
        return SyntaxMistake(
            "E001", f"unexpected character {code}, which looks like a space", help_, spaces.end(), space
        )
    comment = _COMMENT.match(text, position)
    # A semicolon alone at the end of a line is a separator too many, not a comment.
    if comment is None or comment.end() == position + 1:
        return None
    mark = 1 if text[position] == ";" else 2
    # A comment over several lines needs a mark on each of them.
    fix = Fix(position, position + mark, "#") if text[position + 1] != "*" else None
    return SyntaxMistake("E001", "unsupported comment syntax", "comments start with `#`", comment.end(), fix)


def mistake_at_value(text: str, position: int) -> SyntaxMistake | None:
    """Quotes of a word processor, or a list in round brackets."""
    if quoted := _QUOTED.match(text, position):
        fix = Fix(position, quoted.end(), f'"{quoted[1]}"')
        message, help_ = "strings need straight quotes", f'write `"{quoted[1]}"`'
        return SyntaxMistake("E003", message, help_, quoted.end(), fix, quoted[1])
    if found := _ROUND.match(text, position):
        fix = Fix(position, found.end(), f"[{found[1]}]")
        return SyntaxMistake("E001", "lists need square brackets", f"write `[{found[1]}]`", found.end(), fix)
    return None


def mistake_in_json(text: str, position: int) -> tuple[str, Fix | None]:
    """The JSON replacement of unsupported syntax, and the text edit."""
    if text.startswith(("//", "/*", "#"), position):
        return "JSON has no comments; the text format (`.textproto`) does", None
    if quoted := _OTHER_QUOTES.match(text, position):
        return f'JSON strings need double quotes: write `"{quoted[1]}"`', Fix(position, quoted.end(), f'"{quoted[1]}"')
    if word := _WORD.match(text, position):
        if word[0] in ("NaN", "Infinity", "nan", "inf"):
            return "JSON has no such literal", None
        written = _WORDS.get(word[0], f'"{word[0]}"')
        return f"write `{written}`", Fix(position, word.end(), written)
    before = text[:position].rstrip()
    if text[position : position + 1] in ("]", "}") and before.endswith(","):
        return "remove the comma before it", Fix(len(before) - 1, len(before), "")
    if text[position : position + 1] in ('"', "{", "[") and before.endswith(("}", "]", '"')):
        return "add a comma before it", Fix(len(before), len(before), ",")
    if text[position : position + 1] == "[" and not before:
        return 'write `{"layer": [...]}`', None
    return "", None


def lacks_brace(text: str, start: int, end: int) -> bool:
    """Whether a name that has neither colon nor brace is meant to open a block.

    It does if the next line is indented more than its own, or if its line closes more blocks than it opens.
    """
    first, last = line_bounds(text, end)
    indent = text[first:start]
    alone = _ALONE.match(text, end)
    if alone is not None:
        return not indent.strip() and len(alone[1]) > len(indent)
    line = text[first:last]
    return line.count("}") > line.count("{")


def unclosed_layer(names: Sequence[str]) -> int | None:
    """The depth of the block that lacks its closing brace if a layer starts inside blocks of these names.

    A layer inside a layer, but not in a step, is always an error: the previous layer is not closed.
    """
    last = max((depth for depth, name in enumerate(names) if name == "step"), default=-1)
    return next((depth for depth in range(last + 1, len(names)) if names[depth] == "layer"), None)
