"""The pages of codes about training files."""

from __future__ import annotations

from .explanation import NET, NET_WITH_FC, OPTIMIZER, SOURCE, TESTED, Explanation

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
        "A phase has no source, or two",
        "The train phase needs one source of data, the test phase may have one.",
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
    "W005": Explanation(
        "Something waits for tests that don't come",
        "`early_stop` and `save_best` act on the results of tests: they need a source for the test phase, and "
        "`test { every: ... }`, since without it the only test is at the end.",
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ncallback { type: "early_stop" }',
        NET_WITH_FC + OPTIMIZER + SOURCE + TESTED + 'epochs: 1\ntest { every: 5 }\ncallback { type: "early_stop" }',
        "training",
    ),
}
