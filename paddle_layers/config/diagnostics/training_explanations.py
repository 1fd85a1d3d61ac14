"""Explanations of the diagnostic codes for training files and blocks."""

from __future__ import annotations

from .explanation import NET, NET_WITH_FC, OPTIMIZER, SOURCE, TESTED, Explanation, X

WORDS = 'net { layer { name: "x" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } } }\n'

SCALED = ' transform { type: "scale" input: "x" scale { factor: 0.1 } } }\n'
MONITORED = 'epochs: 1\ntest { every: 5 }\ncallback { type: "early_stop" early_stop { watch: "accuracy" } }\n'

TRAINING_EXPLANATIONS: dict[str, Explanation] = {
    "E301": Explanation(
        "Missing network, or two of them",
        "`network` names a file; `net { }` contains the layers. A training file needs exactly one of them.",
        OPTIMIZER + SOURCE + "epochs: 1",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E302": Explanation("Network file not found", "The path is relative to the training file."),
    "E303": Explanation(
        "Missing or conflicting length of the training",
        "Set either `epochs` or `steps`.",
        NET + OPTIMIZER + SOURCE,
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E304": Explanation(
        "Missing or conflicting sources",
        "The train phase needs a data source; the test phase may have one. Several training sources are mixed if each "
        "has a `ratio`; `shuffle`, `workers`, `memory` and `on_error` of the first one apply to all. Additional test "
        "sources need a `name`, which is the prefix of their results.",
        NET + OPTIMIZER + "epochs: 1",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E305": Explanation(
        "Unknown data layer",
        "`feed` and `transform` name a data layer of the network. A data layer has at most one `feed`.",
        NET + OPTIMIZER + SOURCE + 'epochs: 1\nfeed { input: "y" field: "pixels" }',
        NET + OPTIMIZER + SOURCE + 'epochs: 1\nfeed { input: "x" field: "pixels" }',
        "training",
    ),
    "E306": Explanation(
        "Pattern without a match",
        "`param { of: ... }` of a training file selects parameters such as `conv1.weight` by a pattern: `conv1.*` "
        "matches those of a layer, `*.bias` all of that name. In `rename`, `to` may not have more `*` than `from`.",
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y" frozen: true }',
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y.*" frozen: true }',
        "training",
    ),
    "E307": Explanation(
        "Invalid split",
        "`split` holds out samples of a source for testing: `test: 0.2` selects a random fifth, `field` and `value` "
        "those that are marked in the data.",
        NET + OPTIMIZER + SOURCE.replace("} }", "} split { } }") + "epochs: 1",
        NET + OPTIMIZER + SOURCE.replace("} }", "} split { test: 0.2 } }") + "epochs: 1",
        "training",
    ),
    "E308": Explanation(
        "Initial weights don't match the network",
        "Every parameter needs an entry of its shape in the file, and every entry needs a parameter. For a network "
        "that differs, `weights { }` has `rename` for other names, `leave_out` for parameters that keep their "
        "initializer, and `layout` for the matrix layout of another framework. Reported when the training starts. A "
        "pattern without a match is an error, too.",
    ),
    "E309": Explanation(
        "The data don't match the network",
        "A field is missing, or its shape, type or range differs from the data layer. Reported by `validate`, and when "
        "the training starts.",
    ),
    "E310": Explanation(
        "Missing test source",
        "`test { every: ... }`, `early_stop` and `save_best` need a source for the test phase, or one in `datasets` "
        "in Python. Reported by `validate` if the file has a source for the train phase, and when the training starts.",
    ),
    "E311": Explanation(
        "Momentum is not supported by the optimizer",
        "`momentum` of a parameter overrides the attribute `momentum` of the optimizer; `sgd`, `nesterov` and "
        "`torch_momentum` have it.",
        NET_WITH_FC + OPTIMIZER.replace("sgd", "adam") + SOURCE + 'epochs: 1\nparam { of: "y.*" momentum: 0.5 }',
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y.*" momentum: 0.5 }',
        "training",
    ),
    "E312": Explanation(
        "Invalid settings in `generate`",
        "`words` is the data layer of the previous token, with integer ids in sequences; `begin` and `end` are such "
        "ids. `beam_size` and `length_penalty` are for beam search, `top_k` and `top_p` for sampling, which needs a "
        "`temperature`.",
        NET + OPTIMIZER + SOURCE + 'epochs: 1\ngenerate { words: "x" }',
        WORDS + OPTIMIZER + SOURCE + 'epochs: 1\ngenerate { words: "x" }',
        "training",
    ),
    "E313": Explanation(
        "The network cannot generate step by step",
        "`generate` runs the network for one token of each sequence at a time. Position-wise layers, recurrent layers "
        "and groups support this; a layer that needs the whole sequence, such as `seq_last` or one with `reverse`, "
        "does not. Reported when sequences are generated.",
    ),
    "E314": Explanation(
        "Invalid `average`",
        "`average` of a training file is an exponential moving average with a `decay`, or the mean over the last "
        "steps with a `window`: a fraction of all steps so far, at most `max_window` of them.",
        NET_WITH_FC + OPTIMIZER + SOURCE + "epochs: 1\naverage { decay: 0.99 window: 0.5 }",
        NET_WITH_FC + OPTIMIZER + SOURCE + "epochs: 1\naverage { decay: 0.99 }",
        "training",
    ),
    "E315": Explanation(
        "Missing or invalid `until` of a schedule",
        "Every `schedule` except the last one needs `until`, the step at which the next one starts.",
        NET_WITH_FC
        + OPTIMIZER
        + SOURCE
        + 'epochs: 1\nschedule { type: "warmup" warmup { steps: 5 } }\nschedule { type: "cosine" }',
        NET_WITH_FC
        + OPTIMIZER
        + SOURCE
        + 'epochs: 1\nschedule { type: "warmup" until: 5 warmup { steps: 5 } }\nschedule { type: "cosine" }',
        "training",
    ),
    "E316": Explanation(
        "Invalid override",
        "`--set optimizer.learning_rate=0.01` overrides a field of the file: the path of the field, joined by dots, "
        "`=` and a value. Strings need no quotes; without a value, the field is removed. One of several blocks is "
        "selected by index or name: `source[0]`, `net.layer[conv1]`. Paths that start with `net.` are fields of the "
        "network, whichever file contains it.",
    ),
    "E317": Explanation(
        "The data of a source cannot be read",
        "A file does not exist, is damaged or has another format, a column or class of the settings is not in it, or a "
        "transform cannot read its file. The message has the file and the line. Paths are relative to the training "
        "file. Reported by `validate`, and when the training starts.",
    ),
    "E318": Explanation(
        "Invalid callback",
        "`watch` names a result of a test: `loss`, or a metric such as `accuracy`. `mode` is only needed where it is "
        "unknown whether smaller or larger values are better. Other callbacks name values of the network or files. "
        "Reported by `validate`, and when the training starts.",
    ),
    "E319": Explanation(
        "Fewer samples in a batch than processes",
        "Under `mpiexec`, the samples of a batch are divided among the processes, and each needs at least one. "
        "Increase `batch_size`, or start fewer processes.",
    ),
    "E320": Explanation(
        "Nothing to train",
        "The network has no loss in the train phase, or no parameters that are not frozen. Reported by `validate`; "
        "`train` stops with the same message.",
    ),
    "E321": Explanation(
        "The results cannot be written",
        "`output` is not a valid name of a folder or is an existing file, or a package that writes a `format` of the "
        "log is not installed. Reported by `validate`; `train` stops with the same message.",
    ),
    "W005": Explanation(
        "A callback waits for tests that never run",
        "`early_stop` and `save_best` act on the results of tests. They need a source for the test phase and `test { "
        "every: ... }`; without it, the only test is at the end.",
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ncallback { type: "early_stop" }',
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ntest { every: 5 }\ncallback { type: "early_stop" }',
        "training",
    ),
    "W012": Explanation(
        "A stage or level without a rule",
        "`stage` and `level` of a training file select layers by their `include` and `exclude` rules. One that no rule "
        "names selects nothing; it may be misspelled.",
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nstage: "deploy"',
        NET_WITH_FC + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "W011": Explanation(
        "Training and test data are scaled differently",
        "A `scale` or `mean` transform of the training source is missing in a validation or test source, or the other "
        "way round. The network then gets other values than it was trained with. Random transforms, such as `mirror`, "
        "are for the training source only.",
        NET_WITH_FC + OPTIMIZER + SOURCE.replace(" }\n", SCALED) + TESTED + "epochs: 1",
        NET_WITH_FC + OPTIMIZER + SOURCE.replace(" }\n", SCALED) + TESTED.replace(" }\n", SCALED) + "epochs: 1",
        "training",
    ),
    "W008": Explanation(
        "Two callbacks monitor different results",
        "`early_stop` and `save_best` both monitor the loss by default. If only one of them sets `watch`, the training "
        "ends by one result, and the weights that are kept are the best by another. Set `watch` in both.",
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + MONITORED + 'callback { type: "save_best" }',
        NET_WITH_FC
        + OPTIMIZER
        + SOURCE
        + TESTED
        + MONITORED
        + 'callback { type: "save_best" save_best { watch: "accuracy" } }',
        "training",
    ),
}


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
        "multiplied. Outside of blocks there are no settings; names are those of data layers with a `size`.",
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
        "layers belong in the block named after the layer type, except for one that is computed from the `size` of a "
        "data layer. A repeated block needs an input and exactly one output.",
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
