"""Networks and training files as text and as JSON: diagnostics at places of the text, and nothing lost on any way."""

from __future__ import annotations

import itertools
import json
import warnings
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import paddle_layers as pl
from paddle_layers.config import (
    ConfigError,
    ConfigWarning,
    Diagnostic,
    Examined,
    Network,
    examine,
    format_text,
    loads,
    render_github,
    render_json,
    render_text,
)
from paddle_layers.config.conversion import written
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import BLOCK, LIST, Fields
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.trainingfiles import read_training
from paddle_layers.config.writing.binary import message_of_binary, message_of_fields
from paddle_layers.define.escaping import CONTROL
from paddle_layers.testing.cases.case import cases
from tests.config.test_mutations import DECODER, RESIDUAL, SEQUENCE

from .mutators import changed_text
from .target import Target, demand
from .trees import Block, as_json, as_text, changed_tree, tree_of

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    path
    for name in ("digits", "language", "tagger", "text")
    for path in sorted((ROOT / "docs" / "examples" / name).glob("*.textproto"))
]
SMALL = """
layer { name: "x" type: "data" data { shape: 8 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "fc" type: "fc" input: "x" fc { size: 3 act: "relu" } param { of: "bias" lr_mult: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "fc" input: "label" include { phase: "train" } }
"""
TRAINING = """
net { %s }
steps: 10
optimizer { type: "adam" learning_rate: 0.01 adam { beta1: 0.8 } }
source { type: "digits" digits { part: "train" } }
"""
SETTINGS = (
    'schedule { type: "multistep" multistep { gamma: 0.5 at: [3, 6] warmup: 2 } }',
    'regularizer { type: "l2" l2 { rate: 0.001 } } seed: 3 batch_size: 4',
    'source { type: "npz" phase: "test" npz { file: "test.npz" } shuffle: true '
    'transform { type: "scale" input: "x" scale { factor: 0.5 } } }',
    "clip { norm: 1 value: 0.5 } test { every: 5 } checkpoint { every: 5 keep: 3 } log { every: 2 }",
    'feed { input: "x" field: "pixels" } output: "out" dtype: "float64" level: 1 stage: "a"',
    'callback { type: "early_stop" early_stop { patience: 3 } } callback { type: "print" print { values: "fc" } }',
)
"""What training files have besides."""


@cache
def networks() -> list[Block]:
    """Sound networks, small ones mostly: those of the definitions, of the tests, and the examples."""
    texts = [RESIDUAL, SEQUENCE, DECODER, *_example_texts("optimizer", False)]
    texts += [case.text() for name in sorted(pl.registry) for case in cases(pl.registry[name])]
    return [tree_of(text) for text in texts]


@cache
def trainings() -> list[Block]:
    """Sound training files."""
    texts = [TRAINING % SMALL + "\n".join(pair) for pair in itertools.combinations(SETTINGS, 2)]
    return [tree_of(text) for text in (*texts, *_example_texts("optimizer", True))]


def _example_texts(word: str, there: bool) -> list[str]:
    return [text for path in EXAMPLES if (word in (text := path.read_text(encoding="utf-8"))) == there]


class Text(Target):
    """Network files in text format."""

    name = "text"
    trees = staticmethod(networks)
    written = staticmethod(as_text)
    path = ROOT / "docs" / "examples" / "digits" / "fuzzed.textproto"
    """Where the text is said to stand: it may name the files beside it."""

    def make(self, rng: Random) -> bytes:
        """A changed tree in some spelling; or a changed text; seldom both, and seldom something large."""
        trees = self.trees()
        tree, way = rng.choice(trees), rng.random()
        if way < 0.7:
            tree = changed_tree(tree, rng, trees)
        if rng.random() < 0.0002:
            tree = Block(field for field in tree for _ in range(rng.choice((100, 1000))))
        text = self.written(tree, rng)
        if way > 0.6:
            text = changed_text(text, rng, ('layer { name: "a" type: "relu" input: "b" }',))
        return text.encode("utf-8", "surrogatepass")

    def check(self, case: bytes) -> None:
        """As every command of the command line sees it."""
        text = case.decode("utf-8", "surrogatepass")
        found = self.examined(text)
        check_faults(found.faults)
        check_layout(text, str(self.path))
        if not found.failed and found.network is not None:
            check_network(found.network, text)

    def examined(self, text: str) -> Examined:
        """What the library finds in a text."""
        return examine(text, self.path)


class Json(Text):
    """Network files in JSON."""

    name = "json"
    written = staticmethod(as_json)
    path = Text.path.with_suffix(".json")


class TrainingText(Text):
    """Training files in text format."""

    name = "training-text"
    trees = staticmethod(trainings)

    def examined(self, text: str) -> Examined:
        """A sound training file also gives its components."""
        training, found = read_training(text, self.path)
        demand(found.failed or training is not None, "no training and no fault")
        if training is not None and not found.failed:
            for made in (*training.schedule, training.regularizer, *training.callback, *training.source):
                if made is not None:
                    made.definition.create(made.attributes)
            for source in training.source:
                for change in source.transform:
                    change.definition.create(change.attributes)
        return found


class TrainingJson(TrainingText):
    """Training files in JSON."""

    name = "training-json"
    written = staticmethod(as_json)
    path = Text.path.with_suffix(".json")


def check_faults(faults: list[Diagnostic]) -> None:
    """Every fault has a place in its text and a page; what is shown commands no terminal."""
    for fault in faults:
        text = fault.source.text
        demand(0 <= fault.start <= len(text) and fault.start <= fault.end, f"no place: {fault!r}")
        lines = text.count("\n") + 1
        demand(1 <= fault.line <= lines and fault.column >= 1, f"no line: {fault!r}")
        width = len(fault.source.line(fault.line))
        demand(fault.column <= fault.end_column <= width + 2, f"beyond its line: {fault!r}")
        demand(fault.message, f"no message: {fault!r}")
        for note in fault.notes:
            demand(note.source is None or 0 <= note.start <= len(note.source.text), f"no place of a note: {note}")
    shown = render_text(faults)
    demand(not CONTROL.search(shown.replace("\n", "")), f"control characters: {shown!r}")
    as_objects = render_json(faults)
    demand(not CONTROL.search(as_objects.replace("\n", "")), f"control characters: {as_objects!r}")
    demand(json.loads(as_objects) == [fault.to_dict() for fault in faults], "the JSON of the faults says another thing")
    demand(len(render_github(faults).split("\n")) == max(len(faults), 1), "an annotation of several lines")


def check_layout(text: str, name: str) -> None:
    """What can be read can be formatted; that says the same, and stays as it is when it is formatted again."""
    try:
        formatted = format_text(text, name)
    except ConfigError as error:
        demand(error.diagnostics and name in str(error), "refused without a fault of the file")
        return
    demand(format_text(formatted) == formatted, f"fmt changes what fmt wrote: {formatted!r}")
    before, after = fields_of(text), fields_of(formatted)
    demand(before == after or leaves(before) == leaves(after), f"fmt changed the meaning: {formatted!r}")


def fields_of(text: str) -> list[Any]:
    """The fields of a text without their places; floats by their bits, as NaN is not equal to itself."""
    return _plain(read(DiagnosticReport(Source("", text))))


def leaves(fields: list[Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Values by path, in which the block of a type has no name: fmt moves its attributes into it."""
    own = next((value for name, _, value in fields if name == "type"), None)
    found: list[tuple[tuple[str, ...], str]] = []
    for name, kind, value in fields:
        if kind == BLOCK:
            found += leaves(value, path if name == own else (*path, name))
        elif kind == LIST:
            found += leaves(value, (*path, name))
        else:
            found.append(((*path, name), f"{kind} {value!r}"))
    return sorted(found)


def _plain(fields: Fields) -> list[Any]:
    return [
        (name, kind, _plain(value) if kind in (BLOCK, LIST) else value.hex() if isinstance(value, float) else value)
        for name, kind, value, *_ in fields
    ]


def check_network(network: Network, text: str) -> None:
    """A sound network is the same in text, JSON and binary, and `dumps` gives what `loads` takes."""
    canonical = pl.dumps(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigWarning)  # parameters that are too large for this machine
        again = pl.dumps(loads(canonical))
    demand(again == canonical, f"dumps and loads differ: {canonical!r}")
    check_message(message_of_fields(read(DiagnosticReport(Source("", text)))))


def check_message(message: Any) -> None:
    """A message survives every format."""
    binary = written(message, "binary")
    for wanted in ("text", "JSON"):
        content = written(message, wanted).decode()
        back = message_of_fields(read(DiagnosticReport(Source("", content))))
        demand(written(back, "binary") == binary, f"{wanted} holds another message: {content!r}")
    demand(written(message_of_binary(binary, "x"), "binary") == binary, "binary holds another message")
