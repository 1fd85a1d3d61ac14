"""The page: what was run and where, and a section for each part."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from .parts import Outcome

SHOWN = 3
"""Findings of an item that are written out."""
SIMULATED = """
**This is a dry run in numba's CUDA simulator: it shows that the program works. Its times mean nothing, and its
numbers are those of Python and NumPy, not of a GPU.**
"""


def write_page(output: Path, outcomes: Mapping[str, Outcome], command: str, now: datetime) -> None:
    """Write the page of the parts that are done."""
    titles = {name: outcome.title or name.capitalize() for name, outcome in outcomes.items()}
    blocks = [
        "# GPU test results",
        f"Written on {now:%Y-%m-%d %H:%M} UTC by `{command}`; each part is described below.",
    ]
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        blocks.append(paragraph(SIMULATED))
    rows = [[titles[name], str(outcome), f"{outcome.seconds:.0f}"] for name, outcome in outcomes.items()]
    blocks.append(table(["Part", "Outcome", "Seconds"], rows))
    for name, outcome in outcomes.items():
        blocks += [f"## {titles[name]}", *section(outcome)]
    output.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def section(outcome: Outcome) -> list[str]:
    """What a part gave; what is wrong comes first."""
    if outcome.absent:
        return [f"Not run: {outcome.absent}."]
    wrong = [f"* **{item}** failed: {code(text)}" for item, text in outcome.failures.items()]
    wrong += [line for item, found in outcome.findings.items() for line in findings(item, found)]
    left = f"Not run, since no time was left: {', '.join(outcome.left)}."
    return [*(["\n".join(wrong)] if wrong else []), *([left] if outcome.left else []), *outcome.page]


def findings(item: str, found: Sequence[str]) -> list[str]:
    """What is wrong with an item; the first few, since one cause may have many of them."""
    more = [f"* **{item}**: and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [f"* **{item}**: {finding}" for finding in found[:SHOWN]] + more


def paragraph(text: str) -> str:
    """Words, in lines that are not too long."""
    return textwrap.fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; numbers are right-aligned."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    number = [bool(cells) and all(_is_number(row[at]) for row in cells) for at in range(len(head))]
    widths = [max(len(row[at]) for row in [list(head), *cells]) for at in range(len(head))]
    line = ["-" * (width - 1) + (":" if right else "-") for width, right in zip(widths, number, strict=True)]

    def justified(row: Sequence[str]) -> str:
        aligned = [str.rjust if right else str.ljust for right in number]
        return " | ".join(align(cell, width) for align, cell, width in zip(aligned, row, widths, strict=True))

    return "\n".join(f"| {justified(row)} |" for row in [list(head), line, *cells])


def code(message: str) -> str:
    """A message of one line, as code."""
    return f"`{' '.join(message.split()).replace('`', chr(39))}`"


def _is_number(cell: str) -> bool:
    return not cell.strip("-+.,%e0123456789")
