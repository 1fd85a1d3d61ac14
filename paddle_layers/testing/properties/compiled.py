"""Compiled point functions match their Python execution."""

from __future__ import annotations

from functools import partial

from paddle_layers.kernels.tuned import point_functions_only

from ..cases.case import Case
from ..cases.engines import as_python
from ..cases.results import run
from .breadth import breadth
from .comparing import Verdicts, close
from .determinism import check_determinism
from .memory import check_memory


def check_compiled(case: Case) -> Verdicts:
    """Compare outputs, statistics, states and gradients; ask of compiled kernels, too, what memory asks of functions.

    All else is asked of the functions as Python, which notices more and needs no compiler.
    """
    for dtype in breadth().precisions:
        expected, _ = as_python(partial(run, case, dtype))
        with point_functions_only():
            found, _ = run(case, dtype)
            for name, values in expected.items():
                yield name, close(values, found[name], dtype, f"compiled, in {dtype}")
            yield from check_memory(case, dtype)


def check_cuts(case: Case) -> Verdicts:
    """Compiled kernels give the same bits however their work is cut into pieces."""
    with point_functions_only():
        yield from check_determinism(case)
