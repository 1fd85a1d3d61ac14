"""Using a trained network: the part of it that its outputs rest on, run over new data."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data.lines import read_dictionary
from paddle_layers.data.sinks.values import Values

from .given_data import GivenData, given_batches, source_for, weights_file, words_of
from .network_values import rows_and_starts
from .outputs import Reading, part_for, predicted, readings
from .preparation import selected
from .printing import check_words, word_of, words_of_ids
from .reading import read_training
from .trained import load_trained

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.data import Batches
    from paddle_layers.runtime import Net

Array = NDArray[Any]


@dataclass(frozen=True)
class Prediction(Values):
    """Results by name of the value, one row for each row of the data."""

    weights: Path | None = None
    """The file they were computed with."""


def predict(
    training: str | Path | Training,
    data: GivenData = None,
    *,
    weights: str | Path | None = None,
    values: Sequence[str] = (),
    dictionary: str | Path | None = None,
    device: str = "cpu",
) -> Prediction:
    """Run the network of a training over `data` (absent: its source of the test phase).

    `training` is the path of a training file, its text, or what `make_training` and `load_training` give. `data` is a
    file, read as the training file's source reads its own, or by its ending: csv, npz, npy; or arrays by field. The
    results are the outputs, what no layer reads but costs and statistics, or the `values` that are named. They need no
    labels, nor weights of rows. Scores that a cost makes probabilities of are given as these. `weights` are those in
    the training's output folder unless they are given, the best ones if it has them; `dictionary` is a file with the
    words of ids and classes, one on each line; else the words are those of the source. Raises `ConfigError`,
    `DataError`, `WeightsError`, `TrainingError`.
    """
    with open_prediction(training, data, weights, values, dictionary, device) as run:
        parts = list(run.batches())
    starts = {name: zip(*(part.starts[name] for part in parts), strict=True) for name in parts[0].starts}
    return Prediction(
        values={name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values},
        classes={name: np.concatenate([part.classes[name] for part in parts]) for name in parts[0].classes},
        texts={name: [text for part in parts for text in part.texts[name]] for name in parts[0].texts},
        starts={name: tuple(map(_joined, levels)) for name, levels in starts.items()},
        names=parts[0].names,
        weights=run.weights,
    )


@dataclass(frozen=True)
class Predicting:
    """A network that is ready to be run over its data, with the `weights` that it has."""

    net: Net
    data: Batches
    readings: Mapping[str, Reading]
    """How costs read each of the values that are wanted."""
    words: Mapping[str, Sequence[str]]
    weights: Path
    note: str
    """What became of the numbers of the weights, for the user; empty where they are as they were."""
    dictionary: str | Path | None

    def batches(self) -> Iterator[Values]:
        """The values of one batch after another. Raises `TrainingError` for a dictionary of other classes."""
        for number, batch in enumerate(self.data):
            self.net.forward(batch, phase="test")
            found = Values({}, {}, {}, {}, {})
            for name, reading in self.readings.items():
                self._add(found, name, reading)
                if not number and self.dictionary is not None and name in found.classes:
                    check_words(self.words[name], math.prod(found.values[name].shape[1:]), self.dictionary, name)
            yield found

    def _add(self, found: Values, name: str, reading: Reading) -> None:
        value, words = self.net.value(name), self.words[name]
        data, starts = rows_and_starts(value)
        if starts:
            found.starts[name] = starts
        flat = data.reshape(len(data), math.prod(data.shape[1:]))
        flat = _activated(flat, reading.activation)
        found.values[name] = flat.reshape(data.shape)
        if reading.classes and flat.shape[1] != 1:
            found.classes[name] = np.asarray(flat.argmax(axis=1), np.int64)
            found.texts[name] = [word_of(number, words) for number in found.classes[name].tolist()]
            found.names[name] = [word_of(number, words) for number in range(flat.shape[1])]
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
    """What `predict` runs, for those who take one batch after another."""
    from paddle_layers.runtime import Net

    training, _ = read_training(training, "predict")
    file = weights_file(training, weights)
    whole = selected(training, "test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    network, known = part_for(whole, names), readings(whole)
    batches = given_batches(training, network, source_for(training), data, file)
    own = list(read_dictionary(Path(dictionary))) if dictionary is not None else None
    wanted = {name: known.get(name, Reading()) for name in names}
    words = {name: own or words_of(training, batches, one.label or name) for name, one in wanted.items()}
    with Net(network, device=device, dtype=training.dtype, keep=names) as net:
        note = load_trained(net, training, file)
        yield Predicting(net, batches, wanted, words, file, note, dictionary)


def _joined(parts: Sequence[Array]) -> Array:
    """Starts of one batch behind those of another."""
    ends = np.cumsum([0, *(part[-1] for part in parts[:-1])])
    return np.concatenate([parts[0][:1], *(part[1:] + end for part, end in zip(parts, ends, strict=True))])


def _activated(scores: Array, how: str) -> Array:
    from scipy.special import expit, softmax

    if how == "softmax":
        return np.asarray(softmax(scores, axis=1))
    return np.asarray(expit(scores)) if how == "sigmoid" else scores
