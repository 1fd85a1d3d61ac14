"""The performance page: tables and bar charts of the latest benchmark results, from docs/development/benchmarks/*.csv.

A row of the CSV files is one measurement. `ratio` is the speed (or the memory) of this library relative to the
baseline: above 1, paddle_layers is faster (or smaller). Of several measurements of one quantity the latest counts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.define.svg import element, image, label

from .markdown import Markdown, cell, code
from .pages import render

DOCS = Path(__file__).resolve().parent.parent / "docs"
DATA, FOLDER = DOCS / "development" / "benchmarks", DOCS / "explanations"
CHARTS = {
    "training-step.svg": ("Training step", "Training step, CPU, 2 threads: speed relative to PyTorch"),
    "batch-of-one.svg": ("Inference, batch of one", "Inference, batch of one, CPU, 2 threads: relative speed"),
}
COLORS = ("#1f6feb", "#d1570a")
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2933; }
.title { font-weight: bold; }
.page { fill: #ffffff; }
path { stroke: #1f2933; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #cfd0d0; }
  .page { fill: #131416; }
  path { stroke: #cfd0d0; }
}
"""
LABELS, WIDTH, BAR, TOP = 190, 500, 14, 54
"""Pixels: space for the names, width of the longest bar, height of a bar, top of the first one."""


class Result(NamedTuple):
    """A row of a CSV file."""

    date: str
    commit: str
    machine: str
    threads: str
    benchmark: str
    case: str
    metric: str
    unit: str
    ours: str
    theirs: str
    baseline: str
    ratio: str
    command: str

    @property
    def library(self) -> str:
        """The baseline without its version."""
        # Measurements of two versions of a library are of one quantity: the latest one replaces the others.
        return re.sub(r" \d[\d.]*", "", self.baseline)

    @property
    def key(self) -> tuple[str, ...]:
        """The measured quantity."""
        # Only CPU or GPU, before the colon: a measurement on a newer machine replaces the older one.
        return self.machine.partition(":")[0], self.benchmark, self.case, self.metric, self.library


def benchmark_files() -> Iterator[tuple[Path, str]]:
    """The page and its charts."""
    results = read_results()
    machines = list(dict.fromkeys(result.machine for result in results))
    page = render("benchmarks.md.j2", machines=machines, table=lambda name: table(of_benchmark(results, name)))
    yield FOLDER / "performance.md", page
    for file, (benchmark, title) in CHARTS.items():
        yield FOLDER / file, chart(of_benchmark(results, benchmark), title)


def read_results() -> list[Result]:
    """The latest result of every quantity, in the order of the files."""
    latest: dict[tuple[str, ...], Result] = {}
    for path in sorted(DATA.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                result = Result(**row)
                # `<=`: of several measurements on one day, the last row is the latest.
                if result.key not in latest or latest[result.key].date <= result.date:
                    latest[result.key] = result
    return list(latest.values())


def of_benchmark(results: Sequence[Result], name: str) -> list[Result]:
    """The results of a benchmark. Raises `KeyError`."""
    found = [result for result in results if result.benchmark == name]
    if not found:
        raise KeyError(name)
    return found


def table(results: Sequence[Result]) -> Markdown:
    """A line per case with the columns of every metric and baseline, and the conditions of the measurements."""
    cases = list(dict.fromkeys(result.case for result in results))
    titles: list[str] = ["case"]
    columns: list[list[str]] = [[cell(case) for case in labels(results)]]
    metrics, compared = {result.metric for result in results}, any(result.library for result in results)
    for metric, library in dict.fromkeys((result.metric, result.library) for result in results):
        of_metric = [result for result in results if result.metric == metric]
        of_library = {r.case: r for r in of_metric if r.library == library}
        # If our figure is the same for all baselines, it is one column; otherwise each baseline has its own measurement
        # of ours.
        is_same = len({(r.case, r.ours) for r in of_metric}) == len({r.case for r in of_metric})
        of_ours = {r.case: r for r in of_metric} if is_same else of_library
        unit = next((f", {r.unit}" for r in of_library.values() if r.unit), "")
        several = len(metrics) > 1
        values: tuple[tuple[str, dict[str, Result], Callable[[Result], str]], ...] = (
            (f"{'paddle_layers' if compared and not several else metric}{unit}", of_ours, lambda r: r.ours),
            (f"{metric}, {library}{unit}" if several else f"{library}{unit}", of_library, lambda r: r.theirs),
            (f"{metric if several else 'ratio'} vs. {library}", of_library, lambda r: r.ratio),
        )
        for title, rows, value in values:
            column = [value(rows[case]) if case in rows else "" for case in cases]
            is_new = (title, column) not in zip(titles, columns, strict=True)
            # Columns that are mostly empty only make the table wider.
            if is_new and 2 * sum(map(bool, column)) >= len(rows):
                titles.append(title)
                columns.append(column)
    head = [f"| {' | '.join(map(cell, titles))} |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    return Markdown("\n".join([*head, *lines, "", *conditions(results)]))


def labels(results: Sequence[Result]) -> list[str]:
    """The cases, with their machines if those are different ones."""
    machines = {result.case: result.machine.partition(": ")[2] for result in results}
    several = len(set(machines.values())) > 1
    return [f"{case} ({name})" if several and name != case else case for case, name in machines.items()]


def conditions(results: Sequence[Result]) -> Iterator[str]:
    """A list item per run: date, commit, machine, threads, libraries, command."""
    runs: dict[tuple[str, ...], list[str]] = {}
    for r in results:
        run = (r.date, r.commit, r.machine.partition(":")[0], r.threads, r.command)
        runs.setdefault(run, []).append(r.baseline)
    for (date, commit, machine, threads, command), baselines in runs.items():
        number = f"{threads} thread{'s' * (threads != '1')}" if threads else ""
        others = " and ".join(dict.fromkeys(filter(None, baselines)))
        versus = f"compared with {others}" if others else ""
        words = [date, f"commit {commit}" if commit else "", machine, number, versus]
        yield f"* {cell(', '.join(filter(None, words)))}" + (f": {code(command)}" if command else "")


def chart(results: Sequence[Result], title: str) -> str:
    """Horizontal bars of the ratios as SVG: a group per case, a bar per baseline, a line at 1."""
    libraries = list(dict.fromkeys(result.library for result in results))
    cases = list(dict.fromkeys(result.case for result in results))
    ratios = {(result.case, result.library): float(result.ratio) for result in results if result.ratio}
    scale = WIDTH / max(ratios.values())
    group = BAR * len(libraries) + 8
    width, height = LABELS + WIDTH + 60, TOP + group * len(cases) + 10
    parts = [
        element("rect", class_="page", width="100%", height="100%"),
        label(title, 10, 20, class_="title"),
    ]
    for at, library in enumerate(libraries):
        x = LABELS + 130 * at
        parts.append(element("rect", x=x, y=32, width=10, height=10, fill=COLORS[at]))
        parts.append(label(f"vs. {library}", x + 15, 41))
    labels = []
    for row, case in enumerate(cases):
        y = TOP + group * row
        parts.append(label(case, LABELS - 8, round(y + BAR * len(libraries) / 2 + 4), text_anchor="end"))
        for at, library in enumerate(libraries):
            length, top = ratios[case, library] * scale, y + BAR * at
            parts.append(element("rect", x=LABELS, y=top + 1, width=length, height=BAR - 2, fill=COLORS[at]))
            labels.append(label(f"{ratios[case, library]:.2f}", LABELS + length + 5, top + BAR - 3))
    # Labels after the line, so that it does not cross them: some renderers painted a stroke around the letters over the
    # text.
    line = element("path", d=f"M{LABELS + scale:.1f},{TOP - 6} V{height - 8}")
    return image(width, height, *parts, line, *labels, title=title, style=STYLE)
