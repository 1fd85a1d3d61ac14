"""Draws networks: layers that read whatever is there before them, once or more often, and share parameters."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from string import Template
from typing import NamedTuple

ACTIVATIONS = ("relu", "tanh", "sigmoid", "swish", "relu6", "abs", "softplus", "gelu", "elu")


class Part(NamedTuple):
    """Layers of which the last has the name `$n`.

    `kinds` are those of the inputs `$a` and `$b` and of the result: maps of 4x4x4, sequences of 4 numbers, rows of 4.
    Where `$act` stands is an activation, dropout or nothing, and where `$share` stands a parameter may be shared.
    """

    kinds: str
    text: str


def _one(kind: str, of: str, attributes: str = "", share: str = "") -> Part:
    body = f"{of} {{ {attributes} }}" if attributes else ""
    return Part(kind * 2, f'layer {{ name: "$n" type: "{of}" input: "$a" {body} {share} }}')


def _two(kind: str, of: str, attributes: str = "$act") -> Part:
    body = f"{of} {{ {attributes} }}"
    return Part(kind * 3, f'layer {{ name: "$n" type: "{of}" input: "$a" input: "$b" {body} }}')


def _of_any_shape(kind: str) -> list[Part]:
    activations = [_one(kind, name) for name in ACTIVATIONS]
    return [
        *activations,
        *(_one(kind, "slope_intercept", f"slope: {slope} intercept: 1") for slope in (0.5, -2)),
        _one(kind, "dropout", "drop_rate: 0.4"),
        _one(kind, "clip", "min: -0.7 max: 0.8"),
        _one(kind, "power", "power: 2 scale: 0.5 shift: 0.3"),
        *(_two(kind, "addto") for _ in range(3)),
        _two(kind, "mul"),
        *(_two(kind, "eltwise", f"operation: {operation} $act") for operation in ("PROD", "MAX")),
    ]


def _of_numbers(kind: str) -> list[Part]:
    return [
        *_of_any_shape(kind),
        *(_one(kind, "fc", "size: 4 $act", '$share { "weight" }') for _ in range(4)),
        _one(kind, "layer_norm", "$act"),
        _one(kind, "rms_norm"),
        Part(
            kind * 3,
            'layer { name: "$n.both" type: "concat" input: "$a" input: "$b" concat { $act } }\n'
            'layer { name: "$n" type: "fc" input: "$n.both" fc { size: 4 $act } }',
        ),
    ]


ON_MAPS = [
    *_of_any_shape("m"),
    *(_one("m", "conv", "num_filters: 4 filter_size: 3 padding: 1 $act", '$share { "weight" }') for _ in range(3)),
    *(_one("m", "conv", f"num_filters: 4 filter_size: 1 bias: {bias} $act") for bias in ("true", "false")),
    _one("m", "conv_trans", "num_filters: 4 filter_size: 3 padding: 1 $act"),
    *(_one("m", "batch_norm", f"bias: {bias} $act", '$share { "gain" }') for bias in ("true", "true", "false")),
    _one("m", "batch_norm", "use_global_stats: true $act"),
    *(_one("m", "group_norm", f"groups: {groups} $act") for groups in (1, 4)),
    *(_one("m", "pool", f"pool_size: 3 padding: 1 stride: 1 pool_type: {of}") for of in ("MAX", "AVERAGE")),
    _one("m", "lrn", "size: 3"),
    _one("m", "scale"),
    _one("m", "prelu"),
    _one("m", "reshape", "dims: [4, 4, 4]"),
    *2
    * [
        Part(
            "mmm",
            'layer { name: "$n.both" type: "concat" input: "$a" input: "$b" concat { $act } }\n'
            'layer { name: "$n" type: "conv" input: "$n.both" conv { num_filters: 4 filter_size: 1 $act } }',
        ),
        Part(
            "mm",
            'layer { name: "$n.s" type: "slice" input: "$a" output: "$n.p" output: "$n.q" slice { sizes: [1, 3] } }\n'
            'layer { name: "$n" type: "concat" input: "$n.q" input: "$n.p" concat { $act } }',
        ),
    ],
    Part(
        "mm",
        'layer { name: "$n.wide" type: "pad" input: "$a" pad { axes: [2, 3] begin: [1, 0] end: [0, 1] } }\n'
        'layer { name: "$n" type: "crop" input: "$n.wide" crop { axes: [2, 3] begin: [0, 1] sizes: [4, 4] } }',
    ),
]
ON_ROWS = _of_numbers("r")
ON_SEQUENCES = [
    *_of_numbers("s"),
    *ON_ROWS,
    *(_one("s", "recurrent", f"reverse: {reverse}") for reverse in ("true", "false")),
    *(
        Part(
            "ss",
            f'layer {{ name: "$n.gates" type: "fc" input: "$a" fc {{ size: {size} bias: false }} }}\n'
            f'layer {{ name: "$n" type: "{of}" input: "$n.gates" }}',
        )
        for of, size in (("grumemory", 12), ("lstmemory", 16))
    ),
    *3
    * [
        Part("ss", 'layer { name: "$n" type: "recurrent_group" input: "$a" step {\n$step\n} }'),
        Part("sss", 'layer { name: "$n" type: "recurrent_group" input: "$a" input: "$b" step {\n$step\n} }'),
    ],
    *(Part("sr", f'layer {{ name: "$n" type: "{of}" input: "$a" }}') for of in ("seq_avg_pool", "seq_max_pool")),
    *3 * [Part("rss", 'layer { name: "$n" type: "expand" input: "$a" input: "$b" }')],
    Part(
        "sss",
        'layer { name: "$n.score" type: "fc" input: "$a" fc { size: 1 } }\n'
        'layer { name: "$n.share" type: "sequence_softmax" input: "$n.score" }\n'
        'layer { name: "$n" type: "scaling" input: "$n.share" input: "$b" }',
    ),
    Part(
        "ss",
        'layer { name: "$n.window" type: "context" input: "$a" context { length: 3 } }\n'
        'layer { name: "$n" type: "fc" input: "$n.window" fc { size: 4 $act } }',
    ),
    Part(
        "sss",
        'layer { name: "$n" type: "multi_head_attention" input: "$a" input: "$b" input: "$b"'
        " multi_head_attention { num_heads: 2 } }",
    ),
]


class Names:
    """The names of what is there, by kind; the newest are read most often."""

    def __init__(self, **names: Sequence[str]) -> None:
        self.of = {kind: list(names.get(kind, ())) for kind in "msr"}

    def draw(self, kind: str, rng: Random) -> str:
        """One of them."""
        return rng.choice(self.of[kind][-2:] if rng.random() < 0.6 else self.of[kind])


def _act(rng: Random) -> str:
    drawn = f'act: "{rng.choice(ACTIVATIONS)}" ' if rng.random() < 0.4 else ""
    return drawn + ("drop_rate: 0.3" if rng.random() < 0.15 else "")


def _share(text: str, rng: Random, at: str) -> str:
    """The text with `$share { "weight" }` drawn: one parameter for all of its kind and shape, or its own."""
    if "$share" not in text:
        return text
    before, _, after = text.partition("$share { ")
    name = after.partition(" }")[0]
    one = f'param {{ of: {name} share: "{at}{name[1:]} }}' if rng.random() < 0.25 else ""
    return before + one + after.partition(" }")[2]


def _layers(parts: Sequence[Part], names: Names, count: int, rng: Random, at: str = "") -> list[str]:
    """So many parts drawn, whose results are added to `names`; `at` begins their names."""
    lines = []
    for number in range(count):
        kinds, text = rng.choice([part for part in parts if all(names.of[kind] for kind in part.kinds[:-1])])
        read = [names.draw(kind, rng) for kind in kinds[:-1]]
        name = f"{at}{number}"
        step = _step(read, rng) if "$step" in text else ""
        while "$act" in text:
            text = text.replace("$act", _act(rng), 1)
        text = _share(text, rng, at)
        lines.append(Template(text).substitute({"n": name, "a": read[0], "b": read[-1], "step": step}))
        names.of[kinds[-1]].append(name)
    return lines


def _step(read: Sequence[str], rng: Random) -> str:
    names = Names(r=[*read, "before"])
    lines = _layers(ON_ROWS, names, rng.randint(1, 4), rng, "q")
    last = names.of["r"][-1]
    lines.append(f'layer {{ name: "h" type: "fc" input: "{last}" input: "before" fc {{ size: 4 act: "tanh" }} }}')
    lines.insert(0, 'layer { name: "before" type: "memory" memory { of: "h" size: 4 } }')
    return "\n".join([*lines, f'output: "{rng.choice(["h", "h", last])}"'])


def _costs(names: Sequence[str]) -> list[str]:
    return [
        f'layer {{ name: "scores.{name}" type: "fc" input: "{name}" fc {{ size: 3 }} }}\n'
        f'layer {{ name: "cost.{name}" type: "softmax_with_loss" input: "scores.{name}" input: "label" }}'
        for name in names
    ]


LABEL = 'layer { name: "label" type: "data" data { data_type: INT size: 3 } }'


def network_on_maps(rng: Random) -> tuple[str, list[str]]:
    """A config with the feeds `x`, 4x4x4, and `label`, and the names of values."""
    names = Names(m=["x"])
    lines = ['layer { name: "x" type: "data" data { shape: [4, 4, 4] } }', LABEL]
    lines += _layers(ON_MAPS, names, rng.randint(3, 12), rng, "m")
    drawn = {names.of["m"][-1], names.draw("m", rng)} - {"x"}
    return "\n".join([*lines, *_costs(sorted(drawn))]), names.of["m"][1:]


def network_on_sequences(rng: Random) -> tuple[str, list[str]]:
    """A config with the feeds `x`, sequences of ids below 9, and `label`, and the names of values."""
    names = Names(s=["words"])
    lines = [
        'layer { name: "x" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }',
        LABEL,
        'layer { name: "words" type: "embedding" input: "x" embedding { size: 4 } }',
    ]
    lines += _layers(ON_SEQUENCES, names, rng.randint(2, 9), rng, "s")
    lines.append(f'layer {{ name: "last" type: "seq_last" input: "{names.of["s"][-1]}" }}')
    drawn = {"last", *rng.sample(names.of["r"], min(1, len(names.of["r"])))}
    return "\n".join([*lines, *_costs(sorted(drawn))]), [*names.of["s"][1:], *names.of["r"]]
