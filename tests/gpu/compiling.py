"""Compilation of the kernels of the next parts, in parallel processes, so that benchmarks do not compile."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tests.benchmarks import ours

from . import benchmark, digits
from .page import paragraph, table
from .parts import Facts, Measurement, Part, Setup
from .sizes import LAYERS, NETWORKS, find

TRAINING = "digits, "
ABOUT = f"""
The training below and every network and layer of the benchmark are run for one step, in {os.cpu_count()} concurrent
processes, so that their compiled kernels are in the cache. The time is that from the text to the end of the first step,
with the GPU context if the process had none; what another process compiled in the meantime is not compiled again.
"""


def items(setup: Setup) -> list[str]:
    """What has most kernels first."""
    works = [] if benchmark.absent() else [*NETWORKS[setup.tiny], *LAYERS[setup.tiny]]
    return [*(TRAINING + dtype for dtype in digits.items(setup)), *(work.name for work in works)]


def run(item: str, setup: Setup) -> Facts:
    """A first step."""
    begin = time.monotonic()
    if item.startswith(TRAINING):
        with tempfile.TemporaryDirectory() as folder:
            for device in ("cpu", setup.device):
                digits.train(Path(folder), item.removeprefix(TRAINING), device, setup.tiny, last=1)
        return {"seconds": time.monotonic() - begin}
    work = find(item, setup.tiny)
    sides = [ours.outputs(work, setup.device), ours.step(work, setup.device)] if work.classes else []
    for side in sides or [ours.layer(work, setup.device, backward=True)]:
        side.called()
        side.owner.close()
    return {"seconds": time.monotonic() - begin}


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each network and layer."""
    return [
        paragraph(ABOUT),
        table(["", "Seconds"], [[name, f"{found['seconds']:.1f}"] for name, found in facts.items()]),
    ]


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: seconds of the first steps."""
    seconds = {name: f"{found['seconds']:.1f}" for name, found in facts.items()}
    return [Measurement("GPU first step", name, "first step", "s", ours) for name, ours in seconds.items()]


PART = Part("First steps", items, run, page, children=os.cpu_count() or 1, measurements=measurements)
