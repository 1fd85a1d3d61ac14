"""Feeds of other sizes than the config declares: a net for them gives what one that declares them does."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from random import Random
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

import paddle_layers as pl
from paddle_layers.config import ConfigError, ConfigWarning
from paddle_layers.runtime import FeedError, Sequences
from paddle_layers.runtime.launches.arguments import Lagged, Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.plan.plan import Plan

from .target import Target, as_python, demand

Sizes = dict[str, list[int]]
FEEDS = """
layer { name: "r" type: "data" data { shape: $r } }
layer { name: "s" type: "data" data { shape: $s seq_nested_level: 1 } }
layer { name: "n" type: "data" data { shape: $n seq_nested_level: 2 } }
layer { name: "m" type: "data" data { shape: $m } }
layer { name: "i" type: "data" data { data_type: INT size: 9 shape: $i } }
"""
STARTS = {"s": (np.array([0, 2, 3, 6]), None), "n": (np.array([0, 1, 3, 4]), np.array([0, 2, 3, 6, 7]))}
DECLARED: Sizes = {"r": [3], "s": [3], "n": [3], "m": [2, 5, 4], "i": [3]}
RANKS = {name: len(sizes) for name, sizes in DECLARED.items()}
ROWS = {"r": 3, "s": 6, "n": 7, "m": 3, "i": 3}

EVERYWHERE = (
    *('"relu" input: "@"', '"softmax" input: "@"', '"addto" input: "@" input: "@"', '"mul" input: "@" input: "@"'),
    '"slope_intercept" input: "@" slope_intercept { slope: 0.5 intercept: 1 }',
)
OF_ROWS = (
    *EVERYWHERE,
    *('"dot_prod" input: "@" input: "@"', '"concat" input: "@" input: "@"', '"cos_sim" input: "@" input: "@"'),
    *('"row_l2_norm" input: "@"', '"fc" input: "@" fc { size: 3 }', '"layer_norm" input: "@"'),
)
KINDS = {
    "r": (*OF_ROWS, '"expand" input: "@" input: "@s"'),
    "s": (
        *OF_ROWS,
        *('"seq_last" input: "@"', '"seq_max_pool" input: "@"', '"sequence_softmax" input: "@"'),
        '"context" input: "@" context { length: 3 }',
        *3 * ('"recurrent_group" input: "@" step { $step output: "h" }',),
        *3 * ('"recurrent_group" input: "@" input: "&" recurrent_group { static: "&" reverse: true } step $booted',),
        '"simple_lstm" input: "@" simple_lstm { size: 2 }',
    ),
    "n": (
        *EVERYWHERE,
        '"seq_avg_pool" input: "@" seq_avg_pool { level: SUBSEQUENCE }',
        '"recurrent_group" input: "@" step { layer { name: "h" type: "seq_last" input: "@" } output: "h" }',
    ),
    "m": (
        *EVERYWHERE,
        *('"spp" input: "@" spp { pyramid_height: 2 }', '"pool" input: "@" pool { pool_size: 2 stride: 2 }'),
        '"adaptive_pool" input: "@" adaptive_pool { size: 2 }',
        '"block_expand" input: "@" block_expand { block: 2 stride: 2 }',
        '"instance_norm" input: "@"',
        '"conv" input: "@" conv { num_filters: 2 filter_size: 3 padding: 1 }',
        '"residual_block" input: "@" residual_block { num_filters: 2 }',
        '"flatten" input: "@"',
        '"reshape" input: "@" reshape { dims: [2, 20] }',
    ),
    "i": ('"embedding" input: "@" embedding { size: 2 }',),
}
STEPS = (
    'layer { name: "m" type: "memory" memory { of: "h" size: $width value: 0.5 } }\n'
    'layer { name: "w" type: "addto" input: "@" input: "m" } layer { name: "h" type: "tanh" input: "w" }',
    'layer { name: "m" type: "memory" memory { of: "h" size: $width value: 0.5 } }\n'
    'layer { name: "w" type: "dot_prod" input: "m" input: "m" }'
    ' layer { name: "h" type: "scaling" input: "w" input: "@" }',
    'layer { name: "m" type: "memory" memory { of: "h" size: 2 value: 0.5 } }\n'
    'layer { name: "h" type: "fc" input: "@" input: "m" fc { size: 2 act: "tanh" } }',
    'layer { name: "h" type: "mul" input: "@" input: "@" }',
)
BOOTED = (
    '{ layer { name: "m" type: "memory" input: "&" memory { of: "h" } } layer { name: "w" type: "dot_prod" input: "m"'
    ' input: "m" } layer { name: "h" type: "scaling" input: "w" input: "@" } output: "h" }'
)


class OtherSizes(Target):
    """Random networks whose data layers are fed rows of other sizes."""

    name = "sizes"
    second_per_byte = 0.1

    def make(self, rng: Random) -> bytes:
        """The sizes that are fed, and a network that may read feeds of every kind."""
        lines: list[str] = []
        names = {kind: [kind] for kind in DECLARED}
        for number in range(rng.randint(1, 6)):
            kind = rng.choice("rssssnmmi")
            read, name = rng.choice(names[kind][-3:]), f"{kind}{number}"
            line = _layer(rng, kind, name, read, names)
            network = _loads("\n".join([*lines, line]), DECLARED)
            if network is not None:
                lines.append(line)
                names[_kind(network[name].output_types[0])].append(name)
        fed = {name: list(sizes) for name, sizes in DECLARED.items()}
        for name in rng.sample(sorted(fed), rng.randint(1, 3)):
            fed[name] = [max(1, size + rng.choice((-2, -1, 0, 1, 3, 40))) for size in fed[name]]
        return f"# {json.dumps(fed)}\n{chr(10).join(lines)}".encode()

    def check(self, case: bytes) -> None:
        """Values and gradients are those of a net that declares what is fed; what it refuses cannot be declared."""
        first, _, text = case.decode().partition("\n")
        try:
            fed = json.loads(first.removeprefix("#"))
            network, declaring = _loads(text, DECLARED), _loads(text, fed)
        except (ValueError, KeyError, AttributeError, TypeError):  # of a case that was made smaller
            return
        if network is None or {name: len(sizes) for name, sizes in fed.items()} != RANKS:
            return
        with as_python(), np.errstate(all="ignore"):
            net = pl.Net(network, dtype="float64")
            other = None if declaring is None else pl.Net(declaring, dtype="float64")
            for sizes in (DECLARED, fed, fed):
                found = _results(net, sizes)
            if isinstance(found, str):
                lawful = other is None or _shapes(other) != _shapes(net) or "the channels come first" in found
                demand(lawful, f"refuses what can be declared: {found}")
            else:
                demand(other is not None, "takes what cannot be declared")
                _compare(found, _results(other, fed))
            _compare(_results(net, DECLARED), _results(pl.Net(network, dtype="float64"), DECLARED))


def _layer(rng: Random, kind: str, name: str, read: str, names: dict[str, list[str]]) -> str:
    text = rng.choice(KINDS[kind])
    for placeholder in ("$step", "$booted"):
        text = text.replace(placeholder, rng.choice(STEPS) if placeholder == "$step" else BOOTED)
    text = text.replace("$width", str(rng.choice((1, 3, 3, 4))))
    text = text.replace("&", rng.choice(names["r"])).replace("@s", rng.choice(names["s"])).replace("@", read)
    return f'layer {{ name: "{name}" type: {text} }}'


def _loads(text: str, sizes: Sizes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigWarning)
        try:
            return pl.loads(Template(FEEDS).safe_substitute(sizes) + text)
        except ConfigError:
            return None


def _kind(type_: Any) -> str:
    """The kind of a value; what no layer takes here is among the rows."""
    return "i" if type_.kind == "INT" else {1: "s", 2: "n"}.get(type_.level, "m" if len(type_.dims) == 3 else "r")


def _shapes(net: pl.Net) -> dict[str, tuple[int, ...]]:
    return {name: parameter.shape for name, parameter in net.arena.by_name.items()}


def _results(net: pl.Net, sizes: Sizes) -> dict[str, NDArray[Any]] | str:
    """Outputs, their gradients and those of parameters in a pass; or what the error says."""
    rng = np.random.default_rng(1)
    feeds: dict[str, Any] = {}
    for name, rows in ROWS.items():
        array = rng.standard_normal((rows, *sizes[name])) if name != "i" else rng.integers(0, 9, (rows, *sizes[name]))
        feeds[name] = Sequences(array, *STARTS[name]) if name in STARTS else array
    try:
        values = net.forward({name: feed for name, feed in feeds.items() if name in net.network}, step=1)
    except FeedError as error:
        return str(error)
    arrays = {name: np.array(value.data if isinstance(value, Sequences) else value) for name, value in values.items()}
    made = {name for node in net.network.nodes if node.inputs for name in node.output_names}
    dense = {name: np.ones_like(array) for name, array in arrays.items() if array.dtype.kind == "f" and name in made}
    if dense and net.parameters:
        net.backward(dense)
    _check_bounds(net.plan("train"))
    return arrays | {f"gradient of {name}": np.array(one.gradient) for name, one in net.parameters.items()}


def _check_bounds(plan: Plan) -> None:
    """No argument of a launch is larger than the memory that it lies in."""
    for launch in plan.launches:
        for ref in _refs(launch.args):
            owner = ref.owner.buffer if isinstance(ref.owner, Lagged) else ref.owner
            if isinstance(owner, Buffer):
                size, memory = math.prod(map(plan.rows.size, ref.shape)), plan.rows.size(owner.extent)
                demand(size <= memory, f"{launch.op} uses {size} numbers of the {memory} of {owner.name}")


def _refs(arguments: Any) -> Iterator[Ref]:
    for argument in arguments:
        if isinstance(argument, Ref):
            yield argument
        elif isinstance(argument, (tuple, list)) and not hasattr(argument, "_fields"):
            yield from _refs(argument)


def _compare(found: dict[str, NDArray[Any]] | str, expected: dict[str, NDArray[Any]] | str) -> None:
    demand(not isinstance(expected, str), f"a net refuses what it declares: {expected}")
    demand(not isinstance(found, str), f"is refused later: {found}")
    assert not isinstance(found, str)
    assert not isinstance(expected, str)
    demand(found.keys() == expected.keys(), "other outputs")
    for name, array in expected.items():
        demand(np.array_equal(found[name], array, equal_nan=True), f"other numbers: {name}")
