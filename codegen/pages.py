"""Reference pages: Markdown of one definition, of a diagnostic code, or of a kind of file by its messages."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from paddle_layers.config import render_text
from paddle_layers.config.binding.headers import HeaderField, spec
from paddle_layers.config.diagnostics.explanation import Explanation
from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
from paddle_layers.config.files import examine_network
from paddle_layers.config.trainingfiles import read_training
from paddle_layers.define import Definition, LayerDefinition
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.messages.layer_def import attribute_def, component_def
from paddle_layers.schema.comments import COMMENTS

from .layer_page import choices_of, layer_values, source_text
from .markdown import Markdown, block, cell, cell_code, code, codes, escape, math, prose
from .words import (
    argument_types,
    attribute_range,
    attribute_type,
    config_text,
    default_text,
    facts_text,
    lazy_text,
    signature,
)

FILES = {"network-file": ("Network files", "Network"), "training-file": ("Training files", "Training")}
"""Pages by name: title, and the message that such a file holds."""


def page(
    definition: Definition, *, source: str = "", picture: bool = False, linked: bool = False, formulas: bool = True
) -> str:
    """The page of a definition.

    `source`: Markdown link to its source; `picture`: the page's SVG is in a separate file; `linked`: the other pages
    are available for links.
    """
    source = source or code(source_place(definition))
    if isinstance(definition, LayerDefinition):
        values = layer_values(definition, formulas=formulas)
        return render("layer.md.j2", source=source, picture=picture, linked=linked, **values)
    text = source_text(definition.owner)
    lazy = lazy_text(definition) if isinstance(definition, Elementwise) else ""
    return render("component.md.j2", component=component_def(definition), source=source, text=text, lazy=lazy)


def terminal_page(definition: Definition) -> str:
    """The page for a terminal: functions instead of formulas, headings instead of collapsible sections, no tags."""
    text = page(definition, formulas=False).replace("<br>", " ")
    text = re.sub(r"^<summary>(.*)</summary>$", r"## \1", text, flags=re.MULTILINE)
    text = re.sub(r"</?(a|details)\b[^<>]*>", "", text)
    parts = re.split(r"(^`{3,}.*?^`{3,}$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"(\| )?(?<!`)`([^`\n]+)`(?!`)((?= \|))?", _visible_span, part) for part in parts[::2]]
    return "".join(parts)


def _visible_span(span: re.Match[str]) -> str:
    """Code in a sentence keeps its backticks, which tell it from the words; where it fills a cell it needs none."""
    before, code, at_end = span.groups()
    return span[0] if before and at_end is not None else f"{before or ''}`` `{code}` ``"


def code_page(name: str) -> str:
    """The page of a diagnostic's code, with what the wrong example makes `validate` say."""
    explanation = EXPLANATIONS[name]
    return render("code.md.j2", code=name, page=explanation, message=_message(explanation))


def source_place(definition: Definition) -> str:
    """File and line of a definition, relative to the folder of its package."""
    file = Path(definition.file)
    module = definition.module.split(".")
    short = "/".join((*module[:-1], file.name)) if len(module) > 1 else file.name
    return f"{short}:{definition.line}"


def _message(explanation: Explanation) -> str:
    if not explanation.wrong:
        return ""
    if explanation.kind == "network":
        return render_text(examine_network(explanation.wrong, "net.textproto").faults)
    return render_text(read_training(explanation.wrong, "train.textproto")[1].faults)


def render(template: str, **values: Any) -> str:
    """A template of the folder `templates` as Markdown; all `values` are escaped."""
    text = _environment().get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _anchor(name: str, prefix: str) -> Markdown:
    """A name in a table, with a permanent anchor: `fc.html#attribute-size`."""
    return Markdown(f'<a id="{prefix}-{re.sub(r"[^a-z0-9_]", "", name.lower())}"></a>{cell_code(name)}')


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    """The output is Markdown: `finalize` escapes every expression that no filter made Markdown of."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        # A misspelled name in a template is an error, not an empty page.
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        # Escaping by default, since a forgotten filter would let a plugin's text become markup. Jinja's autoescape is
        # for HTML only.
        finalize=escape,
    )
    environment.filters |= {
        "anchor": _anchor,
        "cell": cell,
        "code": code,
        "cell_code": cell_code,
        "codes": codes,
        "block": block,
        "math": math,
        "prose": prose,
        "choices": choices_of,
        "types": argument_types,
        "range": attribute_range,
        "type": attribute_type,
        "default": default_text,
        "facts": facts_text,
        "signature": lambda message: block(signature(message), "python"),
        "raw": Markdown,
    }
    return environment


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
