"""The drawing of a network: sizes on the arrows, what is inside of layers, and parts that repeat drawn once."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

from paddle_layers.codegen.network_picture import picture, runs

import paddle_layers as pl
from paddle_layers.runtime.plan.dry_run import footprint

HEAD = 'layer { name: "x" type: "data" data { shape: 8 seq_nested_level: 1 } }\n'


def drawn(text: str) -> list[str]:
    network = pl.loads(text)
    svg = picture(network, footprint(network, 4))
    return [str(element.text) for element in ET.fromstring(svg).iter() if element.tag.endswith("}text")]


def blocks(text: str) -> list[tuple[int, int]]:
    """Layers of a block and number of the blocks, for each run."""
    return [(len(run.blocks[0]), len(run.blocks)) for run in runs(pl.loads(text).nodes)]


def chain(count: int, kind: str = "transformer_block") -> str:
    names = ["x", *(f"b{number}" for number in range(count))]
    return HEAD + "".join(
        f'layer {{ name: "{own}" type: "{kind}" input: "{above}" }}\n' for above, own in pairwise(names)
    )


def test_sizes_stand_on_the_arrows() -> None:
    texts = drawn(HEAD + 'layer { name: "y" type: "fc" input: "x" fc { size: 3 } }\n')
    assert texts == ["x", "data", "y", "fc", "27 parameters", "sequence of 3", "sequence of 8"]


def test_the_inside_of_a_layer_is_drawn() -> None:
    texts = drawn(chain(1))
    for name in ("norm1", "query", "multi_head_attention", "residual2"):
        assert name in texts
    assert "fc + gelu" in texts


def test_blocks_that_repeat_are_drawn_once_with_their_number() -> None:
    texts = drawn(chain(6))
    assert "b0 ... b5" in texts
    assert "6 x transformer_block" in texts
    assert texts.count("norm1") == 1
    one = pl.loads(chain(1))
    parameters = footprint(one, 4).parameters
    assert f"{6 * parameters:,} parameters" in texts


def test_runs_of_several_layers() -> None:
    layers = ""
    above = "x"
    for number in range(4):
        layers += f'layer {{ name: "n{number}" type: "layer_norm" input: "{above}" }}\n'
        layers += f'layer {{ name: "s{number}" type: "addto" input: "n{number}" input: "{above}" }}\n'
        above = f"s{number}"
    assert blocks(HEAD + layers) == [(1, 1), (2, 4)]
    assert "4 times" in drawn(HEAD + layers)
    tail = 'layer { name: "late" type: "addto" input: "s3" input: "s1" }\n'
    assert blocks(HEAD + layers + tail)[-1] == (1, 1), "s1 is read from outside: not all four are alike"
    assert sum(size * times for size, times in blocks(HEAD + layers + tail)) == 10


def test_what_differs_does_not_repeat() -> None:
    text = HEAD + "".join(
        f'layer {{ name: "y{size}" type: "fc" input: "x" fc {{ size: {size} }} }}\n' for size in (2, 3, 4)
    )
    assert blocks(text) == [(1, 1)] * 4
    side = HEAD + "".join(f'layer {{ name: "y{i}" type: "fc" input: "x" fc {{ size: 2 }} }}\n' for i in range(4))
    assert blocks(side) == [(1, 1)] * 5, "side by side is not one after the other"
    assert blocks(chain(2, "layer_norm")) == [(1, 1)] * 3, "two plain layers are drawn as they are"
    assert blocks(chain(3, "layer_norm")) == [(1, 1), (1, 3)]


def test_boxes_lead_to_their_layers() -> None:
    network = pl.loads(chain(1))
    svg = picture(network, footprint(network, 4), lambda path: f"#{path}")
    assert set(re.findall(r'<a href="([^"]+)"', svg)) >= {"#x", "#b0", "#b0.norm1"}


def test_copies_of_a_block_are_drawn_once() -> None:
    block = """
    block {
      name: "grow" input: "x"
      layer { name: "more" type: "fc" input: "x" fc { size: 2 } }
      layer { name: "all" type: "concat" input: "x" input: "more" }
      output: "all"
    }
    layer { name: "x" type: "data" data { shape: 8 } }
    layer { name: "y" type: "grow" input: "x" times: 3 }
    """
    texts = drawn(block)
    assert "3 x grow" in texts
    assert texts.count("concat") == 1
    assert "66 parameters" in texts


def test_a_memory_says_of_which_layer_it_is() -> None:
    step = (
        'layer { name: "before" type: "memory" memory { of: "state" size: 3 } }'
        'layer { name: "state" type: "fc" input: "x" input: "before" fc { size: 3 } } output: "state"'
    )
    texts = drawn(f'{HEAD}layer {{ name: "group" type: "recurrent_group" input: "x" step {{ {step} }} }}')
    assert "memory of state" in texts
