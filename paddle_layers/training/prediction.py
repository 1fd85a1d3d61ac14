"""Using a trained network: the part of it that its outputs rest on, run over new data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data.lines import read_dictionary

from .given_data import GivenData, given_batches, source_for, weights_file, words_of
from .outputs import Reading, part_for, predicted, readings
from .preparation import selected
from .printing import check_words, word_of, words_of_ids
from .reading import read_training
from .trained import load_trained

if TYPE_CHECKING:
    from paddle_layers.config import Training

Array = NDArray[Any]


@dataclass(frozen=True)
class Prediction:
    """Results by name of the value, one row for each row of the data; `classes` of those that are classes.

    `texts` has the words of classes and of values that are ids: for ids in sequences, a line for each sequence.
    `names` has, for values that are classes, what each column is called: its word, or its number.
    `starts` has, for values in sequences, where each sequence begins, and for nested ones where each sub-sequence
    does, with the number of rows at the end.
    """

    values: dict[str, Array]
    classes: dict[str, NDArray[np.int64]]
    texts: dict[str, list[str]]
    starts: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    weights: Path | None = None
    """The file they were computed with."""
    names: dict[str, list[str]] = field(default_factory=dict)


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
    from paddle_layers.runtime import Net

    training, _ = read_training(training, "predict")
    file = weights_file(training, weights)
    whole = selected(training, "test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    network, known = part_for(whole, names), readings(whole)
    batches = given_batches(training, network, source_for(training), data, file)
    own = list(read_dictionary(Path(dictionary))) if dictionary is not None else None
    collected = {name: _Collected(known.get(name, Reading())) for name in names}
    with Net(network, device=device, dtype=training.dtype, keep=names) as net:
        load_trained(net, training, file)
        for batch in batches:
            net.forward(batch, phase="test")
            for name, one in collected.items():
                one.add(net.value(name))
    for name, one in collected.items():
        if own is not None and one.has_classes:
            check_words(own, one.data[0].size, dictionary, name)
    words = {name: own or words_of(training, batches, one.reading.label or name) for name, one in collected.items()}
    return Prediction(
        values={name: one.data for name, one in collected.items()},
        classes={name: one.classes for name, one in collected.items() if one.has_classes},
        texts={name: one.texts(words[name]) for name, one in collected.items() if one.has_texts},
        starts={name: one.starts for name, one in collected.items() if one.starts},
        names={name: one.names(words[name]) for name, one in collected.items() if one.has_classes},
        weights=file,
    )


class _Collected:
    """A value over all batches."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._parts: list[Array] = []
        self._starts: list[tuple[Array, ...]] = []

    def add(self, value: Any) -> None:
        """The value of a batch."""
        if isinstance(value, np.ndarray):
            self._parts.append(value)
            return
        self._parts.append(value.data)
        self._starts.append((value.starts,) if value.sub_starts is None else (value.starts, value.sub_starts))

    @cached_property
    def starts(self) -> tuple[Array, ...]:
        """Where the sequences of all batches begin; nothing for single rows."""
        return tuple(map(_joined, zip(*self._starts, strict=True)))

    @property
    def has_classes(self) -> bool:
        """Whether one of the columns is meant."""
        return self.reading.classes and self._parts[0][0:1].size != len(self._parts[0][0:1])

    @property
    def has_texts(self) -> bool:
        """Whether there are ids, or classes."""
        return self.has_classes or self._parts[0].dtype.kind == "i"

    @cached_property
    def data(self) -> Array:
        """The numbers of all rows; probabilities where a cost makes such of them."""
        data = np.concatenate(self._parts)
        flat = _activated(data.reshape(len(data), -1), self.reading.activation)
        return flat.reshape(data.shape)

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The best column of every row."""
        data = self.data
        return np.asarray(data.reshape(len(data), -1).argmax(axis=1), np.int64)

    def names(self, words: Sequence[str]) -> list[str]:
        """A word for each column, its number where there is none."""
        return [word_of(number, words) for number in range(self.data[0].size)]

    def texts(self, words: Sequence[str]) -> list[str]:
        """A word for each class; a line for each id, or for each sequence of ids."""
        from paddle_layers.runtime import Sequences

        if self.has_classes:
            return [word_of(number, words) for number in self.classes.tolist()]
        data = self.data
        return list(map(" ".join, words_of_ids(Sequences(data, *self.starts) if self.starts else data, words)))


def _joined(parts: Sequence[Array]) -> Array:
    """Starts of one batch behind those of another."""
    ends = np.cumsum([0, *(part[-1] for part in parts[:-1])])
    return np.concatenate([parts[0][:1], *(part[1:] + end for part, end in zip(parts, ends, strict=True))])


def _activated(scores: Array, how: str) -> Array:
    from scipy.special import expit, softmax

    if how == "softmax":
        return np.asarray(softmax(scores, axis=1))
    return np.asarray(expit(scores)) if how == "sigmoid" else scores
