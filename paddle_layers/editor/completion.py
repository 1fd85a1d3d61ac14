"""Completion at the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from paddle_layers.config.binding.headers import HeaderField
from paddle_layers.config.binding.steps import GROUP
from paddle_layers.config.reading.lexer import COMMENT, STRING, WORD
from paddle_layers.config.reading.syntax_tree import NAME, NOTHING, VALUE, SyntaxBlock, SyntaxField, SyntaxTree
from paddle_layers.define import Attribute, Definition, LayerDefinition

from .block_schema import (
    BlockSchema,
    attribute_facts,
    attribute_text,
    definition_text,
    header_facts,
    header_text,
    schema_of,
)
from .completion_values import CompletionValue, settings, values
from .document import Document

BEFORE_OWN = {"Layer": "output"}
"""The header field before which the attribute block of the type comes; by default it is last."""

CURSOR = "$0"
"""Placeholder for the cursor position in inserted text."""


class Completion(NamedTuple):
    """A completion: label, description, and the replacement of the text from `start` to `end`."""

    label: str
    kind: str
    """type, block, field, value, output or parameter."""
    text: str
    """The inserted text, with `CURSOR` at the new cursor position; by default it is the end."""
    start: int
    end: int
    detail: str = ""
    documentation: str = ""
    search: str = ""
    """Other names that it is found by."""


class CursorContext(NamedTuple):
    """Completion context at the cursor, and the range to replace."""

    role: str
    """NAME, VALUE or NOTHING."""
    block: SyntaxBlock
    field: SyntaxField | None
    """The field whose name or value contains the cursor; None if a new name may begin."""
    start: int
    end: int
    quoted: bool = False
    """Whether an opening quote is before `start`."""
    closed: bool = False
    """Whether a closing quote is at `end`."""
    continued: bool = False
    """Whether `:` or a bracket follows: the field has a value already."""


def completions(document: Document, offset: int) -> list[Completion]:
    """All completions at an offset, most likely first; the editor matches the typed prefix."""
    at = cursor_context(document.tree, offset)
    found = schema_of(at.block)
    if found is None:
        return []
    if at.role == VALUE and at.field is not None and at.field.name == "set" and at.quoted:
        return [_value_item(document, *piece) for piece in _settings(document, at, offset)]
    if at.role == VALUE and at.field is not None:
        return [_value_item(document, at, value) for value in values(document, at.block, at.field.name, found)]
    return list(_names(document, at, found)) if at.role == NAME else []


def cursor_context(tree: SyntaxTree, offset: int) -> CursorContext:
    """The completion context at an offset."""
    index = tree.before(offset)
    if index < 0:
        return CursorContext(NOTHING if tree.json else NAME, tree.root, None, offset, offset)
    token, (role, block, field) = tree.tokens[index], tree.contexts[index]
    if token.kind == COMMENT and offset <= token.end:
        return CursorContext(NOTHING, block, None, offset, offset)
    if token.kind in (WORD, STRING) and (offset < token.end or (offset == token.end and not token.closed)):
        continued = tree.following(index) in (":", "{")
        return CursorContext(role, block, field, *token.range, token.kind == STRING, token.closed, continued)
    return CursorContext(*tree.after[index], offset, offset)


def _settings(document: Document, at: CursorContext, offset: int) -> Iterator[tuple[CursorContext, CompletionValue]]:
    """Completions between the commas of a `set`: a name before `=`, a setting after it."""
    text = document.text
    start = max(text.rfind(",", at.start, offset) + 1, at.start)
    equals = text.rfind("=", start, offset)
    start = equals + 1 if equals >= 0 else start
    start += len(text[start:offset]) - len(text[start:offset].lstrip())
    end = min((place for place in (text.find(mark, offset, at.end) for mark in ",=") if place >= 0), default=at.end)
    end = max(offset, start + len(text[start:end].rstrip()))
    piece = at._replace(start=start, end=end, closed=True)
    for value in settings(document, at.block, after_equals=equals >= 0):
        continued = text[end : at.end].lstrip().startswith("=")
        yield piece, value._replace(text=value.text.removesuffix(" = ")) if continued else value


def _value_item(document: Document, at: CursorContext, value: CompletionValue) -> Completion:
    text = value.text
    if at.quoted:
        text += "" if at.closed else '"'
    elif value.quoted:
        text = f'"{text}"'
    if at.start == at.end and document.text[at.start - 1 : at.start] == ":":
        text = " " + text
    return Completion(value.text, value.kind, text, at.start, at.end, value.detail, value.documentation, value.search)


# ---- names of fields


def _names(document: Document, at: CursorContext, found: BlockSchema) -> Iterator[Completion]:
    given = {field.name for field in at.block.fields if field is not at.field}
    if found.header is None:
        assert found.definition is not None, "a block without a header is that of a definition"
        yield from _attributes(document, at, found.definition, given)
        return
    for field in found.header.fields.values():
        if field.name == BEFORE_OWN.get(found.header.name):
            yield from _own(document, at, found.definition, given)
        yield from _header(document, at, found, field, given)
    if found.header.name not in BEFORE_OWN:
        yield from _own(document, at, found.definition, given)


def _header(
    document: Document, at: CursorContext, found: BlockSchema, field: HeaderField, given: set[str]
) -> Iterator[Completion]:
    assert found.header is not None, "only messages have header fields"
    definition = found.definition
    if field.name in given and (not field.repeated or document.tree.json):
        return
    if field.name == "step" and (definition is None or definition.name != GROUP):
        return
    if field.name == "activation" and isinstance(definition, LayerDefinition) and "act" not in definition.common:
        return
    kind = "block" if field.message else "field"
    documentation = header_text(found.header.name, field.name)
    yield _item(document, at, kind, field.name, _header_value(document, field), header_facts(field), documentation)


def _own(document: Document, at: CursorContext, definition: Definition | None, given: set[str]) -> Iterator[Completion]:
    """The block of the type's attributes."""
    if definition is not None and definition.attributes and definition.name not in given:
        detail, text = f"attributes of `{definition.name}`", definition_text(definition)
        yield _item(document, at, "block", definition.name, "{ $0 }", detail, text)


def _attributes(document: Document, at: CursorContext, definition: Definition, given: set[str]) -> Iterator[Completion]:
    known = definition.attribute_by_name
    taken = {known[name].name for name in given if name in known}
    free = [a for a in definition.attributes.values() if not a.deprecated and (a.repeated or a.name not in taken)]
    for attribute in sorted(free, key=lambda attribute: not attribute.required):
        facts, documentation = attribute_facts(attribute), attribute_text(attribute)
        value = _attribute_value(document, attribute)
        yield _item(document, at, "field", attribute.name, value, facts, documentation)


def _item(
    document: Document, at: CursorContext, kind: str, name: str, value: str, detail: str, documentation: str
) -> Completion:
    """A name with a placeholder for its value, or the name alone if a value follows."""
    end = at.end
    if document.tree.json:
        text = f'"{name}"' if at.continued else f'"{name}": {value}'
        text = text[at.quoted :]
        end += at.closed
    elif at.continued:
        text = name
    else:
        text = f"{name} {value}" if kind == "block" else f"{name}: {value}"
    return Completion(name, kind, text, at.start, end, detail, documentation)


def _header_value(document: Document, field: HeaderField) -> str:
    json = document.tree.json
    if field.message:
        return "[{ $0 }]" if json and field.repeated else "{ $0 }"
    assert field.attribute is not None, "a field is a message or has an attribute"
    value = '"$0"' if field.attribute.type in ("STRING", "CHOICE") else CURSOR
    return f"[{value}]" if json and field.repeated else value


def _attribute_value(document: Document, attribute: Attribute[Any]) -> str:
    quoted = attribute.type == "STRING" or (attribute.type == "CHOICE" and document.tree.json)
    value = '"$0"' if quoted else CURSOR
    return f"[{value}]" if attribute.repeated else value
