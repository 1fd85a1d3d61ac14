"""Networks and layers of real sizes on the device and on the CPU: many blocks, and sizes that fit no tile."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle_layers as pl
from tests.benchmarks.networks import alexnet, lenet, mlp, residual
from tests.benchmarks.workloads import Workload, conv, memory_bound

from .page import paragraph, table
from .parts import Facts, Measurement, Part, Setup

TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
AT_KINKS = 5e-3
"""For whole networks in float32; on the CPU, plain and tuned kernels differ by 1.2e-3 in one tensor of AlexNet, an H100
and the CPU by 3.5e-3."""
ABOUT = f"""
Networks of the benchmark and layers of more than a million values, in sizes that are no multiple of anything, by the
kernels that a user gets. Outputs, and gradients of inputs or parameters, are compared by the norm of the difference, as
a share of the tensor's norm. In float64 it may be {TOLERANCE["float64"]:.0e}, in float32 {TOLERANCE["float32"]:.0e} for
a layer and {AT_KINKS:.0e} for a network, where rounding now and then decides which of two pixels is the larger one.
"""


def works(tiny: bool) -> dict[str, Workload]:
    """Networks and layers by name."""
    if tiny:
        return {work.name: work for work in (mlp(3, 5, 7), memory_bound(2, 3, 3)[0])}
    networks = [mlp(131, 101, 257), lenet(33), alexnet(3), residual(5, 67, 23)]
    convs = [
        conv(5, 6, 31, 10, 3, stride=2, padding=1),
        conv(3, 68, 29, 68, 3, padding=1, groups=68),
        conv(3, 66, 29, 34, 3, padding=1, groups=2),
        conv(3, 129, 17, 65, 1),
        conv(2, 3, 113, 33, 7, stride=2, padding=3),
    ]
    return {work.name: work for work in (*networks, *convs, *memory_bound(37, 70, 31))}


def items(setup: Setup) -> list[str]:
    """Names."""
    return list(works(setup.tiny))


def run(item: str, setup: Setup) -> Facts:
    """A step in each precision."""
    work = works(setup.tiny)[item]
    worst, findings = {}, []
    for dtype, tolerance in TOLERANCE.items():
        expected, found = (step(work, dtype, device) for device in ("cpu", setup.device))
        differences = {name: distance(found[name], values) for name, values in expected.items()}
        worst[dtype] = max(differences.values())
        allowed = AT_KINKS if work.classes and dtype == "float32" else tolerance
        far = {name: difference for name, difference in differences.items() if not difference <= allowed}
        findings += [f"`{name}` differs by {difference:.1e} in {dtype}" for name, difference in far.items()]
    return {"worst": worst, "findings": findings}


def step(work: Workload, dtype: str, device: str) -> dict[str, Any]:
    """Outputs and gradients by name, from first values that depend on the seed alone."""
    feeds = work.feeds() | (work.labels() if work.classes else {})
    with pl.Net(pl.loads(work.text(loss=work.classes > 0)), device=device, dtype=dtype) as net:
        found = dict(net.forward(feeds, step=0))
        rng = np.random.default_rng(2)
        slopes = {name: rng.uniform(0.5, 1.5, values.shape) for name, values in found.items()}
        net.backward(gradients=None if work.classes else slopes)
        found |= {p.name: p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
        return found | {name: net.gradient(name) for name in work.inputs if not work.classes}


def distance(found: Any, expected: Any) -> float:
    """Norm of the difference, as a share of the norm; NaN where something is no number."""
    return float(np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30))


def page(facts: dict[str, Facts]) -> list[str]:
    """A row for each network and layer."""
    rows = [[name, *(f"{found['worst'][dtype]:.1e}" for dtype in TOLERANCE)] for name, found in facts.items()]
    return [paragraph(ABOUT), table(["", *TOLERANCE], rows)]


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: the largest difference in each precision."""
    return [
        Measurement("GPU agreement, realistic sizes", name, dtype, "", f"{found['worst'][dtype]:.1e}", "", "CPU")
        for name, found in facts.items()
        for dtype in TOLERANCE
    ]


PART = Part("Real sizes on the device and on the CPU", items, run, page, children=4, measurements=measurements)
