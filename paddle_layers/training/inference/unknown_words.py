"""Share of words outside of the vocabulary of the training, in the data of an inference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..network_values import rows_and_starts

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.data import Batches


class UnknownWords:
    """Counts of the words, and of the unknown ones, that data layers read: these have the id after the last.

    Args:
        training: The training whose data layers read the words.
        data: The data, with the vocabularies of its fields.
    """

    def __init__(self, training: Training, data: Batches) -> None:
        words = data.dataset.words
        ids = [feed.layer for feed in data.feeds or () if feed.wanted.kind == "INT"]
        self._fields = {layer: training.feed.get(layer, layer) for layer in ids}
        self._ends = {layer: len(words[name]) for layer, name in self._fields.items() if words.get(name)}
        self._counts = dict.fromkeys(self._ends, (0, 0))

    def counted(self, batches: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The same batches, which are counted as they are read."""
        for batch in batches:
            self.count(batch)
            yield batch

    def count(self, batch: Mapping[str, Any]) -> None:
        """Count the words of a batch."""
        for layer, end in self._ends.items():
            ids, _ = rows_and_starts(batch[layer])
            unknown, total = self._counts[layer]
            self._counts[layer] = unknown + int(np.count_nonzero(ids == end)), total + ids.size

    def notes(self) -> list[str]:
        """A note for each data layer with unknown words."""
        return [
            f"words of `{self._fields[layer]}` outside of the vocabulary of the training: {unknown} of {total} "
            f"({_percent(unknown / total)})"
            for layer, (unknown, total) in self._counts.items()
            if unknown
        ]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
