"""Sequences during generation: the feeds of a position, and its compiled pass, which is repeated for each word."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime import FeedError, Net, Sequences

from .beam_search import Candidates, Ints
from .incremental_layers import ONE, ROW, CarriedState
from .position_network import BEST, LOGARITHM, PLACES, Positions

Array = NDArray[Any]
CAPACITY = 64
"""Initial capacity of the cache in positions; it is doubled for longer sequences, which needs a new plan."""


class DecodingState:
    """The sequences of a batch, `size` per sample, and their state for the next position.

    `net` is that of the position. A pass reads its feeds from the buffers of the previous pass: only changed ones are
    written, and keys and values stay in place when sequences are permuted. The cache has `capacity` positions; it grows
    up to `longest`.
    """

    def __init__(
        self, parts: Positions, net: Net, source: Mapping[str, Any], words: Ints, size: int, longest: int, capacity: int
    ) -> None:
        self._parts, self._net, self._longest = parts, net, longest
        self._place = 0
        """Number of words of each sequence before this one."""
        self._own = np.arange(len(words))
        self._kept = [one for one in parts.carried if one.grows]
        self._states = [one for one in parts.carried if not one.grows]
        self._views: dict[str, Array] = {}
        self._feeds: dict[str, Any] = {parts.words: words, **self._counted()}
        self._feeds |= {name: repeated(source[name], size) for name in parts.given}
        self._feeds |= {one.name: self._boot(one, source, size) for one in self._states}
        self._feeds[ONE] = Sequences(np.zeros(len(words), np.int64), np.arange(len(words) + 1))
        self._reserve(capacity)
        self._run_anew()

    def candidates(self) -> Candidates:
        """Candidate continuations of each sequence. Raises `FeedError` if the scores of the network are NaN."""
        best = BEST in self._parts.position
        logarithms = self._read(BEST if best else LOGARITHM, -1)
        if np.isnan(logarithms).any():
            raise FeedError(
                f"the scores of word {self._place + 1} are NaN; the weights or the values of the source are too large"
            )
        return Candidates(self._read(PLACES, -1).astype(np.int64) if best else None, logarithms)

    def go_on(self, back: Ints, words: Ints) -> None:
        """Appends a word to each sequence, which continues the sequence `back` of the previous ones."""
        changed = {one.name: self._read(one.next, *one.type.dims)[back] for one in self._states}
        if self._kept:
            self._keep(back)
            if not self._in_place:
                changed |= self._memory()
        self._place += 1
        changed |= {self._parts.words: words, **self._counted()}
        # Other shapes mean another plan. Doubling bounds the number of plans by the logarithm of the length.
        if self._kept and self._place == self.capacity:
            self._feeds |= changed
            self._reserve(min(2 * self.capacity, self._longest))
            self._run_anew()
            return
        # Into the buffers of the plan: the checks and copies of a batch would be repeated for every word.
        for name in changed.keys() & self._plan.values.keys():  # unused by all layers, so it does not exist
            self._plan.write(self._plan.values[name], changed[name])
        self._plan.forward()

    def _keep(self, back: Ints) -> None:
        """Caches the values of this position, one row per sequence; the row indices are permuted with the sequences."""
        place, rows = self._place, self._feeds[ROW]
        for one in self._kept:
            self._feeds[one.name][:, place] = self._read(one.next, *one.type.dims[1:])
        if place and not (back == self._own).all():
            # A permutation of beams changes only these indices; keys and values stay where they were written.
            rows[:, :place] = rows[back, :place]
        rows[:, place] = back

    def _memory(self) -> dict[str, Array]:
        """The cache of the earlier positions, and the row indices."""
        return {name: self._feeds[name] for name in (ROW, *(one.name for one in self._kept))}

    def _run_anew(self) -> None:
        """The first pass over these rows."""
        self._net.forward({name: value for name, value in self._feeds.items() if name in self._parts.position}, "test")
        self._plan = plan = self._net.plan("test")
        words = plan.values[self._parts.words]
        self._in_place = np.may_share_memory(plan.read(words), plan.read(words))
        """Whether arrays that are read are the memory of the pass; a device other than the CPU gives copies."""
        self._views.clear()
        if self._kept and self._in_place:
            # A new position is written once and nothing is copied.
            for name, array in self._memory().items():
                self._feeds[name] = plan.read(plan.values[name]).reshape(array.shape)

    def _read(self, name: str, *dims: int) -> Array:
        # Views stay valid until the next plan: to make them for each word took 9 of 70 us with two blocks of width 64.
        if (view := self._views.get(name)) is None or not self._in_place:
            view = self._views[name] = self._plan.read(self._plan.values[name]).reshape(len(self._own), *dims)
        return view

    def _counted(self) -> dict[str, Any]:
        """Feeds of the position index."""
        return {name: np.full(len(self._own), self._place) for name in self._parts.places}

    def _boot(self, one: CarriedState, source: Mapping[str, Any], size: int) -> Array:
        if isinstance(one.boot, str):
            return np.asarray(repeated(source[one.boot], size))
        kind = np.int64 if one.type.kind == "INT" else np.dtype(self._net.dtype)
        return np.full((len(self._own), *one.type.dims), one.boot, kind)

    def _reserve(self, places: int) -> None:
        """Resizes the cache to so many positions; its contents are copied."""
        self.capacity = places
        kept = [(one.name, one.type.dims[1:], self._net.dtype) for one in self._kept] + [(ROW, (), "int64")]
        for name, dims, dtype in kept:
            made = np.zeros((len(self._own), places, *dims), dtype)
            if self._place:
                made[:, : self._place] = self._feeds[name]
            self._feeds[name] = made


def repeated(value: Any, times: int) -> Any:
    """Repeats each row of an array, or each of the sequences, so many times, consecutively."""
    if not isinstance(value, Sequences):
        return np.repeat(value, times, axis=0)
    starts = np.asarray(value.starts)
    rows = np.concatenate(
        [np.tile(np.arange(*ends), times) for ends in pairwise(starts.tolist())] or [np.zeros(0, int)]
    )
    return Sequences(np.asarray(value.data)[rows], np.append(0, np.cumsum(np.repeat(np.diff(starts), times))))
