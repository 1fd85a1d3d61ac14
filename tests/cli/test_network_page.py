"""The page of a network: complete in itself, every link leads somewhere on it, names of files stay text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands

NET = """
layer { name: "x" type: "data" data { shape: 8 seq_nested_level: 1 } }
layer { name: "block" type: "transformer_block" input: "x" transformer_block { num_heads: 2 } }
layer { name: "y" type: "fc" input: "block" fc { size: 3 } }
"""


class Found(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        self.ids += [value for name, value in attrs if name == "id" and value]


Show = Callable[..., tuple[str, str]]


@pytest.fixture
def show(tmp_path: Path) -> Show:
    def shown(text: str, status: int = 0) -> tuple[str, str]:
        """The page, empty where none was written, and what the command said."""
        network, file = tmp_path / "net.textproto", tmp_path / "net.html"
        network.write_text(text)
        done = CliRunner().invoke(commands, ["show", str(network), "--html", str(file)])
        assert done.exit_code == status, done.output
        return (file.read_text() if file.is_file() else ""), done.output

    return shown


def test_every_link_leads_to_a_place_on_the_page(show: Show) -> None:
    text, _ = show(NET)
    found = Found(text)
    assert all(link.startswith("#") for link in found.links)
    assert {unquote(link[1:]) for link in found.links} <= set(found.ids)
    assert {"layer-block.attention", "layer-y", "type-fc", "type-multi_head_attention"} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "link" not in found.tags


def test_a_layer_says_its_types_settings_and_parameters(show: Show) -> None:
    text, _ = show(NET)
    row = text.partition('id="layer-y"')[2].partition("</details>")[0]
    for part in ("sequence of 8", "sequence of 3", "<code>3</code>", "<td>weight</td><td>24</td>"):
        assert part in row, part
    assert "num_heads</td><td><code>2" in text


def test_a_page_of_a_file_with_faults_shows_them_and_the_sound_part(show: Show) -> None:
    text, said = show(NET.replace("size: 3", "sise: 3"), status=1)
    assert "has no attribute `sise`" in text
    assert "did you mean `size`?" in said
    assert 'id="layer-block"' in text
    assert 'id="layer-y"' not in text


def test_nothing_is_written_where_nothing_is_sound(show: Show) -> None:
    assert show("layer {", status=1)[0] == ""


def test_names_stay_text(show: Show) -> None:
    wrong = NET.replace('"fc" input', '"<script>" input')
    text, _ = show(wrong, status=1)
    assert "&lt;script&gt;" in text
    assert text.count("<script>") == 1, "the page's own"
    name, _ = show('name: "<img src=x>"' + NET)
    assert "<img" not in name
    assert re.search("<h1>&lt;img src=x&gt;</h1>", name)
