"""Formatter of config files: comments and meaning are preserved, and formatting is idempotent."""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any, NamedTuple

from ..diagnostics.diagnostic import Source
from ..diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from ..reading.syntax import is_json, read

WIDTH = 120
INDENT = "  "
# A separate lexer, because the reader drops comments and line breaks, which are all that the layout consists of.
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\f\v]+)|(?P<line>\n)|(?P<comment>\#[^\n]*)
    |(?P<string>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')|(?P<open>[{<])|(?P<close>[}>])|(?P<mark>[\[\],:;])
    |(?P<word>[^\s{}<>\[\],:;"'\#]+)""",
    re.X,
)


def format_text(text: str, name: str = "<text>") -> str:
    """The formatted text of a config file. Raises `ConfigError` for syntax errors."""
    report = DiagnosticReport(Source(name, text))
    with contextlib.suppress(TooManyFaults):
        # Syntax only: a file with an unknown layer can be formatted as well.
        read(report)
    if report.failed:
        raise ConfigError(report.sorted())
    if is_json(text):
        return _format_json(text)
    return _Layout(text).run()


def _format_json(text: str) -> str:
    return _json(json.loads(text, parse_float=_Real), "\n") + "\n"


class _Real(str):
    """A number with its notation; `json` would write one that overflows as `Infinity`, which is not valid JSON."""


def _json(value: Any, line: str) -> str:
    """JSON with one member or item per line; `line` is the line break and indentation of the value."""
    inner = line + INDENT
    if isinstance(value, _Real):
        return json.dumps(float(value)) if math.isfinite(float(value)) else str(value)
    if isinstance(value, dict) and value:
        members = (f"{json.dumps(name, ensure_ascii=False)}: {_json(item, inner)}" for name, item in value.items())
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}"
    if isinstance(value, list) and value:
        return f"[{inner}{f',{inner}'.join(_json(item, inner) for item in value)}{line}]"
    return json.dumps(value, ensure_ascii=False)


class _Item(NamedTuple):
    """A token and the number of line breaks before it."""

    kind: str
    text: str
    lines: int


def _items(text: str) -> list[_Item]:
    found, lines = [], 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "line":
            lines += 1
        elif kind != "blank":
            token = match[0].rstrip() if kind == "comment" else match[0]
            found.append(_Item(kind, token, lines))
            lines = 0
    return found


class _Layout:
    """Line layout of tokens: one field per line, except for one-line blocks that fit."""

    def __init__(self, text: str) -> None:
        self.items = _items(text)
        self.ends = _closing(self.items)
        self.out: list[str] = []
        self.line = ""
        self.depth = 0

    def run(self) -> str:
        at = 0
        while at < len(self.items):
            at = self._next(at)
        self._flush()
        return "\n".join(self.out).strip("\n") + "\n" if self.out else ""

    def _next(self, at: int) -> int:
        item = self.items[at]
        if item.kind == "comment":
            self._comment(item)
        elif item.kind == "close":
            self._flush()
            self.depth -= 1
            self.line = "}"
            self._flush()
        elif item.kind == "open":
            return self._block(at)
        elif item.text in (",", ";"):
            pass  # separators between fields are optional; those in lists are written with the list
        elif item.text == "[":
            return self._list(at)
        elif item.text == ":":
            self.line += ":"
        else:
            self._word(item)
        return at + 1

    def _word(self, item: _Item) -> None:
        if self.line.endswith(":") or (item.kind == "string" and self.line.endswith('"')):
            self.line += " " + item.text
            return
        self._flush()
        self._gap(item)
        self.line = item.text

    def _gap(self, item: _Item) -> None:
        """Reduce empty lines to one; at the start of a block, remove them."""
        if item.lines > 1 and self.out and self.out[-1] and not self.out[-1].endswith("{"):
            self.out.append("")

    def _comment(self, item: _Item) -> None:
        if item.lines:
            self._flush()
            self._gap(item)
            self.line = item.text
            self._flush()
        elif self.line:
            self.line += "  " + item.text
            self._flush()
        elif self.out:
            self.out[-1] += "  " + item.text
        else:
            self.out.append(item.text)

    def _block(self, at: int) -> int:
        end = self.ends[at]
        name = self.line.removesuffix(":")
        inside = self.items[at + 1 : end]
        flat = _flat(inside)
        line = f"{name} {{ {flat} }}" if flat else f"{name} {{}}"
        # The author decides: a block that is written on several lines stays so, even if it would fit on one.
        on_one_line = not any(item.lines or item.kind == "comment" for item in [*inside, self.items[end]])
        if on_one_line and len(INDENT) * self.depth + len(line) <= WIDTH:
            self.line = line
            return end + 1
        self.line = f"{name} {{"
        self._flush()
        self.depth += 1
        return at + 1

    def _list(self, at: int) -> int:
        end = self.ends[at]
        inside = self.items[at + 1 : end]
        if not any(item.kind == "comment" for item in inside):
            self.line = f"{self.line} [{_flat(inside, depth=1)}]"
            return end + 1
        self.line += " ["
        self._flush()
        self.depth += 1
        for item in inside:
            if item.kind == "comment":
                self._comment(item)
            elif item.text == ",":
                self.line += ","
            else:
                self._flush()
                self.line = item.text
        self._flush()
        self.depth -= 1
        self.line = "]"
        return end + 1

    def _flush(self) -> None:
        if self.line:
            self.out.append(INDENT * self.depth + self.line)
            self.line = ""


def _flat(items: list[_Item], depth: int = 0) -> str:
    """Tokens on one line; `depth` is the nesting depth of the enclosing lists."""
    parts: list[str] = []
    for item in items:
        depth += (item.text == "[") - (item.text == "]")
        if item.text in (",", ";"):
            parts += [","] if depth else []
        elif item.text in (":", "]"):
            parts.append(item.text)
        elif item.kind == "open":
            if parts and parts[-1] == ":":
                parts.pop()
            parts.append(" {")
        elif item.kind == "close":
            parts.append(" }")
        else:
            parts.append(item.text if not parts or parts[-1].endswith("[") else f" {item.text}")
    return "".join(parts)


def _closing(items: list[_Item]) -> dict[int, int]:
    """Position of the bracket that closes each opening one."""
    ends, stack = {}, []
    for at, item in enumerate(items):
        if item.kind == "open" or item.text == "[":
            stack.append(at)
        elif item.kind == "close" or item.text == "]":
            ends[stack.pop()] = at
    return ends
