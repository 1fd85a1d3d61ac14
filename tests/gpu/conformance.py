"""Every example of every layer on the device and on the CPU: outputs and gradients must agree."""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from paddle_layers.testing.cases.case import all_cases
from paddle_layers.testing.cases.trial import run as results
from paddle_layers.testing.findings import TOLERANCE

from .page import paragraph, table
from .parts import Facts, Measurement, Part, Setup

PRECISIONS = ("float32", "float64")
CANCELLED = 4
"""Times the rounding of the CPU, where terms cancel out: sums in another order round as much, to the other side.

On an H100, the gradient of the gain of `instance_norm` differs by 3.5e-05: it is what remains of terms a thousand times
larger.
"""
MOST = 1e-4
"""Difference that no cancelling excuses."""
KERNELS = {"plain": "point functions", "tuned": "tuned kernels"}
WAYS: dict[str, Any] = {"plain": point_functions_only, "tuned": tuned_at_every_size}
ABOUT = f"""
Every example of every registered layer is run on the device and, by the point functions that define it, on the CPU, in
both phases where the phase matters, with the same parameters and data. Outputs, and gradients of inputs and parameters,
may differ by {TOLERANCE["float32"]:.0e} of the largest number of the tensor in float32, by {TOLERANCE["float64"]:.0e}
in float64; where terms cancel out, in float32, by {CANCELLED} times what the CPU's own float32 is off float64, but no
more than {MOST:.0e}. Ids must be equal. The table has the largest difference of each layer: plain, where every thread
computes one element, and tuned, where thread blocks share loops and tuned kernels run at every size that they
take.
"""


def items(setup: Setup) -> list[str]:
    """Layers that have something to compute."""
    return ["relu", "fc"] if setup.tiny else [name for name in pl.registry if pl.registry[name].inputs]


def run(item: str, setup: Setup) -> Facts:
    """All cases of a layer."""
    checked = list(all_cases(pl.registry[item]))[: 1 if setup.tiny else None]
    worst: dict[str, float] = defaultdict(float)
    findings = []
    for case in checked:
        with point_functions_only():
            expected = {dtype: results(case, dtype)[0] for dtype in PRECISIONS}
        for way, dtype in itertools.product(WAYS, PRECISIONS[: 1 if setup.tiny else None]):
            with WAYS[way]():
                found, _ = results(case, dtype, setup.device)
            for name, values in expected[dtype].items():
                difference = distance(found[name], values)
                worst[f"{way} {dtype}"] = max(worst[f"{way} {dtype}"], difference)
                if not difference <= allowed(values, expected["float64"][name], dtype):
                    where = f"{dtype}, {way}, phase {case.phase}, {case.example!r}"
                    findings.append(f"`{name}` differs by {difference:.1e} in {where}")
    return {"cases": len(checked), "worst": worst, "findings": findings}


def allowed(values: Any, exact: Any, dtype: str) -> float:
    """What a device may differ by from the CPU's `values`: more where terms cancel out, computed from `exact`."""
    return max(TOLERANCE[dtype], min(CANCELLED * distance(values, exact), MOST))


def distance(found: Any, expected: Any) -> float:
    """Largest difference, as a share of the largest number; of ids, 0 or infinity.

    NaN equals NaN, since outputs may be declared to hold it; infinity where one of the two is no number.
    """
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    numbers = ~(np.isnan(found) & np.isnan(expected))
    found, expected = found[numbers], expected[numbers]
    scale = max(float(np.abs(expected).max(initial=0.0)), 1e-30)
    difference = float(np.abs(found - expected).max(initial=0.0)) / scale
    return difference if np.isfinite(difference) else float("inf")


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each layer."""
    ways = [f"{way} {dtype}" for way in WAYS for dtype in PRECISIONS]
    rows = []
    for name, found in facts.items():
        shown = [f"{found['worst'][way]:.1e}" if way in found["worst"] else "" for way in ways]
        rows.append([name, str(found["cases"]), *shown, str(len(found["findings"]))])
    return [paragraph(ABOUT), table(["Layer", "Cases", *(way.capitalize() for way in ways), "Findings"], rows)]


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: the largest difference of all layers, by kernels and precision."""
    rows = []
    for (way, kernels), dtype in itertools.product(KERNELS.items(), PRECISIONS):
        worst = [found["worst"] for found in facts.values()]
        differences = [by_way[f"{way} {dtype}"] for by_way in worst if f"{way} {dtype}" in by_way]
        head = ("GPU agreement, examples of all layers", "largest difference", f"{kernels}, {dtype}", "")
        rows += [Measurement(*head, f"{max(differences):.1e}", "", "CPU")] if differences else []
    return rows


PART = Part(
    "Layers on the device and on the CPU", items, run, page, children=os.cpu_count() or 1, measurements=measurements
)
