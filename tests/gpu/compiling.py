"""Kernels of the benchmark compiled beforehand, in processes side by side: what is timed finds them on the disk."""

from __future__ import annotations

import os
import time

from .benchmark import absent
from .page import paragraph, table
from .parts import Facts, Part, Setup
from .sizes import LAYERS, NETWORKS, find

ABOUT = f"""
Every network and layer of the benchmark is run once, {os.cpu_count()} processes side by side, so that their kernels
lie compiled in the cache. The time is that of a process from the text to the end of the first step, with the card's
context; kernels that another process has made in the meantime are not made again.
"""


def items(setup: Setup) -> list[str]:
    """Networks first, since they have more kernels."""
    return [work.name for work in (*NETWORKS[setup.tiny], *LAYERS[setup.tiny])]


def run(item: str, setup: Setup) -> Facts:
    """One step of training and one of the phase test, as the benchmark makes them."""
    from tests.benchmarks.sides import our_layer, our_outputs, our_step

    begin, work = time.monotonic(), find(item, setup.tiny)
    sides = [our_outputs(work, setup.device), our_step(work, setup.device)] if work.classes else []
    for side in sides or [our_layer(work, setup.device, backward=True)]:
        side.called()
        side.owner.close()
    return {"seconds": time.monotonic() - begin}


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each network and layer."""
    return [
        paragraph(ABOUT),
        table(["", "Seconds"], [[name, f"{found['seconds']:.1f}"] for name, found in facts.items()]),
    ]


PART = Part("First runs", items, run, page, absent, children=os.cpu_count() or 1)
