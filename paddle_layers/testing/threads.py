"""Threads: the same bits, however many there are and however often a step is run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_layers.runtime.table import always_cut

from .cases import Case
from .results import run


def check_threads(case: Case) -> Iterator[tuple[str, str | None]]:
    """Run each launch in one piece, in pieces side by side, and in pieces from the last to the first: the same bits.

    Pieces write their own elements only, so a difference is a race: two of them write to one place, or one reads what
    another one writes. The order of the third run shows it even where the second happens to go well.
    """
    expected, _ = run(case, "float32")
    with always_cut("pieces"):
        together, _ = run(case, "float32")
    with always_cut("backwards"):
        backwards, _ = run(case, "float32")
    for name, values in expected.items():
        same = all(np.array_equal(values, found[name], equal_nan=True) for found in (together, backwards))
        yield name, None if same else "has other bits when its work is cut into pieces for several threads"
