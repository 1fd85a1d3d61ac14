"""Every example of every layer on the device and on the CPU: outputs and gradients must agree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.testing.cases import Case, cases
from paddle_layers.testing.results import run as results
from paddle_layers.testing.tuned import TOLERANCE

from .page import paragraph, table
from .parts import Facts, Part, Setup

ABOUT = f"""
Every example of every registered layer is run on the device and on the CPU, in both phases where the phase matters,
with the same parameters and data. Outputs, and gradients of inputs and parameters, may differ by
{TOLERANCE["float32"]:.0e} of the largest number of the tensor in float32, by {TOLERANCE["float64"]:.0e} in float64;
ids must be equal. The table has the largest difference of each layer.
"""


@dataclass(frozen=True, eq=False)
class DeviceCase(Case):
    """A case on another device, with the parameters and states that it has on the CPU."""

    device: str = "cuda"

    def net(self, dtype: str = "float64") -> pl.Net:
        """The network bound to the device."""
        net = pl.Net(self.network(), device=self.device, dtype=dtype)
        with super().net(dtype) as here:
            for there, own in ((net.parameters, here.parameters), (net.states, here.states)):
                for name, parameter in own.items():
                    there[name].value = parameter.value
        return net


def items(setup: Setup) -> list[str]:
    """Layers that have something to compute."""
    return ["relu", "fc"] if setup.tiny else [name for name in pl.registry if pl.registry[name].inputs]


def run(item: str, setup: Setup) -> Facts:
    """All cases of a layer."""
    worst = dict.fromkeys(TOLERANCE, 0.0)
    findings: list[str] = []
    checked = list(cases(pl.registry[item]))[: 1 if setup.tiny else None]
    for case in checked:
        for dtype, tolerance in TOLERANCE.items():
            for name, difference in compare(case, dtype, setup.device).items():
                worst[dtype] = max(worst[dtype], difference)
                if not difference <= tolerance:
                    findings.append(f"`{name}` differs by {difference:.1e} in {dtype}: {case}")
    return {"cases": len(checked), "worst": worst, "findings": findings}


def compare(case: Case, dtype: str, device: str) -> dict[str, float]:
    """Differences of all tensors by name."""
    expected, _ = results(case, dtype)
    fields = (case.definition, case.example, case.types, case.attributes, case.phase)
    found, _ = results(DeviceCase(*fields, device=device), dtype)
    return {name: distance(found[name], values) for name, values in expected.items()}


def distance(found: Any, expected: Any) -> float:
    """Largest difference, as a share of the largest number; of ids, 0 or infinity; infinity where it is no number."""
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    scale = max(float(np.abs(expected).max(initial=0.0)), 1e-30)
    difference = float(np.abs(found - expected).max(initial=0.0)) / scale
    return difference if np.isfinite(difference) else float("inf")


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each layer."""
    rows = [
        [
            name,
            str(found["cases"]),
            *(f"{found['worst'][dtype]:.1e}" for dtype in TOLERANCE),
            str(len(found["findings"])),
        ]
        for name, found in facts.items()
    ]
    return [paragraph(ABOUT), table(["Layer", "Cases", *TOLERANCE, "Findings"], rows)]


PART = Part("Layers on the device and on the CPU", items, run, page, children=os.cpu_count() or 1)
