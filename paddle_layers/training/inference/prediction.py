"""Inference: the part of a trained network that its outputs depend on, run over new data."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.training_builder import resolve_training
from paddle_layers.data.columns import joined_starts
from paddle_layers.data.formats.tokenizers import read_words
from paddle_layers.data.sinks.values import Values
from paddle_layers.define.name_patterns import listed

from ..data_loading import advised
from ..network_values import check_order, check_words, rows_and_starts, word_of, words_of_ids
from ..problems import TrainingError
from ..results.result_names import selected
from .input_data import (
    GivenData,
    UnknownWords,
    given_batches,
    load_trained,
    sizes_of_weights,
    source_for,
    weights_file,
    words_of,
)
from .outputs import Reading, part_for, predicted, readings

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.data import Batches
    from paddle_layers.runtime import Net

Array = NDArray[Any]


@dataclass(frozen=True)
class Prediction(Values):
    """Results of inference by name, with one row per row of the data."""

    weights: Path | None = None
    """The file they were computed with."""
    left_out: Mapping[int, str] = field(default_factory=dict)
    """Errors of unreadable records by record number, if the source skips them; `records` has the others."""
    notes: Sequence[str] = ()
    """The share of unknown words of each field that has some."""


def predict(
    training: str | Path | Training,
    data: GivenData = None,
    *,
    weights: str | Path | None = None,
    values: Sequence[str] = (),
    dictionary: str | Path | None = None,
    device: str = "cpu",
) -> Prediction:
    """Run inference with the network of a training.

    The results are the outputs of the network, which only losses and metrics read. They need neither labels nor sample
    weights. Scores that a loss converts to probabilities are returned as probabilities.

    Args:
        training: Path of a training file, its text, or the result of `make_training` or `load_training`.
        data: A file, read with the settings of the training file's source, or by its extension (csv, npz, npy); arrays
            by field; a DataFrame of pandas, polars or Arrow; or None for the source of the test phase.
        weights: File of the weights; None for the best ones in the output folder of the training.
        values: Names of values to return instead of the outputs.
        dictionary: File with the words of ids and classes, one per line; None for the vocabulary of the source.
        device: `"cpu"` or `"cuda"`.

    Returns:
        The results by name, one row per row of the data; `files` has the image file or the series of each row. Records
        that the source skips (`on_error`) have none.

    Raises:
        ConfigError: The training file has errors, or the data do not fit.
        DataError: The data cannot be read.
        WeightsError: The weights cannot be read or do not fit.
        TrainingError: There are no weights yet, or an unknown value is requested.

    Example::

        prediction = pl.predict("digits.textproto", "new.npz")
    """
    with open_prediction(training, data, weights, values, dictionary, device) as run:
        parts = list(run.batches())
    starts = {name: zip(*(part.starts[name] for part in parts), strict=True) for name in parts[0].starts}
    return Prediction(
        values={name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values},
        classes={name: np.concatenate([part.classes[name] for part in parts]) for name in parts[0].classes},
        texts={name: [text for part in parts for text in part.texts[name]] for name in parts[0].texts},
        starts={name: tuple(map(joined_starts, levels)) for name, levels in starts.items()},
        names=parts[0].names,
        records=np.concatenate([part.records for part in parts if part.records is not None]) if run.data.skip else None,
        files=[file for part in parts for file in part.files],
        title=parts[0].title,
        weights=run.weights,
        left_out=dict(zip(run.numbers(list(run.data.bad)).tolist(), run.data.bad.values(), strict=True)),
        notes=run.unknown.notes(),
    )


@dataclass(frozen=True)
class Predicting:
    """A network that is ready to be run over its data, with the `weights` that it has."""

    net: Net
    data: Batches
    readings: Mapping[str, Reading]
    """Interpretations of the requested values by the losses."""
    words: Mapping[str, Sequence[str]]
    weights: Path
    note: str
    """Notes about conversions of the weights; empty without any."""
    dictionary: str | Path | None
    unknown: UnknownWords

    def batches(self) -> Iterator[Values]:
        """The values of one batch after another. Raises `TrainingError` for a dictionary of other classes."""
        with advised():
            for number, (rows, batch) in enumerate(self.data.with_rows()):
                self.unknown.count(batch)
                yield self._values(rows, batch, first=not number)

    def _values(self, rows: Array, batch: Mapping[str, Any], *, first: bool) -> Values:
        self.net.forward(batch, phase="test")
        file_of = self.data.dataset.file_of
        files = list(map(file_of, rows.tolist())) if file_of is not None else []
        numbers = self.numbers(rows) if self.data.skip else None
        found = Values({}, {}, {}, {}, {}, numbers, files, self.data.dataset.file_title)
        for name, reading in self.readings.items():
            self._add(found, name, reading)
            if first and self.dictionary is not None and name in found.classes:
                classes = reading.by_class(found.values[name]).shape[1]
                check_words(self.words[name], classes, self.dictionary, name)
        return found

    def numbers(self, rows: Sequence[int] | Array) -> NDArray[np.int64]:
        """The numbers of rows of the data among those that are predicted."""
        return np.searchsorted(self.data.part, rows)

    def _add(self, found: Values, name: str, reading: Reading) -> None:
        value, words = self.net.value(name), self.words[name]
        data, starts = rows_and_starts(value)
        if starts:
            found.starts[name] = starts
        by_class = _activated(reading.by_class(data), reading.activation)
        found.values[name] = by_class.reshape(data.shape)
        if reading.classes and by_class.shape[1] != 1:
            found.classes[name] = np.asarray(by_class.argmax(axis=1), np.int64).reshape(len(data), *reading.places)
            found.texts[name] = list(map(" ".join, words_of_ids(found.classes[name], words)))
            if not reading.places:
                found.names[name] = [word_of(number, words) for number in range(by_class.shape[1])]
        elif data.dtype.kind == "i":
            found.texts[name] = list(map(" ".join, words_of_ids(value, words)))


@contextlib.contextmanager
def open_prediction(
    training: str | Path | Training,
    data: GivenData,
    weights: str | Path | None,
    values: Sequence[str],
    dictionary: str | Path | None,
    device: str,
) -> Iterator[Predicting]:
    """Inference in batches, on which `predict` is based."""
    from paddle_layers.runtime import Net

    if isinstance(values, str):
        raise TypeError(f"values must be a list of names: write values=[{values!r}]")
    training, _ = resolve_training(training, "predict", sizes=sizes_of_weights(weights))
    file = weights_file(training, weights)
    whole = selected(training, "test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    network, known = part_for(whole, names), readings(whole)
    batches = given_batches(training, network, source_for(training), data, file)
    own = read_words(Path(dictionary)) if dictionary is not None else None
    wanted = {name: known.get(name, Reading()) for name in names}
    if own is not None and not any(one.classes for one in wanted.values()) and not _ids_among(network, names):
        raise TrainingError(f"a dictionary names classes and ids, but {listed(names)} has neither; remove it")
    words = {name: words_of(training, batches, one.label or name) for name, one in wanted.items()}
    if own is not None:
        for known_words in words.values():
            check_order(own, known_words, dictionary)
        words = dict.fromkeys(wanted, own)
    with Net(network, device=device, dtype=training.dtype, keep=names) as net:
        note = load_trained(net, training, file)
        yield Predicting(net, batches, wanted, words, file, note, dictionary, UnknownWords(training, batches))


def _ids_among(network: Network, names: Container[str]) -> bool:
    """Whether some of these values are ids."""
    pairs = (zip(node.output_names, node.output_types, strict=True) for node in network.nodes)
    return any(type_.kind == "INT" for pair in pairs for name, type_ in pair if name in names)


def _activated(scores: Array, how: str) -> Array:
    from scipy.special import expit, softmax

    if how == "softmax":
        # On the host: the network ends in scores because its loss applies the activation in a numerically stable form.
        return np.asarray(softmax(scores, axis=1))
    return np.asarray(expit(scores)) if how == "sigmoid" else scores
