"""Networks that run once for every step of a sequence, written in the config itself."""

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


@layer("recurrent_group", elsewhere={"Paddle": "recurrent_layer_group", "KUnet": "RNN"}, since=1)
class RecurrentGroup:
    """A network of layers that runs once for every step of the sequences it is given.

    The layers stand in the block `step`. Inputs are in sequences, all of one level and length: a step sees one row of
    each sequence, or one sub-sequence where they are nested. Inputs that `static` names are seen whole in every step:
    one row for each sequence, or a sequence to attend to. A `memory` in the step is what a layer gave in the step
    before. The outputs that the step names become the group's, in sequences again. In Paddle, a static input is a
    `StaticInput`, and the lengths are those of `targetInlink`; here they are those of all inputs that are not static.
    What `beam_search` of a `GeneratedInput` is there, the block `generate` of a training file is here: the same group
    writes texts.
    """

    x = Input("N C_i...", "sequences, and what all steps see", repeatable=True, kinds=KINDS, seq=(0, 1, 2))
    y = Output("N K_i...", "what the steps gave, in the sequences of the inputs", repeatable=True)
    static = Strings("names of inputs that every step sees whole", default=())
    reverse = Bool("from the end of each sequence to its start", default=False)
    networks = (LANGUAGE_MODEL, DECODER)


@layer("memory", elsewhere={"Paddle": "agent"}, since=1)
class Memory:
    """What a layer of a `recurrent_group` gave in the step before.

    It stands in the group's `step`. In the first step it has the rows of its input, a static input of the group with a
    row for each sequence; without an input all numbers are `value`, or all ids are `id`. In Paddle, the
    input is `boot_layer`, and `id` is `boot_with_const_id`.
    """

    x = Input("N ...", "rows before the first step", optional=True, kinds=("DENSE", "INT"))
    y = Output("N ...", "rows of the step before")
    of = String("the layer's output in the step, by name")
    size = Int("numbers in a row, or with `id` the number of ids", optional=True, min=1)
    shape = Ints("axes of a row where there are several, as of an image", optional=True, min=1, min_items=1)
    value = Float("every number before the first step", default=0.0)
    id = Int("every id before the first step; it makes this a memory of ids", optional=True, min=0)
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
    require(id < size, "id", f"there are {size} ids, so the id {id} is none of them")
    return [Type.ids(size)]


def check_absent(name, given):
    """Refuse what the input says already."""
    require(given is None, name, f"the input gives the rows before the first step, so there is no `{name}`")
