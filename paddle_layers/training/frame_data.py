"""DataFrames instead of the sources of a training file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddle_layers.data import Dataset
from paddle_layers.data.data_frames import frame_dataset
from paddle_layers.data.formats.arrow_tables import is_data_frame
from paddle_layers.data.formats.table_settings import RequestedFields

from .data_fields import field_types, read_fields
from .data_loading import Given, placed
from .inference.outputs import target_fields

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
            request = RequestedFields(read_fields(training, source, phase), targets, _skips(source))
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
    dataset.set_targets(request.targets, skip=request.skip)
    return dataset


def _skips(source: SourceSettings | None) -> bool:
    return source is not None and source.on_error == "skip"
