"""Explanations of the diagnostic codes for training files."""

from __future__ import annotations

from .explanation import NET, NET_WITH_FC, OPTIMIZER, SOURCE, TESTED, Explanation

WORDS = 'net { layer { name: "x" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } } }\n'

TRAINING_EXPLANATIONS: dict[str, Explanation] = {
    "E301": Explanation(
        "A training file names no network, or two",
        "`network` names a file, `net { }` holds the layers themselves.",
        OPTIMIZER + SOURCE + "epochs: 1",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E302": Explanation("The network file is not there", "Its path is relative to the training file."),
    "E303": Explanation(
        "How long to train is not said, or said twice",
        "Give either `epochs` or `steps`.",
        NET + OPTIMIZER + SOURCE,
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E304": Explanation(
        "A phase has no source, or several that are not mixed",
        "The train phase needs a source of data, the test phase may have one. Several sources to train with are mixed "
        "when each has a `ratio`; the first says `shuffle`, `workers`, `memory` and `on_error` for all of them. "
        "The test phase may have further sources, each with a `name` that its results are called by.",
        NET + OPTIMIZER + "epochs: 1",
        NET + OPTIMIZER + SOURCE + "epochs: 1",
        "training",
    ),
    "E305": Explanation(
        "There is no data layer of this name",
        "`feed` and `transform` name a data layer of the network.",
        NET + OPTIMIZER + SOURCE + 'epochs: 1\nfeed { input: "y" field: "pixels" }',
        NET + OPTIMIZER + SOURCE + 'epochs: 1\nfeed { input: "x" field: "pixels" }',
        "training",
    ),
    "E306": Explanation(
        "A pattern means no parameter",
        "`param { of: ... }` of a training file names parameters such as `conv1.weight` by a pattern: `conv1.*` for "
        "those of a layer, `*.bias` for all of that name. In `rename`, `to` has no more `*` than `from`.",
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y" frozen: true }',
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y.*" frozen: true }',
        "training",
    ),
    "E307": Explanation(
        "A split that says nothing, or two things",
        "`split` holds rows of a source out for the test: `test: 0.2` a fifth of them by chance, `field` and `value` "
        "those that the data name.",
        NET + OPTIMIZER + SOURCE.replace("} }", "} split { } }") + "epochs: 1",
        NET + OPTIMIZER + SOURCE.replace("} }", "} split { test: 0.2 } }") + "epochs: 1",
        "training",
    ),
    "E308": Explanation(
        "The weights to start from don't fit the network",
        "Every parameter has its weights in the file, of its shape, and every weight of the file has its parameter. "
        "Where the network was changed, `weights { }` says how: `rename` for other names, `leave_out` for what starts "
        "from its initializer, `layout` in whose way matrices lie. Shown when the training starts; a pattern that "
        "matches nothing is a fault too.",
    ),
    "E309": Explanation(
        "The data don't fit the network",
        "A field is missing, or has another shape, type or range than the data layer; shown when the data "
        "are read. Of data that are read when they are wanted, such as pictures, `validate` shows it, too.",
    ),
    "E310": Explanation(
        "Nothing is tested",
        "`test { every: ... }`, `early_stop` and `save_best` need a source for the test phase, or `datasets` with one "
        "from Python. Shown when the training starts; `validate`, which does not know what Python gives, warns (W005).",
    ),
    "E311": Explanation(
        "A parameter has a momentum of its own, and the optimizer has none",
        "`momentum` of a parameter stands in the place of the attribute `momentum` of the optimizer; `sgd`, `nesterov` "
        "and `torch_momentum` have it.",
        NET_WITH_FC + OPTIMIZER.replace("sgd", "adam") + SOURCE + 'epochs: 1\nparam { of: "y.*" momentum: 0.5 }',
        NET_WITH_FC + OPTIMIZER + SOURCE + 'epochs: 1\nparam { of: "y.*" momentum: 0.5 }',
        "training",
    ),
    "E312": Explanation(
        "What `generate` says contradicts itself or the network",
        "`words` is the data layer of the word before each, ids in sequences, and `begin` and `end` are ids of it. "
        "`beam_size` and `length_penalty` are for beam search; `top_k` and `top_p` need a `temperature`, with which "
        "words are drawn.",
        NET + OPTIMIZER + SOURCE + 'epochs: 1\ngenerate { words: "x" }',
        WORDS + OPTIMIZER + SOURCE + 'epochs: 1\ngenerate { words: "x" }',
        "training",
    ),
    "E313": Explanation(
        "A text cannot be written word by word",
        "`generate` runs a network for one word of each text at a time. Layers of single rows, recurrent layers and "
        "groups can do that; a layer that needs the whole text, such as `seq_last` or one with `reverse`, cannot. "
        "Shown when texts are generated.",
    ),
    "E314": Explanation(
        "An average that says nothing, or two things",
        "`average` of a training file is an exponential moving average, by its `decay`, or the mean of the last steps, "
        "by a `window`: the share of all steps so far, at most `max_window` of them.",
        NET_WITH_FC + OPTIMIZER + SOURCE + "epochs: 1\naverage { decay: 0.99 window: 0.5 }",
        NET_WITH_FC + OPTIMIZER + SOURCE + "epochs: 1\naverage { decay: 0.99 }",
        "training",
    ),
    "E315": Explanation(
        "Schedules that follow each other do not say until when",
        "Of several `schedule` blocks each but the last one says by `until` from which step the next one holds.",
        NET_WITH_FC
        + OPTIMIZER
        + SOURCE
        + 'epochs: 1\nschedule { type: "warmup" steps: 5 }\nschedule { type: "cosine" }',
        NET_WITH_FC
        + OPTIMIZER
        + SOURCE
        + 'epochs: 1\nschedule { type: "warmup" steps: 5 until: 5 }\nschedule { type: "cosine" }',
        "training",
    ),
    "E316": Explanation(
        "`--set` names no field",
        "`--set optimizer.learning_rate=0.01` puts a field in the place of the file's: names from the outside in, "
        "joined by dots, `=` and a value; a text needs no quotes, and without a value the field is left out. Of "
        "several blocks one is meant by its number or its name, `source[0]`, `net.layer[conv1]`. What begins with "
        "`net.` is a field of the network, in whichever file it is.",
    ),
    "W005": Explanation(
        "Something waits for tests that don't come",
        "`early_stop` and `save_best` act on the results of tests: they need a source for the test phase, and "
        "`test { every: ... }`, since without it the only test is at the end.",
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ncallback { type: "early_stop" }',
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ntest { every: 5 }\ncallback { type: "early_stop" }',
        "training",
    ),
}
