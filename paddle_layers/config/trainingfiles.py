"""Reads training files: the network they name, the components they set up, every fault of both at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from paddle_layers.define.name_patterns import listed, matching, rename_problem

from .binding.binder import Binder, Bound
from .binding.headers import is_network, spec
from .diagnostics.diagnostic import Source
from .diagnostics.report import ConfigError, Report, TooManyFaults
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
    TestSettings,
    Training,
    TransformSettings,
    WeightsSettings,
)
from .wiring.texts import wire_fields


def load_training(path: str | Path, plugins: Iterable[str | Path] = ()) -> Training:
    """Read and check a training file and the network that it names. Raises `ConfigError` with every fault of both."""
    load_plugins(plugins)
    return loads_training(read_file(path), path)


def loads_training(text: str, path: str | Path = "<text>") -> Training:
    """Check the text of a training file that stands, or would stand, at `path`. Raises `ConfigError`."""
    training, found = read_training(text, path)
    if training is None or found.failed:
        raise ConfigError(found.faults)
    return training


def read_training(text: str, path: str | Path, network: Network | None = None) -> tuple[Training | None, Examined]:
    """The text of a training file at `path`: what it sets, if that is sound, and what is known beside its faults.

    With a `network` that is given, the text names none, and needs no source.
    """
    report = Report(Source(str(path), text))
    reader = _Reader(report, Path(path).parent, network)
    training = quietly(reader.run)
    return training, Examined(reader.sound, [*reader.elsewhere, *report.sorted()])


class _Reader:
    def __init__(self, report: Report, base: Path, given: Network | None) -> None:
        self.report, self.base, self.given = report, base, given
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
        if is_network(fields):
            help_ = (
                'a training file names it, `network: "FILE"`, beside an optimizer and a source: see `paddle-layers new`'
            )
            self.report.add("E009", "this is a network file, not a training file", fields[0][3], help=help_)
            return None
        bound = self.binder.message(fields, spec("Training"), 0)
        network = self._network(bound)
        self._lengths(bound)
        self._sources(bound, network)
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
            before = len(self.report.diagnostics)
            self.sound = Network.checked(*wire_fields([], self.report, net))
            return None if len(self.report.diagnostics) > before or net.broken else self.sound
        self.network_path = self.base / str(path)
        if not os.path.isfile(self.network_path):
            self.report.add("E302", f"there is no network file `{self.network_path}`", bound.place("network"))
            return None
        try:
            found = examine_network(read_file(self.network_path), str(self.network_path))
        except ConfigError as error:
            self.elsewhere = error.diagnostics
            return None
        self.sound = found.network
        if found.failed:
            self.elsewhere = found.faults
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

    def _sources(self, bound: Bound, network: Network | None) -> None:
        first: dict[str, int] = {}
        for source in bound.values.get("source", ()):
            phase = _get(source, "phase", "Source")
            if phase in first:
                note = self.report.note("the other one is here", first[phase])
                self.report.add("E304", f"two sources feed the {phase} phase", source.start, notes=(note,))
            first.setdefault(phase, source.start)
            if network is not None:
                for transform in source.values.get("transform", ()):
                    self._data_layer(transform, network)
        if "train" not in first and not bound.broken and self.given is None:
            self.report.add(
                "E304", "there is no source for the train phase", 0, help='add `source { type: "npz" npz { ... } }`'
            )

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
        for rename in bound.values.get("rename", ()) if bound is not None else ():
            old, new = rename.values.get("from"), rename.values.get("to")
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
        return SourceSettings(made.definition, made.attributes, phase, changes, shuffled)


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
    return WeightsSettings(bound.values["file"], rename, bound.values.get("leave_out", ()))


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
            items = value if isinstance(value, list) else [value]
            for number, item in enumerate(items):
                own = f"{path}.{name}".lstrip(".") + (f"[{number}]" if isinstance(value, list) else "")
                yield own, item.start if isinstance(item, Bound) else fields[0][4]
                if isinstance(item, Bound):
                    waiting.append((item, own))
