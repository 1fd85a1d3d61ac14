"""Data of the phases train and test: batches for the data layers, and early checks of the sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.wiring.data_layers import IgnoredLabels, LabelReader, common_labels
from paddle_layers.data import Batches, Dataset, Stream, make_feeds
from paddle_layers.data.batching.checks import check_size, words_for_numbers
from paddle_layers.data.batching.feeds import DataFeed
from paddle_layers.data.batching.mixing import MixedBatches, MixedSource
from paddle_layers.data.dataset import check_unique
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing
from paddle_layers.data.layer_transforms import LayerTransform
from paddle_layers.data.names import check_same_names

from .data_fields import feed_types, read_fields
from .data_loading import (
    Subset,
    as_numbers,
    check_names,
    learned_of,
    loading,
    open_for_phase,
    part_name,
    placed,
    whole_part,
)
from .inference.outputs import target_fields
from .problems import TrainingError
from .results.result_names import costs_of, selected

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import SourceSettings, Training

Names = Mapping[str, Sequence[str]]


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
    """Batches that are given, for the data layers of a phase. `TrainingError` for a test that can be run once only."""
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
    if phase == "test" and stream.once:
        raise TrainingError(
            f"{name} can be iterated only once, but every test reads it: pass a list or another reiterable object"
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
    with placed(training, part.source):
        return make_feeds(
            part.dataset,
            feed_types(network),
            fields=training.feed,
            transforms=transforms_of(training, part.source),
            dtype=training.dtype,
            ignored=ignored_labels(network),
            skip=skip,
        )


def label_fields(training: Training) -> set[str]:
    """The fields that costs compare with scores of classes."""
    costs = (node for node in selected(training, "train").nodes if costs_of(node) and len(node.inputs) > 1)
    labels = (node.inputs[1] for node in costs if node.input_types[1].kind == "INT")
    return {training.feed.get(name, name) for name in labels}


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


def source_faults(training: Training) -> list[Diagnostic]:
    """Errors in the data of sources that open fast, each at its position in the training file."""
    faults: list[Diagnostic] = []
    learned: FittedPreprocessing | None = None
    targets = target_fields(training)
    listed: dict[str, Sequence[str]] = {}
    train: list[Subset] = []
    for name in dict.fromkeys(["train", "test", *map(part_name, training.source)]):
        parts: list[Subset] = []
        sources = [source for source in training.source if part_name(source) == name]
        phase = name.partition(".")[0]
        for source in sources:
            if not getattr(source.definition.owner, "indexed", False):
                # Only sources that open fast are opened; for others it is checked what their settings show.
                faults += _word_faults(training, source, phase)
                faults += _list_faults(training, source, phase, listed)
                continue
            try:
                with placed(training, source):
                    parts.append(
                        whole_part(open_for_phase(training, source, read_fields(training, source), targets), source)
                    )
            except ConfigError as error:
                faults += error.diagnostics
        whole = len(parts) == len(sources)  # words that are mixed have to be known of all
        for several in [parts] if whole and parts else [[part] for part in parts]:
            try:
                own = learned or learned_of(training, several, labels=label_fields(training))
                for part in several if train else ():
                    check_names(training, part, own, train, given=False)
                make_batches(training, phase, [as_numbers(training, part, own) for part in several], seed=0)
            except ConfigError as error:
                faults += error.diagnostics
            else:
                learned = own if whole else None
                train = parts if whole and phase == "train" else train
                listed |= own.words if phase == "train" else {}
    return faults


def _word_faults(training: Training, source: SourceSettings, phase: str) -> list[Diagnostic]:
    """The fields that hold words, as the settings of a source that is not opened say, for data layers of numbers."""
    made = source.definition.create(source.attributes)
    words = made.word_fields() if hasattr(made, "word_fields") else ()
    faults: list[Diagnostic] = []
    for layer, wanted in feed_types(selected(training, phase)).items():
        name = training.feed.get(layer, layer)
        if name in words and wanted.kind == "DENSE":
            error = words_for_numbers(f"{source.type}: field `{name}`", (), layer, wanted)
            place = f"source[{training.source.index(source)}]"
            faults += training.error(place, str(error)).diagnostics
    return faults


def _listed(training: Training, source: SourceSettings) -> Names:
    """The names that a source lists, none for a field of numbers. Raises `ConfigError`."""
    made = source.definition.create(source.attributes)
    if not hasattr(made, "names"):
        return {}
    with placed(training, source):
        found: Names = made.names(training.base)
        return found


def _list_faults(
    training: Training, source: SourceSettings, phase: str, known: dict[str, Sequence[str]]
) -> list[Diagnostic]:
    """Errors in the names that a source lists; those of the first training source become `known`."""
    types = feed_types(selected(training, phase))
    layers = {training.feed.get(layer, layer): layer for layer in types}
    place = f"the source `{source.type}`"
    try:
        for field, names in _listed(training, source).items():
            with placed(training, source):
                check_unique(names, field, place)
                if field in layers:
                    check_size(names, field, layers[field], types[layers[field]], place)
                if field in known:
                    check_same_names(names, known[field], field, place, "the training")
            if phase == "train":
                known.setdefault(field, names)
    except ConfigError as error:
        return error.diagnostics
    return []
