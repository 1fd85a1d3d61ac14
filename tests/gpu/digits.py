"""The README's training on the CPU and on the device, step by step."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.data import Dataset
from paddle_layers.training.progress import LineProgress

from .children import ROOT
from .page import paragraph, table
from .parts import Facts, Measurement, Part, Setup

FIRST = 100
JUDGED = {"float32": FIRST, "float64": None}
"""Steps whose losses must agree. Rounding in float32 decides somewhen which of two pixels is the larger one, and from
there on two trainings are different ones: on one CPU, the losses in float32 and in float64 agree to 7e-6 for 231 steps,
and differ by 5e-4 in the next.
"""
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
"""Largest difference of two losses."""
ACCURACY = 0.01
EXAMPLE = ROOT / "docs" / "examples" / "digits"
ABOUT = f"""
The training of the README, `docs/examples/digits`, with the same first values, batches and random numbers. A step's
loss may differ by {TOLERANCE["float64"]:.0e} in float64, and by {TOLERANCE["float32"]:.0e} in the first {FIRST} steps
in float32: later, rounding decides which of two pixels is the larger one, and the trainings part. The accuracies may
differ by {ACCURACY:.0%}. A step is 16 images, with everything that `paddle-layers train` does; the time is the median.
"""
SMALLER = {"num_filters: 24": "num_filters: 2", "num_filters: 64": "num_filters: 2", "size: 128": "size: 3"}
SHORTER = {"batch_size: 16": "batch_size: 2", "epochs: 15": "steps: 2"}


class Steps:
    """A callback that notes losses and times, and may end the training."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.losses: list[float] = []
        self.times: list[float] = []

    def on_step(self, run: Any) -> None:
        """After each step."""
        self.losses.append(run.loss)
        self.times.append(time.perf_counter())
        if run.step == self.last:
            run.stop("the test needs no further steps")

    @property
    def seconds(self) -> float:
        """Of a step; the median leaves out compiling and tests."""
        return statistics.median(np.diff(self.times))


def items(setup: Setup) -> list[str]:
    """Precisions."""
    return list(TOLERANCE)[: 1 if setup.tiny else None]


def run(item: str, setup: Setup) -> Facts:
    """Train on both devices in one precision."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here, there = (train(folder, item, device, setup.tiny) for device in ("cpu", setup.device))
    differences = np.abs(np.subtract(here[0].losses, there[0].losses))
    worst = float(np.max(differences))
    accuracies = [here[1], there[1]]
    judged = float(np.max(differences[: JUDGED[item]]))
    findings = [] if judged <= TOLERANCE[item] else [f"a loss differs by {judged:.1e}"]
    if not abs(accuracies[0] - accuracies[1]) <= ACCURACY:
        findings.append(f"the accuracy is {accuracies[1]:.2%}, on the CPU {accuracies[0]:.2%}")
    return {
        "steps": len(differences),
        "first": float(np.max(differences[:FIRST])),
        "worst": worst,
        "accuracies": accuracies,
        "seconds": [here[0].seconds, there[0].seconds],
        "findings": findings,
    }


def train(folder: Path, dtype: str, device: str, tiny: bool, last: int | None = None) -> tuple[Steps, float]:
    """Steps, up to the `last` one, and accuracy of a training."""
    place = folder / device
    place.mkdir()
    texts = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLE.glob("*.textproto")}
    texts["train.textproto"] += f'\ndtype: "{dtype}"\n'
    for name, text in texts.items():
        (place / name).write_text(shrunk(text) if tiny else text, encoding="utf-8")
    steps = Steps(last)
    with (place / "log").open("w", encoding="utf-8") as log:
        report = pl.train(
            place / "train.textproto",
            output=place / "output",
            device=device,
            callbacks=[steps],
            datasets=few() if tiny else None,
            progress=LineProgress(log),
        )
    return steps, report.results["accuracy"]


def shrunk(text: str) -> str:
    """A network and a training that take the simulator a moment."""
    for old, new in {**SMALLER, **SHORTER}.items():
        text = text.replace(old, new)
    return text


def few() -> dict[str, Dataset]:
    """Instead of the digits: images that take the simulator a moment."""
    rng = np.random.default_rng(0)
    rows = {"pixels": rng.random((2, 1, 8, 8), np.float32), "label": rng.integers(0, 10, 2)}
    return {phase: Dataset(rows) for phase in ("train", "test")}


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each precision."""
    head = ["Precision", "Steps", f"Losses differ by, first {FIRST} steps", "All steps"]
    head += ["Accuracy, CPU", "Accuracy, device", "ms a step, CPU", "ms a step, device"]
    rows = [
        [
            dtype,
            str(found["steps"]),
            f"{found['first']:.1e}",
            f"{found['worst']:.1e}",
            *(f"{share:.2%}" for share in found["accuracies"]),
            *(f"{seconds * 1e3:.2f}" for seconds in found["seconds"]),
        ]
        for dtype, found in facts.items()
    ]
    return [paragraph(ABOUT), table(head, rows)]


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: time of a step, accuracy, and differences of the losses."""
    rows = []
    for dtype, found in facts.items():
        times = [f"{seconds * 1e3:.2f}" for seconds in reversed(found["seconds"])]
        accuracies = [f"{share * 100:.2f}" for share in reversed(found["accuracies"])]
        differences = {FIRST: found["first"], found["steps"]: found["worst"]}
        head = ("GPU training", f"digits, {dtype}")
        rows.append(Measurement(*head, "step", "ms", *times, "CPU"))
        rows.append(Measurement(*head, "accuracy", "%", *accuracies, "CPU"))
        for steps, difference in differences.items():
            rows.append(Measurement(*head, f"loss difference in {steps} steps", "", f"{difference:.1e}", "", "CPU"))
    return rows


PART = Part("A training on the device and on the CPU", items, run, page, measurements=measurements)
