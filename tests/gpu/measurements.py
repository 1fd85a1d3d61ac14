"""Measurements of a run as rows of `docs/development/benchmarks/gpu.csv`, the source of the performance page."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from .parts import Outcome

HEAD = (
    *("date", "commit", "machine", "threads", "benchmark", "case", "metric", "unit"),
    *("ours", "theirs", "baseline", "ratio", "command"),
)


def write_measurements(output: Path, outcomes: Mapping[str, Outcome], command: str, now: datetime) -> None:
    """Write the rows of the finished parts, to be appended to `gpu.csv`."""
    environment = dict(_environment(outcomes.values()))
    gpu = environment.get("GPU", "").partition(",")[0]
    run = [f"{now:%Y-%m-%d %H:%M}", environment.get("Commit", ""), f"GPU: {gpu}", ""]
    torch = f"PyTorch {environment.get('torch', '')}".strip()
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for outcome in outcomes.values():
            for measurement in outcome.measurements:
                row = measurement._replace(baseline=measurement.baseline.replace("PyTorch", torch))
                writer.writerow([*run, *row, command])


def _environment(outcomes: Iterable[Outcome]) -> Iterable[tuple[str, str]]:
    return next((outcome.facts["facts"]["rows"] for outcome in outcomes if "facts" in outcome.facts), ())
