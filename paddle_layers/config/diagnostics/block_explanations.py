"""Explanations of the diagnostic codes for blocks."""

from __future__ import annotations

from .explanation import Explanation, X

_LAYERS = """  layer { name: "map" type: "fc" input: "x" set: "size" }
  layer { name: "sum" type: "addto" input: "map" input: "x" }
"""
_DATA = 'layer { name: "x" type: "data" data { shape: 4 } }\n'
_USE = 'layer { name: "y" type: "residual" input: "x" set: "size = 4" }'


def _block(layers: str = _LAYERS, settings: str = "size", output: str = "sum", name: str = "residual") -> str:
    """A block with these layers."""
    head = f'block {{\n  name: "{name}"\n  input: "x"\n  settings: "{settings}"\n'
    return f'{head}{layers}  output: "{output}"\n}}\n'


_RIGHT = _block() + _DATA + _USE

BLOCK_EXPLANATIONS: dict[str, Explanation] = {
    "E118": Explanation(
        "A setting cannot be read",
        "`set` and `settings` hold names and values with commas between them: `filters = 64, stride = 2`. A value is a "
        "number, `true`, `false`, a text in single quotes, or in a block a sum of products of whole numbers and "
        "settings: `4 * filters + 1`.",
        _block() + _DATA + _USE.replace("size = 4", "size = 4 *"),
        _RIGHT,
    ),
    "E119": Explanation(
        "A setting has no such value",
        "An expression in a block reads settings that the block declares, and adds and multiplies whole numbers only. "
        "Outside of blocks there are no settings.",
        _block(_LAYERS.replace('"size"', '"size = width"')) + _DATA + _USE,
        _RIGHT,
    ),
    "E120": Explanation(
        "A block is declared wrongly",
        "It has a name that no layer type and no other block has, at least one input, and every input and output once.",
        _block(name="fc") + _DATA + _USE.replace("residual", "fc"),
        _RIGHT,
    ),
    "E121": Explanation(
        "Only a block has settings and is repeated",
        "Outside of blocks, `set` and `times` are for layers that use a block; attributes of other layers stand in the "
        "block of attributes named like the type. What is there several times has an input and one output.",
        X + 'layer { name: "y" type: "fc" input: "x" set: "size = 10" }',
        X + 'layer { name: "y" type: "fc" input: "x" fc { size: 10 } }',
    ),
    "E218": Explanation(
        "A block cannot give this output",
        "The `output` of a block names outputs of its layers.",
        _block(output="total") + _DATA + _USE,
        _RIGHT,
    ),
    "E219": Explanation(
        "A block uses itself",
        "The layers of a block are put in place of each layer that uses it; if one of them uses the block again, that "
        "never ends. For steps that repeat there is `times`, for those of a sequence `recurrent_group`.",
        _block(_LAYERS.replace('"fc"', '"residual"')) + _DATA + _USE,
        _RIGHT,
    ),
    "E220": Explanation(
        "Blocks stand for too many layers",
        "All blocks of a network stand for at most 100,000 layers, and are nested at most 20 deep.",
        _block() + _DATA + _USE.replace(" }", " times: 50000 }"),
        _RIGHT,
    ),
    "W007": Explanation(
        "A block, or a part of it, is of no use",
        "No layer uses the block, or nothing in it reads one of its settings or inputs. Mostly a name is misspelt or "
        "was forgotten.",
        _block(settings="size, stride = 1") + _DATA + _USE,
        _RIGHT,
    ),
}
