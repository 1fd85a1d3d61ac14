"""Conversion of config files between text, JSON and binary, by file extension."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from .checking import validate
from .diagnostics.diagnostic import Source
from .diagnostics.report import DiagnosticReport
from .files import BINARY, read_file
from .reading.syntax import read
from .writing.binary import message_of_fields, plain, read_binary, text_of_message

FORMATS = {
    ".textproto": "text",
    ".pbtxt": "text",
    ".prototxt": "text",
    ".txt": "text",
    ".json": "JSON",
} | dict.fromkeys(sorted(BINARY), "binary")
"""Formats by file extension."""

# A `#` in a string is no comment, and the header that names the message is written anew, so it is not lost.
_COMMENT = re.compile(
    r"""("[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')|#(?!\s*proto-(?:file|message):)"""
)


def converted(path: Path, wanted: str) -> tuple[bytes, bool]:
    """The content of a config file in the format `wanted`, and whether comments were lost. Raises `ConfigError`."""
    # First, because the conversion itself reports no errors: an unknown field would end in a traceback.
    validate(path)
    message, text = read_message(path)
    lost = not text.lstrip().startswith("{") and any(not match[1] for match in _COMMENT.finditer(text))
    return written(message, wanted), lost


def read_message(path: Path) -> tuple[Message, str]:
    """The message that a checked config file holds, and its text; a binary one has none. Raises `ConfigError`."""
    if path.suffix in BINARY:
        return read_binary(path), ""
    text = read_file(path)
    return message_of_fields(read(DiagnosticReport(Source(str(path), text)))), text


def written(message: Message, wanted: str) -> bytes:
    """A message as "text", "JSON" or "binary"."""
    if wanted == "binary":
        # The same network gives the same bytes, as reproducible builds and checksums expect.
        return message.SerializeToString(deterministic=True)
    text = text_of_message(message) if wanted == "text" else _json(plain(message), 0) + "\n"
    return text.encode()


def _json(value: Any, depth: int) -> str:
    """JSON for our reader: infinity is a number that overflows, since JSON has no literal for it."""
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        members = ",\n".join(f"{inner}{json.dumps(key)}: {_json(item, depth + 1)}" for key, item in value.items())
        return f"{{\n{members}\n{outer}}}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(inner + _json(item, depth + 1) for item in value) + f"\n{outer}]"
    if isinstance(value, list):
        return "[" + ", ".join(_json(item, depth) for item in value) + "]"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return json.dumps(value, ensure_ascii=False)
