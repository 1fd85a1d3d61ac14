"""Data of the phases train, validation and test: batches for the data layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.config.diagnostics.diagnostic import Diagnostic, Note
from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.wiring.data_layers import IgnoredLabels, LabelReader, common_labels
from paddle_layers.data import Batches, Dataset, Stream, make_feeds
from paddle_layers.data.batching.feeds import DataFeed
from paddle_layers.data.batching.mixing import MixedBatches, MixedSource
from paddle_layers.data.fitted_preprocessing import NOTHING, FittedPreprocessing
from paddle_layers.data.layer_transforms import LayerTransform

from .data_loading import (
    UNREADABLE,
    Given,
    Subset,
    datasets_of,
    feed_types,
    loading,
    open_parts,
    placed,
    with_frames_read,
)
from .inference.outputs import target_fields
from .problems import TrainingError
from .results.result_names import costs_of, selected

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.training import SourceSettings, Training


def phase_data(
    training: Training,
    phase: str,
    parts: Mapping[str, Sequence[Subset]],
    streams: Mapping[str, Iterable[Mapping[str, Any]]],
    seed: int,
) -> Batches | Stream | None:
    """The batches of a phase; None where it has no data."""
    if phase in streams:
        return make_stream(training, phase, streams[phase], seed=seed)
    return make_batches(training, phase, parts[phase], seed=seed) if phase in parts else None


def make_stream(training: Training, phase: str, batches: Iterable[Mapping[str, Any]], *, seed: int) -> Stream:
    """Batches that are given, for the data layers of a phase.

    Raises `TrainingError` for evaluations with data that can be read only once.
    """
    transforms = transforms_of(training, training.source_of(phase))
    network = selected(training, phase)
    types, ignored = feed_types(network), ignored_labels(network)

    def feeds(dataset: Dataset) -> tuple[DataFeed, ...]:
        return make_feeds(
            dataset, types, fields=training.feed, transforms=transforms, dtype=training.dtype, ignored=ignored
        )

    name = f'datasets["{phase}"]'
    size = training.batch_size
    stream = Stream(batches, feeds, name=name, batch_size=size, seed=seed, training=phase == "train")
    if phase != "train" and stream.once:
        raise TrainingError(
            f"{name} can be iterated only once, but every {phase} reads it: pass a list or another reiterable object"
        )
    return stream


def make_batches(training: Training, phase: str, parts: Sequence[Subset], *, seed: int) -> Batches:
    """The data of a phase, cut into batches; several parts are mixed by the ratios of their sources.

    Raises `ConfigError` where they don't fit the data layers, or a ratio leaves none of a source.
    """
    learning, first = phase == "train", parts[0]
    options = loading(first.source, *(part.dataset for part in parts)) | {"seed": seed, "training": learning}
    feeds = [_feeds(training, phase, part, skip=options.get("skip", False)) for part in parts]
    source = first.source
    options["shuffle"] = learning if source is None else source.shuffle and (learning or source.split is None)
    if len(parts) == 1:
        return Batches(first.dataset, training.batch_size, feeds=feeds[0], part=first.rows, **options)
    mixed = [MixedSource(part.dataset, part.rows, own, part.ratio) for part, own in zip(parts, feeds, strict=True)]
    with placed(training, first.source):
        return MixedBatches(mixed, training.batch_size, **options)


def _feeds(training: Training, phase: str, part: Subset, *, skip: bool) -> tuple[DataFeed, ...]:
    network = selected(training, phase)
    with placed(training, part.source, UNREADABLE):
        transforms = transforms_of(training, part.source)
    with placed(training, part.source):
        return make_feeds(
            part.dataset,
            feed_types(network),
            fields=training.feed,
            transforms=transforms,
            dtype=training.dtype,
            ignored=ignored_labels(network),
            skip=skip,
        )


def label_fields(training: Training) -> set[str]:
    """The fields that costs compare with scores of classes."""
    costs = (node for node in selected(training, "train").nodes if costs_of(node) and len(node.inputs) > 1)
    labels = (node.inputs[1] for node in costs if node.input_types[1].kind == "INT")
    return {training.feed.get(name, name) for name in labels}


def sizes_from_data(
    training: Training,
    layers: Sequence[str],
    datasets: Mapping[str, Given] | None = None,
    known: FittedPreprocessing = NOTHING,
) -> dict[str, int]:
    """The sizes of data layers without one, by the words of the training data. Raises `ConfigError`.

    `datasets` replaces sources by phase; `known` is the preprocessing of the initial weights.
    """
    try:
        whole, streams = datasets_of(training, with_frames_read(training, datasets or {}))
        _, learned = open_parts(training, whole, known, streams, label_fields(training))
    except ConfigError as error:
        unknown = Note(f"without these data, the size of {', '.join(f'`{layer}`' for layer in layers)} is unknown")
        for fault in error.diagnostics:
            fault.notes += (unknown,)
        raise
    return vocabulary_sizes(training, layers, learned.words)


def vocabulary_sizes(training: Training, layers: Sequence[str], words: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The sizes of data layers: the number of words of their fields, and one for unknown words if it is no target.

    Raises `ConfigError` for a field without words.
    """
    targets, faults, sizes = target_fields(training), [], {}
    for layer in layers:
        field = training.feed.get(layer, layer)
        sizes[layer] = len(words.get(field, ())) + (field not in targets)
        if not words.get(field):
            node = next(node for node in training.network.nodes if node.name == layer)
            message = f"data layer `{layer}` has no `size`, and the field `{field}` has no words to count"
            help_ = "write `size: ...` with the largest id plus one"
            faults.append(Diagnostic("E209", message, training.network.source, *node.span, help=help_))
    if faults:
        raise ConfigError(faults)
    return sizes


def ignored_labels(network: Network) -> dict[str, IgnoredLabels]:
    """For each value, the labels outside its range that every layer which reads it ignores."""
    readers = (LabelReader(node.name, node.definition.name, node.attributes, node.inputs) for node in network.nodes)
    return common_labels(readers)


def transforms_of(training: Training, source: SourceSettings | None) -> list[LayerTransform]:
    """The transforms of a source, ready to be applied, with the data layers that they are for."""
    made: list[LayerTransform] = []
    for settings in source.transform if source is not None else ():
        change = settings.definition.create(settings.attributes)
        if hasattr(change, "prepare"):
            change.prepare(training.base)
        made.append(LayerTransform(settings.input, change, settings.also))
    return made
