"""The explanations of all diagnostic codes: the error, an example, and the corrected example.

The examples are network files (training files if `kind` says so); a test checks that the wrong one reports the code and
nothing else, and that the corrected one reports nothing.
"""

from __future__ import annotations

from .explanation import (
    CARRIED,
    COST,
    FC,
    FED,
    LABEL,
    NET,
    OPTIMIZER,
    SEQUENCES,
    SOURCE,
    STATE,
    Explanation,
    X,
    group,
    with_x,
)
from .training_explanations import BLOCK_EXPLANATIONS, TRAINING_EXPLANATIONS

_LSTM = (
    'layer {{ name: "x" type: "data" data {{ shape: 8 seq_nested_level: 1 }} }}\n'
    'layer {{ name: "target" type: "data" data {{ shape: 2 }} }}\n'
    'layer {{ name: "lstm" {} }}\n'
    'layer {{ name: "last" type: "seq_last" input: "lstm" }}\n'
    'layer {{ name: "cost" type: "square_error" input: "last" input: "target" }}'
)

_EXPLANATIONS: dict[str, Explanation] = {
    "E001": Explanation(
        "Syntax error",
        "A config is a list of fields. A field is a name followed by a colon and a value, or by a block in braces.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: } }'),
        with_x(FC),
    ),
    "E002": Explanation(
        "Mismatched brackets",
        "Every `{` and `[` needs a closing bracket. A layer that starts inside the block of another layer means that "
        "the other block is not closed.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 }'),
        with_x(FC),
    ),
    "E003": Explanation(
        "Malformed string",
        'A string ends on the line on which it starts. A backslash starts an escape sequence such as \\n, \\" or \\\\.',
        X + 'layer { name: "y\\q" type: "fc" input: "x" fc { size: 10 } }',
        with_x(FC),
    ),
    "E004": Explanation(
        "Malformed number",
        "Numbers are written as 20, -3, 0.5, 1e-5, or 0x1F.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10x } }'),
        with_x(FC),
    ),
    "E005": Explanation("Blocks are nested too deeply", "The maximum nesting depth is 100."),
    "E006": Explanation(
        "Invalid JSON",
        "A config that starts with a brace is parsed as JSON. The parser stops at the first syntax error.",
        '{"layer": [{"name": "x" "type": "data"}]}',
        '{"layer": [{"name": "x", "type": "data"}]}',
    ),
    "E007": Explanation("The file cannot be read", "The file does not exist, is a folder, or is not UTF-8 text."),
    "E008": Explanation(
        "The binary config cannot be read",
        "A file that ends in .binpb or .pb contains a protobuf message, `paddle_layers.Network` or "
        "`paddle_layers.Training`. It cannot be read if it is truncated or too large, contains another message or a "
        "string that is not UTF-8, or has unknown fields, because it comes from a newer version or needs a plugin that "
        "is not installed. `paddle-layers convert` writes binary configs.",
    ),
    "E009": Explanation(
        "Wrong kind of file",
        "A network file contains layers. A training file names a network file and configures the training. For other "
        "files, such as programs, tables, weights or configs of other frameworks, the message says how to use them.",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        with_x(FC),
    ),
    "E010": Explanation(
        "Caffe file",
        "Caffe's networks and solvers use the same text format with other fields. `paddle-layers import FILE -o DIR` "
        "converts a network to a network file and a solver to a training file.",
        'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 10 } }',
        with_x(FC),
    ),
    "E101": Explanation(
        "Unknown field",
        "Attributes belong in the block named after the layer type, fields such as `input` in the layer itself. "
        "Unknown names are always errors, so a misspelled one is never ignored.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { sise: 10 } }'),
        with_x(FC),
    ),
    "E102": Explanation(
        "Wrong type of value",
        "Strings must be quoted; numbers, `true` and `false` must not.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: "ten" } }'),
        with_x(FC),
    ),
    "E103": Explanation(
        "Value out of range",
        "The page of the layer lists the range of every attribute: `paddle-layers layers fc`.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 0 } }'),
        with_x(FC),
    ),
    "E104": Explanation(
        "Invalid choice",
        "The message lists the allowed values.",
        with_x('layer { name: "y" type: "eltwise" input: "x" input: "x" eltwise { operation: ADD } }'),
        with_x('layer { name: "y" type: "eltwise" input: "x" input: "x" eltwise { operation: SUM } }'),
    ),
    "E105": Explanation(
        "Missing field",
        "Attributes without a default are required.",
        with_x('layer { name: "y" type: "fc" input: "x" }'),
        with_x(FC),
    ),
    "E106": Explanation(
        "Duplicate field",
        "Only list fields may be repeated.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 size: 20 } }'),
        with_x(FC),
    ),
    "E107": Explanation(
        "Wrong number of values in a list",
        "The page of the layer lists how many values an attribute takes.",
    ),
    "E108": Explanation(
        "Attribute outside of its block",
        "Attributes belong in the block that is named like the type: of layers, optimizers, schedules, sources and all "
        "others. `paddle-layers fmt` moves them there.",
        with_x('layer { name: "y" type: "fc" input: "x" size: 10 }'),
        with_x(FC),
    ),
    "E109": Explanation(
        "Attribute block of another type",
        "A layer has one attribute block, named after its type.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } conv { num_filters: 3 } }'),
        with_x(FC),
    ),
    "E110": Explanation(
        "Missing name or type of a layer",
        "Every layer needs a name and a type.",
        with_x('layer { name: "y" input: "x" }'),
        with_x(FC),
    ),
    "E111": Explanation(
        "Unknown type",
        "The message suggests a similar name, or the equivalent of a type of another framework. The types of a plugin "
        "are available when it is installed or passed with `--plugins`.",
        with_x('layer { name: "y" type: "InnerProduct" input: "x" }'),
        with_x(FC),
    ),
    "E112": Explanation(
        "Unknown parameter",
        "`param { of: ... }` names a parameter of the layer. A disabled bias is not a parameter.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } param { of: "weights" lr_mult: 2 } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } param { of: "weight" lr_mult: 2 } }'),
    ),
    "E113": Explanation(
        "Mutually exclusive fields",
        "Use only one of them: `act` or `activation`, `include` or `exclude`. The parts of a rule must not contradict "
        "each other.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "relu" } activation { type: "relu" } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "relu" } }'),
    ),
    "E114": Explanation(
        "Invalid activation",
        "An activation maps values to values of the same shape and has no parameters. Not every layer supports one.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "fc" } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "tanh" } }'),
    ),
    "E115": Explanation(
        "Missing or misplaced `step`",
        "A `recurrent_group` needs a `step` block with the layers of one time step and at least one `output`. No "
        "other layer has one.",
        SEQUENCES + 'layer { name: "g" type: "recurrent_group" input: "words" }',
        SEQUENCES + group(),
    ),
    "E116": Explanation(
        "Layer not allowed here",
        "The step of a recurrent group may not contain data layers, losses, metrics, layers with running statistics, "
        "layers that combine different sequences, or `include`, `exclude` and `loss_weight`. They belong outside, "
        "losses on the output of the group. A block may not contain data layers, `data_norm`, `target_norm`, "
        "`include`, `exclude` or `loss_weight`, and its losses must be outputs of the block. A `memory` is only "
        "allowed in a step.",
        SEQUENCES + group(step=STATE + '    layer { name: "normal" type: "batch_norm" input: "state" }\n'),
        SEQUENCES + group(),
    ),
    "E117": Explanation(
        "Invalid character in a name",
        "Names of layers, outputs and shared parameters appear in messages, tables, images and files. Control "
        "characters, such as line breaks, would control the terminal, and bidirectional marks make one name look like "
        "another. All other characters are allowed: letters of any language, spaces, dots, slashes.",
        with_x(FC.replace('"y"', '"y\\n"')),
        with_x(FC),
    ),
    "E201": Explanation(
        "Duplicate layer name",
        "Layer names are part of parameter names and must be unique.",
        with_x(FC + "\n" + FC.replace("10", "20")),
        with_x(FC + "\n" + FC.replace("10", "20").replace('"y"', '"z"')),
    ),
    "E202": Explanation(
        "Duplicate output",
        "Only one layer may produce an output. A layer cannot overwrite its input; the runtime reuses buffers "
        "automatically.",
        with_x('layer { name: "y" type: "relu" input: "x" output: "x" }'),
        with_x('layer { name: "y" type: "relu" input: "x" }'),
    ),
    "E203": Explanation(
        "Unknown input",
        "Inputs name outputs. An output has the name of its layer unless `output` sets another one.",
        with_x('layer { name: "y" type: "fc" input: "z" fc { size: 10 } }'),
        with_x(FC),
    ),
    "E204": Explanation(
        "Cycle",
        "A network is a directed acyclic graph. Remove one input of the cycle.",
        with_x('layer { name: "a" type: "addto" input: "x" input: "b" }\nlayer { name: "b" type: "relu" input: "a" }'),
        with_x('layer { name: "a" type: "addto" input: "x" input: "x" }\nlayer { name: "b" type: "relu" input: "a" }'),
    ),
    "E205": Explanation(
        "Wrong number of inputs",
        "The page of the layer lists its inputs, and which of them are optional or repeatable.",
        with_x(FC + '\nlayer { name: "cost" type: "softmax_with_loss" input: "y" }'),
        with_x(FC + "\n" + LABEL + 'layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }'),
    ),
    "E206": Explanation(
        "Wrong kind of input",
        "Values are dense, integer ids or sparse. Every layer lists the kinds that it accepts.",
        LABEL + 'layer { name: "y" type: "relu" input: "label" }',
        LABEL + 'layer { name: "y" type: "embedding" input: "label" embedding { size: 4 } }',
    ),
    "E207": Explanation(
        "Wrong sequence level",
        "Some layers need sequences, others don't, and inputs that are combined need the same level. A data layer "
        "sets the level with `seq_nested_level`; `seq_last` and sequence pooling reduce each sequence to one row.",
        'layer { name: "x" type: "data" data { shape: [4] } }\nlayer { name: "y" type: "seq_avg_pool" input: "x" }',
        'layer { name: "x" type: "data" data { shape: [4] seq_nested_level: 1 } }\n'
        'layer { name: "y" type: "seq_avg_pool" input: "x" }',
    ),
    "E208": Explanation(
        "Wrong number of axes",
        "A convolution needs images with the axes channels, height and width.",
        'layer { name: "x" type: "data" data { shape: [64] } }\n'
        'layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }',
        'layer { name: "x" type: "data" data { shape: [1, 8, 8] } }\n'
        'layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }',
    ),
    "E209": Explanation(
        "Shape mismatch",
        "The notes name the layers that determine the size.",
        with_x('layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 31 } }'),
        with_x('layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }'),
    ),
    "E210": Explanation(
        "Wrong number of names in `output`",
        "Name all outputs of the layer, or none.",
        with_x('layer { name: "y" type: "relu" input: "x" output: "a" output: "b" }'),
        with_x('layer { name: "y" type: "relu" input: "x" output: "a" }'),
    ),
    "E211": Explanation(
        "Input missing in a phase",
        "A layer that reads a layer with `include` or `exclude` rules needs the same rules.",
        with_x(
            'layer { name: "y" type: "relu" input: "x" include { phase: "train" } }\n'
            'layer { name: "z" type: "relu" input: "y" }'
        ),
        with_x(
            'layer { name: "y" type: "relu" input: "x" include { phase: "train" } }\n'
            'layer { name: "z" type: "relu" input: "y" include { phase: "train" } }'
        ),
    ),
    "E212": Explanation(
        "Inconsistent shared parameters",
        "Shared parameters have the same shape and the same settings. Write the settings in one place.",
        with_x(
            'layer { name: "a" type: "fc" input: "x" fc { size: 4 } param { of: "weight" share: "w" } }\n'
            'layer { name: "b" type: "fc" input: "x" fc { size: 5 } param { of: "weight" share: "w" } }'
        ),
        with_x(
            'layer { name: "a" type: "fc" input: "x" fc { size: 4 } param { of: "weight" share: "w" } }\n'
            'layer { name: "b" type: "fc" input: "x" fc { size: 4 } param { of: "weight" share: "w" } }'
        ),
    ),
    "E213": Explanation(
        "Wrong number of values per input or output",
        "`loss_weight` takes one value per output, `propagate_down` one per input.",
        with_x('layer { name: "y" type: "relu" input: "x" propagate_down: [true, false] }'),
        with_x('layer { name: "y" type: "relu" input: "x" propagate_down: true }'),
    ),
    "E214": Explanation("Empty network", "A network needs at least one layer.", "# nothing\n", with_x(FC)),
    "E215": Explanation(
        "Invalid inputs of a recurrent group",
        "An input of a recurrent group is a sequence, which provides the time steps, or static: every step reads all "
        "of it. All sequences need the same level. `static` names inputs of the group, but not all of them.",
        SEQUENCES + group(""),
        SEQUENCES + group(),
    ),
    "E216": Explanation(
        "Invalid memory",
        "`of` names an output of a layer in the step; it must have the type of the memory. The input of a memory is "
        "its value before the first step and must be a static input of the group. To remember an input of the group, "
        "pass it through a `linear` layer.",
        SEQUENCES + group(step=STATE.replace("size: 8", "size: 9")),
        SEQUENCES + group(),
    ),
    "E217": Explanation(
        "Invalid output of a recurrent group",
        "The `output` of a step names outputs of its layers. They must depend on a sequence or a memory and may not "
        "be nested sequences, since the output of the group is one level deeper.",
        SEQUENCES + group(step=STATE, output="words"),
        SEQUENCES + group(),
    ),
    "E221": Explanation(
        "Invalid `carry`",
        "`carry` names a value of the network that is fed to the data layer with the next batch. It must have one row "
        "per sample and the type of the data layer.",
        FED + CARRIED.replace('carry: "last"', 'carry: "x"'),
        FED + CARRIED,
    ),
    "E401": Explanation(
        "A layer function fails",
        "This is a bug in the definition of the layer, not an error in the config. The message names the file and the "
        "line.",
    ),
    "E402": Explanation(
        "A plugin cannot be loaded",
        "The file does not exist, or its definitions are invalid. The position is in the plugin.",
    ),
    "E501": Explanation(
        "A layer cannot be exported to ONNX",
        "ONNX has no operators for the layer, or not for these attributes; the message says which. Export a value "
        "before the layer with `--value` and compute the rest in your application. Authors of layers implement the "
        "export with `@onnx`; see the guide on ONNX.",
    ),
    "E511": Explanation(
        "No equivalent of a Caffe feature",
        "`paddle-layers import` converts the layers and solvers that have an equivalent, and reports all others at "
        "once, each with an alternative. The guide on Caffe lists the equivalents.",
    ),
    "E512": Explanation(
        "Unknown input size in a Caffe file",
        "The size of images in a database is not part of the prototxt. `--shape data=3x227x227` sets channels, height "
        "and width after all transforms, `--shape label='ids<1000'` the number of classes. The names are those of the "
        "blobs that the data layers produce.",
    ),
    "W001": Explanation("Deprecated attribute", "It still works; the message names the replacement."),
    "W002": Explanation(
        "The file is too large for the editor",
        "Completion and diagnostics are disabled; `validate` still checks the file.",
    ),
    "W003": Explanation(
        "Activation applied twice",
        "Losses such as `softmax_with_loss` take logits and apply softmax themselves, `sigmoid_cross_entropy` the "
        "sigmoid, which is numerically stable. With the same activation before the loss, the network learns slowly "
        "and its probabilities stay far from 0 and 1.",
        with_x(FC.replace("10 }", '10 act: "softmax" }') + COST),
        with_x(FC + COST),
    ),
    "W010": Explanation(
        "Logits as probabilities",
        "`cross_entropy` and other losses of probabilities compute the logarithm of their input, which must be from 0 "
        "to 1. PyTorch's `CrossEntropyLoss`, which takes logits, is `softmax_with_loss`.",
        with_x(FC + COST.replace("softmax_with_loss", "cross_entropy")),
        with_x(FC + COST),
    ),
    "W004": Explanation(
        "Parameters without effect on a loss",
        "The layer has parameters, but no loss depends on its output, so they are not trained. Often the `input` of a "
        "later layer names the wrong layer.",
        with_x(FC.replace('"y"', '"forgotten"') + "\n" + FC + COST),
        with_x(FC + COST),
    ),
    "W009": Explanation(
        "Features as gate pre-activations",
        "`lstmemory` and `grumemory`, as in Paddle, take the gate pre-activations of each unit, which an `fc` computes "
        "from features. `simple_lstm` and `simple_gru` contain this `fc`, as the LSTM and GRU of other frameworks do.",
        _LSTM.format('type: "lstmemory" input: "x"'),
        _LSTM.format('type: "simple_lstm" input: "x" simple_lstm { size: 2 }'),
    ),
    "W006": Explanation(
        "A parameter exceeds the memory of this machine",
        "The network may be meant for another machine. On this one, training is refused before any memory is "
        "allocated.",
    ),
}
EXPLANATIONS = dict(sorted({**_EXPLANATIONS, **BLOCK_EXPLANATIONS, **TRAINING_EXPLANATIONS}.items()))
"""The pages by code."""
