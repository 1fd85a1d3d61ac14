"""From a text to wired layers: read, bind, wire; every fault at once."""

from __future__ import annotations

from ..binding.binder import Binder, Bound
from ..binding.drafting import draft
from ..binding.fast import read_fast
from ..binding.headers import spec
from ..diagnostics.diagnostic import Diagnostic, Source
from ..diagnostics.report import Report, TooManyFaults
from ..reading.fields import Fields
from ..reading.quiet import quietly
from ..reading.syntax import is_json, read
from .wiring import Wired, wire, wire_simple


def wire_text(source: Source) -> tuple[Wired | None, list[Diagnostic]]:
    """The layers of a network file that are sound, if any were found, and all its faults, warnings too."""
    report = Report(source)
    wired = None if is_json(source.text) else quietly(lambda: _fast(report))
    if wired is None:
        report = Report(source)
        wired = quietly(lambda: _thorough(report))
    return wired, report.sorted()


def _fast(report: Report) -> Wired | None:
    """The layers, their own faults in the report; None where it takes the thorough reader to tell the faults."""
    found = read_fast(report)
    if found is None:
        return None
    name, drafts = found
    told = len(report.diagnostics)
    nodes = None if told else wire_simple(drafts)
    if nodes is not None:
        return Wired(name, nodes, report.source)
    try:
        wired = wire(drafts, report, name)
    except TooManyFaults:
        return None
    return wired if len(report.diagnostics) == told else None


def _thorough(report: Report) -> Wired | None:
    try:
        return wire_fields(read(report), report)
    except TooManyFaults:
        return None


def wire_fields(fields: Fields, report: Report, bound: Bound | None = None) -> Wired:
    """The layers that the fields of a file, or of a `net` block, describe. Faults go to the report."""
    binder = Binder(report)
    if bound is None:
        bound = binder.message(fields, spec("Network"), 0)
    drafts = [draft(layer, binder) for layer in bound.values.get("layer", ())]
    if bound.broken and not drafts:
        return Wired("", (), report.source)
    return wire(drafts, report, bound.values.get("name") or "")
