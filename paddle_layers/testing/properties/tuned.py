"""Tuned kernels match the point functions that they replace."""

from __future__ import annotations

from functools import partial

from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.kernels.tuned import tuned_at_every_size

from ..cases.case import Case
from ..cases.engines import as_python
from ..cases.results import run
from ..cases.trial import Trial
from .breadth import breadth
from .comparing import Verdicts, close
from .derived import check_facts
from .determinism import check_determinism
from .memory import check_memory


def check_tuned(case: Case) -> Verdicts:
    """Run the case with tuned kernels, however small it is, and without: outputs and gradients must agree.

    On examples, what memory, determinism and facts ask of point functions is asked of tuned kernels, too.
    """
    if not tuned_functions(case.definition.name):
        return
    for dtype in breadth().precisions:
        with tuned_at_every_size():
            found, used = run(case, dtype)
        if used:
            expected, _ = as_python(partial(run, case, dtype))
            why = f"in {dtype} with tuned {', '.join(sorted(used))}"
            for name, values in expected.items():
                yield name, close(values, found[name], dtype, why)
    if used and case.is_example:
        with tuned_at_every_size():
            yield from check_memory(case, dtype)
            yield from check_facts(case, dtype)
            yield from check_determinism(case)
            yield from check_runs(case, dtype)


def check_runs(case: Case, dtype: str) -> Verdicts:
    """Run kernels that declare `runs` item by item: none may write outside its tile."""
    with Trial(case, dtype) as trial:
        trial.step()
        for name, buffer in trial.outside_runs():
            yield name, None if buffer is None else f"a work item writes `{buffer}` outside its `runs`"
