"""Formatter of config files: comments and meaning are preserved, and formatting is idempotent."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from paddle_layers.define import registries

from ..binding.headers import MessageSpec, is_training, spec
from ..diagnostics.diagnostic import Source
from ..diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from ..reading.fields import BLOCK, Field, Fields, items
from ..reading.lexer import COMMENT, STRING, Token, tokens
from ..reading.syntax import is_json, read

WIDTH = 120
INDENT = "  "


def format_text(text: str, name: str = "<text>") -> str:
    """The formatted text of a config file, with misplaced attributes in their block. Raises `ConfigError`."""
    report = DiagnosticReport(Source(name, text))
    fields: Fields = []
    with contextlib.suppress(TooManyFaults):
        # Syntax only: a file with an unknown layer can be formatted as well.
        fields = read(report)
    if report.failed:
        raise ConfigError(report.sorted())
    root = spec("Training" if is_training(fields) else "Network")
    if is_json(text):
        return _json(_moved(json.loads(text, parse_float=_Real), root), "\n") + "\n"
    return _Layout(_with_blocks(text, fields, root)).run()


# ---- attributes outside of the block of their type


def _outside(names: Collection[str], type_: object, header: MessageSpec, registry: str) -> list[str]:
    """The fields of a typed block, other than blocks, that are attributes of the type."""
    definition = registries[registry].get(type_) if registry and isinstance(type_, str) else None
    known = definition.attribute_by_name if definition is not None else {}
    return [name for name in names if name in known and name not in header.fields]


def _moved(value: Any, header: MessageSpec, registry: str = "") -> Any:
    """A JSON value of a message with all attributes in the block of their type."""
    if isinstance(value, list):
        return [_moved(item, header, registry) for item in value]
    if not isinstance(value, dict):
        return value
    type_ = value.get("type")
    own = value.get(type_) if isinstance(type_, str) else None
    own = own if isinstance(own, dict) else {}
    # An attribute that the block has, too, stays, and its duplicate remains an error.
    plain = [name for name in value if not isinstance(value[name], dict) and name not in own]
    outside = _outside(plain, type_, header, registry)
    if isinstance(value.get(str(type_)), list):
        outside = []
    made = {name: item for name, item in value.items() if name not in outside}
    if outside:
        made[type_] = {**own, **{name: value[name] for name in outside}}
    for name, field in header.fields.items():
        if field.message and name in made:
            made[name] = _moved(made[name], spec(field.message), field.registry)
    return made


def _with_blocks(text: str, fields: Fields, root: MessageSpec) -> str:
    """The text with all attributes in the block of their type."""
    if not (moves := list(_moves(fields, root, ""))):
        return text
    found = [token for token in tokens(text) if token.kind != COMMENT]
    index, closing = {token.start: at for at, token in enumerate(found)}, _closing(found)
    edits: list[tuple[int, int, str]] = []
    for type_, own, moving in moves:
        ends = [_last(found, closing, index[field[3]]) for field in moving]
        inner = " ".join(text[field[3] : found[end].end] for field, end in zip(moving, ends, strict=True))
        new = "" if own is not None else f"{type_} {{ {inner} }}"
        for field, end in zip(moving, ends, strict=True):
            edits.append((field[3], found[end + (found[end + 1].kind == ",")].end, new))
            new = ""
        if own is not None:
            edits.append((own[4] + 1, own[4] + 1, f" {inner} "))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _moves(fields: Fields, header: MessageSpec, registry: str) -> Iterator[tuple[str, Field | None, Fields]]:
    """Blocks with attributes outside of the block of their type: the type, its block, and these attributes."""
    type_ = next((field[2] for field in fields if field[0] == "type"), None)
    plain = [field for field in fields if field[1] != BLOCK]
    outside = _outside({field[0] for field in plain}, type_, header, registry)
    if outside:
        own = next((field for field in fields if field[0] == type_ and field[1] == BLOCK), None)
        yield str(type_), own, [field for field in plain if field[0] in outside]
    for field in fields:
        known = header.fields.get(field[0])
        if known is not None and known.message:
            for item in items(field):
                if item[1] == BLOCK:
                    yield from _moves(item[2], spec(known.message), known.registry)


def _last(found: Sequence[Token], closing: dict[int, int], name: int) -> int:
    """The last token of a field."""
    at = name + 1 + (found[name + 1].kind == ":")
    at = closing.get(at, at)
    # A value of several tokens: adjacent strings, a minus sign and its word.
    while found[at].text == "-" or (found[at].kind == STRING == found[at + 1].kind):
        at += 1
    return at


# ---- layout


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


class _Layout:
    """Line layout of tokens: one field or item per line, except for one-line blocks that fit, and lists."""

    def __init__(self, text: str) -> None:
        self.tokens = list(tokens(text))
        self.ends = _closing(self.tokens)
        self.out: list[str] = []
        self.line = ""
        self.brackets: list[str] = []
        """The open brackets whose contents are on separate lines."""

    def run(self) -> str:
        at = 0
        while at < len(self.tokens):
            at = self._next(at)
        self._flush()
        return "\n".join(self.out).strip("\n") + "\n" if self.out else ""

    def _next(self, at: int) -> int:
        token = self.tokens[at]
        if token.kind == "{":
            return self._block(at)
        if token.kind == "[":
            return self._list(at)
        if token.kind == COMMENT:
            self._comment(at)
        elif token.kind in ("}", "]"):
            self._flush()
            self.brackets.pop()
            self.line = token.kind
        elif token.kind == ":":
            self.line += ":"
        elif token.kind != ",":
            self._word(at)
        elif self.brackets[-1:] == ["["]:  # separators between fields are optional
            self.line += ","
        return at + 1

    def _word(self, at: int) -> None:
        token = self.tokens[at]
        adjacent = token.kind == STRING and self.tokens[at - 1].kind == STRING
        if adjacent or self.line.endswith((":", "-")):
            self.line += " " + token.text
        else:
            self._flush()
            self._gap(at)
            self.line = token.text

    def _gap(self, at: int) -> None:
        """Reduce empty lines to one; at the start of a block, remove them."""
        if self.tokens[at].lines > 1 and self.out and self.tokens[at - 1].kind not in ("{", "["):
            self.out.append("")

    def _comment(self, at: int) -> None:
        token = self.tokens[at]
        comment = token.text.rstrip()
        after_comment = [before.kind for before in self.tokens[max(at - 2, 0) : at]] == [COMMENT, ","]
        if token.lines or (after_comment and not self.line):
            self._flush()
            self._gap(at)
            self.line = comment
        elif self.line:
            self.line += "  " + comment
        else:
            self.out[-1] += "  " + comment
        self._flush()

    def _block(self, at: int) -> int:
        end = self.ends[at]
        if self.brackets[-1:] == ["["]:
            self._flush()
        name = self.line.removesuffix(":")
        # The author decides: a block that is written on several lines stays so, even if it would fit on one.
        if not any(token.lines or token.kind == COMMENT for token in self.tokens[at + 1 : end + 1]):
            flat = _flat(self.tokens[at + 1 : end])
            line = f"{name} {{ {flat} }}" if flat else f"{name} {{}}"
            if len(INDENT) * len(self.brackets) + len(line) <= WIDTH:
                self.line = line.lstrip()
                return end + 1
        return self._open(f"{name} {{", at)

    def _list(self, at: int) -> int:
        end = self.ends[at]
        inside = self.tokens[at + 1 : end]
        if any(token.kind == COMMENT for token in inside):
            return self._open(f"{self.line} [", at)
        self.line = f"{self.line} [{_flat(inside, depth=1)}]".lstrip()
        return end + 1

    def _open(self, line: str, at: int) -> int:
        self.line = line.lstrip()
        self._flush()
        self.brackets.append(self.tokens[at].kind)
        return at + 1

    def _flush(self) -> None:
        if self.line:
            self.out.append(INDENT * len(self.brackets) + self.line)
            self.line = ""


def _flat(inside: Sequence[Token], depth: int = 0) -> str:
    """Tokens on one line; `depth` is the nesting depth of the enclosing lists."""
    parts: list[str] = []
    for token in inside:
        depth += (token.kind == "[") - (token.kind == "]")
        if token.kind == ",":
            parts += [","] if depth else []
        elif token.kind in (":", "]"):
            parts.append(token.text)
        elif token.kind == "{":
            if parts and parts[-1] == ":":
                parts.pop()
            parts.append(" {")
        elif token.kind == "}":
            parts.append(" }")
        else:
            parts.append(token.text if not parts or parts[-1].endswith("[") else f" {token.text}")
    return "".join(parts)


def _closing(brackets: Sequence[Token]) -> dict[int, int]:
    """Position of the bracket that closes each opening one."""
    ends, stack = {}, []
    for at, token in enumerate(brackets):
        if token.kind in ("{", "["):
            stack.append(at)
        elif token.kind in ("}", "]"):
            ends[stack.pop()] = at
    return ends
