"""Checked training configuration: the typed fields of `schema/training.proto` with defaults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from paddle_layers.define import Attributes, Definition

from .diagnostics.diagnostic import Diagnostic, Note, Source
from .diagnostics.report import ConfigError
from .generate_settings import GenerateSettings
from .network import Network
from .parameters import ParamRule


@dataclass(frozen=True, slots=True)
class ComponentSettings:
    """A schedule, a regularizer or a callback."""

    definition: Definition
    attributes: Attributes

    @property
    def type(self) -> str:
        """Name in the registry."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class OptimizerSettings(ComponentSettings):
    """An optimizer."""

    learning_rate: float


@dataclass(frozen=True, slots=True)
class ScheduleSettings(ComponentSettings):
    """A schedule, which the next one replaces after the step `until`; its base rate is `base`, if that is set."""

    until: int | None = None
    base: float | None = None


@dataclass(frozen=True, slots=True)
class TransformSettings(ComponentSettings):
    """A transform of the values of the data layer `input`, and of those in `also`, which belong to the same images."""

    input: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """Held-out samples of a source: fractions of them, by group or not, or those with a value."""

    test: float | None = None
    seed: int = 0
    stratify: str | None = None
    field: str | None = None
    value: str | None = None
    group: str | None = None
    validation: float | None = None
    validation_value: str | None = None

    @property
    def shares(self) -> dict[str, float]:
        """Fractions of the samples by held-out phase; the test data do not depend on the fraction of the others."""
        shares = {"test": self.test, "validation": self.validation}
        return {phase: share for phase, share in shares.items() if share is not None}

    @property
    def values(self) -> dict[str, str]:
        """Values of `field` by held-out phase."""
        values = {"test": self.value, "validation": self.validation_value}
        return {phase: value for phase, value in values.items() if value is not None}

    @property
    def phases(self) -> tuple[str, ...]:
        """The held-out phases."""
        return tuple(self.values if self.field is not None else self.shares)

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields that the split reads."""
        return tuple(name for name in (self.stratify, self.field, self.group) if name is not None)


@dataclass(frozen=True, slots=True)
class SourceSettings(ComponentSettings):
    """Data source of a phase; samples are in random order if `shuffle` is set.

    With a `split` it also feeds the held-out phases. `workers` threads (None: as many as are useful) prefetch batches,
    in at most `memory` MiB; `on_error` selects whether an unreadable record is fatal or skipped. Training sources with
    a `ratio` are mixed; the first one's values of these four settings apply.
    """

    phase: str
    transform: tuple[TransformSettings, ...]
    shuffle: bool
    split: SplitSettings | None = None
    workers: int | None = None
    memory: int = 256
    on_error: str = "stop"
    ratio: float | None = None
    name: str | None = None
    """Prefix of the results of an additional validation or test source."""

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases that it feeds."""
        return (self.phase, *(self.split.phases if self.split is not None else ()))


@dataclass(frozen=True, slots=True)
class WeightsSettings:
    """Initial weights: a file, relative to the training file; new names by old ones; patterns.

    `layout` is the system whose matrix layout the file has; None if the file or its shapes show it.
    """

    file: str
    rename: dict[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    layout: str | None = None


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """Gradient clipping: by global norm and by value."""

    norm: float | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class AverageSettings:
    """Weight averaging: exponential moving average with `decay`, or the mean over a share of the steps (`window`)."""

    decay: float | None = None
    window: float | None = None
    max_window: int = 10000


@dataclass(frozen=True, slots=True)
class TestSettings:
    """Steps and epochs between evaluations (None: at the end only), an initial one, and the number of batches."""

    __test__ = False  # not a test of pytest
    every: int | None = None
    every_epochs: int | None = None
    at_start: bool = False
    batches: int | None = None

    @property
    def repeated(self) -> bool:
        """Whether there are evaluations before the end of the training."""
        return self.every is not None or self.every_epochs is not None


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """Steps and epochs between checkpoints (None: at the end only), and the number that are kept."""

    every: int | None = None
    keep: int = 2
    every_epochs: int | None = None


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Steps between progress lines, and additional formats of the log."""

    every: int = 20
    format: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Training:
    """Settings of a training. Exactly one of `epochs` and `steps` is set."""

    network: Network
    """Network with the parameter settings of the training file."""
    optimizer: OptimizerSettings
    source: tuple[SourceSettings, ...]
    seed: int = 0
    batch_size: int = 64
    epochs: int | None = None
    steps: int | None = None
    schedule: tuple[ScheduleSettings, ...] = ()
    """Learning-rate schedules, in sequence."""
    momentum_schedule: tuple[ScheduleSettings, ...] = ()
    regularizer: ComponentSettings | None = None
    clip: ClipSettings = ClipSettings()
    accumulate: int = 1
    """Number of batches per step."""
    average: AverageSettings | None = None
    on_nan: str = "stop"
    """Whether a batch with a NaN or infinite loss stops the training or is skipped."""
    test: TestSettings = TestSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    log: LogSettings = LogSettings()
    output: str | None = None
    dtype: str = "float32"
    feed: dict[str, str] = field(default_factory=dict)
    """Field of the source by data layer, if the names differ."""
    level: int = 0
    stage: tuple[str, ...] = ()
    callback: tuple[ComponentSettings, ...] = ()
    weights: WeightsSettings | None = None
    param: tuple[ParamRule, ...] = ()
    """Parameter settings of the training file."""
    generate: GenerateSettings | None = None
    network_path: Path | None = None
    base: Path = Path()
    """Base of relative paths of data and weights: the field `base`, or the folder of the training file."""
    file: Source = field(default_factory=lambda: Source("<training>", ""), repr=False)
    incomplete: frozenset[str] = frozenset()
    """Fields that have an error, such as `net`, of which only valid parts are here: for `validate`, which continues."""
    places: dict[str, int] = field(default_factory=dict, repr=False)
    """Offsets in the file by dotted name: `optimizer.learning_rate`, `source[0].transform[1]`, `source[0]/path`."""

    def source_of(self, phase: str) -> SourceSettings | None:
        """The source of a phase: the first one of several."""
        return next((source for source in self.source if phase in source.phases), None)

    def is_complete(self, *fields: str) -> bool:
        """Whether none of these fields of the file has an error."""
        return self.incomplete.isdisjoint(fields)

    @property
    def further_sources(self) -> list[tuple[str, SourceSettings]]:
        """Additional validation and test sources, by name."""
        return [(source.name, source) for source in self.source if source.name is not None]

    @property
    def monitored(self) -> str:
        """The phase of evaluations during the training: `validation` if there is a source for it, else `test`."""
        return "validation" if self.source_of("validation") is not None else "test"

    def error(
        self, place: str, message: str, *, code: str = "E309", help: str = "", notes: Iterable[str] = ()
    ) -> ConfigError:
        """A `ConfigError` with one `fault`."""
        return ConfigError([self.fault(place, message, code=code, help=help, notes=notes)])

    def fault(
        self, place: str, message: str, *, code: str = "E309", help: str = "", notes: Iterable[str] = ()
    ) -> Diagnostic:
        """An error at a position of the training file that is only found with the data.

        `place` is a dotted name as in `places`; an attribute follows a slash. If the file does not have it, the nearest
        enclosing position is used.
        """
        # Callers name the most specific place that may have caused the error; attributes with defaults are not in the
        # file.
        while place and place not in self.places:
            place = place[: max(place.rfind("."), place.rfind("/"), 0)]
        remarks = tuple(map(Note, notes))
        return Diagnostic(code, message, self.file, self.places.get(place, 0), help=help, notes=remarks)
