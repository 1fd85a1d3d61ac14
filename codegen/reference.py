"""The reference: a page per definition and diagnostic code, and the indexes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.output_folders import write_texts

from .axes import axes_picture
from .markdown import code
from .pages import FILES, code_page, file_page, page, render, source_place
from .words import FAMILIES, KINDS, LEVELS, family_title

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

CODES = "diagnostics"

ABOUT = {
    "layer": "layers of a network",
    "optimizer": "parameter update rules",
    "schedule": "learning rate schedules",
    "regularizer": "weight penalties",
    "initializer": "initial values of parameters",
    "source": "readers of data",
    "transform": "preprocessing and augmentation",
    "callback": "hooks of the training loop",
}

SourceLink = Callable[[Definition, Path], str]
"""Gives the Markdown that leads from a page to the text of a definition."""


def write_reference(folder: Path, source_link: SourceLink | None = None) -> list[Path]:
    """Write all pages, their images and the indexes below `folder`; returns their paths. Raises `OSError`."""
    texts: dict[str, str] = {}
    link = source_link or _relative_link
    for kind, name in FOLDERS.items():
        for definition in registries[kind].values():
            path = f"{name}/{definition.name}"
            is_layer = isinstance(definition, LayerDefinition)
            source = link(definition, folder / f"{path}.md")
            texts[f"{path}.md"] = page(definition, source=source, picture=is_layer, linked=True)
            if isinstance(definition, LayerDefinition):
                texts[f"{path}.svg"] = axes_picture(definition)
    texts |= {f"{name}.md": file_page(name, FOLDERS) for name in FILES}
    texts |= {f"{CODES}/{name}.md": code_page(name) for name in EXPLANATIONS}
    return write_texts(folder, texts | dict(_indexes()))


def _relative_link(definition: Definition, page_path: Path) -> str:
    """A link to the line, where the page is written into the project that the definition belongs to."""
    place, file = code(source_place(definition)), Path(definition.file).resolve()
    folder = page_path.resolve().parent
    # Links must work in a checkout on GitHub; an absolute path of this machine would work nowhere else.
    project = next((parent for parent in folder.parents if (parent / "pyproject.toml").is_file()), None)
    if project is None or not file.is_relative_to(project):
        return place
    return f"[{place}]({Path(os.path.relpath(file, folder)).as_posix()}#L{definition.line})"


# ---- indexes


def _indexes() -> Iterator[tuple[str, str]]:
    sections = []
    for kind, folder in FOLDERS.items():
        definitions = registries[kind].values()
        if definitions:
            yield f"{folder}/index.md", _list(folder.capitalize(), _families(definitions))
            sections.append((folder.capitalize(), f"{folder}/index.md", len(definitions), ABOUT[kind]))
    rows = [(name, f"{name}.md", explanation.title) for name, explanation in EXPLANATIONS.items()]
    yield f"{CODES}/index.md", _list("Diagnostics", {"": rows})
    sections.append(("Diagnostics", f"{CODES}/index.md", len(rows), "errors and warnings of `validate`"))
    yield "elsewhere.md", render("elsewhere.md.j2", rows=sorted(_elsewhere(), key=lambda row: (row[0].lower(), row)))
    yield "by-input.md", _list("Layers by input type", _by_input())
    yield "index.md", render("index.md.j2", sections=sections)


def _list(title: str, groups: dict[str, list[tuple[str, str, str]]]) -> str:
    return render("list.md.j2", title=title, groups=groups)


def _families(definitions: list[Definition]) -> dict[str, list[tuple[str, str, str]]]:
    """Rows by family, which only layers have more than one of."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for definition in definitions:
        family = definition.family if definition.kind == "layer" else ""
        groups.setdefault(family, []).append((definition.name, f"{definition.name}.md", definition.summary))
    order = [*(family for family in FAMILIES if family in groups), *sorted(groups.keys() - FAMILIES.keys())]
    return {family_title(family): groups[family] for family in order}


def _elsewhere() -> Iterator[tuple[str, str, str, str]]:
    for kind, folder in FOLDERS.items():
        for definition in registries[kind].values():
            for system, names in definition.elsewhere.items():
                for name in names.split(", "):
                    yield name, system, definition.name, f"{folder}/{definition.name}.md"


def _by_input() -> dict[str, list[tuple[str, str, str]]]:
    """Layers by the data types and the nesting of their inputs; those that only pass a type on are not repeated."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for layer in registries["layer"].values():
        kinds = {kind for field in layer.inputs.values() for kind in field.kinds}
        levels = {level for field in layer.inputs.values() for level in field.seq}
        headings = [KINDS[kind].capitalize() for kind in KINDS if kind in kinds]
        headings += [LEVELS[level].capitalize() for level in (1, 2) if level in levels]
        headings += [] if layer.inputs else ["Nothing"]
        for heading in headings:
            groups.setdefault(heading, []).append((layer.name, f"layers/{layer.name}.md", layer.summary))
    order = [*(k.capitalize() for k in KINDS.values()), *(level.capitalize() for level in LEVELS), "Nothing"]
    return {heading: groups[heading] for heading in order if heading in groups}
