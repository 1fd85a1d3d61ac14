"""Catalogue of the conformance properties with their checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paddle_layers.define import LayerDefinition
from paddle_layers.testing.findings import Verdicts

from ..cases.case import Case
from .batches import check_batch_sizes, check_empty, check_rows, check_sums
from .cuda import check_cuda
from .definitions import check_definition, check_documentation, check_inference
from .execution import check_compiled, check_cuts, check_facts, check_memory, check_tuned
from .gradients import check_derived, check_gradients
from .values import check_nan, check_precision, check_types

ALL = 1 << 30


class Property(NamedTuple):
    """A property of layers, checked on generated cases.

    Args:
        about: Statement of the property.
        check: Yields every checked place of a case, with the violation or None.
        basic: It is checked first; if it does not hold, the others are not checked.
        compiled: It concerns compiled kernels; every new specialization takes a second to compile.
        most: Maximum number of generated configs on which it is checked.
        implied_by: Properties whose violation would violate it, too; then it is not checked.
    """

    about: str
    check: Callable[[Case], Verdicts]
    basic: bool = False
    compiled: bool = False
    most: int = ALL
    implied_by: tuple[str, ...] = ()


LAYER_PROPERTIES: dict[str, Callable[[LayerDefinition], Verdicts]] = {
    "definition": check_definition,
    "documentation": check_documentation,
}
"""Checks of the definition alone."""

PROPERTIES: dict[str, Property] = {
    "inference": Property("every config yields types or a diagnostic, deterministically", check_inference, True),
    "types": Property("computed values have the inferred types and are finite", check_types, True),
    "memory": Property("all elements are written, none out of bounds; inputs are not modified", check_memory, True),
    "facts": Property("in-place execution is safe; the backward pass reads only the derived values", check_facts),
    "rows": Property("the result of a sample does not depend on other samples", check_rows),
    "empty batches": Property("an empty batch changes no state and no metric", check_empty),
    "NaN": Property("NaN propagates to all dependent values", check_nan),
    "sums": Property(
        "losses, their gradients and metrics do not depend on how the samples are split into batches", check_sums
    ),
    "precision": Property("costs are accurate in float32", check_precision, most=0),
    # `most=0`: on examples only, since every specialization for a generated config would take a second to compile.
    "compiled kernels": Property(
        "compiled kernels equal the point functions run in Python", check_compiled, compiled=True, most=0
    ),
    "determinism": Property(
        "bitwise equal results for any number of threads and in a second run", check_cuts, compiled=True, most=0
    ),
    "tuned kernels": Property("tuned kernels equal the point functions", check_tuned, compiled=True, most=8),
    "batch sizes": Property(
        "results do not depend on the sizes of earlier batches",
        check_batch_sizes,
        compiled=True,
        most=2,
        implied_by=("compiled kernels", "determinism", "tuned kernels"),
    ),
    "cuda": Property(
        "CUDA kernels equal the CPU kernels and compile for every GPU architecture", check_cuda, compiled=True, most=3
    ),
    "gradients": Property("gradients equal central differences", check_gradients),
    "derived gradients": Property(
        "hand-written gradients equal derived ones", check_derived, most=8, implied_by=("gradients",)
    ),
}
"""Checks of cases, in the order in which they run."""
