"""Schema of the blocks of a document, and Markdown descriptions of their fields for completion and hover.

A block is a message of the config schema or the attribute block of a registered definition. Text of plugins is escaped.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from paddle_layers.codegen.markdown import code, escape
from paddle_layers.codegen.words import attribute_range, attribute_type, config_text, default_text
from paddle_layers.config.binding.headers import HeaderField, MessageSpec, spec
from paddle_layers.config.reading.syntax_tree import SyntaxBlock
from paddle_layers.define import Attribute, Definition, registries
from paddle_layers.define.messages.layer_def import attribute_def
from paddle_layers.schema.comments import COMMENTS

UNDECIDED = "File"
"""Name of the header of a file that may still become a network file or a training file."""


class BlockSchema(NamedTuple):
    """A block with a header is a message; one without is the attribute block of its definition."""

    header: MessageSpec | None
    registry: str = ""
    """The registry of the `type` of a message."""
    definition: Definition | None = None


def schema_of(block: SyntaxBlock) -> BlockSchema | None:
    """The schema of a block; None for an unknown block."""
    root, *path = block.path()
    found: BlockSchema | None = BlockSchema(root_header(root))
    for inner in path:
        found = _inside(found, inner)
        if found is None:
            return None
    return found


def root_header(root: SyntaxBlock) -> MessageSpec:
    """The header of the file: that of a network, of a training, or of both while either is possible."""
    names = {field.name for field in root.fields}
    network, training = spec("Network"), spec("Training")
    if "layer" in names:
        return network
    if names & (set(training.fields) - set(network.fields)):
        return training
    return network if names & set(network.fields) else _either()


@cache
def _either() -> MessageSpec:
    return MessageSpec(UNDECIDED, spec("Network").fields | spec("Training").fields)


def header_field(found: BlockSchema, name: str) -> HeaderField | None:
    """The field of a message with this name."""
    return found.header.fields.get(name) if found.header is not None else None


def _inside(outer: BlockSchema | None, block: SyntaxBlock) -> BlockSchema | None:
    if outer is None or outer.header is None:
        return None
    field = outer.header.fields.get(block.name)
    if field is not None and field.message:
        type_ = block.word("type") if field.registry else ""
        definition = registries[field.registry].get(type_) if type_ else None
        return BlockSchema(spec(field.message), field.registry, definition)
    if outer.registry:
        definition = registries[outer.registry].get(block.name)
        if definition is not None:
            return BlockSchema(None, outer.registry, definition)
    return None


# ---- descriptions


def first_paragraph(definition: Definition) -> str:
    """Summary of a definition, in a few lines."""
    return " ".join(definition.description.partition("\n\n")[0].split())


def definition_text(definition: Definition) -> str:
    """Description and names in other frameworks."""
    parts: list[str] = [escape(first_paragraph(definition))]
    if definition.elsewhere:
        names = (f"{escape(system)} {code(name)}" for system, name in definition.elsewhere.items())
        parts.append(f"In other frameworks: {', '.join(names)}.")
    return "\n\n".join(parts)


def attribute_facts(attribute: Attribute[object]) -> str:
    """Type, range and default of an attribute, such as `int, >= 1, default 2`."""
    message = attribute_def(attribute)
    default = default_text(message).replace("`", "")
    default = default if default == "required" or default.startswith("same as") else f"default {default}"
    parts = [attribute_type(message), attribute_range(message), default]
    return ", ".join(part for part in parts if part)


def attribute_text(attribute: Attribute[object]) -> str:
    """The documentation of an attribute."""
    parts: list[str] = [escape(_sentence(attribute.doc))]
    if any(attribute.option_docs.values()):
        parts.append("\n".join(f"- {code(o)}: {escape(doc)}" for o, doc in attribute.option_docs.items()))
    if attribute.aliases:
        parts.append("Aliases: " + ", ".join(map(code, attribute.aliases)) + ".")
    if attribute.deprecated:
        parts.append(f"Deprecated: {escape(attribute.deprecated)}")
    return "\n\n".join(parts)


def header_facts(field: HeaderField) -> str:
    """Type, range and default of a field of the schema."""
    if field.attribute is None:
        kind = "block"
    else:
        kind = attribute_type(attribute_def(field.attribute)).removeprefix("list of ")
    limits = _limits(field.attribute) if field.attribute is not None else ""
    parts = [kind, limits, "repeated" if field.repeated else "", "required" if field.required else ""]
    if field.default not in (None, ()):
        parts.append(f"default {config_text(field.default)}")
    return ", ".join(part for part in parts if part)


def header_text(message: str, name: str) -> str:
    """The documentation of a field of the schema."""
    messages = (message,) if message != UNDECIDED else ("Network", "Training")
    return next((COMMENTS[f"{one}.{name}"] for one in messages if f"{one}.{name}" in COMMENTS), "")


def _limits(attribute: Attribute[object]) -> str:
    """The lower limit; the upper one only reflects the number of bits."""
    limits = ((">=", attribute.min), (">", attribute.above))
    return " and ".join(f"{sign} {limit:g}" for sign, limit in limits if limit is not None)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
