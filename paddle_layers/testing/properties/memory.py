"""Memory safety: every element is written, nothing out of bounds, inputs are unchanged."""

from __future__ import annotations

from ..cases.case import Case
from ..cases.trial import Trial, guarded
from ..cases.values import same_rows
from .comparing import Verdicts, same_bits

UNWRITTEN = "with memory initialized to NaN: an element is not written, or read out of bounds"


def check_memory(case: Case, dtype: str = "float64") -> Verdicts:
    """Run a second time with all memory full of NaN that the pass has to write, and with guard zones around it."""
    with guarded(), Trial(case, dtype) as trial:
        clean = trial.step()
        trial.poison()
        trial.mark_guards()
        again = trial.step(before=trial.poison)
        yield from same_bits(clean, again, UNWRITTEN)
        buffer = trial.touched()
        yield "guard zones", None if buffer is None else f"are overwritten next to `{buffer}`: an index is out of range"
        for place, (before, after) in enumerate(zip(case.arrays(), trial.arrays, strict=True)):
            yield f"in{place}", None if same_rows(before, after) else "the input was modified"
        for name in trial.changed_parameters():
            yield name, "the parameter was modified"
