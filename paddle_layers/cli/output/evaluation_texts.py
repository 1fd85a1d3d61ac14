"""Evaluation reports: a readable page, JSON, and a table for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .terminal import table_text

if TYPE_CHECKING:
    from rich.table import Table

    from paddle_layers.training.inference.confusion import ClassMeasures, Confusion
    from paddle_layers.training.inference.evaluation_report import Evaluation

WIDEST = 20
"""Maximum number of classes of a printed matrix; of a larger one the most frequent errors are printed."""
MISTAKES = 10
MEASURES = ("precision", "recall", "F1", "support", "IoU")
"""The last one, intersection over union, is for labels of positions, such as pixels."""


def as_text(found: Evaluation) -> str:
    """A readable report: the results, then for each classifier the measures per class and the confusion matrix."""
    from paddle_layers.training.progress import as_text as one_line

    name = f"{found.network}: " if found.network else ""
    results = _table("", "")
    for measure, value in found.results.items():
        results.add_row(measure, one_line({measure: value}).removeprefix(measure).strip())
    parts = [f"{name}{found.weights} on {found.data}, {found.rows:,} samples\n", table_text(results)]
    for confusion in found.confusions:
        parts.append(f"`{confusion.value}` vs. `{confusion.label}`\n\n{_classes(confusion)}")
        small = len(confusion.names) <= WIDEST
        parts.append(_matrix(confusion) if small else _mistakes(confusion))
    return "\n".join(parts)


def as_json(found: Evaluation) -> str:
    """The full report; undefined values, such as the precision of a class that was never predicted, are null."""
    return json.dumps(
        {
            "network": found.network,
            "weights": str(found.weights),
            "data": found.data,
            "rows": found.rows,
            "results": {name: _number(value) for name, value in found.results.items()},
            "classifiers": [
                {
                    "value": one.value,
                    "label": one.label,
                    "accuracy": _number(one.accuracy),
                    "classes": [_measures(measures, one) for measures in one.classes()],
                    "means": [_measures(measures, one) for measures in one.means()],
                    "confusion": [[_number(count) for count in row] for row in one.counts.tolist()],
                }
                for one in found.confusions
            ],
        },
        ensure_ascii=False,
        indent=1,
    )


def as_csv(found: Evaluation) -> str:
    """One line per value: the name, the target class, the predicted class, the measure and the value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "class", "predicted", "measure", "value"))
    writer.writerows((name, "", "", name.rpartition(".")[2], f"{value:.9g}") for name, value in found.results.items())
    for one in found.confusions:
        for measures in (*one.classes(), *one.means()):
            for measure, value in zip(_columns(one), measures[1:], strict=False):
                writer.writerow((one.value, measures.name, "", measure, f"{value:.9g}"))
        for right, row in zip(one.names, one.counts.tolist(), strict=True):
            writer.writerows(
                (one.value, right, other, "rows", f"{n:.9g}") for other, n in zip(one.names, row, strict=True)
            )
    return text.getvalue()


def _classes(confusion: Confusion) -> str:
    table = _table("class", *_columns(confusion))
    for measures in confusion.classes():
        table.add_row(*_cells(measures, confusion))
    table.add_row()
    rows = f"{float(confusion.wanted.sum()):,g}"
    table.add_row("accuracy", "", "", f"{confusion.accuracy:.4f}", rows)
    for measures in confusion.means():
        table.add_row(*_cells(measures, confusion))
    return table_text(table)


def _columns(confusion: Confusion) -> Sequence[str]:
    return MEASURES if confusion.regions else MEASURES[:-1]


def _matrix(confusion: Confusion) -> str:
    unfound = confusion.wanted - confusion.counts.sum(axis=1)
    nowhere = bool((unfound > 0.5).any())
    table = _table("class", *(f"pred. {name}" for name in confusion.names), *(["missed"] if nowhere else []))
    for name, row, missed in zip(confusion.names, confusion.counts.tolist(), unfound.tolist(), strict=True):
        table.add_row(name, *(f"{count:,g}" for count in (*row, *([missed] if nowhere else []))))
    return table_text(table)


def _mistakes(confusion: Confusion) -> str:
    table = _table("most frequent errors: class", "predicted", "count")
    for right, other, rows in confusion.mistakes(MISTAKES):
        table.add_row(right, other, f"{rows:,g}")
    return table_text(table)


def _table(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=any(headings))
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    return table


def _cells(measures: ClassMeasures, confusion: Confusion) -> Iterator[str]:
    yield measures.name
    yield from map(_share, measures[1:4])
    yield f"{measures.support:,g}"
    if confusion.regions:
        yield _share(measures.iou)


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _measures(measures: ClassMeasures, confusion: Confusion) -> dict[str, Any]:
    named = zip(_columns(confusion), measures[1:], strict=False)
    return {"name": measures.name} | {name: _number(value) for name, value in named}


def _number(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value
