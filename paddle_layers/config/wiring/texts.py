"""From text to wired layers: read, bind, wire; all errors at once."""

from __future__ import annotations

from paddle_layers.define.gc_paused import gc_paused

from ..binding.binder import Binder, Bound
from ..binding.drafting import draft
from ..binding.drafts import Draft
from ..binding.given import put
from ..binding.headers import is_training, report_caffe, spec
from ..binding.memo import memo
from ..diagnostics.diagnostic import Diagnostic, Source
from ..diagnostics.report import Report, TooManyFaults
from ..reading.fields import Fields
from ..reading.otherfiles import other_text
from ..reading.syntax import read
from .advice import advise
from .blocks import check_size, prepare_blocks, report_unused
from .carried import check_carried
from .wiring import Wired, wire


def wire_text(source: Source) -> tuple[Wired | None, list[Diagnostic]]:
    """The valid layers of a network file, if any, and all its errors and warnings."""
    report = Report(source)
    wired = gc_paused(lambda: _wire(report))
    if fault := of_another_kind(report):
        return None, [fault]
    return wired, report.sorted()


def of_another_kind(report: Report) -> Diagnostic | None:
    """The single error of a file of another kind, instead of those that were found; None for a config."""
    other = other_text(report.source.own, report.errors)
    if other is None:
        return None
    return Diagnostic("E009", f"this is {other.what}, not a config", report.source, 0, help=other.help)


def _wire(report: Report) -> Wired | None:
    try:
        fields = read(report, memo() if not report.source.given else None)
        put(fields, report, "Network", "net.")
        if report_caffe(fields, report):
            return None
        if is_training(fields):
            help_ = "`load_training` and `paddle-layers train` read it"
            report.add("E009", "this is a training file, not a network file", fields[0][3], help=help_)
            return None
        return wire_fields(fields, report)
    except TooManyFaults:
        return None


def wire_fields(fields: Fields, report: Report, bound: Bound | None = None) -> Wired:
    """The layers that the fields of a file, or of a `net` block, describe. Errors go to the report."""
    binder = Binder(report)
    if bound is None:
        bound = binder.message(fields, spec("Network"), 0)
    layers = bound.values.get("layer", ())
    blocks = prepare_blocks(bound, binder) if bound.values.get("block") else []
    drafts = [layer if isinstance(layer, Draft) else draft(layer, binder) for layer in layers]
    if blocks:
        check_size(drafts, report)
    if bound.broken and not drafts:
        return Wired("", (), report.source)
    wired = wire(drafts, report, bound.values.get("name") or "")
    if not report.failed and not bound.broken:
        check_carried(wired.nodes, report)
        report_unused(blocks, drafts, report)
        advise(wired.nodes, report)
    return wired
