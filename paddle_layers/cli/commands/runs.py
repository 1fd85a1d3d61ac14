"""`runs`: comparison of trainings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..output.files import ending_of, replace_file
from ..output.terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.training.results.comparison import ComparedRun

MOST_SETTINGS, MOST_RESULTS, LONGEST = 8, 4, 40
"""Columns of settings and of results, and characters of a value."""


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--svg", metavar="FILE", help="Draw the learning curves of all runs to FILE; overwrites it.")
def command(folders: tuple[str, ...], svg: str | None) -> None:
    """Compare the runs in each DIR: differing settings, test results and time.

    DIR is a folder of runs, such as `output`, or a run.
    """
    ending_of(svg, {".svg": "SVG"})
    from paddle_layers.training.results.comparison import MOST_LINES, compare, comparison_picture

    runs, notes = compare(folders)
    for note in notes:
        echo(f"note: {note}", err=True)
    if not runs:
        raise click.ClickException("no runs to compare")
    _print(runs)
    if svg is not None:
        if len(runs) > MOST_LINES:
            echo(f"note: the image shows the first {MOST_LINES} of {len(runs)} runs", err=True)
        title = " ".join(folders)
        replace_file(Path(svg), comparison_picture(title, runs[:MOST_LINES]).encode())
        echo(f"wrote {svg}", err=True)


def _print(runs: Sequence[ComparedRun]) -> None:
    from rich.table import Table

    from paddle_layers.training.results.comparison import differing, result_names

    settings, results = differing(runs), result_names(runs)
    for what, names, most in (("differing settings", settings, MOST_SETTINGS), ("results", results, MOST_RESULTS)):
        if len(names) > most:
            echo(f"note: {len(names) - most} more {what}; see the configs and logs", err=True)
    settings, results = settings[:MOST_SETTINGS], results[:MOST_RESULTS]
    table = Table(box=None, pad_edge=False)
    for heading in ("run", *settings):
        table.add_column(heading, overflow="fold")
    for name in results:
        table.add_column(f"best {name}", justify="right")
        table.add_column("last", justify="right")
    for heading in ("steps", "time"):
        table.add_column(heading, justify="right")
    table.add_column("state", overflow="fold")
    for run in runs:
        values = [_cut(run.fields.get(name, "")) for name in settings]
        numbers = [_number(found.get(name)) for name in results for found in (run.best, run.last)]
        table.add_row(run.name, *values, *numbers, f"{run.step:,}", _time(run.seconds), _cut(run.state))
    print_table(table)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _time(seconds: float) -> str:
    from paddle_layers.training.progress import duration

    return duration(seconds) if math.isfinite(seconds) and 0 <= seconds < 1e12 else ""
