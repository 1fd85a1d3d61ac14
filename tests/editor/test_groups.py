"""The editor in the steps of recurrent groups, where names are a scope of their own."""

from __future__ import annotations

from paddle_layers.editor.hover import symbols
from tests.editor.helpers import emptied, labels, marked, opened, shown, taken, target

NET = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "start" type: "data" data { shape: 8 } }
layer { name: "other" type: "data" data { shape: 3 } }
layer {
  name: "g" type: "recurrent_group" input: "x" input: "start"
  recurrent_group { static: "start" }
  step {
    layer { name: "old" type: "memory" input: "start" memory { of: "h" } }
    layer { name: "h" type: "fc" input: "x" input: "old" fc { size: 8 } param { of: "bias" lr_mult: 2 } }
    layer { name: "other" type: "fc" input: "h" fc { size: 2 } }
    output: "h"
    output: "other"
  }
}
layer { name: "y" type: "fc" input: "g" input: "g.other" fc { size: 2 } }
"""


def test_inputs_in_a_step_are_its_layers_and_the_inputs_of_the_group() -> None:
    assert labels(emptied(NET, 'type: "fc" input: "')) == ["old", "other", "x", "start"]
    assert labels(emptied(NET, 'name: "y" type: "fc" input: "')) == ["g", "g.other", "other", "start", "x"]


def test_names_of_the_step_for_memories_outputs_and_static_inputs() -> None:
    assert labels(emptied(NET, 'memory { of: "')) == ["h", "other"]
    assert labels(emptied(NET, 'output: "')) == ["old", "h", "other"]
    assert labels(emptied(NET, 'static: "')) == ["x", "start"]
    assert labels(emptied(NET, 'param { of: "')) == ["weight", "bias"]


def test_only_a_group_is_offered_a_step() -> None:
    assert "step" in labels('layer { name: "g" type: "recurrent_group" | }')
    assert "step" not in labels('layer { name: "g" type: "fc" | }')
    assert taken('layer { name: "g" type: "recurrent_group" | }', "step").endswith("step {  } }")


def test_types_are_those_that_a_step_sees() -> None:
    assert shown(marked(NET, '"x" input: "old"')).startswith("`x`: `4`\n")
    assert shown(marked(NET, '"start" memory')).startswith("`start`: `8`\n")
    assert shown(marked(NET, '"x" input: "start"\n')).startswith("`x`: `sequence of 4`\n")
    assert "x 4, old 8 → h 8" in shown(marked(NET, '"h" type'))
    assert shown(marked(NET, '"h"\n')).startswith("`h`: `8`\n")


def test_a_name_means_the_nearest_layer() -> None:
    lines = NET.splitlines()
    assert [lines[line] for line in target(marked(NET, '"h" fc { size: 2 }'))] == [lines[9]]
    assert [lines[line] for line in target(marked(NET, '"x" input: "old"'))] == [lines[1]]
    assert [symbol.name for symbol in symbols(opened(NET + "|")[0])] == [
        "x", "start", "other", "g", "old", "h", "other", "y",
    ]  # fmt: skip


def test_a_layer_of_a_step_that_is_not_closed_is_a_layer_of_the_step() -> None:
    text = NET.replace('memory { of: "h" } }', 'memory { of: "h" }').replace('input: "h" fc', 'input: "|" fc')
    assert labels(text) == ["h", "old", "x", "start"]
