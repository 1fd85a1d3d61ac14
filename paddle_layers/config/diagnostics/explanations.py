"""The explanations of all diagnostic codes: the error, an example, and the corrected example.

The examples are network files (training files if `kind` says so); a test checks that the wrong one reports the code and
nothing else, and that the corrected one reports nothing.
"""

from __future__ import annotations

from .block_explanations import BLOCK_EXPLANATIONS
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
from .training_explanations import TRAINING_EXPLANATIONS

_EXPLANATIONS: dict[str, Explanation] = {
    "E001": Explanation(
        "The text cannot be read here",
        "A config is a list of fields. A field is a name with a colon and a value, or a name with a block in braces.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: } }'),
        with_x(FC),
    ),
    "E002": Explanation(
        "Brackets don't match",
        "Every `{` and `[` needs its closing bracket. Where the next layer starts inside of a block, the block before "
        "it was not closed.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 }'),
        with_x(FC),
    ),
    "E003": Explanation(
        "A quoted text is malformed",
        'A text ends on the line on which it starts; a backslash starts an escape such as \\n, \\" or \\\\.',
        X + 'layer { name: "y\\q" type: "fc" input: "x" fc { size: 10 } }',
        with_x(FC),
    ),
    "E004": Explanation(
        "A number is malformed",
        "Numbers are written as 20, -3, 0.5, 1e-5, or 0x1F.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10x } }'),
        with_x(FC),
    ),
    "E005": Explanation("Blocks are nested too deep", "No config needs blocks nested more than a hundred deep."),
    "E006": Explanation(
        "The file is not JSON",
        "A config that starts with a brace is read as JSON. The first error ends the reading, since JSON gives no hint "
        "where to go on.",
        '{"layer": [{"name": "x" "type": "data"}]}',
        '{"layer": [{"name": "x", "type": "data"}]}',
    ),
    "E007": Explanation("The file cannot be read", "It is not there, it is a folder, or it is not UTF-8 text."),
    "E008": Explanation(
        "The binary config cannot be read",
        "A file that ends in .binpb or .pb holds a protobuf message, `paddle_layers.Network` or "
        "`paddle_layers.Training`. It was cut, it is another message or too large for one, a text in it is not UTF-8, "
        "or it has unknown fields: then it comes from a newer version, or was written with a plugin "
        "that is not installed here. `paddle-layers convert` makes such files.",
    ),
    "E009": Explanation(
        "The file is of the other kind",
        "A network file has layers. A training file names a network file and says how it is trained. Of another file, "
        "such as a program, a table, weights or a config of another system, the message says what takes it.",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        with_x(FC),
    ),
    "E010": Explanation(
        "The file is one of Caffe's",
        "Networks and solvers of Caffe are written in the same text format, with other fields. `paddle-layers import "
        "FILE -o DIR` makes a network file, and of a solver a training file, of them.",
        'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 10 } }',
        with_x(FC),
    ),
    "E101": Explanation(
        "There is no field of this name",
        "Attributes stand in the block that is named like the layer's type, fields such as `input` in the layer "
        "itself. An unknown name is always an error, so a misspelt one is never ignored.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { sise: 10 } }'),
        with_x(FC),
    ),
    "E102": Explanation(
        "The value is of another type",
        "Texts stand in quotes, numbers and true or false don't.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: "ten" } }'),
        with_x(FC),
    ),
    "E103": Explanation(
        "The value is out of range",
        "The page of the layer gives the range of every attribute: `paddle-layers layers fc`.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 0 } }'),
        with_x(FC),
    ),
    "E104": Explanation(
        "The attribute has no such choice",
        "The message lists the choices.",
        with_x('layer { name: "y" type: "eltwise" input: "x" input: "x" eltwise { operation: ADD } }'),
        with_x('layer { name: "y" type: "eltwise" input: "x" input: "x" eltwise { operation: SUM } }'),
    ),
    "E105": Explanation(
        "Something required is missing",
        "Attributes without a default have to be given.",
        with_x('layer { name: "y" type: "fc" input: "x" }'),
        with_x(FC),
    ),
    "E106": Explanation(
        "A field is given twice",
        "Only fields that are lists may be repeated.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 size: 20 } }'),
        with_x(FC),
    ),
    "E107": Explanation(
        "A list has too few or too many values",
        "The page of the layer says how many values an attribute takes.",
    ),
    "E108": Explanation(
        "An attribute stands outside of its block",
        "Attributes of a layer belong into the block that is named like its type.",
        with_x('layer { name: "y" type: "fc" input: "x" size: 10 }'),
        with_x(FC),
    ),
    "E109": Explanation(
        "The block belongs to another type",
        "A layer has one block of attributes, named like its type.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } conv { num_filters: 3 } }'),
        with_x(FC),
    ),
    "E110": Explanation(
        "A layer lacks its name or its type",
        "Every layer has both.",
        with_x('layer { name: "y" input: "x" }'),
        with_x(FC),
    ),
    "E111": Explanation(
        "There is no such type",
        "The message suggests a near name, or the name by which another system's layer goes here. Layers of a plugin "
        "are there when it is installed or named by --plugins.",
        with_x('layer { name: "y" type: "InnerProduct" input: "x" }'),
        with_x(FC),
    ),
    "E112": Explanation(
        "The layer has no such parameter",
        "`param { of: ... }` names a parameter of the layer. A bias that is switched off is none.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } param { of: "weights" lr_mult: 2 } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 } param { of: "weight" lr_mult: 2 } }'),
    ),
    "E113": Explanation(
        "Two fields contradict each other",
        "Say it once: either `act` or `activation`, either `include` or `exclude`.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "relu" } activation { type: "relu" } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "relu" } }'),
    ),
    "E114": Explanation(
        "This cannot be an activation",
        "An activation maps values to values of the same shape and has no parameters; not every layer takes one.",
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "fc" } }'),
        with_x('layer { name: "y" type: "fc" input: "x" fc { size: 10 act: "tanh" } }'),
    ),
    "E115": Explanation(
        "A recurrent group has no step, or another layer has one",
        "A `recurrent_group` has a block `step` with the layers of one step and at least one `output`; no other layer "
        "has one.",
        SEQUENCES + 'layer { name: "g" type: "recurrent_group" input: "words" }',
        SEQUENCES + group(),
    ),
    "E116": Explanation(
        "A layer cannot stand there",
        "In the step of a recurrent group stand layers that compute rows from rows: no data, costs, statistics, layers "
        "with running averages, and no phase rules. These stand outside, costs on the group's output. A `memory`, in "
        "turn, stands in a step only.",
        SEQUENCES + group(step=STATE + '    layer { name: "normal" type: "batch_norm" input: "state" }\n'),
        SEQUENCES + group(),
    ),
    "E117": Explanation(
        "A name has a character that cannot be shown",
        "Names of layers, outputs and shared parameters stand in messages, tables, pictures and files. "
        "Control characters such as a line break would command the terminal there, and marks of the writing direction "
        "make one name look like another. All else is fine: letters of any language, spaces, dots, slashes.",
        with_x(FC.replace('"y"', '"y\\n"')),
        with_x(FC),
    ),
    "E201": Explanation(
        "Two layers have the same name",
        "Names of parameters and messages rest on it.",
        with_x(FC + "\n" + FC.replace("10", "20")),
        with_x(FC + "\n" + FC.replace("10", "20").replace('"y"', '"z"')),
    ),
    "E202": Explanation(
        "Two layers make the same output",
        "An output is made once. Layers don't write over their input here: the runtime shares memory by itself.",
        with_x('layer { name: "y" type: "relu" input: "x" output: "x" }'),
        with_x('layer { name: "y" type: "relu" input: "x" }'),
    ),
    "E203": Explanation(
        "An input names nothing",
        "Inputs name outputs, which bear the name of their layer unless `output` says otherwise.",
        with_x('layer { name: "y" type: "fc" input: "z" fc { size: 10 } }'),
        with_x(FC),
    ),
    "E204": Explanation(
        "Layers read each other in a circle",
        "A network is computed from its inputs to its outputs; break the circle at one input.",
        with_x('layer { name: "a" type: "addto" input: "x" input: "b" }\nlayer { name: "b" type: "relu" input: "a" }'),
        with_x('layer { name: "a" type: "addto" input: "x" input: "x" }\nlayer { name: "b" type: "relu" input: "a" }'),
    ),
    "E205": Explanation(
        "The number of inputs is wrong",
        "The page of the layer lists its inputs, optional ones and those that may be repeated.",
        with_x(FC + '\nlayer { name: "cost" type: "softmax_with_loss" input: "y" }'),
        with_x(FC + "\n" + LABEL + 'layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }'),
    ),
    "E206": Explanation(
        "The input holds another kind of data",
        "Values are dense, ids or sparse; a layer says which kinds it takes.",
        LABEL + 'layer { name: "y" type: "relu" input: "label" }',
        LABEL + 'layer { name: "y" type: "embedding" input: "label" embedding { size: 4 } }',
    ),
    "E207": Explanation(
        "The input has another sequence level",
        "Some layers need sequences, others single rows; inputs whose rows belong together have the same level. A data "
        "layer says it by `seq_nested_level`; `seq_last` and the pools of sequences make one row of each.",
        'layer { name: "x" type: "data" data { shape: [4] } }\nlayer { name: "y" type: "seq_avg_pool" input: "x" }',
        'layer { name: "x" type: "data" data { shape: [4] seq_nested_level: 1 } }\n'
        'layer { name: "y" type: "seq_avg_pool" input: "x" }',
    ),
    "E208": Explanation(
        "The input has another number of axes",
        "A convolution needs images with channels, height and width.",
        'layer { name: "x" type: "data" data { shape: [64] } }\n'
        'layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }',
        'layer { name: "x" type: "data" data { shape: [1, 8, 8] } }\n'
        'layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }',
    ),
    "E209": Explanation(
        "Sizes don't fit",
        "The notes tell which layers made the size.",
        with_x('layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 31 } }'),
        with_x('layer { name: "y" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 } }'),
    ),
    "E210": Explanation(
        "The number of names in `output` is wrong",
        "Name all outputs of the layer, or none.",
        with_x('layer { name: "y" type: "relu" input: "x" output: "a" output: "b" }'),
        with_x('layer { name: "y" type: "relu" input: "x" output: "a" }'),
    ),
    "E211": Explanation(
        "An input is not there in this phase",
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
        "Shared parameters don't agree",
        "Parameters that are shared have one shape and one setting: give the settings at one place.",
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
        "A list has not one value for each input or output",
        "`loss_weight` has a value for every output, `propagate_down` for every input.",
        with_x('layer { name: "y" type: "relu" input: "x" propagate_down: [true, false] }'),
        with_x('layer { name: "y" type: "relu" input: "x" propagate_down: true }'),
    ),
    "E214": Explanation("The network is empty", "A network has at least one layer.", "# nothing\n", with_x(FC)),
    "E215": Explanation(
        "The inputs of a recurrent group don't fit its steps",
        "Inputs are sequences of one level, which give the steps, or they are named by `static`, and every step sees "
        "all of them. `static` names inputs of the group, and leaves one that gives the steps.",
        SEQUENCES + group(""),
        SEQUENCES + group(),
    ),
    "E216": Explanation(
        "A memory does not fit what it remembers",
        "`of` names an output of a layer in the step; that output has the memory's type. The input of a memory, its "
        "rows before the first step, is a static input of the group. To remember an input of the group, put a layer "
        "`linear` behind it.",
        SEQUENCES + group(step=STATE.replace("size: 8", "size: 9")),
        SEQUENCES + group(),
    ),
    "E217": Explanation(
        "A recurrent group cannot give this output",
        "The `output` of a step names outputs of its layers that may differ from step to step, and that nest one level "
        "deeper when all steps are put together.",
        SEQUENCES + group(step=STATE, output="words"),
        SEQUENCES + group(),
    ),
    "E221": Explanation(
        "What a data layer carries is not there, or of another type",
        "`carry` names a value of the network, whose rows in the batch before are fed: one for each sample, of the "
        "type that the data layer says.",
        FED + CARRIED.replace('carry: "last"', 'carry: "x"'),
        FED + CARRIED,
    ),
    "E401": Explanation(
        "A layer's own function fails",
        "This is a fault of the layer's author, not of the config. The message names the file and the line.",
    ),
    "E402": Explanation(
        "A plugin cannot be loaded",
        "The file is missing, or its definitions are wrong; the place is in the plugin.",
    ),
    "E501": Explanation(
        "A layer has no ONNX form",
        "ONNX has no operators for it, or not for these attributes; the message says which. Export values before it, "
        "by `--value`, and do the rest where the model is used. The author of a layer writes its form below `@onnx`; "
        "the guide on ONNX shows how.",
    ),
    "E511": Explanation(
        "What a Caffe file says has no counterpart",
        "`paddle-layers import` reads Caffe's layers and solvers that there are here, and tells all others at once, "
        "each with a way out. The guide on Caffe lists what becomes what.",
    ),
    "E512": Explanation(
        "A Caffe file does not say how large an input is",
        "Images in a database have their size there, and the prototxt does not tell it. `--shape data=3x227x227` gives "
        "channels, rows and columns behind all transforms, `--shape label='ids<1000'` the number of classes. Names are "
        "those of the blobs that data layers make.",
    ),
    "W001": Explanation("An attribute is deprecated", "It still works; the message says what to write instead."),
    "W002": Explanation(
        "The file is too large for an editor", "Completion and checks while writing stop there; `validate` reads it."
    ),
    "W003": Explanation(
        "An activation is applied twice",
        "Costs such as `softmax_with_loss` take scores and apply softmax themselves, `sigmoid_cross_entropy` the "
        "logistic function: that loses no digits. After an activation of the same kind the network learns slowly and "
        "its probabilities are never sure.",
        with_x(FC.replace("10 }", '10 act: "softmax" }') + COST),
        with_x(FC + COST),
    ),
    "W004": Explanation(
        "A layer learns nothing",
        "It has parameters, the network is trained, but no loss depends on what the layer gives. Mostly an `input` "
        "behind it names the wrong layer.",
        with_x(FC.replace('"y"', '"forgotten"') + "\n" + FC + COST),
        with_x(FC + COST),
    ),
    "W006": Explanation(
        "A parameter is larger than the memory of this machine",
        "The network may be meant for another machine. Here a training is refused before anything is allocated.",
    ),
}
EXPLANATIONS = dict(sorted({**_EXPLANATIONS, **BLOCK_EXPLANATIONS, **TRAINING_EXPLANATIONS}.items()))
"""The pages by code."""
