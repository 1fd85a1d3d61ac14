"""`check_layer`: every property of a layer that its definition promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paddle_layers.define import LayerDefinition, registries

from .cases import Case, cases
from .definition import check_definition
from .findings import Report
from .gradients import check_gradients
from .inference import check_types
from .memory import check_memory
from .threads import check_threads
from .tuned import check_tuned

Check = Callable[[Case], Iterator[tuple[str, str | None]]]

PROPERTIES: dict[str, Check] = {
    "types": check_types,
    "gradients": check_gradients,
    "memory": check_memory,
    "threads": check_threads,
    "tuned kernels": check_tuned,
}
"""Checks by the property that they are about."""


def check_layer(name: str | LayerDefinition, *, raise_findings: bool = True) -> Report:
    """Check a layer on all its examples.

    Raises `AssertionError` with the findings unless `raise_findings` is false, `UnknownName` for a name that is not
    registered.
    """
    definition: LayerDefinition = registries["layer"][name] if isinstance(name, str) else name
    report = Report(definition.complete().name)
    report.add("definition", "the LayerDef", check_definition(definition))
    for case in cases(definition):
        for property_, check in PROPERTIES.items():
            report.add(property_, str(case), check(case))
    if raise_findings:
        report.raise_findings()
    return report
