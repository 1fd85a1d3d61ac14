"""Determinism: bitwise equal results for any number of threads and repetitions."""

from __future__ import annotations

from paddle_layers.runtime.devices.cpu.table import always_cut

from ..cases.case import Case
from ..cases.results import run
from ..cases.trial import Trial
from .comparing import Verdicts, same_bits

PIECES = "when its work is split across threads"
BACKWARDS = "when its parts run in reverse order"


def check_determinism(case: Case) -> Verdicts:
    """Run each launch as one tile, again, as concurrent tiles, and as tiles in reverse order.

    Tiles write their own elements only, so a difference is a race: two tiles write to one position, or one reads a
    result of another one. The reverse order shows it even if the concurrent run happens to succeed.
    """
    with Trial(case, "float32") as trial:
        expected = trial.step()
        yield from same_bits(expected, trial.step(), "in a second run")
    with always_cut("pieces"):
        yield from same_bits(expected, run(case, "float32")[0], PIECES)
    with always_cut("backwards"):
        yield from same_bits(expected, run(case, "float32")[0], BACKWARDS)
