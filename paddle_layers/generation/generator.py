"""Text generation for a batch: the source once, then one pass per word with all sequences of all samples."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from paddle_layers.config import Network
from paddle_layers.config.generate_settings import BEAMS, GenerateSettings
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime import FeedError, Net

from . import decoding_state
from .beam_search import BeamSearch, Hypothesis
from .position_network import cut
from .sampling import Sampling


class Generator:
    """A network that generates text according to `settings`.

    `scores` is the value of the next word's scores, or of their `probabilities`. `nets` need the weights of the
    network. Raises `ConfigError` if the network cannot be decoded incrementally.
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
        """Sequences per sample that are generated together."""
        self._capacity = 0
        """Positions in the cache of the last batch."""
        # The network itself selects the candidates: otherwise the scores of the whole vocabulary are read at every
        # word.
        best = self._search(0).candidates
        self.parts = cut(network, settings.words, scores, probabilities=probabilities, best=best)
        boots = [one.boot for one in self.parts.carried if isinstance(one.boot, str)]
        self._read = tuple(dict.fromkeys([*self.parts.given, *boots]))
        self.nets: list[Net] = []
        # The second network may fail: then the first one is closed again.
        with contextlib.ExitStack() as stack:
            made = [(self.parts.position, [one.next for one in self.parts.carried])]
            made += [(self.parts.source, list(self._read))] if len(self.parts.source) else []
            for part, keep in made:
                self.nets.append(stack.enter_context(Net(part, device=device, dtype=dtype, keep=keep)))
            self._open = stack.pop_all()

    @property
    def feeds(self) -> tuple[str, ...]:
        """The data layers of the source that data provide."""
        data = (node.name for node in self.parts.source.nodes if not node.definition.inputs)
        return tuple(name for name in data if name not in self.parts.zeros)

    def write(self, feeds: Mapping[str, Any], beginnings: Sequence[Sequence[int]]) -> list[list[Hypothesis]]:
        """The best sequences of each sample, best first.

        `feeds` are those of the source, `beginnings` the prompt of each sequence, at least one word; they are not part
        of the result. Raises `FeedError`.
        """
        if not beginnings:
            return []
        # 8 sequences at once took 3.3 ms per word and take 1.2 ms.
        with tuned_at_every_size():  # small products, but hundreds of passes over the same plan
            return self._write(feeds, beginnings)

    def _write(self, feeds: Mapping[str, Any], beginnings: Sequence[Sequence[int]]) -> list[list[Hypothesis]]:
        samples = len(beginnings)
        search = self._search(samples)
        known = np.array([len(words) for words in beginnings], np.int64)
        first = np.zeros((samples, known.max()), np.int64)
        for row, beginning in enumerate(beginnings):
            first[row, : len(beginning)] = beginning
        first = np.repeat(first, self.texts, axis=0)
        longest = self._longest(first.shape[1])
        # Kept from batch to batch: the next one has a similar length, and every size in between is a plan.
        capacity = max(self._capacity, min(decoding_state.CAPACITY, longest))
        source = self._run_source(feeds, samples)
        written = decoding_state.DecodingState(
            self.parts, self.nets[0], source, first[:, 0], self.texts, longest, capacity
        )
        for place in range(1, longest + 1):
            # A sequence within its prompt passes through the same step, but its sum does not change.
            back, words = search.advance(written.candidates(), known <= place)
            if not search.open.any():
                break
            # Prompts may have different lengths in one batch: those that are still in theirs get its words instead of
            # the selected ones.
            if place < first.shape[1]:
                words = np.where(np.repeat(known > place, self.texts), first[:, place], words)
            written.go_on(back, words)
        self._capacity = written.capacity
        return search.whole

    def _search(self, samples: int) -> BeamSearch | Sampling:
        asked = self.settings
        if asked.temperature is None:
            return BeamSearch(
                samples,
                self.texts,
                end=asked.end,
                max_length=asked.max_length,
                results=asked.results,
                length_penalty=asked.length_penalty,
            )
        return Sampling(
            samples,
            self.texts,
            end=asked.end,
            max_length=asked.max_length,
            temperature=asked.temperature,
            top_k=asked.top_k,
            top_p=asked.top_p,
            seed=self._seed,
        )

    def _run_source(self, feeds: Mapping[str, Any], samples: int) -> dict[str, Any]:
        if len(self.nets) == 1:
            return {}
        zeros = {name: np.zeros((samples, *type_.dims)) for name, type_ in self.parts.zeros.items()}
        self.nets[1].forward({**feeds, **zeros}, phase="test")
        return {name: self.nets[1].value(name) for name in self._read}

    def _longest(self, known: int) -> int:
        """Number of words of the longest sequence. Raises `FeedError` if the network has too few positions."""
        longest = known + self.settings.max_length - 1
        for name, count in self.parts.places.items():
            if longest > count:
                layer = name.rpartition("/")[0]
                raise FeedError(
                    f"sequences of {longest} words exceed the {count} positions of layer `{layer}`; with a prompt of "
                    f"{known} words, set max_length to at most {max(count - known + 1, 0)}"
                )
        return longest

    def close(self) -> None:
        """Frees all resources."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
