"""Conversion of code in messages to JSON: fields in text format become object members."""

from __future__ import annotations

import re

# Messages are written once, in text format, and converted here: two versions of each would drift apart.
_SPAN = re.compile(r"`([^`]*)`")
_CONFIG = re.compile(r"\w \{|\w: ")
_BLOCK = re.compile(r"(?<![\w\"])([A-Za-z_]\w*) \{")
_NAME = re.compile(r"(?<![\w\"])([A-Za-z_]\w*): ")
_WORD = re.compile(r"(\": |\[|, )(?!true\b|false\b|null\b)([A-Za-z_]\w*)(?=[\s,\]}]|$)")
_NEXT = re.compile(r"(?<=[^\s{\[,:])\s+(?=\"\w+\":)")
_AGAIN = re.compile(r"(\"\w+\": )([^,\s]+), \1([^,\s]+)")


def in_json(message: str) -> str:
    """The message with `fc { size: 3 }` as `"fc": { "size": 3 }`."""
    return _SPAN.sub(lambda span: f"`{_members(span[1])}`" if _CONFIG.search(span[1]) else span[0], message)


def _members(text: str) -> str:
    text = _NAME.sub(r'"\1": ', _BLOCK.sub(r'"\1": {', text))
    text = _NEXT.sub(", ", _WORD.sub(r'\1"\2"', text))
    return _AGAIN.sub(r"\1[\2, \3]", text)
