"""Separate nets for training and test, `train_net` and `test_net` of a solver, as one net with phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paddle_layers.config.diagnostics.diagnostic import Diagnostic, Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import Fields
from paddle_layers.config.reading.reader import read_text
from paddle_layers.define.machine import gc_paused

from .conversion import RULES
from .layers import NetState, phases_of, type_of
from .messages import INPUT_TYPES
from .reading import Message, bind, report_unknown

_WITH_WEIGHTS = {
    *("BatchNorm", "Bias", "Convolution", "Deconvolution", "Embed", "InnerProduct", "PReLU", "Scale"),
    *("BN", "ConvolutionDepthwise", "DepthwiseConvolution", "Normalize"),
}
"""Types of layers whose weights the test takes from the training, by the name of the layer."""
_OF_TRAINING = {
    *("blobs", "blobs_lr", "exclude", "include", "loss_weight", "param", "phase", "propagate_down", "weight_decay"),
    *("bias_filler", "engine", "filler", "scale_filler", "slope_filler", "use_global_stats", "weight_filler"),
}
"""Fields that only concern the training, or are compared separately."""


class JoinedReport(DiagnosticReport):
    """Report of two concatenated files: diagnostics of the second one get its source and its offsets."""

    def __init__(self, first: Source, second: Source) -> None:
        super().__init__(Source(first.name, f"{first.text}\n{second.text}"))
        self.second, self.base = second, len(first.text) + 1

    def nets(self) -> tuple[Message, Message] | None:
        """The nets of both files; None after a report. Raises `TooManyFaults`."""
        first = self.source.text[: self.base - 1]
        # Blanks instead of the first text, so that the offsets of the second file are those of the concatenation.
        train, test = self._fields(first), self._fields(" " * self.base + self.second.text)
        return None if self.failed else (bind("Net", train, 0, self), bind("Net", test, self.base, self))

    def _fields(self, text: str) -> Fields:
        return gc_paused(lambda: read_text(text, self))

    def sorted(self) -> list[Diagnostic]:
        """All diagnostics, those of the first file first."""
        return [self._of_file(diagnostic) for diagnostic in super().sorted()]

    def _of_file(self, found: Diagnostic) -> Diagnostic:
        start, base = found.start - self.base, self.base
        if start < 0:
            return found
        fix = found.fix and found.fix._replace(start=found.fix.start - base, end=found.fix.end - base)
        notes = tuple(
            note._replace(source=self.second, start=note.start - base) if note.source is self.source else note
            for note in found.notes
        )
        return Diagnostic(
            found.code, found.message, self.second, start, found.end - base, help=found.help, notes=notes, fix=fix
        )


class NetPair(NamedTuple):
    """The net of the training and that of the test, with the states for their rules."""

    train: Message
    test: Message
    states: tuple[NetState, NetState]

    def merge(self, report: DiagnosticReport) -> Message:
        """One net: layers that both have are there in both phases, others in one. Errors go to the report."""
        net = _copy(self.train)
        net.values.pop("state", None)
        if any(_field_difference(self.train[name], self.test[name]) for name in ("input", "input_dim", "input_shape")):
            report.add("E511", "training net and test net have different inputs", self.test.place("input"))
        for kind in ("layers", "layer"):
            train, test = (
                _present(side[kind], state) for side, state in zip((self.train, self.test), self.states, strict=True)
            )
            net.values[kind] = _merged(train, test, report)
        return net


def _present(messages: Sequence[Message], state: NetState) -> list[Message]:
    return [message for message in messages if phases_of(message, [state])]


def _merged(train: Sequence[Message], test: Sequence[Message], report: DiagnosticReport) -> list[Message]:
    """The layers in an order that is that of both nets."""
    places = {key: place for place, key in enumerate(_keys(test))}
    merged: list[Message] = []
    done = 0
    for key, message in zip(_keys(train), train, strict=True):
        place = places.get(key)
        if place is None:
            merged.append(_in_phase(message, "TRAIN"))
        elif place < done:
            text = f"layer `{key[0]}` precedes others in the test net that follow it in the training net"
            report.add("E511", text, test[place].start, help="write the layers of both nets in the same order")
        else:
            merged += [_in_phase(other, "TEST") for other in test[done:place]]
            merged += _both(key[0], message, test[place], report)
            done = place + 1
    return merged + [_in_phase(other, "TEST") for other in test[done:]]


def _keys(messages: Sequence[Message]) -> list[tuple[str, int]]:
    """The name of each layer, and how many of the same name precede it."""
    counts: dict[str, int] = {}
    keys = []
    for message in messages:
        name = str(message["name"] or (message["top"] or [""])[0])
        counts[name] = counts.get(name, 0) + 1
        keys.append((name, counts[name]))
    return keys


def _both(name: str, train: Message, test: Message, report: DiagnosticReport) -> list[Message]:
    """A layer of both nets: once where it is the same, else once for each phase."""
    types = {type_of(train), type_of(test)}
    if types & INPUT_TYPES:
        return [_in_phase(train, "TRAIN"), _in_phase(test, "TEST")]
    different = _difference(train, test) if len(types) == 1 else (test, "type")
    if different is None and "BatchNorm" in types:
        train, different = _with_statistics(train, test)
    if different is None:
        if types <= RULES.keys():
            report_unknown(test, report)
        return [_without_rules(train)]
    if types & _WITH_WEIGHTS:
        message, field = different
        text = f"layer `{name}` differs between the training net and the test net in `{field}`, but shares its weights"
        help_ = "make the layers equal, or import the training net alone"
        report.add("E511", text, message.place(field), help=help_)
    return [_in_phase(train, "TRAIN"), _in_phase(test, "TEST")]


def _with_statistics(train: Message, test: Message) -> tuple[Message, tuple[Message, str] | None]:
    """A BatchNorm of both nets: statistics of the batch in training and averages in the test are the default."""
    settings, other = train["batch_norm_param"], test["batch_norm_param"]
    given = (settings["use_global_stats"] or False, other["use_global_stats"] in (None, True))
    if given == (True, False):
        return train, (other, "use_global_stats")
    settings = _copy(settings)
    settings.values["use_global_stats"] = None if given == (False, True) else given[0]
    train = _copy(train)
    train.values["batch_norm_param"] = settings
    return train, None


def _difference(train: Message, test: Message) -> tuple[Message, str] | None:
    """The first field of the test's message in which the two differ in both phases."""
    for name in {**train.values, **test.values}:
        # Invalid values have been reported.
        invalid = any(name in side.places and name not in side for side in (train, test))
        found = None if invalid or name in _OF_TRAINING else _field_difference(train[name], test[name])
        if found is not None:
            return found if found[1] else (test, name)
    return None


def _field_difference(one: Any, other: Any) -> tuple[Message, str] | None:
    if isinstance(one, Message) and isinstance(other, Message):
        return _difference(one, other)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next((found for pair in zip(one, other, strict=True) if (found := _field_difference(*pair))), None)
    return None if one == other else (Message("", 0), "")


def _in_phase(message: Message, phase: str) -> Message:
    """A layer of one phase; the rules of its net have been evaluated."""
    rule = Message("NetStateRule", message.start)
    rule.values["phase"] = phase
    found = _without_rules(message)
    found.values["include"] = [rule]
    return found


def _without_rules(message: Message) -> Message:
    found = _copy(message)
    for name in ("include", "exclude"):
        found.values.pop(name, None)
    return found


def _copy(message: Message) -> Message:
    found = Message(message.kind, message.start)
    found.values, found.places, found.unknown = dict(message.values), message.places, message.unknown
    return found
