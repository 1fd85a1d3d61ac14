"""The same bits, however many threads there are and however often a step is run."""

from __future__ import annotations

from paddle_layers.runtime.devices.cpu.table import always_cut

from ..cases.case import Case
from ..cases.results import run
from ..cases.trial import Trial
from .comparing import Verdicts, same_bits

PIECES = "when its work is cut into pieces for several threads"
BACKWARDS = "when its pieces are computed from the last to the first"


def check_determinism(case: Case) -> Verdicts:
    """Run each launch in one piece, once more, in pieces side by side, and in pieces from the last to the first.

    Pieces write their own elements only, so a difference is a race: two of them write to one place, or one reads what
    another one writes. The order of the last run shows it even where the one before happens to go well.
    """
    with Trial(case, "float32") as trial:
        expected = trial.step()
        yield from same_bits(expected, trial.step(), "in a second run")
    with always_cut("pieces"):
        yield from same_bits(expected, run(case, "float32")[0], PIECES)
    with always_cut("backwards"):
        yield from same_bits(expected, run(case, "float32")[0], BACKWARDS)
