"""The page of a diagnostic code, and fragments from which the examples are built."""

from __future__ import annotations

from typing import NamedTuple


class Explanation(NamedTuple):
    """The page of a code."""

    title: str
    text: str
    wrong: str = ""
    right: str = ""
    kind: str = "network"

    def __str__(self) -> str:
        parts = [self.title, "", self.text]
        if self.wrong:
            parts += ["", "Wrong:", _indented(self.wrong), "", "Right:", _indented(self.right)]
        return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


X = 'layer { name: "x" type: "data" data { shape: [3, 8, 8] } }\n'
LABEL = 'layer { name: "label" type: "data" data { data_type: INT size: 10 } }\n'
FC = 'layer { name: "y" type: "fc" input: "x" fc { size: 10 } }'
COST = f'\n{LABEL}layer {{ name: "cost" type: "softmax_with_loss" input: "y" input: "label" }}'
OPTIMIZER = 'optimizer { type: "sgd" learning_rate: 0.1 }\n'
SOURCE = 'source { type: "digits" digits { part: "train" } }\n'
TESTED = 'source { type: "digits" phase: "test" digits { part: "test" } }\n'
NET_WITH_FC = "net {\n  " + X.replace("[3, 8, 8]", "[64]") + "  " + FC + "\n}\n"
NET = "net {\n  " + X.replace("[3, 8, 8]", "[64]") + "}\n"


SEQUENCES = (
    'layer { name: "words" type: "data" data { shape: 4 seq_nested_level: 1 } }\n'
    'layer { name: "start" type: "data" data { shape: 8 } }\n'
)
FED = 'layer { name: "x" type: "data" data { shape: 8 seq_nested_level: 1 } }\n'
CARRIED = """layer { name: "start" type: "data" data { shape: 8 carry: "last" } }
layer { name: "each" type: "expand" input: "start" input: "x" }
layer { name: "sums" type: "addto" input: "each" input: "x" }
layer { name: "last" type: "seq_last" input: "sums" }
"""
STATE = """    layer { name: "before" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "state" type: "fc" input: "words" input: "before" fc { size: 8 } }
"""


def group(block: str = 'recurrent_group { static: "start" }', step: str = STATE, output: str = "state") -> str:
    """A network with a recurrent group that has this block, these layers in its step and this output."""
    head = f'layer {{\n  name: "g" type: "recurrent_group" input: "words" input: "start"\n  {block}'.rstrip()
    return f'{head}\n  step {{\n{step}    output: "{output}"\n  }}\n}}'


def with_x(layer: str) -> str:
    """A network of the data layer `x` and these layers."""
    return X + layer
