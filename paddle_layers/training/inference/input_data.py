"""Weights and input data of a trained network; data are read as the training file's own source reads its file.

Includes the share of words outside of the vocabulary of the training.
"""

from __future__ import annotations

import glob
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_layers.config.files import BINARY, TEXTS
from paddle_layers.config.parameters import shared_names
from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing, encoded
from paddle_layers.data.formats.arrow_tables import ArrowStream, ColumnTable, is_data_frame
from paddle_layers.data.formats.table_settings import RequestedFields
from paddle_layers.data.names import check_same_names, unnamed_fields
from paddle_layers.data.problems import missing_file, warn_of_data
from paddle_layers.define import registries
from paddle_layers.define.errors import brief
from paddle_layers.runtime.memory.weightfiles import open_weights
from paddle_layers.runtime.memory.weights import converted

from ..data_loading import (
    LINES,
    dataset_of,
    encode_text,
    feed_types,
    learned_for,
    loading,
    open_source,
    read_frame,
    sequence_fields,
    split_rows,
)
from ..network_values import rows_and_starts
from ..phase_data import ignored_labels, transforms_of, vocabulary_sizes
from ..problems import TrainingError
from ..results.folders import MARK, output_folder, trained_weights
from ..results.run_files import FOLDER as RUN_FOLDER
from ..results.run_folders import last_trained
from .outputs import target_values

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.training import SourceSettings
    from paddle_layers.config.trainingfiles import Sizes
    from paddle_layers.runtime import Net


GivenData = str | Path | Dataset | Mapping[str, Any] | ArrowStream | ColumnTable | None
"""A file, or what it would hold, also as a DataFrame; None: what the training file's source has."""

SUFFIXES = {".csv": "csv", ".npz": "npz", ".npy": "npy", ".h5": "hdf5", ".hdf5": "hdf5", ".parquet": "parquet"}
"""Endings of files that are read without settings, too."""
STDIN = "-"
"""Data that are read from the standard input."""
NO_DATA = {
    **dict.fromkeys(sorted(TEXTS | BINARY), "a config"),
    ".safetensors": "a weights file",
    ".onnx": "an ONNX model",
    ".py": "a Python program",
}
"""File types that are passed as data by mistake, by their extensions."""


def weights_file(training: Training, given: str | Path | None) -> Path:
    """The given weights, or the best ones of the most recent run.

    Raises `TrainingError` if the training has no weights yet.
    """
    if given is not None:
        return Path(given)
    own = Path(training.file.name).absolute().parent
    kept = own.name == RUN_FOLDER and (own.parent / MARK).is_file()  # the file that a run keeps means that run
    found = trained_weights(own.parent if kept else last_trained(output_folder(training, None)))
    if not found.is_file():
        command = "" if training.file.name.startswith("<") else f", `paddle-layers train {training.file.name}`"
        raise TrainingError(f"file not found: {found}; train the network first{command}, or name a weights file")
    return found


def sizes_of_weights(given: str | Path | None) -> Sizes:
    """The sizes of data layers that a training file leaves to the data: by the words in the header of the weights."""

    def sizes(training: Training, layers: Sequence[str]) -> dict[str, int]:
        return vocabulary_sizes(training, layers, learned_for(weights_file(training, given))[0].words)

    return sizes


def load_trained(net: Net, training: Training, file: Path) -> str:
    """Load the weights of a net that has some layers of the training's network; weights of the others are not read.

    Returns notes about conversions, as `converted` does. Raises `WeightsError`.
    """
    stored, own = open_weights(file).tensors, {*net.parameters, *net.states}
    others = {node.name for node in training.network} - {node.name for node in net.network if node.definition.inputs}
    rename: dict[str, str] = {}
    for group in shared_names(training.network):  # the file has one name of each group, perhaps that of another layer
        ours = next((name for name in group if name in own), None)
        holder = next((name for name in group if name in stored), None)
        if ours is not None and holder is not None and ours not in stored:
            rename[holder] = ours
    unread = [
        name for name in stored if name not in {*own, *rename} and any(name.startswith(f"{one}.") for one in others)
    ]
    # Names that are only unread because a layer is not needed are left out explicitly, so that any other mismatch is
    # still an error.
    report = net.load(file, rename=rename, leave_out=[glob.escape(name) for name in unread])
    return converted(report, net.dtype)


def source_for(training: Training) -> SourceSettings | None:
    """The source that says how data are read: that of the test phase, where there is one."""
    return held_out_source(training) or training.source_of("train")


def held_out_source(training: Training) -> SourceSettings | None:
    """The source of the test phase, else that of the validation phase."""
    return training.source_of("test") or training.source_of("validation")


def given_batches(
    training: Training, network: Network, source: SourceSettings | None, data: GivenData, weights: Path
) -> Batches:
    """The data of a source, or the `data` in its place, for the data layers of a network, in their order.

    Only the fields that these need are read; words and gaps become the numbers that they were when the `weights` were
    trained, and ids those that their names had. Of a source with a split it is the part that is held out: the test
    data, if there are some, else the validation data. Warns where
    names are missing, so that ids or columns are fed by position. Raises `DataError`.
    """
    types = feed_types(network)
    fields = {layer: training.feed.get(layer, layer) for layer in types}
    targets = {fields[layer] for layer in target_values(network.nodes)}
    reader = _reader(training, source, data)
    learned, origin = learned_for(weights)
    split = source.split if source is not None and data is None else None
    names = {*fields.values(), *(split.fields if split is not None else ())}
    skip = source is not None and source.on_error == "skip"
    request = RequestedFields(names, targets, skip, learned.columns, sequence_fields(training))
    if reader is not None:
        dataset = open_source(reader, training.base if data is None else Path(), request)
        if reader.type not in LINES:
            encode_text(training, source, dataset)
    else:
        dataset = _from_python(training, source, data, request)
    part = split_rows(dataset, split)[split.phases[0]] if split is not None else None  # test data come first
    raw, dataset = dataset, encoded(dataset, learned, str(origin))
    _check_names(raw, learned, weights, fields.values(), given=isinstance(data, (Dataset, Mapping)))
    if isinstance(data, (str, Path)) and Path(data).suffix.lower() == ".npy" and len(fields) == 1:
        fields = dict.fromkeys(fields, next(iter(dataset.fields)))
    transforms = [change for change in transforms_of(training, source) if change.layer in types]
    how = loading(source, dataset)
    feeds = make_feeds(
        dataset,
        types,
        fields=fields,
        transforms=transforms,
        dtype=training.dtype,
        ignored=ignored_labels(network),
        skip=how.get("skip", False),
    )
    return Batches(dataset, training.batch_size, shuffle=False, training=False, feeds=feeds, part=part, **how)


def _check_names(
    dataset: Dataset, learned: FittedPreprocessing, weights: Path, fields: Container[str], *, given: bool
) -> None:
    """Warn where only the data name ids or columns. Raises `DataError` where only the weights name ids of a file."""
    unnamed = unnamed_fields(dataset, learned.words, learned.columns, fields)
    for name in unnamed.ids if not given else ():
        check_same_names((), learned.words[name], name, dataset.origin, str(weights))
    if text := unnamed.warning(dataset, learned.words, str(weights)):
        warn_of_data(text)


def words_of(training: Training, batches: Batches, layer: str) -> Sequence[str]:
    """The words of the ids of a data layer: those of the weights, else those of the data; none where not known."""
    return batches.dataset.words.get(training.feed.get(layer, layer), ())


def _from_python(
    training: Training, source: SourceSettings | None, data: GivenData, request: RequestedFields
) -> Dataset:
    if isinstance(data, Dataset):
        return data
    if isinstance(data, Mapping):
        dataset = dataset_of(data, "the data")
        encode_text(training, source, dataset)
        return dataset
    return read_frame(training, source, data, "the data", request)


def _reader(training: Training, source: SourceSettings | None, data: GivenData) -> SourceSettings | None:
    """The source that reads the data; None for data from Python. Raises `TypeError` for other data."""
    if data is not None and not isinstance(data, (str, Path)):
        if isinstance(data, (Dataset, Mapping)) or is_data_frame(data):
            return None
        raise TypeError(f"data must be a file, a DataFrame or arrays by field, {{'field': array}}, not {brief(data)}")
    if source is None:
        raise TrainingError("the training file has no source to read files with: pass arrays")
    if data is not None:
        return _file_reader(source, data, training.base)
    if source.split is None and source.phase == "train":
        mixed = [one for one in training.source if one.phase == "train"]
        if len(mixed) > 1:
            raise TrainingError(
                f"the training file has no source for the test or validation phase and {len(mixed)} for the train "
                "phase: pass the data; they are read with the settings of the first source"
            )
    return source


def _file_reader(settings: SourceSettings, data: str | Path, base: Path) -> SourceSettings:
    """The settings of a source that reads a file: the training file's, or those for the ending of its name.

    Of a source of folders it may be a folder. The folder that names in a list are relative to stays, and so do a
    dictionary and a tokenizer.
    """
    own = settings.definition
    piped = str(data) == STDIN
    path = Path("/dev/stdin") if piped else Path(data)
    if what := NO_DATA.get(path.suffix.lower()):
        raise DataError(
            f"{data} is {what}, not data: expected a file that the source can read, or one with an extension of "
            f"{', '.join(SUFFIXES)}"
        )
    if not path.exists():
        raise missing_file(path, "")
    kind = SUFFIXES.get(path.suffix.lower(), own.name)
    if piped and own.name not in LINES:
        kind = "csv"
    place = next((name for name in ("file", "folder") if name in own.attributes), None)
    if kind == own.name and place is not None:
        given = [str(path)] if own.attributes[place].check("") else str(path)
        values = {**settings.attributes, place: given}
        for other in ("folder", "dictionary", "tokenizer"):
            if place == "file" and values.get(other):
                values[other] = str((base / values[other]).absolute())
        return replace(settings, attributes=own.bind(values))
    if kind == own.name:
        known = ", ".join(SUFFIXES)
        raise DataError(
            f"{data}: the source `{own.name}` does not read files; expected a file with one of the extensions {known}"
        )
    if own.name == "text" and kind == "csv":
        raise DataError(
            f"{data} is a table, but the source `text` of the training reads lines: pass a file with one sample "
            "per line, or from Python a DataFrame with the column `words`"
        )
    definition = registries["source"][kind]
    several = definition.attributes["file"].check("")
    attributes = definition.bind({"file": [str(path)] if several else str(path)})
    return replace(settings, definition=definition, attributes=attributes)


class UnknownWords:
    """Counts of the words, and of the unknown ones, that data layers read: these have the id after the last.

    Args:
        training: The training whose data layers read the words.
        data: The data, with the vocabularies of its fields.
    """

    def __init__(self, training: Training, data: Batches) -> None:
        words = data.dataset.words
        ids = [feed.layer for feed in data.feeds or () if feed.wanted.kind == "INT"]
        self._fields = {layer: training.feed.get(layer, layer) for layer in ids}
        self._ends = {layer: len(words[name]) for layer, name in self._fields.items() if words.get(name)}
        self._counts = dict.fromkeys(self._ends, (0, 0))

    def counted(self, batches: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The same batches, which are counted as they are read."""
        for batch in batches:
            self.count(batch)
            yield batch

    def count(self, batch: Mapping[str, Any]) -> None:
        """Count the words of a batch."""
        for layer, end in self._ends.items():
            ids, _ = rows_and_starts(batch[layer])
            unknown, total = self._counts[layer]
            self._counts[layer] = unknown + int(np.count_nonzero(ids == end)), total + ids.size

    def notes(self) -> list[str]:
        """A note for each data layer with unknown words."""
        return [
            f"words of `{self._fields[layer]}` outside of the vocabulary of the training: {unknown} of {total} "
            f"({_percent(unknown / total)})"
            for layer, (unknown, total) in self._counts.items()
            if unknown
        ]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
