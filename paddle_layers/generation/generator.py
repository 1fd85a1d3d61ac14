"""Texts for a batch: the source once, then one pass for each word with all texts of all samples in one batch."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.config.generating import BEAMS, GenerateSettings
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime import FeedError, Net, Sequences

from .beams import Beams, Candidates, Written
from .drawing import Draws
from .positions import BEST, LOGARITHM, ONE, PLACES, Carried, cut

Array = NDArray[Any]


class Generator:
    """A network that writes texts, as `settings` say.

    `scores` is the value of the next word's scores, or of their `probabilities`. `nets` are to be given the weights of
    the network. Raises `ConfigError` where texts cannot be written word by word.
    """

    def __init__(
        self,
        network: Network,
        settings: GenerateSettings,
        scores: str,
        *,
        probabilities: bool = False,
        device: str = "cpu",
        dtype: str = "float32",
        seed: int = 0,
    ) -> None:
        self.settings, self._seed = settings, seed
        self.texts = settings.results if settings.temperature is not None else settings.beam_size or BEAMS
        """Texts of each sample that are written side by side."""
        best = None if settings.temperature is not None else self.texts + 1
        self.parts = cut(network, settings.words, scores, probabilities=probabilities, best=best)
        boots = [one.boot for one in self.parts.carried if isinstance(one.boot, str)]
        self._read = tuple(dict.fromkeys([*self.parts.given, *boots]))
        self.nets: list[Net] = []
        with contextlib.ExitStack() as stack:
            made = [(self.parts.position, [one.next for one in self.parts.carried])]
            made += [(self.parts.source, list(self._read))] if len(self.parts.source) else []
            for part, keep in made:
                self.nets.append(stack.enter_context(Net(part, device=device, dtype=dtype, keep=keep)))
            self._open = stack.pop_all()

    @property
    def feeds(self) -> tuple[str, ...]:
        """The data layers of the source that data have."""
        data = (node.name for node in self.parts.source.nodes if not node.definition.inputs)
        return tuple(name for name in data if name not in self.parts.zeros)

    def write(self, feeds: Mapping[str, Any], beginnings: Sequence[Sequence[int]]) -> list[list[Written]]:
        """The best texts of each sample, best first.

        `feeds` are those of the source, `beginnings` the words that each text begins with, one at least; they are no
        part of what is given. Raises `FeedError`.
        """
        with tuned_at_every_size():  # small products, but hundreds of passes over the same plan
            return self._write(feeds, beginnings)

    def _write(self, feeds: Mapping[str, Any], beginnings: Sequence[Sequence[int]]) -> list[list[Written]]:
        samples = len(beginnings)
        search = self._search(samples)
        zeros = {name: np.zeros((samples, *type_.dims)) for name, type_ in self.parts.zeros.items()}
        source = self._run_source({**feeds, **zeros})
        given = {name: repeated(source[name], self.texts) for name in self.parts.given}
        carried = {one.name: self._boot(one, source, samples) for one in self.parts.carried}
        known = np.array([len(words) for words in beginnings], np.int64)
        first = np.zeros((samples, known.max(initial=0)), np.int64)
        for row, beginning in enumerate(beginnings):
            first[row, : len(beginning)] = beginning
        words, place = np.repeat(first[:, 0], self.texts), 0
        net = self.nets[0]
        self._check_places(int(known.max(initial=1)))
        while search.open.any():
            feeds = {self.parts.words: words, **given, **self._fed(carried), **self._counted(place, len(words))}
            net.forward(feeds, phase="test")
            place += 1
            back, words = search.advance(self._candidates(), known <= place)
            if place < first.shape[1]:
                words = np.where(np.repeat(known > place, self.texts), np.repeat(first[:, place], self.texts), words)
            carried = {one.name: self._next(one, carried[one.name])[back] for one in self.parts.carried}
        return search.whole

    def _search(self, samples: int) -> Beams | Draws:
        asked = self.settings
        if asked.temperature is None:
            return Beams(
                samples,
                self.texts,
                end=asked.end,
                max_length=asked.max_length,
                results=asked.results,
                length_penalty=asked.length_penalty,
            )
        return Draws(
            samples,
            self.texts,
            end=asked.end,
            max_length=asked.max_length,
            temperature=asked.temperature,
            top_k=asked.top_k,
            top_p=asked.top_p,
            seed=self._seed,
        )

    def _run_source(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        if len(self.nets) == 1:
            return {}
        self.nets[1].forward(feeds, phase="test")
        return {name: self.nets[1].value(name) for name in self._read}

    def _check_places(self, known: int) -> None:
        """Raises `FeedError` for texts that may become longer than the network has places for."""
        for name, count in self.parts.places.items():
            longest = known + self.settings.max_length - 1
            if longest > count:
                layer = name.rpartition("/")[0]
                raise FeedError(
                    f"texts of {longest} words are longer than the {count} places of layer `{layer}`: they begin with "
                    f"{known}, so give a max_length of {max(count - known + 1, 0)}"
                )

    def _fed(self, carried: Mapping[str, Array]) -> dict[str, Any]:
        """What is carried, as the position takes it: sequences that grow have the same length in all texts."""
        found: dict[str, Any] = dict(carried)
        for one in self.parts.carried:
            if one.grows:
                texts, length = carried[one.name].shape[:2]
                rows = carried[one.name].reshape(texts * length, *one.type.dims)
                found[one.name] = Sequences(rows, np.arange(texts + 1) * length)
        return found

    def _counted(self, place: int, texts: int) -> dict[str, Any]:
        """What is fed of the place itself."""
        found: dict[str, Any] = {name: np.full(texts, place) for name in self.parts.places}
        if ONE in self.parts.position:
            found[ONE] = Sequences(np.zeros(texts, np.int64), np.arange(texts + 1))
        return found

    def _next(self, one: Carried, before: Array) -> Array:
        """What a position gives to the next one."""
        value = np.asarray(self.nets[0].value(one.next))
        return np.concatenate([before, value[:, None]], axis=1) if one.grows else value

    def _boot(self, one: Carried, source: Mapping[str, Any], samples: int) -> Array:
        if isinstance(one.boot, str):
            return np.asarray(repeated(source[one.boot], self.texts))
        if one.grows:
            return np.zeros((samples * self.texts, 0, *one.type.dims), self.nets[0].dtype)
        kind = np.int64 if one.type.kind == "INT" else np.dtype(self.nets[0].dtype)
        return np.full((samples * self.texts, *one.type.dims), one.boot, kind)

    def _candidates(self) -> Candidates:
        if self.settings.temperature is not None:
            logarithms = self.nets[0].value(LOGARITHM)
            return Candidates(np.zeros((len(logarithms), 1), np.int64), logarithms)
        return Candidates(self.nets[0].value(PLACES).astype(np.int64), self.nets[0].value(BEST))

    def close(self) -> None:
        """Free everything."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def repeated(value: Any, times: int) -> Any:
    """Each row of an array, or each of the sequences, so many times, one after the other."""
    if not isinstance(value, Sequences):
        return np.repeat(value, times, axis=0)
    starts = np.asarray(value.starts)
    rows = np.concatenate(
        [np.tile(np.arange(*ends), times) for ends in pairwise(starts.tolist())] or [np.zeros(0, int)]
    )
    return Sequences(np.asarray(value.data)[rows], np.append(0, np.cumsum(np.repeat(np.diff(starts), times))))
