"""Text generation with a trained network: as the block `generate` of its training file defines it, over new data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_layers.config.training_builder import resolve_training
from paddle_layers.data.formats.tokenizers import read_words
from paddle_layers.define.errors import brief, suggestion
from paddle_layers.runtime import Sequences

from ..data_loading import learned_for
from ..network_values import check_order, check_words, text_of
from ..problems import TrainingError
from ..results.result_names import selected
from .input_data import GivenData, given_batches, load_trained, sizes_of_weights, source_for, weights_file, words_of
from .outputs import Reading, part_for, readings

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.generate_settings import GenerateSettings
    from paddle_layers.data import Batches
    from paddle_layers.generation.generator import Generator

BLOCK = "generate { words: ... begin: ... end: ... }"


class WrittenText(NamedTuple):
    """A generated text."""

    text: str
    """Its words by the dictionary, or the ids without one, separated by spaces."""
    score: float
    """Sum of the logarithms of the probabilities of its words, divided as `length_penalty` says."""
    words: tuple[int, ...]
    """Ids, without that of the end."""


@dataclass(frozen=True)
class Generation:
    """Generated text of a network."""

    texts: list[list[WrittenText]]
    """The results for each sample of the data, the best first."""
    weights: Path
    """The file they were computed with."""


def generate(
    training: str | Path | Training,
    data: GivenData = None,
    *,
    weights: str | Path | None = None,
    dictionary: str | Path | None = None,
    device: str = "cpu",
    **settings: Any,
) -> Generation:
    """Generate text with the network of a training, one result per sample.

    Args:
        training: Path of a training file, its text, or the result of `make_training` or `load_training`; its block
            `generate` has the settings.
        data: A file, arrays by field, or None for the source of the test phase, as in `predict`.
        weights: File of the weights; None for the best ones in the output folder of the training.
        dictionary: File with the words of the ids, one per line; None for the vocabulary of the source.
        device: `"cpu"` or `"cuda"`.
        **settings: Overrides of the block `generate`: `beam_size=8`, `temperature=0.7`, and `seed` for sampling.

    Returns:
        The generated text with its scores.

    Raises:
        ConfigError: The training file or the settings have errors.
        DataError: The data cannot be read or do not fit.
        WeightsError: The weights cannot be read or do not fit.
        TrainingError: There are no weights yet, or the network cannot generate.
        TypeError: Unknown settings.

    Example::

        pl.generate("poems.textproto", temperature=0.7, seed=1)
    """
    with open_generation(training, data, weights, dictionary, device, settings) as run:
        return Generation([texts for batch in run.batches() for texts in batch], run.weights)


@dataclass(frozen=True)
class Generating:
    """A network that is ready to write, with the `weights` that it has."""

    generator: Generator
    data: Batches | None
    """None where nothing is read: a language model that begins anew."""
    words: Sequence[str]
    weights: Path
    note: str
    """Notes about conversions of the weights; empty without any."""

    def batches(self) -> Iterator[list[list[WrittenText]]]:
        """The results of one batch after another."""
        settings = self.generator.settings
        if self.data is None:
            yield self._texts({}, [[settings.begin or 0]])
            return
        for batch in self.data:
            feeds = {name: batch[name] for name in self.generator.feeds}
            yield self._texts(feeds, self._beginnings(batch))

    def _beginnings(self, batch: Mapping[str, Any]) -> list[list[int]]:
        settings = self.generator.settings
        if settings.begin is not None:
            return [[settings.begin]] * len(next(iter(batch.values())))
        given: Sequences = batch[settings.words]
        ids = np.asarray(given.data).tolist()
        beginnings = [ids[first:last] for first, last in pairwise(np.asarray(given.starts).tolist())]
        if not all(beginnings):
            place = beginnings.index([])
            raise TrainingError(f"sample {place} of a batch has an empty prompt `{settings.words}`")
        return beginnings

    def _texts(self, feeds: Mapping[str, Any], beginnings: Sequence[Sequence[int]]) -> list[list[WrittenText]]:
        found = self.generator.write(feeds, beginnings)
        return [[WrittenText(text_of(one.words, self.words), one.score, one.words) for one in texts] for texts in found]


@contextlib.contextmanager
def open_generation(
    training: str | Path | Training,
    data: GivenData,
    weights: str | Path | None,
    dictionary: str | Path | None,
    device: str,
    given: Mapping[str, Any],
) -> Iterator[Generating]:
    """Text generation in batches, on which `generate` is based."""
    from paddle_layers.generation.generator import Generator

    training, _ = resolve_training(training, "generate", sizes=sizes_of_weights(weights))
    seed = given.get("seed")
    settings = settings_for(training, {name: value for name, value in given.items() if name != "seed"})
    if seed is not None and settings.temperature is None:
        raise TrainingError(
            "`seed` is for sampling, and beam search is not random: add `temperature`, or remove `seed`"
        )
    file = weights_file(training, weights)
    whole = selected(training, "test")
    scores, reading = _scores(whole, settings)
    network = part_for(whole, [scores])
    probabilities = reading.classes and not reading.activation
    made = Generator(
        network,
        settings,
        scores,
        probabilities=probabilities,
        device=device,
        dtype=training.dtype,
        seed=training.seed if seed is None else seed,
    )
    with made:
        note, *_ = [load_trained(net, training, file) for net in made.nets]
        names = [*made.feeds, *([settings.words] if settings.begin is None else [])]
        batches = None
        if names:
            batches = given_batches(training, part_for(network, names), source_for(training), data, file)
        elif data is not None:
            raise TrainingError(
                f"the network reads no data: every sequence begins with the id {settings.begin}; remove the data"
            )
        words = _words(training, batches, file, (reading.label, settings.words), dictionary)
        if dictionary is not None:
            check_words(words, made.parts.vocabulary, dictionary, scores)
        yield Generating(made, batches, words, file, note)


def settings_for(training: Training, given: Mapping[str, Any]) -> GenerateSettings:
    """The generation settings of the training file with overrides. Raises `ConfigError`, `TypeError`."""
    from paddle_layers.config.generate_settings import GenerateSettings

    known = GenerateSettings.__dataclass_fields__
    for name in given:
        if name not in known:
            raise TypeError(f"generate has no setting {brief(name)}{suggestion(name, known)}")
    if training.generate is None and "words" not in given:
        message = "the training file has no `generate` block"
        raise training.error("", message, code="E312", help=f"add `{BLOCK}`")
    before = training.generate or GenerateSettings(given["words"])
    settings = before.with_settings(given)
    if (fault := settings.fault(training.network)) is not None:
        raise training.error(f"generate.{fault.setting}", fault.message, code="E312", help=fault.help)
    return settings


def _scores(network: Network, settings: GenerateSettings) -> tuple[str, Reading]:
    """The value that says which word comes next: what a cost of classes reads."""
    known = {name: reading for name, reading in readings(network).items() if reading.classes}
    if settings.scores is not None:
        return settings.scores, known.get(settings.scores, Reading("softmax", True))
    if len(known) != 1:
        there = (
            f"candidates are {', '.join(f'`{name}`' for name in known)}"
            if known
            else "no classification cost reads one"
        )
        raise TrainingError(f"cannot determine the scores of the next word: {there}; set `generate {{ scores: ... }}`")
    return next(iter(known.items()))


def _words(
    training: Training, batches: Batches | None, weights: Path, layers: Sequence[str], dictionary: str | Path | None
) -> Sequence[str]:
    """The words of the first of some data layers of which they are known."""
    if batches is not None:
        known = [words_of(training, batches, layer) for layer in layers]
    else:
        stored = learned_for(weights)[0].words
        known = [stored.get(training.feed.get(layer, layer), ()) for layer in layers]
    words = next(filter(None, known), ())
    if dictionary is None:
        return words
    own = read_words(Path(dictionary))
    check_order(own, words, dictionary)
    return own
