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
        "Malformed setting",
        "`set` and `settings` are comma-separated names and values: `filters = 64, stride = 2`. A value is a number, "
        "`true`, `false` or a string in single quotes; in a block also a sum of products of integers and settings: `4 "
        "* filters + 1`.",
        _block() + _DATA + _USE.replace("size = 4", "size = 4 *"),
        _RIGHT,
    ),
    "E119": Explanation(
        "Invalid value of a setting",
        "An expression in a block may use the settings that the block declares. Only integers can be added and "
        "multiplied. Outside of blocks there are no settings.",
        _block(_LAYERS.replace('"size"', '"size = width"')) + _DATA + _USE,
        _RIGHT,
    ),
    "E120": Explanation(
        "Invalid block declaration",
        "A block needs a name that no layer type and no other block has, at least one input, and unique names of "
        "inputs and outputs.",
        _block(name="fc") + _DATA + _USE.replace("residual", "fc"),
        _RIGHT,
    ),
    "E121": Explanation(
        "`set` or `times` not allowed here",
        "Outside of blocks, `set` and `times` are only allowed on layers that use a block; the attributes of other "
        "layers belong in the block named after the layer type. A repeated block needs an input and exactly one "
        "output.",
        X + 'layer { name: "y" type: "fc" input: "x" set: "size = 10" }',
        X + 'layer { name: "y" type: "fc" input: "x" fc { size: 10 } }',
    ),
    "E218": Explanation(
        "Invalid output of a block",
        "The `output` of a block names outputs of its layers.",
        _block(output="total") + _DATA + _USE,
        _RIGHT,
    ),
    "E219": Explanation(
        "Recursive block",
        "A block is expanded in every layer that uses it, so a block that uses itself would never end. To repeat a "
        "block, use `times`; for the time steps of a sequence, use `recurrent_group`.",
        _block(_LAYERS.replace('"fc"', '"residual"')) + _DATA + _USE,
        _RIGHT,
    ),
    "E220": Explanation(
        "Blocks expand to too many layers",
        "The blocks of a network expand to at most 100,000 layers and are nested at most 20 deep.",
        _block() + _DATA + _USE.replace(" }", " times: 50000 }"),
        _RIGHT,
    ),
    "W007": Explanation(
        "Unused block, setting or input",
        "No layer uses the block, or nothing in it uses one of its settings or inputs. Often a name is misspelled.",
        _block(settings="size, stride = 1") + _DATA + _USE,
        _RIGHT,
    ),
}
