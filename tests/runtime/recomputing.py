"""Everything that can be computed again is, whatever it costs: for proofs that this changes no result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from unittest import mock

from paddle_layers.runtime.passes import rematerialization
from paddle_layers.runtime.passes.rematerialization import Recomputable


@contextlib.contextmanager
def everything_again(*, last_first: bool = False) -> Iterator[list[Recomputable]]:
    """Within it, results of every size are computed again, also where the memory's peak stays; gives them.

    Where one is made from the other, that is the first one of them, or the last one.
    """
    seen: list[Recomputable] = []

    def all_that_fit(possible: Sequence[Recomputable], live: list[int], most: float) -> list[Recomputable]:
        chosen: list[Recomputable] = []
        for one in reversed(possible) if last_first else possible:
            if not any(one.result in other.sources or other.result in one.sources for other in chosen):
                chosen.append(one)
        seen.extend(chosen)
        return chosen

    with mock.patch.multiple(rematerialization, LEAST=0, choose=all_that_fit):
        yield seen
