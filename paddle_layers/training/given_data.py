"""Data that a trained network is given: read as the training file's own source reads its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.define import registries

from .folders import output_folder, trained_weights
from .preparation import ignored_labels, transforms_of

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.training import SourceSettings

SUFFIXES = {".csv": "csv", ".npz": "npz", ".npy": "npy"}
"""Endings of files that are read without settings, too."""


def weights_file(training: Training, given: str | Path | None) -> Path:
    """The weights that are used: those that are given, else the best in the training's output folder."""
    return Path(given) if given is not None else trained_weights(output_folder(training, None))


def given_batches(training: Training, network: Network, source: SourceSettings, data: str | Path | None) -> Batches:
    """The data of a source, or of the file `data` in its place, for the data layers of a network, in their order.

    Only the fields that these need are read. Raises `DataError`.
    """
    types = {
        name: type_
        for node in network.nodes
        if not node.definition.inputs
        for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }
    fields = {layer: training.feed.get(layer, layer) for layer in types}
    dataset = _opened(training, source, data, fields.values())
    if isinstance(data, (str, Path)) and Path(data).suffix.lower() == ".npy" and len(fields) == 1:
        fields = dict.fromkeys(fields, next(iter(dataset.fields)))
    transforms = [(layer, change) for layer, change in transforms_of(training, source) if layer in types]
    feeds = make_feeds(
        dataset,
        types,
        fields=fields,
        transforms=transforms,
        dtype=training.dtype,
        ignored=ignored_labels(network),
    )
    return Batches(dataset, training.batch_size, shuffle=False, training=False, feeds=feeds)


def _opened(training: Training, settings: SourceSettings, data: str | Path | None, fields: Any) -> Dataset:
    source, base = settings.definition.create(settings.attributes), training.base
    if data is not None:
        source, base = _reader(settings, data), Path()
    opened: Dataset = source.open_fields(base, set(fields)) if hasattr(source, "open_fields") else source.open(base)
    return opened


def _reader(settings: SourceSettings, data: str | Path) -> Any:
    """A source that reads a file: the training file's with this file, or one for the ending of its name."""
    path, own = Path(data).absolute(), settings.definition
    kind = SUFFIXES.get(path.suffix.lower(), own.name)
    file = own.attributes.get("file")
    if kind == own.name and file is not None:
        given = [str(path)] if file.check("") else str(path)
        return own.create(own.bind({**settings.attributes, "file": given}))
    if kind == own.name:
        known = ", ".join(SUFFIXES)
        raise DataError(f"{data}: the source `{own.name}` reads no file; give one that ends in {known}")
    definition = registries["source"][kind]
    return definition.create(definition.bind({"file": [str(path)] if kind == "npy" else str(path)}))
