"""Training files: the network they name, the components they configure, all errors of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from paddle_layers.define.machine import gc_paused
from paddle_layers.define.name_patterns import listed, matching

from .binding.binder import Binder, Bound
from .binding.headers import is_network, report_caffe, spec
from .binding.overrides import apply_overrides
from .diagnostics.diagnostic import Source
from .diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults, warn
from .diagnostics.suggestions import nearest
from .files import Examined, examine_network, load_plugins, read_file, similar_file
from .network import Network
from .parameters import parameter_names
from .reading.fields import Fields
from .reading.syntax import read
from .resolved import unsized_layers
from .training import Training
from .training_checks import (
    check_average,
    check_clip,
    check_momenta,
    check_monitored,
    check_once,
    check_ratio,
    check_scaling,
    check_schedules,
    check_source_name,
    check_split,
    check_state,
    phases_of,
)
from .training_values import generate_of, incomplete_training, training_of
from .wiring.network_builder import of_another_kind, wire_fields

NO_TEST_SOURCE = "there is no source for the validation or test phase"
Sizes: TypeAlias = Callable[[Training, Sequence[str]], Mapping[str, int]]
"""The sizes of data layers of a training, by name; of the training, only sizes that depend on these are not final."""
UNKNOWN_SIZE = 1_000_003
"""Size of a data layer while the data are not read; a prime, so that it is no product either."""
MIXED_ONCE = ("shuffle", "workers", "memory", "on_error")
"""Settings that mixed sources have in common, since they concern the mixed batches."""
TEST_SOURCE = 'add `source { type: ... phase: "validation" ... }`'


def load_training(
    path: str | Path,
    plugins: Iterable[str | Path] = (),
    *,
    sources_needed: bool = True,
    settings: Sequence[str] = (),
) -> Training:
    """Load and check a training file and the network that it names.

    Args:
        path: The training file.
        plugins: Python files that register definitions; imported first.
        sources_needed: Whether a phase without a source is an error; False if data are passed to `train`.
        settings: Fields that override those of the file, such as "optimizer.learning_rate=0.01" and
            "net.layer[fc1].fc.size=20".

    Returns:
        The training, for `train`.

    Raises:
        ConfigError: The training file or the network has errors; all of them are reported.
        TypeError: `settings` is a string instead of a list.

    Example::

        training = pl.load_training("digits.textproto", settings=["optimizer.learning_rate=0.01"])
    """
    if isinstance(settings, str):
        raise TypeError(f"settings must be a list of strings: write [{settings!r}]")
    load_plugins(plugins)
    return loads_training(read_file(path), path, sources_needed=sources_needed, settings=settings)


def loads_training(
    text: str,
    path: str | Path = "<text>",
    *,
    sources_needed: bool = True,
    settings: Sequence[str] = (),
    sizes: Sizes | None = None,
) -> Training:
    """Check the text of a training file with the (possibly future) path `path`. Raises `ConfigError`."""
    return require_valid(*read_training(text, path, sources_needed=sources_needed, settings=settings, sizes=sizes))


def require_valid(training: Training | None, found: Examined) -> Training:
    """The training that `read_training` returned, after warnings. Raises `ConfigError` with its errors."""
    if training is None or training.incomplete or found.failed:
        raise ConfigError(found.faults)
    warn(found.faults)
    return training


def read_training(
    text: str,
    path: str | Path,
    network: Network | None = None,
    *,
    sources_needed: bool = True,
    settings: Sequence[str] = (),
    sizes: Sizes | None = None,
) -> tuple[Training | None, Examined]:
    """Parse the text of a training file at `path`.

    With a `network` argument, the text names none and needs no source. `sizes` computes the sizes of data layers of ids
    that have none; without it, they are errors.

    Returns:
        The training, and its network with all errors. With errors, the training is incomplete, or None.
    """

    def read_with(*sized: str) -> tuple[Training | None, Examined]:
        return _read_training(text, path, network, sources_needed=sources_needed, settings=(*settings, *sized))

    training, found = read_with()
    unsized = unsized_layers(text, path, settings) if sizes is not None and network is None and found.failed else {}
    if sizes is None or not unsized:
        return training, found
    # Shapes are checked before data are read: with sizes that no other size of the network equals by chance.
    layers = tuple(dict.fromkeys(unsized.values()))
    provisional, checked = read_with(*_sized(unsized, dict.fromkeys(layers, UNKNOWN_SIZE)))
    if provisional is None or checked.failed:
        # Errors that are there without sizes, too, are not about sizes: absent ones are then not reported.
        others = {(fault.code, fault.start) for fault in found.faults}
        unrelated = all((fault.code, fault.start) in others for fault in checked.faults)
        return (provisional, checked) if unrelated else (training, found)
    try:
        return read_with(*_sized(unsized, sizes(provisional, layers)))
    except ConfigError as error:
        return provisional, Examined(provisional.network, [*checked.faults, *error.diagnostics])


def _sized(unsized: Mapping[str, str], sizes: Mapping[str, int]) -> list[str]:
    """Overrides that set sizes of data layers."""
    return [f"net.layer[{key}].data.size={sizes[name]}" for key, name in unsized.items()]


def _read_training(
    text: str, path: str | Path, network: Network | None, *, sources_needed: bool, settings: Sequence[str]
) -> tuple[Training | None, Examined]:
    report = DiagnosticReport(Source(str(path), text, settings))
    reader = _TrainingReader(report, Path(path).parent, network, sources_needed=sources_needed and network is None)
    training = gc_paused(reader.run)
    # Only after parsing: the number of errors is one of the signs of a file in another format.
    if fault := of_another_kind(report):
        return None, Examined(None, [fault])
    return training, Examined(reader.valid_network, [*reader.network_diagnostics, *report.sorted()])


def acts_on_tests(owner: type) -> bool:
    """Whether callbacks of this class only act on tests."""
    return hasattr(owner, "on_test") and not (hasattr(owner, "on_step") or hasattr(owner, "on_epoch"))


class _TrainingReader:
    def __init__(self, report: DiagnosticReport, base: Path, given: Network | None, *, sources_needed: bool) -> None:
        self.report, self.base, self.network_argument, self.sources_needed = report, base, given, sources_needed
        self.binder = Binder(report)
        self.network_diagnostics: list[Any] = []
        """Diagnostics of the network file."""
        self.network_path: Path | None = None
        self.valid_network: Network | None = None
        """The valid layers of the network."""

    def run(self) -> Training | None:
        try:
            return self._read()
        except TooManyFaults:
            return None

    def _read(self) -> Training | None:
        fields = read(self.report)
        # Before binding, which would report each field of a Caffe solver as unknown.
        if report_caffe(fields, self.report):
            return None
        if is_network(fields):
            help_ = (
                'write a training file with `network: "FILE"`, an optimizer and a source; `paddle-layers new` creates '
                "an example"
            )
            self.report.add("E009", "this is a network file, not a training file", fields[0][3], help=help_)
            return None
        # Before binding, so that an override is checked like a value in the file, with its own position in errors.
        apply_overrides(fields, self.report, "Training", without="net." if _names_network(fields) else "")
        bound = self.binder.message(fields, spec("Training"), 0)
        # The network comes first: sources, feeds and patterns are checked against its layers. Without a valid one, the
        # other checks still run.
        network = self._network(bound)
        self._lengths(bound)
        phases = self._sources(bound, network)
        # Data that are passed to `train` may include a test set, so a missing test source means nothing yet.
        monitored = next((phase for phase in ("validation", "test") if phase in phases), "")
        if monitored or self.sources_needed:
            self._evaluations(bound, monitored)
        check_monitored(bound.values.get("callback", ()), self.report)
        check_once(bound, self.report)
        check_average(bound.values.get("average"), self.report)
        check_clip(bound.values.get("clip"), self.report)
        for name in ("schedule", "momentum_schedule"):
            check_schedules(bound.values.get(name, ()), name, self.report)
        if network is not None:
            self._feeds(bound, network)
            self._params(bound, network)
            check_momenta(bound, network, self.report)
            check_state(bound, network, self.report)
            self._generate(bound.values.get("generate"), network)
        # Every check above has run by now: each works on the fields that are valid, so that one run shows all errors.
        files = (self.base, self.network_path, self.report.source)
        if not self.report.failed and network is not None:
            return training_of(bound, network, *files)
        if self.valid_network is None or bound.broken or self.report.source.overrides:
            return None
        faults = [*self.network_diagnostics, *self.report.diagnostics]
        return incomplete_training(bound, fields, self.valid_network, faults, *files)

    # ---- the network

    def _network(self, bound: Bound) -> Network | None:
        path, block = bound.values.get("network"), bound.places.get("net")
        if self.network_argument is not None:
            if block:
                self.report.add("E301", "`net` conflicts with the network argument", block[0][3])
            self.valid_network = self.network_argument
            return self.network_argument
        if path is not None and block:
            note = self.report.note("`network` is here", bound.place("network"))
            self.report.add("E301", "`network` and `net` are mutually exclusive", block[0][3], notes=(note,))
            return None
        if path is None and not block:
            if not bound.broken and "network" not in bound.places:
                help_ = 'add `network: "FILE"` or `net { layer ... }`'
                self.report.add("E301", "this training file has no network", 0, help=help_)
            return None
        if block:
            net = bound.values["net"]
            if net is None:  # no block, which was reported
                return None
            # The inline network shares the report of the file, so its errors are recognized by the count.
            before = self.report.errors
            # The valid layers are kept after errors as well: an editor completes names from them.
            self.valid_network = Network.checked(*wire_fields([], self.report, net))
            return None if self.report.errors > before or net.broken else self.valid_network
        self.network_path = self.base / str(path)
        # Here rather than in the reader: the error belongs to the field of this file, not to the file that is missing.
        if not os.path.isfile(self.network_path):
            message = f"network file `{self.network_path}` not found{similar_file(self.network_path)}"
            self.report.add("E302", message, bound.place("network"))
            return None
        try:
            found = examine_network(read_file(self.network_path), str(self.network_path), self.report.source.overrides)
        except ConfigError as error:
            self.network_diagnostics = error.diagnostics
            return None
        self.valid_network, self.network_diagnostics = found.network, found.faults
        return None if found.failed else found.network

    # ---- checks between fields

    def _lengths(self, bound: Bound) -> None:
        given = [name for name in ("epochs", "steps") if name in bound.places]
        if len(given) == 2:
            note = self.report.note("`epochs` is here", bound.place("epochs"))
            start = bound.places["steps"][0][3]
            self.report.add("E303", "`epochs` and `steps` are mutually exclusive", start, notes=(note,))
        elif not given and not bound.broken and not self._misspelt():
            help_ = "add `epochs: 20` or `steps: 1000`"
            self.report.add("E303", "this training file has neither `epochs` nor `steps`", 0, help=help_)

    def _misspelt(self) -> bool:
        """Whether a misspelling of one of the two was reported."""
        # By the text of the messages: the misspelled field may be in any notation, such as `max_iter` or `num_epochs`.
        unknown = (d.message for d in self.report.diagnostics if d.code == "E101")
        return any("`epoch" in d.lower() or "`step" in d.lower() or "iter" in d.lower() for d in unknown)

    def _sources(self, bound: Bound, network: Network | None) -> Collection[str]:
        """Check the sources; returns the phases that they feed."""
        first: dict[str, Bound] = {}
        named: dict[str, Bound] = {}
        for source in bound.values.get("source", ()):
            phases = phases_of(source)
            place = source.place("phase")
            # With the default phase instead, it would be a second source of the train phase: a consequential error.
            if "phase" in source.places and any(fault.start == place for fault in self.report.diagnostics):
                continue  # an invalid phase, which was reported
            if "name" in source.places:
                check_source_name(source, first, named, self.report)
            else:
                self._mixed(source, phases, first)
                for phase in phases:
                    first.setdefault(phase, source)
            check_ratio(source, phases, self.report)
            check_split(source, self.report)
            if network is not None:
                for transform in source.values.get("transform", ()):
                    self._data_layer(transform.values.get("input"), transform.place("input"), network)
                    for item, name in enumerate(transform.values.get("also", ())):
                        self._data_layer(name, transform.place("also", item), network)
        check_scaling(bound.values.get("source", ()), self.report)
        # In a broken file the source may be in the part that was skipped.
        if "train" not in first and self.sources_needed and not bound.broken:
            self.report.add(
                "E304", "there is no source for the train phase", 0, help='add `source { type: "npz" npz { ... } }`'
            )
        return first

    def _mixed(self, source: Bound, phases: Collection[str], first: Mapping[str, Bound]) -> None:
        """Check a source of phases that may have other sources; those of the train phase are mixed by `ratio`."""
        mixed = "ratio" in source.places
        for phase in phases:
            other = first.get(phase)
            if other is not None and phase == "train" and mixed and "ratio" in other.places:
                self._mixed_once(source, other)
            elif other is not None:
                help_ = 'for a validation or test source, write `phase: "validation"` or `phase: "test"`'
                if phase == "train":
                    help_ += "; to mix both, set `ratio` in each, such as `ratio: 1`"
                elif "split" not in source.places:
                    both = "validate on both" if phase == "validation" else "test on both"
                    help_ = f'to {both}, add a `name` here: with "noisy", the results are `noisy.loss` and so on'
                note = self.report.note("the other one is here", other.start)
                self.report.add("E304", f"two sources for the {phase} phase", source.start, notes=(note,), help=help_)
                return

    def _mixed_once(self, source: Bound, first: Bound) -> None:
        for name in MIXED_ONCE:
            if name in source.places:
                note = self.report.note("the first one is here", first.start)
                message = f"`{name}` of mixed sources must be set in the first one"
                self.report.add("E304", message, source.place(name), notes=(note,), help="move it there")

    def _evaluations(self, bound: Bound, phase: str) -> None:
        """Settings that act on evaluations during the training require these; `phase` has the data, if any."""
        test: Bound | None = bound.values.get("test")
        given = [name for name in ("every", "every_epochs") if test is not None and name in test.places]
        every = bool(given)
        if test is not None and every and not phase:
            # A warning: `train(..., datasets=...)` may provide the data, which the file does not know.
            self.report.add("W005", NO_TEST_SOURCE, test.place(given[0]), help=TEST_SOURCE)
        for callback in bound.values.get("callback", ()):
            if callback.definition is None or not acts_on_tests(callback.definition.owner):
                continue
            what = f"`{callback.definition.name}` acts after each {phase or 'test'}"
            if not phase:
                self.report.add("W005", f"{what}, but {NO_TEST_SOURCE}", callback.start, help=TEST_SOURCE)
            elif not every:
                help_ = f"add `test {{ every: 100 }}` for a {phase} every 100 steps"
                self.report.add("W005", f"{what}, but the only {phase} is at the end", callback.start, help=help_)

    def _feeds(self, bound: Bound, network: Network) -> None:
        for feed in bound.values.get("feed", ()):
            self._data_layer(feed.values.get("input"), feed.place("input"), network)

    def _data_layer(self, name: object, place: int, network: Network) -> None:
        known = [output for node in network.nodes if not node.definition.inputs for output in node.output_names]
        if isinstance(name, str) and name not in known:
            near = nearest(name, known)
            hint = f"did you mean `{near}`?" if near else "available: " + ", ".join(f"`{n}`" for n in known)
            self.report.add("E305", f"`{name}` is not a data layer of the network", place, help=hint)

    def _params(self, bound: Bound, network: Network) -> None:
        """Each pattern has to match a parameter."""
        blocks = bound.values.get("param", ())
        known = parameter_names(network) if blocks else []
        for block in blocks:
            pattern = block.values.get("of")
            if isinstance(pattern, str) and not matching(pattern, known):
                layers = dict.fromkeys(f"{name.rpartition('.')[0]}.*" for name in known)
                # Also patterns of whole layers, since `conv1` is often written for all parameters of the layer.
                near = nearest(pattern, [*layers, *known])
                available = f"available: {listed(known)}" if known else "the network has no parameters"
                hint = f"did you mean `{near}`?" if near else available
                self.report.add("E306", f"no parameter matches `{pattern}`", block.place("of"), help=hint)

    def _generate(self, bound: Bound | None, network: Network) -> None:
        """Check that the generation settings are consistent with each other and with the network."""
        if bound is None or bound.broken or "words" not in bound.values:
            return
        settings = generate_of(bound)
        if settings is not None and (fault := settings.fault(network)) is not None:
            self.report.add("E312", fault.message, bound.place(fault.setting), help=fault.help)


def _names_network(fields: Fields) -> bool:
    """Whether the network is in a separate file, to which its overrides apply."""
    return any(field[0] == "network" for field in fields)
