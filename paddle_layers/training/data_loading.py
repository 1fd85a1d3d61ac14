"""Data of a training: opening of sources, train/test split, encoding of words and missing values."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.wiring.data_layers import carried_values
from paddle_layers.data import BadRecords, DataError, Dataset
from paddle_layers.data.batching.mixing import check_alike
from paddle_layers.data.columns import Rows, Vocabulary, WordColumn
from paddle_layers.data.data_frames import frame_dataset
from paddle_layers.data.fitted_preprocessing import (
    FILE,
    NOTHING,
    FittedPreprocessing,
    encoded,
    learn_together,
    parse_fitted,
    read_fitted,
)
from paddle_layers.data.formats.arrow_tables import ArrowStream, ColumnTable, is_data_frame
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.data.formats.text_files import Coding
from paddle_layers.data.names import check_same_names, unnamed_fields
from paddle_layers.data.problems import DataErrors, NoFieldsError, warn_of_data
from paddle_layers.data.sampling import split_by_field, split_by_group, split_by_share
from paddle_layers.define.errors import brief
from paddle_layers.runtime.memory.tensorfiles import read_header
from paddle_layers.runtime.memory.torchfiles import ENDINGS
from paddle_layers.runtime.memory.weightfiles import DATA, INDEX

from .inference.outputs import target_fields
from .problems import TrainingError
from .results.folders import CHECKPOINTS
from .results.records import PHASES
from .results.result_names import selected

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.training import SourceSettings, SplitSettings
    from paddle_layers.define import Type


def feed_types(network: Network) -> dict[str, Type]:
    """Types that the data layers of a network require, by name of the output."""
    carried = set(carried_values(network.nodes))
    data = (node for node in network.nodes if not node.definition.inputs and carried.isdisjoint(node.output_names))
    return {name: type_ for node in data for name, type_ in zip(node.output_names, node.output_types, strict=True)}


def field_types(training: Training, phases: Sequence[str]) -> dict[str, Type]:
    """Types of the fields that the data layers of some phases read."""
    types = (feed_types(selected(training, phase)) for phase in phases)
    return {training.feed.get(layer, layer): wanted for layers in types for layer, wanted in layers.items()}


def sequence_fields(training: Training) -> set[str]:
    """The fields whose samples are sequences."""
    return {name for name, wanted in field_types(training, ("train", "test")).items() if wanted.level}


def read_fields(training: Training, source: SourceSettings | None, phase: str = "") -> set[str]:
    """The fields that are read of a source, or of data from Python for a phase.

    With a split these are the fields of all phases, and those that decide which rows a phase has.
    """
    if source is None or source.split is None:
        return {*field_types(training, (phase or (source.phase if source is not None else "train"),))}
    return {*field_types(training, ("train", "test")), *source.split.fields}


class Subset(NamedTuple):
    """Rows of a data set that feed a phase, and the source with its settings; None if it has none."""

    dataset: Dataset
    rows: Rows
    source: SourceSettings | None

    @property
    def ratio(self) -> float:
        """The ratio of its rows in a mixed batch."""
        return (self.source and self.source.ratio) or 1.0


LINES = ("csv", "text")
"""Sources of lines, which have settings of text."""
UNREADABLE = "E317"
"""The code of errors in files of data, whichever network they are for."""
Given = Dataset | Mapping[str, Any] | ArrowStream | ColumnTable | Iterable[Mapping[str, Any]]
"""Replacements of a source: a data set, arrays by field, a DataFrame, or batches of arrays by field."""


def check_phases(given: Mapping[str, Given]) -> None:
    """Raises `TrainingError` for replacements of sources that are not by phase."""
    if not isinstance(given, Mapping):
        raise TrainingError(f"datasets must map phases to arrays by field, {{'train': {{...}}}}, not {brief(given)}")
    for phase in given:
        if phase not in PHASES:
            raise TrainingError(
                f"unknown phase {phase!r} in `datasets`; write datasets={{'train': {{...}}, 'test': {{...}}}} with the "
                "fields in the inner dicts; a third phase is 'validation'"
            )


def datasets_of(
    training: Training, given: Mapping[str, Given]
) -> tuple[dict[str, Dataset], dict[str, Iterable[Mapping[str, Any]]]]:
    """Data sets and batches by phase, from the replacements of sources. Raises `TrainingError`."""
    datasets: dict[str, Dataset] = {}
    batches: dict[str, Iterable[Mapping[str, Any]]] = {}
    for phase, data in given.items():
        if isinstance(data, Dataset):
            datasets[phase] = data
        elif isinstance(data, Mapping):
            datasets[phase] = dataset_of(data, f'datasets["{phase}"]')
            with placed(training, training.source_of(phase)):
                encode_text(training, training.source_of(phase), datasets[phase])
        elif isinstance(data, Iterable) and not isinstance(data, (str, bytes, np.ndarray)):
            batches[phase] = data
        else:
            raise TrainingError(
                f'datasets["{phase}"] has type {type(data).__name__}, expected a dict of arrays by field, a DataFrame, '
                "a Dataset, or an iterable of batches (dicts of arrays)"
            )
    return datasets, batches


def dataset_of(arrays: Mapping[str, Any], origin: str) -> Dataset:
    """A data set of arrays by field; strings are words, whose ids come from the training data."""
    return Dataset({name: _words(array) for name, array in arrays.items()}, origin=origin)


def encode_text(training: Training, source: SourceSettings | None, dataset: Dataset) -> None:
    """Read strings of data layers of sequences as text, as the source of the training does. Raises `DataError`."""
    fields = [name for name in sequence_fields(training) if isinstance(dataset.raw.get(name), WordColumn)]
    if not fields:
        return
    made = [one.definition.create(one.attributes) for one in (source, *training.source) if one and one.type in LINES]
    vocabulary = made[0].vocabulary if made else Vocabulary()
    coding = made[0].coding(training.base) if made and hasattr(made[0], "coding") else Coding(vocabulary=vocabulary)
    for name in fields:
        coding.encode(dataset, name)


def _words(array: Any) -> Any:
    """Strings as a column of words, anything else as it is."""
    if hasattr(array, "to_numpy"):  # a column of a DataFrame
        in_arrow = type(array).__module__.startswith("pyarrow")
        array = array.to_numpy(zero_copy_only=False) if in_arrow else array.to_numpy()
    strings = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "UO"
    words = array.tolist() if strings else array
    if isinstance(words, (list, tuple)) and words and all(isinstance(word, str) for word in words):
        return WordColumn(words)
    return array


def open_parts(
    training: Training,
    datasets: Mapping[str, Dataset],
    known: FittedPreprocessing,
    streamed: Container[str] = (),
    labels: Container[str] = (),
) -> tuple[dict[str, list[Subset]], FittedPreprocessing]:
    """The data of each phase that has some, as numbers, and what was learned of those to train with beside `known`.

    There are several for the phase train where sources are mixed; additional sources have a `part_name`.
    `datasets` replaces sources by phase; of those in `streamed` nothing is opened. `labels` are fields of classes, none
    of which may be new where others are known. Raises `ConfigError` where they cannot be read or cut.
    """
    parts = {phase: [whole_part(dataset, training.source_of(phase))] for phase, dataset in datasets.items()}
    targets = target_fields(training)
    for phase, dataset in datasets.items():
        with placed(training, training.source_of(phase)):
            dataset.set_targets(targets)
    for source in training.source:
        if source.phase in streamed and source.name is None:
            continue
        given = datasets.get(source.phase) if source.name is None else None
        with placed(training, source, UNREADABLE):
            fields = read_fields(training, source)
            opened = open_for_phase(training, source, fields, targets) if given is None else given
            part = whole_part(opened, source)
        if source.split is not None:
            with placed(training, source, "E307", ".split"):
                rows = split_rows(part.dataset, source.split)
            for phase in source.split.phases:
                if phase not in streamed:
                    parts.setdefault(phase, [part._replace(rows=rows[phase])])
            part = part._replace(rows=rows["train"])
        if given is None:
            parts.setdefault(part_name(source), []).append(part)
        elif source.split is not None:
            parts[source.phase] = [part]
    learned = learned_of(training, parts["train"], known, labels) if "train" in parts else known
    # Train and test parts of a split are one data set: it is checked and encoded once.
    different = {id(part.dataset): part for part in itertools.chain(*parts.values())}
    for part in different.values():
        from_python = any(part.dataset is dataset for dataset in datasets.values()) and not part.dataset.strict_names
        check_names(training, part, learned, parts.get("train", ()), given=from_python)
    numbers = {key: as_numbers(training, part, learned) for key, part in different.items()}
    return {
        phase: [part._replace(dataset=numbers[id(part.dataset)].dataset) for part in several]
        for phase, several in parts.items()
    }, learned


def check_names(
    training: Training, part: Subset, learned: FittedPreprocessing, train: Sequence[Subset], *, given: bool
) -> None:
    """Raises `ConfigError` where only this data or only the training data name the ids of a field.

    Arrays that are `given` have no names: their ids are those of the training data, with a warning.
    """
    dataset = part.dataset
    unnamed = unnamed_fields(dataset, learned.words, learned.columns, dataset.fields)
    origin = "the training"
    with placed(training, part.source):
        for name in unnamed.names:
            if any(name in one.dataset.fields for one in train):
                check_same_names(dataset.words[name], (), name, dataset.origin, origin)
        for name in unnamed.ids if not given else ():
            check_same_names((), learned.words[name], name, dataset.origin, origin)
    shown = unnamed._replace(names=[], columns=unnamed.columns if train else [], ids=unnamed.ids if given else [])
    if text := shown.warning(dataset, learned.words, origin):
        warn_of_data(text)


def part_name(source: SourceSettings) -> str:
    """The phase that a source feeds, with the name of an additional source."""
    return source.phase if source.name is None else f"{source.phase}.{source.name}"


def learned_of(
    training: Training, parts: Sequence[Subset], known: FittedPreprocessing = NOTHING, labels: Container[str] = ()
) -> FittedPreprocessing:
    """The preprocessing fitted to the training data. Raises `ConfigError` for sources that do not match."""
    for part in parts[1:]:
        with placed(training, part.source):
            check_alike(parts[0].dataset, part.dataset)
    with placed(training, parts[0].source):
        return learn_together([(part.dataset, _readable(part)) for part in parts], known, labels)


def as_numbers(training: Training, part: Subset, learned: FittedPreprocessing) -> Subset:
    """Encoded data: ids instead of words, means for missing values. Raises `ConfigError`."""
    with placed(training, part.source):
        return part._replace(dataset=encoded(part.dataset, learned, "the training"))


def whole_part(dataset: Dataset, source: SourceSettings | None) -> Subset:
    """All rows of a data set."""
    return Subset(dataset, np.arange(len(dataset)), source)


def _readable(part: Subset) -> Rows:
    return part.rows[~np.isin(part.rows, list(part.dataset.bad))] if part.dataset.bad else part.rows


def open_for_phase(
    training: Training, source: SourceSettings, fields: Collection[str], targets: Container[str]
) -> Dataset:
    """Some fields of a source of a training file; all, if one of these is missing, for the message about it.

    Of mixed sources the first says for all what becomes of bad records. Raises `DataError`.
    """
    mixed = (one for one in training.source if part_name(one) == part_name(source))
    skip = any(one.on_error == "skip" for one in mixed)
    every = RequestedFields(None, targets, skip, sequences=sequence_fields(training))
    try:
        opened = open_source(source, training.base, replace(every, names=fields))
        if source.type not in LINES:
            encode_text(training, source, opened)
    except NoFieldsError as error:
        with contextlib.suppress(DataError):
            return open_source(source, training.base, every)
        raise error from None
    if all(name in opened.fields or name in opened.raw for name in fields):
        return opened
    try:
        return open_source(source, training.base, every)
    except DataError:
        if not opened.unread:  # else the error is about a field that nothing reads
            raise
        return opened


def open_source(source: SourceSettings, base: Path, request: RequestedFields) -> Dataset:
    """The requested fields of a source of a training file. Raises `DataError`."""
    made = source.definition.create(source.attributes)
    if hasattr(made, "open_rows"):
        opened: Dataset = made.open_rows(base, request)
    elif request.names is not None and hasattr(made, "open_fields"):
        opened = made.open_fields(base, request.names)
    else:
        opened = made.open(base)
    if opened.note:
        warn_of_data(opened.note)
    opened.set_targets(request.targets, skip=request.skip)
    opened.skip_bad(skip=request.skip)
    return opened


def split_rows(dataset: Dataset, split: SplitSettings) -> dict[str, Rows]:
    """The rows of each phase: those to train with, and those that are held out. Raises `DataError`."""
    if split.field is not None:
        return split_by_field(dataset, split.field, split.values)
    if split.group is not None:
        return split_by_group(dataset, split.shares, split.seed, split.group)
    return split_by_share(dataset, split.shares, split.seed, split.stratify)


def loading(source: SourceSettings | None, *datasets: Dataset) -> dict[str, Any]:
    """Loading options of a source: number of threads, memory limit, handling of bad records."""
    if source is None:
        return {}
    workers = source.workers
    if workers is None:
        # Threads only help where rows are read from files or decoded; at most four, since they compete with the kernels
        # for cores.
        workers = min(4, os.cpu_count() or 1) if any(dataset.is_stored for dataset in datasets) else 0
    return {"workers": workers, "memory": source.memory << 20, "skip": source.on_error == "skip"}


@contextlib.contextmanager
def advised() -> Iterator[None]:
    """The error of a record that cannot be read says how to go on without it."""
    try:
        yield
    except BadRecords as error:
        raise DataError(f'{error}; set `on_error: "skip"` in the source to skip such records') from None


def learned_for(weights: Path) -> tuple[FittedPreprocessing, Path]:
    """The fitted preprocessing of trained weights, and its file, or the path where it was expected."""
    if not weights.name.lower().endswith((INDEX, *ENDINGS)):
        _, facts = read_header(weights)
        if text := facts.get(DATA):
            return parse_fitted(text, str(weights)), weights
    folder = weights.absolute().parent
    file = (folder.parent.parent if folder.parent.name == CHECKPOINTS else folder) / FILE
    return read_fitted(file), file


@contextlib.contextmanager
def placed(training: Training, source: SourceSettings | None, code: str = "E309", field: str = "") -> Iterator[None]:
    """Errors of data become errors at the place of their source, or of a field of it, in the training file."""
    try:
        yield
    except DataError as error:
        place = f"source[{training.source.index(source)}]{field}" if source is not None else "source"
        errors = error.errors if isinstance(error, DataErrors) else (error,)
        raise ConfigError([training.fault(place, str(one), code=code) for one in errors]) from None


def with_frames_read(training: Training, datasets: Mapping[str, Given]) -> Mapping[str, Given]:
    """Replacements of sources by phase, with data sets instead of DataFrames. Raises `ConfigError`."""
    found = dict(datasets)
    targets = target_fields(training)
    for phase, data in datasets.items():
        if is_data_frame(data):
            source = training.source_of(phase)
            request = RequestedFields(
                read_fields(training, source, phase), targets, _skips(source), sequences=sequence_fields(training)
            )
            with placed(training, source):
                found[phase] = read_frame(training, source, data, f'datasets["{phase}"]', request)
    return found


def read_frame(
    training: Training, source: SourceSettings | None, data: Any, origin: str, request: RequestedFields
) -> Dataset:
    """The requested fields of a DataFrame instead of a source, with the column settings of a source `csv`.

    These are those of `source`, or of another one of the training file. Raises `DataError`.
    """
    tables = [one for one in (source, *training.source) if one is not None and one.type == "csv"]
    settings = tables[0].definition.create(tables[0].attributes) if tables else None
    fields: dict[str, Type | None] = {}
    if source is not None and source.split is not None:
        fields |= dict.fromkeys(source.split.fields)
    fields |= field_types(training, ("train", "test"))
    dataset = frame_dataset(data, origin, settings, fields, request)
    if settings is None:
        encode_text(training, source, dataset)
    dataset.set_targets(request.targets, skip=request.skip)
    return dataset


def _skips(source: SourceSettings | None) -> bool:
    return source is not None and source.on_error == "skip"
