"""Reference pages: one for everything that is registered, complete, and safe whatever a plugin's text says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from paddle_layers.codegen.markdown import block, cell, code, escape
from paddle_layers.codegen.pages import FOLDERS, page, write_pages

import paddle_layers as pl
from paddle_layers.define import registries

LAYERS = list(pl.registry)
OTHERS = [(kind, name) for kind in registries if kind != "layer" for name in registries[kind]]
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


def tables(text: str) -> Iterator[list[str]]:
    """Tables outside of code blocks, as lists of lines."""
    rows: list[str] = []
    for line in [*FENCE.sub("", text).splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            yield rows
            rows = []


def columns(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row))


@pytest.mark.parametrize("name", LAYERS)
def test_page_of_a_layer(name: str) -> None:
    layer = pl.registry[name]
    text = page(layer)
    assert text.startswith(f"# {name}\n")
    for part in (*layer.inputs, *layer.outputs, *layer.attributes, *layer.params, *layer.states, *layer.stats):
        assert f"`{part}`" in text, part
    for system in layer.elsewhere:
        assert f"| {system} |" in text
    assert text.count("```textproto") == len(layer.examples)
    assert f".py:{layer.line}`" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize("name", LAYERS)
def test_tables_have_equal_rows(name: str) -> None:
    for rows in tables(page(pl.registry[name])):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows


@pytest.mark.parametrize(("kind", "name"), OTHERS)
def test_page_of_a_component(kind: str, name: str) -> None:
    definition = registries[kind][name]
    text = page(definition)
    assert text.startswith(f"# {name}\n")
    for attribute in definition.attributes.values():
        assert f"`{attribute.name}`" in text
    for rows in tables(text):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows


def test_examples_show_inferred_types() -> None:
    text = page(pl.registry["fc"])
    assert "| output `y` | `5` |" in text
    assert "| parameter `weight` | `7x5`, 35 weights |" in text


def test_index_links_to_pages_that_exist(tmp_path: Path) -> None:
    written = write_pages(tmp_path)
    assert set(written) == set(tmp_path.rglob("*.md"))
    links = re.findall(r"\]\(([^)]+)\)", (tmp_path / "index.md").read_text(encoding="utf-8"))
    assert {tmp_path / link for link in links} == set(written) - {tmp_path / "index.md"}
    assert set(FOLDERS) == set(registries)


HOSTILE = (
    "<script>alert(1)</script> | [x](javascript:alert(1)) ![i](x)\n\n# big\n\n```\nopen `a|b` & *b* _c_ snake_case"
)

PLUGIN = f'''
import paddle_layers as pl

@pl.layer("hostile", elsewhere={{"A|B": "`x`|"}})
class Hostile:
    """{HOSTILE}"""

    examples = [pl.Example(x="3"), pl.Example(x="3", word="a|b`")]
    x = pl.Input("...", "values | <b>bold</b>")
    y = pl.Output("...", "same\\n| shape")
    word = pl.String("a `word|here`", default="|`<i>")

@pl.each(Hostile.y)
def hostile_y(i, x):
    return x[i]  # ``` closes nothing

@pl.gradient(Hostile.x)
def hostile_dx(i, dy):
    return dy[i]
'''


def test_text_from_a_plugin_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(PLUGIN)
    pl.load_plugin(tmp_path / "hostile.py")
    try:
        text = page(pl.registry["hostile"])
    finally:
        pl.registry.remove("hostile")
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub("", text))
    assert "<" not in outside
    assert "](" not in outside.replace("\\]", "")
    assert not re.search(r"^# (big|lines)", text, re.MULTILINE)
    for rows in tables(text):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows


def test_escape_keeps_what_is_meant_as_code() -> None:
    assert escape("`a < b` < c") == "`a < b` &lt; c"
    assert escape("snake_case and _em_") == "snake_case and \\_em\\_"
    assert cell("`a | b`\nand | c") == "`a \\| b` and \\| c"
    assert code("a`b") == "``a`b``"
    assert block("```\n", "python") == "````python\n```\n````"
