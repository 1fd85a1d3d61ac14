"""Checks of the data of a training file: every source is opened, split and matched to the data layers."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.data.batching.checks import check_size, words_for_numbers
from paddle_layers.data.dataset import check_unique
from paddle_layers.data.fitted_preprocessing import NOTHING, FittedPreprocessing
from paddle_layers.data.names import check_same_names

from .data_loading import (
    UNREADABLE,
    Subset,
    as_numbers,
    check_names,
    feed_types,
    learned_of,
    open_for_phase,
    part_name,
    placed,
    read_fields,
    split_rows,
    whole_part,
)
from .inference.outputs import target_fields
from .phase_data import label_fields, make_batches
from .results.records import PHASES
from .results.result_names import check_further, selected

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import SourceSettings, Training
    from paddle_layers.data import Batches

Names = Mapping[str, Sequence[str]]


def source_faults(training: Training, known: FittedPreprocessing = NOTHING) -> tuple[list[Diagnostic], Batches | None]:
    """Errors in the data of all sources, each at its position in the training file.

    Args:
        training: The training.
        known: Preprocessing that initial weights bring.

    Returns:
        The errors, and the training batches if they have none.
    """
    opened = _OpenedSources(training)
    faults = opened.faults
    learned: FittedPreprocessing | None = None
    batches: Batches | None = None
    train: list[Subset] = []
    for name in dict.fromkeys([*PHASES, *map(part_name, training.source)]):
        parts, phase = opened.parts.get(name, []), name.partition(".")[0]
        whole = bool(parts) and name not in opened.incomplete  # words that are mixed have to be known of all
        for several in [parts] if whole else [[part] for part in parts]:
            try:
                own = learned or learned_of(training, several, known, labels=label_fields(training))
                learned = own if whole else learned
                for part in several if train else ():
                    check_names(training, part, own, train, given=False)
                made = make_batches(training, phase, [as_numbers(training, part, own) for part in several], seed=0)
            except ConfigError as error:
                faults += error.diagnostics
            else:
                train = parts if whole and phase == "train" else train
                batches = made if whole and phase == "train" else batches
    for name, source in training.further_sources:
        try:
            with placed(training, source, "E304"):
                check_further(training, name)
        except ConfigError as error:
            faults += error.diagnostics
    return _distinct(faults), batches


class _OpenedSources:
    """The samples of each phase, by `part_name`; `incomplete` phases have a source that cannot be opened."""

    def __init__(self, training: Training) -> None:
        self.parts: dict[str, list[Subset]] = {}
        self.incomplete: set[str] = set()
        self.faults: list[Diagnostic] = []
        targets, listed = target_fields(training), names_listed_for_training(training)
        for source in training.source:
            name = part_name(source)
            try:
                self._open(training, source, targets)
            except ConfigError as error:
                self.faults += error.diagnostics
                self.incomplete |= {name, *(source.split.phases if source.split is not None else ())}
                # The settings alone show some errors as well.
                phase = name.partition(".")[0]
                self.faults += _word_faults(training, source, phase)
                self.faults += _list_faults(training, source, phase, listed if phase != "train" else {})

    def _open(self, training: Training, source: SourceSettings, targets: Container[str]) -> None:
        with placed(training, source, UNREADABLE):
            part = whole_part(open_for_phase(training, source, read_fields(training, source), targets), source)
        train = self.parts.setdefault(part_name(source), [])
        train.append(part)
        if source.split is not None:
            with placed(training, source, "E307", ".split"):
                rows = split_rows(part.dataset, source.split)
            train[-1] = part._replace(rows=rows["train"])
            for phase in source.split.phases:
                self.parts.setdefault(phase, []).append(part._replace(rows=rows[phase]))


def _distinct(faults: Sequence[Diagnostic]) -> list[Diagnostic]:
    """One diagnostic of each message at a position: phases of one source share its errors."""
    return list({(fault.start, fault.message): fault for fault in faults}.values())


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


def names_listed_for_training(training: Training) -> dict[str, Sequence[str]]:
    """The names that the training sources list, by field, of the first one that has them."""
    listed: dict[str, Sequence[str]] = {}
    for source in training.source:
        if source.phase == "train":
            with contextlib.suppress(ConfigError):
                listed = {**_listed(training, source), **listed}
    return listed


def _listed(training: Training, source: SourceSettings) -> Names:
    """The names that a source lists, none for a field of numbers. Raises `ConfigError`."""
    made = source.definition.create(source.attributes)
    if not hasattr(made, "names"):
        return {}
    with placed(training, source):
        found: Names = made.names(training.base)
        return found


def _list_faults(training: Training, source: SourceSettings, phase: str, known: Names) -> list[Diagnostic]:
    """Errors in the names that a source lists, some of them `known` from the training sources."""
    types = feed_types(selected(training, phase))
    layers = {training.feed.get(layer, layer): layer for layer in types}
    targets = target_fields(training)
    place = f"the source `{source.type}`"
    try:
        for field, names in _listed(training, source).items():
            with placed(training, source):
                check_unique(names, field, place)
                if field in layers:
                    check_size(names, field, layers[field], types[layers[field]], place, target=field in targets)
                if field in known:
                    check_same_names(names, known[field], field, place, "the training")
    except ConfigError as error:
        return error.diagnostics
    return []
