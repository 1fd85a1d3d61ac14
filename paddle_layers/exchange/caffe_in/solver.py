"""Conversion of a Caffe solver to a training file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.network import Network
from paddle_layers.config.reading.fields import Fields as TextFields
from paddle_layers.config.trainingfiles import read_training
from paddle_layers.config.writing.formatter import format_text
from paddle_layers.config.writing.text import fields_text
from paddle_layers.define.escaping import printable_line

from .conversion import Conversion
from .inputs import DataLayerSource
from .layers import PHASES, Fields, NetState
from .messages import fields_of
from .network import fed_in
from .reading import Message

_HEADER = "# proto-file: schema/training.proto\n# proto-message: paddle_layers.Training\n\n"
_OLD_TYPES = {
    "SGD": "SGD",
    "NESTEROV": "Nesterov",
    "ADAGRAD": "AdaGrad",
    "RMSPROP": "RMSProp",
    "ADADELTA": "AdaDelta",
    "ADAM": "Adam",
}
_OPTIMIZERS: dict[str, tuple[str, dict[str, str]]] = {
    "SGD": ("sgd", {"momentum": "momentum"}),
    "Nesterov": ("nesterov", {"momentum": "momentum"}),
    "AdaGrad": ("adagrad", {"epsilon": "delta"}),
    "RMSProp": ("rmsprop", {"decay": "rms_decay", "epsilon": "delta"}),
    "AdaDelta": ("adadelta", {"decay": "momentum", "epsilon": "delta"}),
    "Adam": ("adam", {"beta1": "momentum", "beta2": "momentum2", "epsilon": "delta"}),
}
"""Caffe's solvers: the equivalent optimizer, and the solver's field for each of its attributes."""
_SCHEDULES: dict[str, tuple[str, dict[str, str]]] = {
    "fixed": ("fixed", {}),
    "step": ("step", {"gamma": "gamma", "every": "stepsize"}),
    "exp": ("exp", {"gamma": "gamma"}),
    "inv": ("inv", {"gamma": "gamma", "power": "power"}),
    "multistep": ("multistep", {"gamma": "gamma", "at": "stepvalue"}),
    "poly": ("poly", {"power": "power"}),
    "sigmoid": ("sigmoid", {"gamma": "gamma", "middle": "stepsize"}),
}
"""Caffe's learning rate policies, likewise."""


def is_solver(fields: TextFields) -> bool:
    """Whether a prototxt is a solver's: it has fields of one that no net has, and no layers."""
    names = {field[0] for field in fields}
    # A net has fields of the same name, such as `debug_info`.
    return bool(names & (set(fields_of("Solver")) - set(fields_of("Net")))) and not names & {"layer", "layers"}


def states_of(solver: Message) -> list[NetState]:
    """The states of rules in training and in the test."""
    tests: list[Message] = solver["test_state"]
    given: list[Message] = [solver["train_state"], tests[0] if tests else Message("NetState", 0)]
    return [
        NetState(phase, message["level"], frozenset(message["stage"]))
        for phase, message in zip(PHASES, given, strict=True)
    ]


class Solver:
    """Converts the fields of a solver; errors go to its report."""

    def __init__(self, message: Message, report: DiagnosticReport, whole: Conversion) -> None:
        self.message, self.report, self.whole = message, report, whole

    def text(self, name: str, origin: str, weights: Fields | None) -> str:
        """The training file, for a network file beside it."""
        fields: Fields = {"network": "network.textproto"}
        fields |= self._lengths()
        fields |= self._sources()
        if weights is not None:
            fields["weights"] = weights
        fields |= self._optimizer()
        fields |= self._schedule()
        fields |= self._limits()
        fields |= self._times()
        fields["output"] = f"output/{self._output(name)}"
        title = f"# Converted from {printable_line(origin)} by `paddle-layers import`.\n"
        lines = (fields_text({key: value}) for key, value in fields.items() if value not in (None, []))
        return format_text(_HEADER + title + "".join(f"{line}\n" for line in lines))

    def _refuse(self, field: str, message: str, help: str = "", code: str = "E511") -> None:
        self.report.add(code, message, self.message.place(field), help=help)

    def _needed(self, field: str) -> Any:
        value = self.message[field]
        if value in (None, []):
            self._refuse(field, f"missing `{field}`", f"add `{field}: ...`", "E105")
            return None
        return value

    # ---- how long, on what

    def _lengths(self) -> Fields:
        steps, size, every = self._needed("max_iter"), self.message["iter_size"], self._batch_size()
        if steps is not None and steps < 1:
            self._refuse("max_iter", f"`max_iter` is {steps}, expected at least 1", code="E103")
        if not 1 <= size < 1 << 20:
            self._refuse("iter_size", f"`iter_size` is {size}, expected 1 to {(1 << 20) - 1:,}", code="E103")
        found: Fields = {"steps": steps, "batch_size": every}
        if size > 1:
            found["accumulate"] = size
        # -1 means a seed of the clock.
        if self.message["random_seed"] >= 0:
            found["seed"] = self.message["random_seed"]
        return found

    def _batch_size(self) -> int:
        sizes = [feed.batch_size for feed in self._feeds("train") if feed.batch_size]
        if len(set(sizes)) > 1:
            self.whole.note(f"data layers have batch sizes {', '.join(map(str, sizes))}; all use {sizes[0]} here")
        return sizes[0] if sizes else 64

    def _feeds(self, phase: str) -> list[DataLayerSource]:
        return fed_in(self.whole, phase)

    def _sources(self) -> Fields:
        """The sources of the phases: Caffe's, if there is a counterpart, else arrays."""
        phases = {phase: feeds for phase in PHASES if (feeds := self._feeds(phase))}
        # The `feed` of a training file applies to both phases.
        fields = {name: own for feeds in phases.values() for feed in feeds for name, own in feed.fields.items()}
        # All phases or none: one training file maps each data layer to one field, whichever source is read.
        if not all(len(feeds) == 1 and self._is_read(feeds[0], fields) for feeds in phases.values()):
            return {"source": [self._arrays(phase, feeds) for phase, feeds in phases.items()]}
        found: list[Fields] = []
        for phase, (feed,) in phases.items():
            assert feed.reader is not None, "checked above"
            name, own = feed.reader
            self.whole.note(
                f"`{printable_line(feed.source)}` is relative to the training file, in Caffe to the working directory"
            )
            source = {"type": name, "phase": phase, name: own, "transform": feed.transforms}
            found += _of_two_kinds(source, feed.foreground) if phase == "train" else [source]
        return {"source": found, "feed": [{"input": name, "field": own} for name, own in fields.items()]}

    def _is_read(self, feed: DataLayerSource, fields: dict[str, str]) -> bool:
        """Whether a source here reads its files, and its values get the same fields as those of the other phase."""
        same = all(feed.fields.get(name) == own for name, own in fields.items())
        return feed.reader is not None and same

    def _arrays(self, phase: str, feeds: Sequence[DataLayerSource]) -> Fields:
        """Arrays that hold the rows of Caffe's databases."""
        known = {value.name for value in self.whole.inputs.values() if value.type or value.usual}
        names = [name for feed in feeds for name in feed.values if name in known]
        origins = [f"`{printable_line(feed.source)}`" for feed in feeds if feed.source]
        file = f"{phase}.npz"
        where = f" of {', '.join(origins)}" if origins else ""
        self.whole.note(f"create {file} for phase {phase}, with the arrays {', '.join(names)}{where}")
        transforms = [one for feed in feeds for one in feed.transforms]
        return {"type": "npz", "phase": phase, "npz": {"file": file}, "transform": transforms}

    # ---- how parameters move

    def _optimizer(self) -> Fields:
        p = self.message
        # The number of a solver was replaced by its name in later files.
        type_ = p["type"] if "type" in p else _OLD_TYPES[p["solver_type"]]
        rate = self._needed("base_lr")
        if type_ not in _OPTIMIZERS:
            field = "type" if "type" in p else "solver_type"
            self._refuse(field, f"unknown solver `{type_}`", f"expected one of {', '.join(_OPTIMIZERS)}")
            return {}
        name, settings = _OPTIMIZERS[type_]
        # Caffe stops as well, for AdaGrad and RMSProp.
        if p["momentum"] and "momentum" not in settings.values():
            self._refuse("momentum", f"{type_} does not support momentum", "remove it", "E103")
        own = {attribute: p[field] for attribute, field in settings.items()}
        return {"optimizer": {"type": name, "learning_rate": rate or 0.0, name: own}}

    def _schedule(self) -> Fields:
        policy = self._needed("lr_policy")
        if policy is None:
            return {}
        if policy not in _SCHEDULES:
            self._refuse(
                "lr_policy",
                f"unknown learning rate policy `{policy}`",
                f"expected one of {', '.join(_SCHEDULES)}",
                "E104",
            )
            return {}
        name, settings = _SCHEDULES[policy]
        own = {attribute: self._needed(field) for attribute, field in settings.items()}
        return {"schedule": {"type": name, name: own}} if name != "fixed" else {}

    def _limits(self) -> Fields:
        p, found = self.message, Fields()
        kind, rate = p["regularization_type"], p["weight_decay"]
        if kind not in ("L1", "L2"):
            self._refuse("regularization_type", f"unknown regularization `{kind}`", "expected L1 or L2", "E104")
        elif rate < 0:
            self._refuse("weight_decay", f"`weight_decay` is {rate:g}, expected at least 0", code="E103")
        elif rate:
            found["regularizer"] = {"type": kind.lower(), kind.lower(): {"rate": rate}}
        if p["clip_gradients"] > 0:
            # Caffe clips by the global norm; -1 means off.
            found["clip"] = {"norm": p["clip_gradients"]}
        return found

    # ---- when something happens

    def _times(self) -> Fields:
        p, found = self.message, Fields()
        if p["test_interval"] > 0 and self._feeds("test"):
            found["test"] = {"every": p["test_interval"]}
        for number in p["test_iter"][:1]:
            self.whole.note(f"test_iter: a test uses all samples of its source, not {number} batches")
        for field, block in (("display", "log"), ("snapshot", "checkpoint")):
            if p[field] > 0:
                found[block] = {"every": p[field]}
        if p["weights"]:
            self.whole.note("weights: pass the caffemodel by --weights")
        return found

    def _output(self, name: str) -> str:
        """A folder name without path components."""
        # A prefix is a path on another machine and comes from an untrusted file: only its last part is used.
        given = (self.message["snapshot_prefix"] or "").rstrip("/").rpartition("/")[2] or name
        return re.sub(r"[^\w-]+", "_", given, flags=re.ASCII).strip("_")[:80] or "training"


def check_training(text: str, network: Network, report: DiagnosticReport) -> None:
    """Report what is wrong with the training file at the field of the solver that it comes from."""
    _, found = read_training(text, "train.textproto", network)
    for fault in found.faults:
        if fault.severity == "error":
            report.add(fault.code, f"{fault.message} (in the generated training file)", 0)


def _of_two_kinds(source: Fields, foreground: float | None) -> list[Fields]:
    """Two sources instead of one of windows, mixed by the share of foreground windows."""
    if foreground is None:
        return [source]
    name, shares = source["type"], {"foreground": foreground, "background": 1 - foreground}
    kinds = [kind for kind, share in shares.items() if share > 0]
    return [
        {**source, name: {**source[name], "windows": kind}, **({"ratio": shares[kind]} if len(kinds) == 2 else {})}
        for kind in kinds
    ]
