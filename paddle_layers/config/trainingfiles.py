"""Reads training files: the network they name, the components they set up, every fault of both at once."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from paddle_layers.define.name_patterns import listed, matching, rename_problem

from .binding.binder import Binder, Bound
from .binding.headers import is_network, report_caffe, spec
from .diagnostics.diagnostic import Source
from .diagnostics.report import ConfigError, Report, TooManyFaults, warn
from .diagnostics.suggestions import nearest
from .files import Examined, examine_network, load_plugins, read_file
from .network import Network
from .parameters import ParamRule, parameter_names, with_rules
from .reading.quiet import quietly
from .reading.syntax import read
from .training import (
    CheckpointSettings,
    ClipSettings,
    ComponentSettings,
    LogSettings,
    OptimizerSettings,
    SourceSettings,
    SplitSettings,
    TestSettings,
    Training,
    TransformSettings,
    WeightsSettings,
)
from .wiring.texts import of_another_kind, wire_fields

NO_TEST_SOURCE = "there is no source for the test phase"
TEST_SOURCE = 'add `source { type: ... phase: "test" ... }`'


def load_training(path: str | Path, plugins: Iterable[str | Path] = (), *, sources_needed: bool = True) -> Training:
    """Read and check a training file and the network that it names. Raises `ConfigError` with every fault of both.

    Without `sources_needed` the data may come from elsewhere: that a phase has no source is then no fault.
    """
    load_plugins(plugins)
    return loads_training(read_file(path), path, sources_needed=sources_needed)


def loads_training(text: str, path: str | Path = "<text>", *, sources_needed: bool = True) -> Training:
    """Check the text of a training file that stands, or would stand, at `path`. Raises `ConfigError`."""
    return sound(*read_training(text, path, sources_needed=sources_needed))


def sound(training: Training | None, found: Examined) -> Training:
    """The training that `read_training` gave, after a warning of what is odd. Raises `ConfigError` with its faults."""
    if training is None or found.failed:
        raise ConfigError(found.faults)
    warn(found.faults)
    return training


def read_training(
    text: str, path: str | Path, network: Network | None = None, *, sources_needed: bool = True
) -> tuple[Training | None, Examined]:
    """The text of a training file at `path`: what it sets, if that is sound, and what is known beside its faults.

    With a `network` that is given, the text names none, and needs no source.
    """
    report = Report(Source(str(path), text))
    reader = _Reader(report, Path(path).parent, network, sources_needed=sources_needed and network is None)
    training = quietly(reader.run)
    if fault := of_another_kind(report):
        return None, Examined(None, [fault])
    return training, Examined(reader.sound, [*reader.elsewhere, *report.sorted()])


def acts_on_tests(owner: type) -> bool:
    """Whether a callback of this class does nothing before there is a test."""
    return hasattr(owner, "on_test") and not (hasattr(owner, "on_step") or hasattr(owner, "on_epoch"))


class _Reader:
    def __init__(self, report: Report, base: Path, given: Network | None, *, sources_needed: bool) -> None:
        self.report, self.base, self.given, self.sources_needed = report, base, given, sources_needed
        self.binder = Binder(report)
        self.elsewhere: list[Any] = []
        """Diagnostics of the network's own file."""
        self.network_path: Path | None = None
        self.sound: Network | None = None
        """The layers of the network that have no fault."""

    def run(self) -> Training | None:
        try:
            return self._read()
        except TooManyFaults:
            return None

    def _read(self) -> Training | None:
        fields = read(self.report)
        if report_caffe(fields, self.report):
            return None
        if is_network(fields):
            help_ = (
                'a training file names it, `network: "FILE"`, beside an optimizer and a source: see `paddle-layers new`'
            )
            self.report.add("E009", "this is a network file, not a training file", fields[0][3], help=help_)
            return None
        bound = self.binder.message(fields, spec("Training"), 0)
        network = self._network(bound)
        self._lengths(bound)
        phases = self._sources(bound, network)
        if "test" in phases or self.sources_needed:
            self._tests(bound, tested="test" in phases)
        self._weights(bound.values.get("weights"))
        if network is not None:
            self._feeds(bound, network)
            self._params(bound, network)
        if self.report.failed or network is None:
            return None
        values = bound.values
        rules = tuple(ParamRule(**_header(param, "Param")) for param in values.get("param", ()))
        return Training(
            network=with_rules(network, rules),
            param=rules,
            optimizer=self._optimizer(values["optimizer"]),
            source=tuple(map(self._source, values.get("source", ()))),
            schedule=self._component(values.get("schedule")),
            regularizer=self._component(values.get("regularizer")),
            callback=tuple(_components(values.get("callback", ()))),
            clip=ClipSettings(**_header(values.get("clip"), "Clip")),
            test=TestSettings(**_header(values.get("test"), "Test")),
            checkpoint=CheckpointSettings(**_header(values.get("checkpoint"), "Checkpoint")),
            log=LogSettings(**_header(values.get("log"), "Log")),
            feed={feed.values["input"]: feed.values["field"] for feed in values.get("feed", ())},
            weights=_weights(values.get("weights")),
            network_path=self.network_path,
            base=self.base,
            file=self.report.source,
            places=dict(_places(bound, "")),
            **_plain(bound, ("seed", "batch_size", "epochs", "steps", "output", "dtype", "level", "stage")),
        )

    # ---- the network

    def _network(self, bound: Bound) -> Network | None:
        path, block = bound.values.get("network"), bound.places.get("net")
        if self.given is not None:
            if block:
                self.report.add("E301", "`net` contradicts the network that is given", block[0][3])
            self.sound = self.given
            return self.given
        if path is not None and block:
            note = self.report.note("`network` is here", bound.place("network"))
            self.report.add("E301", "`network` and `net` contradict each other", block[0][3], notes=(note,))
            return None
        if path is None and not block:
            if not bound.broken and "network" not in bound.places:
                help_ = 'add `network: "FILE"` or `net { layer ... }`'
                self.report.add("E301", "this training file names no network", 0, help=help_)
            return None
        if block:
            net = bound.values["net"]
            if net is None:  # no block, which was reported
                return None
            before = self.report.errors
            self.sound = Network.checked(*wire_fields([], self.report, net))
            return None if self.report.errors > before or net.broken else self.sound
        self.network_path = self.base / str(path)
        if not os.path.isfile(self.network_path):
            self.report.add("E302", f"there is no network file `{self.network_path}`", bound.place("network"))
            return None
        try:
            found = examine_network(read_file(self.network_path), str(self.network_path))
        except ConfigError as error:
            self.elsewhere = error.diagnostics
            return None
        self.sound, self.elsewhere = found.network, found.faults
        return None if found.failed else found.network

    # ---- checks between fields

    def _lengths(self, bound: Bound) -> None:
        given = [name for name in ("epochs", "steps") if name in bound.places]
        if len(given) == 2:
            note = self.report.note("`epochs` is here", bound.place("epochs"))
            start = bound.places["steps"][0][3]
            self.report.add("E303", "`epochs` and `steps` contradict each other", start, notes=(note,))
        elif not given and not bound.broken and not self._misspelt():
            help_ = "add `epochs: 20` or `steps: 1000`"
            self.report.add("E303", "this training file does not say how long to train", 0, help=help_)

    def _misspelt(self) -> bool:
        """Whether an unknown field was reported that was meant to be one of the two."""
        unknown = (d.message for d in self.report.diagnostics if d.code == "E101")
        return any("`epoch" in d.lower() or "`step" in d.lower() or "iter" in d.lower() for d in unknown)

    def _sources(self, bound: Bound, network: Network | None) -> Collection[str]:
        """Check the sources; gives the phases that they feed."""
        first: dict[str, int] = {}
        for source in bound.values.get("source", ()):
            phases = ["train", "test"] if "split" in source.places else [_get(source, "phase", "Source")]
            place = source.place("phase")
            if "phase" in source.places and any(fault.start == place for fault in self.report.diagnostics):
                continue  # it names no phase, which was reported
            twice = next((phase for phase in phases if phase in first), None)
            if twice is not None:
                note = self.report.note("the other one is here", first[twice])
                help_ = 'a source is for the train phase unless it says `phase: "test"`'
                self.report.add("E304", f"two sources feed the {twice} phase", source.start, notes=(note,), help=help_)
            for phase in phases:
                first.setdefault(phase, source.start)
            self._split(source)
            if network is not None:
                for transform in source.values.get("transform", ()):
                    self._data_layer(transform, network)
        if "train" not in first and self.sources_needed and not bound.broken:
            self.report.add(
                "E304", "there is no source for the train phase", 0, help='add `source { type: "npz" npz { ... } }`'
            )
        return first

    def _tests(self, bound: Bound, *, tested: bool) -> None:
        """What acts on tests needs some."""
        test: Bound | None = bound.values.get("test")
        every = test is not None and "every" in test.places
        if test is not None and every and not tested:
            self.report.add("W005", NO_TEST_SOURCE, test.place("every"), help=TEST_SOURCE)
        for callback in bound.values.get("callback", ()):
            if callback.definition is None or not acts_on_tests(callback.definition.owner):
                continue
            what = f"`{callback.definition.name}` acts on tests"
            if not tested:
                self.report.add("W005", f"{what}, but {NO_TEST_SOURCE}", callback.start, help=TEST_SOURCE)
            elif not every:
                help_ = "add `test { every: 100 }`, with as many steps as you like between two tests"
                self.report.add("W005", f"{what}, and the only one is at the end", callback.start, help=help_)

    def _split(self, source: Bound) -> None:
        split = source.values.get("split")
        if not isinstance(split, Bound) or split.broken:
            return
        given, share = split.places, split.values.get("test")
        both = "both a share and a field" if {"test", "field"} <= given.keys() else ""
        neither = "neither a share nor a field" if not {"test", "field"} & given.keys() else ""
        if both or neither:
            help_ = 'write `test: 0.2` for a fifth of the rows, or `field: "part" value: "test"`'
            self.report.add("E307", f"this split has {both or neither}", split.start, help=help_)
        elif isinstance(share, float) and share >= 1:
            message = f"`test` is the share of the rows that is held out, found {share:g}"
            self.report.add("E307", message, split.place("test"), help="write `test: 0.2` for a fifth of them")
        elif ("field" in given) != ("value" in given):
            missing = "value" if "field" in given else "field"
            help_ = "a row is held out where `field` has this `value`"
            self.report.add("E307", f"this split has no `{missing}`", split.start, help=help_)
        elif "field" in given and (shared := next((name for name in ("stratify", "group") if name in given), "")):
            message = f"`{shared}` is for a share of the rows; `field` says which rows are held out"
            self.report.add("E307", message, split.place(shared))
        elif "stratify" in given and "group" in given:
            message = "`stratify` cuts every group in two, and `group` keeps it whole; leave one of them out"
            self.report.add("E307", message, split.place("stratify"))
        elif _get(source, "phase", "Source") == "test":
            message = "a source with a split feeds both phases: leave `phase` out"
            self.report.add("E307", message, source.place("phase"))

    def _feeds(self, bound: Bound, network: Network) -> None:
        for feed in bound.values.get("feed", ()):
            self._data_layer(feed, network)

    def _data_layer(self, bound: Bound, network: Network) -> None:
        name = bound.values.get("input")
        known = [output for node in network.nodes if not node.definition.inputs for output in node.output_names]
        if isinstance(name, str) and name not in known:
            near = nearest(name, known)
            hint = f"did you mean `{near}`?" if near else "there are " + ", ".join(f"`{n}`" for n in known)
            self.report.add("E305", f"`{name}` is no data layer of the network", bound.place("input"), help=hint)

    def _weights(self, bound: Bound | None) -> None:
        first: dict[str, int] = {}
        for rename in bound.values.get("rename", ()) if bound is not None else ():
            old, new = rename.values.get("from"), rename.values.get("to")
            if isinstance(old, str) and first.setdefault(old, rename.start) != rename.start:
                note = self.report.note("the other one is here", first[old])
                self.report.add("E306", f"`{old}` is renamed twice", rename.place("from"), notes=(note,))
            if isinstance(old, str) and isinstance(new, str) and (problem := rename_problem(old, new)):
                self.report.add("E306", problem, rename.place("to"))

    def _params(self, bound: Bound, network: Network) -> None:
        """Each pattern has to match a parameter."""
        blocks = bound.values.get("param", ())
        known = parameter_names(network) if blocks else []
        for block in blocks:
            pattern = block.values.get("of")
            if isinstance(pattern, str) and not matching(pattern, known):
                layers = dict.fromkeys(f"{name.rpartition('.')[0]}.*" for name in known)
                near = nearest(pattern, [*layers, *known])
                hint = f"did you mean `{near}`?" if near else f"there are {listed(known) or 'no parameters'}"
                self.report.add("E306", f"no parameter is called `{pattern}`", block.place("of"), help=hint)

    # ---- components

    def _component(self, bound: Bound | None) -> ComponentSettings | None:
        return next(_components([bound] if bound is not None else []), None)

    def _optimizer(self, bound: Bound) -> OptimizerSettings:
        (made,) = _components([bound])
        return OptimizerSettings(made.definition, made.attributes, bound.values["learning_rate"])

    def _source(self, bound: Bound) -> SourceSettings:
        (made,) = _components([bound])
        phase = _get(bound, "phase", "Source")
        transforms = bound.values.get("transform", [])
        changes = tuple(
            TransformSettings(change.definition, change.attributes, one.values["input"])
            for one, change in zip(transforms, _components(transforms), strict=True)
        )
        shuffle = bound.values.get("shuffle")
        shuffled = phase == "train" if shuffle is None else bool(shuffle)
        given = bound.values.get("split")
        split = SplitSettings(**_header(given, "Split")) if given is not None else None
        rest = {name: _get(bound, name, "Source") for name in ("workers", "memory", "on_error")}
        return SourceSettings(made.definition, made.attributes, phase, changes, shuffled, split, **rest)


def _components(found: Iterable[Bound]) -> Iterator[ComponentSettings]:
    for bound in found:
        assert bound.definition is not None, "an unknown type was reported"
        assert bound.attributes is not None, "a faulty block was reported"
        yield ComponentSettings(bound.definition, bound.attributes)


def _get(bound: Bound, name: str, message: str) -> Any:
    value = bound.values.get(name)
    return spec(message).fields[name].default if value is None else value


def _header(bound: Bound | None, message: str) -> dict[str, Any]:
    """All fields of a small message, with their defaults."""
    fields = spec(message).fields
    return {name: field.default if bound is None else _get(bound, name, message) for name, field in fields.items()}


def _weights(bound: Bound | None) -> WeightsSettings | None:
    if bound is None:
        return None
    rename = {one.values["from"]: one.values["to"] for one in bound.values.get("rename", ())}
    values = bound.values
    return WeightsSettings(values["file"], rename, values.get("leave_out", ()), values.get("layout"))


def _plain(bound: Bound, names: Iterable[str]) -> dict[str, Any]:
    return {name: _get(bound, name, "Training") for name in names}


def _places(bound: Bound, prefix: str) -> Iterator[tuple[str, int]]:
    """Offsets by dotted name, for faults that show only when data are read."""
    waiting = [(bound, prefix)]
    while waiting:
        message, path = waiting.pop()
        for attribute in message.definition.attributes if message.definition is not None else ():
            yield f"{path}/{attribute}", message.attribute_place(attribute)
        for name, fields in message.places.items():
            value = message.values.get(name)
            if isinstance(value, tuple):
                own = f"{path}.{name}".lstrip(".")
                yield from ((f"{own}[{number}]", message.place(name, number)) for number in range(len(value)))
            items = value if isinstance(value, list) else [value]
            for number, item in enumerate(items):
                own = f"{path}.{name}".lstrip(".") + (f"[{number}]" if isinstance(value, list) else "")
                yield own, item.start if isinstance(item, Bound) else fields[0][4]
                if isinstance(item, Bound):
                    waiting.append((item, own))
