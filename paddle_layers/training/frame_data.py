"""DataFrames instead of the sources of a training file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.data import Dataset
from paddle_layers.data.data_frames import frame_dataset
from paddle_layers.data.formats.arrow_tables import is_data_frame
from paddle_layers.data.formats.table_settings import RequestedFields

from .data_loading import Given, placed
from .inference.outputs import target_fields
from .phase_data import feed_types
from .results.result_names import selected

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.config.training import SourceSettings
    from paddle_layers.define import Type


def with_frames_read(training: Training, datasets: Mapping[str, Given]) -> Mapping[str, Given]:
    """Replacements of sources by phase, with data sets instead of DataFrames. Raises `ConfigError`."""
    found = dict(datasets)
    targets = target_fields(training)
    for phase, data in datasets.items():
        if is_data_frame(data):
            source = training.source_of(phase)
            request = RequestedFields(_names(training, phase, source), targets, _skips(source))
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
    fields |= _fields(training, ("train", "test"))
    dataset = frame_dataset(data, origin, settings, fields, request)
    dataset.set_targets(request.targets, skip=request.skip)
    return dataset


def _names(training: Training, phase: str, source: SourceSettings | None) -> set[str]:
    """The fields that a phase reads of its data; with a split also those that decide which rows it has."""
    if source is None or source.split is None:
        return {*_fields(training, (phase,))}
    return {*_fields(training, ("train", "test")), *source.split.fields}


def _fields(training: Training, phases: Sequence[str]) -> dict[str, Type]:
    """Types of the fields that the data layers of some phases read."""
    types = (feed_types(selected(training, phase)) for phase in phases)
    return {training.feed.get(layer, layer): wanted for layers in types for layer, wanted in layers.items()}


def _skips(source: SourceSettings | None) -> bool:
    return source is not None and source.on_error == "skip"
