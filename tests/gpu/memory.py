"""Memory: the estimate, the memory in use, and the error message of a batch that is too large."""

from __future__ import annotations

import gc
import re

import numpy as np

import paddle_layers as pl
from paddle_layers.runtime.plan.dry_run import footprint
from tests.benchmarks import networks
from tests.benchmarks.workloads import Workload

from .page import code, paragraph, table
from .parts import Facts, Measurement, Part, Setup, message

SLACK = 512 << 20
"""Bytes that the driver may take beside those that it is asked for: kernels, their stacks, whole pages."""
ABOUT = """
The footprint, which `paddle-layers show --device cuda` prints without a GPU, against what the plans and parameters of
a net take, and what the driver has less after a step of training (in MiB; the driver also counts kernels, and gives
memory by pages).
"""
TOO_BIG = "A batch for which the GPU has too little memory is rejected with this message:"


def works(tiny: bool) -> dict[str, Workload]:
    """Networks of several sizes by name."""
    few = [networks.mlp(2, 4, 4), networks.residual(1, 2, 4)]
    many = [networks.mlp(4096), networks.lenet(1024), networks.alexnet(128), networks.residual(256)]
    return {work.name: work for work in (few if tiny else many)}


def items(setup: Setup) -> list[str]:
    """Networks, and a batch that is too big."""
    return [*works(setup.tiny), TOO_BIG]


def run(item: str, setup: Setup) -> Facts:
    """In a child process."""
    return too_big(setup) if item == TOO_BIG else taken(works(setup.tiny)[item], setup)


def taken(work: Workload, setup: Setup) -> Facts:
    """Bytes of a training step: estimated, held by the net, and used on the GPU."""
    network = pl.loads(work.text(loss=True))
    foretold = footprint(network, work.rows, device=setup.device).training
    warm(setup.device)
    before = free_bytes()
    with pl.Net(network, device=setup.device) as net:
        net.forward(work.feeds() | work.labels())
        net.backward()
        net.synchronise()
        trained = sum(p.value.nbytes * (1 + (p.gradient is not None)) for p in net.parameters.values())
        held = net.memory("train") + trained + sum(state.value.nbytes for state in net.states.values())
        gone = before - free_bytes()
    gc.collect()
    kept = before - free_bytes()
    findings = [] if abs(foretold - held) <= 0.01 * held + 4096 else [f"foretold were {foretold}, held are {held}"]
    if gone > held + SLACK:
        findings.append(f"{gone} bytes of the GPU are in use, the net holds {held}")
    if kept > SLACK:
        findings.append(f"{kept} bytes are not given back by `close`")
    return {"bytes": [foretold, held, gone], "findings": findings}


def warm(device: str) -> None:
    """Let the driver take what it takes at first."""
    with pl.Net(pl.loads(networks.mlp(2, 4, 4).text()), device=device) as net:
        net.forward({"x": np.zeros((2, 4), np.float32)})
        net.synchronise()


def free_bytes() -> int:
    """Free bytes of the GPU."""
    from paddle_layers.runtime.devices.cuda import open_device

    return open_device().free_bytes()


def too_big(setup: Setup) -> Facts:
    """Request twice the memory of the GPU, then the suggested batch size; a small net must run before and after."""
    warm(setup.device)
    network = pl.loads(networks.mlp(2).text())
    a_row = footprint(network, 1 << 20, device=setup.device).inference >> 20
    try:
        pl.Net(network, device=setup.device, batch_size=2 * free_bytes() // a_row)
    except pl.DeviceError as error:
        told = message(error)
    else:
        return {"findings": ["a batch of twice the memory of the GPU was accepted"]}
    fitting = re.search(r"a batch of (\d+) fits", told)
    if fitting:
        pl.Net(network, device=setup.device, batch_size=int(fitting[1])).close()
    warm(setup.device)
    return {"told": told, "findings": [] if fitting else ["the message names no batch that fits"]}


def page(facts: dict[str, Facts]) -> list[str]:
    """Bytes of the networks, and the message."""
    rows = [
        [name, *(f"{count / 2**20:,.1f}" for count in found["bytes"])]
        for name, found in facts.items()
        if "bytes" in found
    ]
    blocks = [paragraph(ABOUT), table(["Network", "Estimate", "Held by the net", "Device memory used"], rows)]
    told = facts.get(TOO_BIG, {}).get("told")
    return [*blocks, TOO_BIG, code(told)] if told else blocks


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: estimate, memory of the network, and memory that the driver gave."""
    metrics = ("estimate", "held by the network", "device memory used")
    return [
        Measurement("GPU memory of a training step", name, metric, "MiB", f"{count / 2**20:.1f}")
        for name, found in facts.items()
        for metric, count in zip(metrics, found.get("bytes", ()), strict=False)
    ]


PART = Part("Memory", items, run, page, share=1.0, measurements=measurements)
