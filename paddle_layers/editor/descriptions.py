"""Markdown for completion and hover: definitions, fields and attributes; text of plugins is escaped."""

from __future__ import annotations

from paddle_layers.codegen.markdown import code, escape
from paddle_layers.codegen.words import attribute_range, attribute_type, config_text, default_text
from paddle_layers.config.binding.headers import HeaderField
from paddle_layers.define import Attribute, Definition
from paddle_layers.define.messages.layer_def import attribute_def
from paddle_layers.schema.comments import COMMENTS

from .block_schema import UNDECIDED


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
