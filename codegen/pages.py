"""Reference pages: one Markdown file for each registered definition, and an index."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.layer_def import component_def

from .examples import worked_examples
from .markdown import Markdown, block, cell, cell_code, code, codes, escape
from .words import argument_types, attribute_range, attribute_type, default_text, facts_text, signature

FOLDERS = {
    "layer": "layers",
    "optimizer": "optimizers",
    "schedule": "schedules",
    "regularizer": "regularizers",
    "initializer": "initializers",
    "source": "sources",
    "transform": "transforms",
    "callback": "callbacks",
}
"""Folder of the pages of each kind."""


def write_pages(folder: Path) -> list[Path]:
    """Write the page of everything that is registered, and `index.md`, below `folder`. Raises `OSError`."""
    written = []
    for kind, name in FOLDERS.items():
        for definition in registries[kind].values():
            written.append(folder / name / f"{definition.name}.md")
            _write(written[-1], page(definition))
    _write(folder / "index.md", index_page())
    return [*written, folder / "index.md"]


def page(definition: Definition) -> str:
    """The page of one definition."""
    if isinstance(definition, LayerDefinition):
        return _render(
            "layer.md.j2",
            layer=definition.message,
            examples=worked_examples(definition),
            source=_source(definition),
            functions=[(f.role, inspect.getsource(f.call)) for f in definition.functions if _has_text(f.call)],
        )
    return _render("component.md.j2", component=component_def(definition), source=_source(definition))


def index_page() -> str:
    """The list of all pages, layers by family."""
    families: dict[str, list[Definition]] = {}
    for definition in registries["layer"].values():
        families.setdefault(definition.family, []).append(definition)
    others = {kind: registries[kind].values() for kind in FOLDERS if kind != "layer"}
    return _render("index.md.j2", families=dict(sorted(families.items())), others=others, folders=FOLDERS)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _source(definition: Definition) -> str:
    file = Path(definition.file)
    module = definition.module.split(".")
    short = "/".join((*module[:-1], file.name)) if len(module) > 1 else file.name
    return f"{short}:{definition.line}"


def _has_text(call: Any) -> bool:
    try:
        return bool(inspect.getsource(call))
    except OSError:  # typed at a prompt
        return False


def _render(template: str, **values: Any) -> str:
    text = _environment().get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    """The output is Markdown: `finalize` escapes every expression that no filter made Markdown of."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        finalize=escape,
    )
    environment.filters |= {
        "cell": cell,
        "code": code,
        "cell_code": cell_code,
        "codes": codes,
        "block": block,
        "types": argument_types,
        "range": attribute_range,
        "type": attribute_type,
        "default": default_text,
        "facts": facts_text,
        "signature": lambda message: block(signature(message), "python"),
        "raw": Markdown,
    }
    return environment
