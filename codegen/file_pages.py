"""Reference pages of network and training files: fields of the messages, from the schema and its comments."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.config.binding.headers import HeaderField, spec
from paddle_layers.define.messages.layer_def import attribute_def
from paddle_layers.schema.comments import COMMENTS

from .markdown import Markdown, cell_code
from .pages import render
from .words import attribute_range, attribute_type, config_text

FILES = {"network-file": ("Network files", "Network"), "training-file": ("Training files", "Training")}
"""Pages by name: title, and the message that such a file holds."""


class FieldRow(NamedTuple):
    """A field of a message."""

    name: str
    takes: str
    default: str
    meaning: str


class MessageSection(NamedTuple):
    """A message: its position in the file, its description, its fields."""

    heading: str
    about: str
    rows: list[FieldRow]


def file_page(name: str, folders: dict[str, str]) -> str:
    """The page of a kind of file; `folders` has the folder of the pages of each registry."""
    title, root = FILES[name]
    headings = _messages(root)
    parts = [_part(message, headings, folders) for message in headings]
    return render("file.md.j2", title=title, parts=parts)


def _messages(root: str) -> dict[str, str]:
    """Messages of a file in the order of reading, with the block that each is; a network has its own page."""
    found = {root: ""}
    waiting = [root]
    while waiting:
        # Breadth first: the fields of a message are described before those of its blocks.
        message = waiting.pop(0)
        for field in spec(message).fields.values():
            if field.message and field.message not in found and field.message != "Network":
                found[field.message] = f"{found[message]} {field.name}".strip()
                waiting.append(field.message)
    return found


def _part(message: str, headings: dict[str, str], folders: dict[str, str]) -> MessageSection:
    rows = [
        FieldRow(field.name, _takes(field, headings), _default(field), COMMENTS.get(f"{message}.{field.name}", ""))
        for field in spec(message).fields.values()
    ]
    registry = next((f.registry for f in _users(message) if f.registry), "")
    if registry:
        link = f"[registered {registry}]({folders[registry]}/index.md)"
        rows.append(FieldRow("...", Markdown(f"a block named like its `type`, with the settings of a {link}"), "", ""))
    return MessageSection(headings[message], COMMENTS.get(message, ""), rows)


def _users(message: str) -> list[HeaderField]:
    """Fields that hold a message."""
    roots = ("Network", "Training", "Layer", "ParamSettings", "Source")
    return [field for root in roots for field in spec(root).fields.values() if field.message == message]


def _takes(field: HeaderField, headings: dict[str, str]) -> str:
    if field.message == "Network":
        kind = "[a network](network-file.md)"
    elif field.attribute is None:
        kind = f"[block](#{headings[field.message].replace(' ', '-')})"
    else:
        message = attribute_def(field.attribute)
        kind = attribute_type(message).removeprefix("list of ")
        message.ClearField("max_value")  # it only says how many bits there are, as does a lower bound that is as far
        if getattr(field.attribute, "min", None) in (-(2**31), -(2**63)):
            message.ClearField("min_value")
        limits = attribute_range(message).partition(" values, each ")[2] or attribute_range(message)
        kind += f", {limits.replace('<', '&lt;').replace('>', '&gt;')}" if limits else ""
    return Markdown(kind + (", repeated" if field.repeated else ""))


def _default(field: HeaderField) -> str:
    if field.required:
        return "required"
    return "" if field.default in (None, ()) else cell_code(config_text(field.default))
