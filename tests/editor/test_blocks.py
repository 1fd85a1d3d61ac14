"""The editor in blocks of a file: their names, settings and inputs."""

from __future__ import annotations

from paddle_layers.editor.hover import symbols
from tests.editor.helpers import emptied, labels, marked, opened, shown, taken, target

NET = """
block {
  name: "unit" input: "rows" settings: "width, act = 'relu'"
  layer { name: "map" type: "fc" input: "rows" set: "size = 2 * width, act" }
  layer { name: "sum" type: "addto" input: "map" input: "rows" }
  output: "sum"
}
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "y" type: "unit" input: "x" set: "width = 2" }
"""


def test_a_block_is_a_type() -> None:
    assert labels(emptied(NET, '"y" type: "'))[0] == "unit"


def test_inputs_in_a_block_are_its_layers_and_its_inputs() -> None:
    assert labels(emptied(NET, 'type: "fc" input: "')) == ["sum", "rows"]
    assert labels(emptied(NET, 'output: "')) == ["map", "sum"]
    assert labels(emptied(NET, 'type: "unit" input: "')) == ["x"]


def test_settings_are_offered_where_a_block_is_used_and_attributes_in_it() -> None:
    assert labels(emptied(NET, '"x" set: "')) == ["width = ", "act = "]
    assert "size = " in labels(emptied(NET, '"rows" set: "'))
    assert labels(marked(NET, "= 2 * width", 2)) == ["width", "act"]


def test_a_piece_between_commas_is_replaced_alone() -> None:
    text = NET.replace('"width = 2"', '"width = 2, a|"')
    assert taken(text, "act = ") == NET.replace('"width = 2"', '"width = 2, act = "')


def test_hover_tells_the_types_of_the_first_use() -> None:
    assert "rows 4 → map 4" in shown(marked(NET, '"map" type'))
    assert "input of the block, as used by `y`" in shown(marked(NET, '"rows" set'))
    assert "settings: `width, act = 'relu'`" in shown(marked(NET, '"unit" input: "x"'))
    assert "map.weight 4x4" in shown(marked(NET, '"y" type'))


def test_definitions_of_blocks_and_their_inputs() -> None:
    assert target(marked(NET, '"unit" input: "x"')) == [2]
    assert target(marked(NET, '"rows" set')) == [2]
    assert target(marked(NET, '"map" input')) == [3]


def test_layers_of_blocks_are_symbols() -> None:
    document, _ = opened(NET + "|")
    assert [symbol.name for symbol in symbols(document)] == ["map", "sum", "x", "y"]
