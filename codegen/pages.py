"""Reference pages: Markdown of one definition or diagnostic code."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from paddle_layers.config import render_text
from paddle_layers.config.diagnostics.explanation import Explanation
from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
from paddle_layers.config.files import examine_network
from paddle_layers.config.trainingfiles import read_training
from paddle_layers.define import Definition, LayerDefinition
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.messages.layer_def import component_def

from .layer_page import choices_of, layer_values, source_text
from .markdown import Markdown, block, cell, cell_code, code, codes, escape, math, prose
from .words import argument_types, attribute_range, attribute_type, default_text, facts_text, lazy_text, signature


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
