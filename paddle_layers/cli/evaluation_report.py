"""Evaluation reports: readable text, JSON, CSV, and the confusion matrix as an image."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.define.escaping import xml_text
from paddle_layers.define.svg import element, image, label

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
    # JSON has no NaN; `null` is what other readers understand.
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
    # More than rounding: counts are sums of floats.
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
    # Counts may be sums of weights, so they are floats; up to 2**53 they are exact as integers.
    return int(value) if value == int(value) and abs(value) < 2**53 else value


MOST_COUNTS = 30
"""Classes of a matrix whose squares have margin for their counts and names."""
_SIDE, _GAP, _LETTER = 640, 40, 7.2


def confusion_picture(title: str, confusions: Sequence[Confusion]) -> str:
    """SVG text: one matrix below the other."""
    parts: list[str] = []
    top, width = 34.0, 0.0
    for confusion in confusions:
        drawn, right, bottom = _squares(confusion, top)
        parts += drawn
        top, width = bottom + _GAP, max(width, right)
    background = element("rect", width="100%", height="100%", fill="white")
    heading = label(title, 20, 22, font_weight="bold")
    return image(width + 20, top, background, heading, *parts, font_family="sans-serif", font_size=12)


def _squares(confusion: Confusion, top: float) -> tuple[list[str], float, float]:
    """The matrix, and where it ends to the right and below."""
    names, size = confusion.names, len(confusion.names)
    named = size <= MOST_COUNTS
    shown = [name if len(name) <= 20 else f"{name[:19]}…" for name in names] if named else []
    # At least a pixel: a matrix of 1,000 classes stays readable as an image.
    cell = min(60.0, max(_SIDE / size, 1.0))
    margin = max((len(name) for name in shown), default=0) * _LETTER
    # Names of columns are written vertically if they are wider than a cell.
    left, above = 44 + margin, top + 24 + (margin if margin > cell else 16)
    right, bottom = left + cell * size, above + cell * size
    summary = f"{confusion.value} vs. {confusion.label}: accuracy {confusion.accuracy:.2%}"
    parts = [
        label(summary, 20, top + 14),
        _turned("target class", 16, (above + bottom) / 2, turn=True, text_anchor="middle"),
        label("predicted class", (left + right) / 2, bottom + 18, text_anchor="middle"),
    ]
    for k, row in enumerate(confusion.counts.tolist()):
        parts += _square_row(row, names, k, (left, above + cell * k), cell, counted=named)
    for place, name in enumerate(shown):
        middle = cell * (place + 0.5)
        parts.append(label(name, left - 6, above + middle + 4, text_anchor="end"))
        turn = margin > cell
        anchor = "start" if turn else "middle"
        parts.append(_turned(name, left + middle + 4 * turn, above - 6, turn=turn, text_anchor=anchor))
    parts.append(_square(left, above, cell * size, fill="none", stroke="#888"))
    return parts, right, bottom + 18


def _turned(text: str, x: float, y: float, *, turn: bool, **attributes: str) -> str:
    """Text at a position, from bottom to top if `turn`."""
    at = f"translate({x:.1f} {y:.1f}){' rotate(-90)' if turn else ''}"
    return element("text", xml_text(text), transform=at, **attributes)


def _square(x: float, y: float, side: float, *content: str, **attributes: str | float) -> str:
    return element("rect", *content, x=x, y=y, width=side, height=side, **attributes)


def _square_row(
    counts: Sequence[float],
    names: Sequence[str],
    right: int,
    corner: tuple[float, float],
    cell: float,
    *,
    counted: bool,
) -> list[str]:
    """The squares of a target class: correct predictions are blue, errors orange; empty squares are omitted."""
    parts, total = [], sum(counts) or 1.0
    for place, count in enumerate(counts):
        share = count / total
        # A matrix of 1,000 classes has a million squares, nearly all of them empty.
        if count <= 0 and not counted:
            continue
        colour = "31,111,235" if place == right else "209,87,10"
        x, y = corner[0] + cell * place, corner[1]
        depth = math.sqrt(share)  # so that few mistakes are seen
        title = f"{names[right]} predicted as {names[place]}: {count:,g} ({share:.1%})"
        tooltip = element("title", xml_text(title))
        parts.append(_square(x, y, cell, tooltip, fill=f"rgb({colour})", fill_opacity=depth))
        if counted:
            style = {"text_anchor": "middle", "fill": "white" if depth > 0.7 else "#444", "pointer_events": "none"}
            parts.append(label(f"{count:,g}", x + cell / 2, y + cell / 2 + 4, **style))
    return parts
