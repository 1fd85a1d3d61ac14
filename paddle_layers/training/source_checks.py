"""Early data checks before training: existence, names and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.data.batching.checks import check_size, words_for_numbers
from paddle_layers.data.dataset import check_unique
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing
from paddle_layers.data.names import check_same_names

from .data_loading import Subset, as_numbers, check_names, learned_of, open_for_phase, part_name, placed, whole_part
from .job import feed_types, label_fields, make_batches
from .results.result_names import selected
from .targets import target_fields

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import SourceSettings, Training

Names = Mapping[str, Sequence[str]]


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
                    parts.append(whole_part(open_for_phase(training, source, targets), source))
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
