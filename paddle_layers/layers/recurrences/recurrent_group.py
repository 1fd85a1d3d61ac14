"""Recurrent groups: a network of layers that is run once per step of a sequence."""

from paddle_layers.define import (
    Bool,
    Float,
    Input,
    Int,
    Ints,
    Output,
    String,
    Strings,
    Type,
    layer,
    output_types,
    require,
)
from paddle_layers.define.fields.types import KINDS

LANGUAGE_MODEL = """
layer { name: "words" type: "data" data { data_type: INT size: 50 seq_nested_level: 1 } }
layer { name: "embedded" type: "embedding" input: "words" embedding { size: 4 } }
layer {
  name: "states"
  type: "recurrent_group"
  input: "embedded"
  step {
    layer { name: "before" type: "memory" memory { of: "state" size: 6 } }
    layer { name: "state" type: "fc" input: "embedded" input: "before" fc { size: 6 act: "tanh" } }
    output: "state"
  }
}
"""

DECODER = """
layer { name: "targets" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "source" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "summary" type: "seq_last" input: "source" }
layer {
  name: "decoder"
  type: "recurrent_group"
  input: "targets"
  input: "source"
  input: "summary"
  recurrent_group { static: ["source", "summary"] }
  step {
    layer { name: "before" type: "memory" input: "summary" memory { of: "state" } }
    layer { name: "spread" type: "expand" input: "before" input: "source" }
    layer { name: "both" type: "concat" input: "source" input: "spread" }
    layer { name: "scores" type: "fc" input: "both" fc { size: 1 bias: false } }
    layer { name: "shares" type: "sequence_softmax" input: "scores" }
    layer { name: "scaled" type: "scaling" input: "shares" input: "source" }
    layer { name: "context" type: "seq_avg_pool" input: "scaled" seq_avg_pool { strategy: SUM } }
    layer { name: "state" type: "fc" input: "targets" input: "context" input: "before" fc { size: 3 act: "tanh" } }
    output: "state"
    output: "context"
  }
}
"""


@layer(
    "recurrent_group",
    elsewhere={"Paddle": "recurrent_layer_group", "KUnet": "RNN"},
    terms=("recurrent group", "custom RNN cell", "unrolled loop", "scan"),
    since=1,
)
class RecurrentGroup:
    """Recurrent group: a custom RNN cell, a network of layers that is run once per step of its input sequences.

    The layers are in the block `step`. Inputs are sequences of the same level and length: a step reads one element of
    each sequence, or one sub-sequence if they are nested. Inputs listed in `static` are read completely in every step:
    one vector per sequence, or a sequence to attend to. A `memory` in the step is the output of a layer in the previous
    step. The outputs named by the step become those of the group, as sequences. In Paddle, a static input is a
    `StaticInput`, and the lengths are those of `targetInlink`; here they are those of all inputs that are not static.
    The equivalent of `beam_search` with a `GeneratedInput` is the block `generate` of a training file: the same group
    generates text.
    """

    x = Input("N C_i...", "sequences, and static inputs", repeatable=True, kinds=KINDS, seq=(0, 1, 2))
    y = Output("N K_i...", "outputs of the steps, in the sequences of the inputs", repeatable=True)
    static = Strings("names of static inputs, which every step reads completely", default=())
    reverse = Bool("process each sequence in reverse", default=False)
    networks = (LANGUAGE_MODEL, DECODER)


@layer(
    "memory",
    elsewhere={"Paddle": "agent"},
    terms=("recurrent state", "hidden state"),
    since=1,
)
class Memory:
    """Recurrent state of a `recurrent_group`: the output of a layer in the previous step.

    It is part of the group's `step`. In the first step it has the values of its input, a static input of the group with
    one vector per sequence; without an input all elements are `value`, or all ids are `id`. In Paddle, the input is
    `boot_layer`, and `id` is `boot_with_const_id`.
    """

    x = Input("N ...", "initial values", optional=True, kinds=("DENSE", "INT"))
    y = Output("N ...", "values of the previous step")
    of = String("name of the layer in the step whose output is remembered")
    size = Int("size of the value, or with `id` the number of ids", optional=True, min=1)
    shape = Ints("shape of the value if it has several axes, such as an image", optional=True, min=1, min_items=1)
    value = Float("initial value of all elements", default=0.0)
    id = Int("initial id; makes this a memory of ids", optional=True, min=0)
    networks = (LANGUAGE_MODEL, DECODER)


@output_types(Memory)
def memory_type(x, size, shape, value, id):
    if x is not None:
        check_absent("size", size)
        check_absent("shape", shape)
        check_absent("value", value or None)
        check_absent("id", id)
        return [x]
    require(size is not None or shape is not None, "size", "without an input it needs the `size` of its rows")
    require(size is None or shape is None, "shape", "`size` and `shape` contradict each other; write one of them")
    if id is None:
        return [Type.dense(*(shape or (size,)))]
    require(size is not None, "size", "a memory of ids needs the number of ids as `size`, not a shape")
    require(value == 0, "value", "a memory of ids starts with `id`, not with a `value`")
    require(id < size, "id", f"the ids are 0 to {size - 1}, got {id}")
    return [Type.ids(size)]


def check_absent(name, given):
    """Refuse what the input says already."""
    require(given is None, name, f"the input gives the rows before the first step, so there is no `{name}`")
