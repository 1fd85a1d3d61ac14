"""`python -m tests.gpu.kernel_table`: the kernels of the GPU benchmark as machine code, and predicted times; no GPU.

Registers, local and shared memory are read from the cubin, the instruction mix from its disassembly. The prediction is
the roofline of each launch: the larger of the times that its operations and its bytes take at the rates of a GPU.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import paddle_layers as pl
from paddle_layers.runtime.devices.cuda import CudaDriver, cubin_of, launch_driver
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.plan.dry_run import dry_schedule
from paddle_layers.runtime.profile.counting import count
from tests.benchmarks.workloads import Workload

from .page import table
from .sizes import LAYERS, NETWORKS

ARCHITECTURE = (9, 0)
REGISTERS, FRAME = b"\x2f", b"\x11"
"""Attributes of a function in a cubin: registers of a thread, and bytes of its stack, where spilled registers go."""
ANY_THREADS = 256
"""Threads of a block of a kernel that runs with any number: see `cuda.device`."""
REGISTER_FILE, MOST_WARPS, MOST_BLOCKS, SHARED_MEMORY = 65536, 64, 32, 227 << 10
"""Limits of a multiprocessor of compute capability 9.0, from NVIDIA's programming guide."""
WARP, RESERVED = 32, 1 << 10
"""Threads of a warp; bytes of shared memory that the system takes per block."""
LAUNCH_SECONDS = 2e-6
"""Time of a small kernel that follows another one in a stream."""
PAGE = """# CUDA kernels as machine code

<!-- search: registers, occupancy, roofline, GPU kernels -->

Written by `python -m tests.gpu.kernel_table`, which needs the extra `cuda`, the package `nvidia-cuda-nvdisasm` and no
GPU: the kernels of the [GPU benchmark](gpu-testing.md) for compute capability {architecture}.

*Spilled*: bytes of local memory per thread. *Shared*: bytes of shared memory per block. *Occupancy*: share of the warps
of a multiprocessor that are resident. *Loop*: instructions of the innermost loop with most arithmetic, and the shares
of arithmetic, of accesses to shared memory, and to global memory in it; all others compute indices, compare and branch.

{kernels}

## Predicted times

The roofline of each launch: the larger of the times that its operations and its bytes take at the rates of the GPU
(float32 {operations:.1f} TFLOP/s, {bandwidth:,.0f} GB/s), at least {launch:.0f} microseconds. Measured: {gpu}, the last
rows of [gpu.csv](benchmarks/gpu.csv); kernels may be newer.

{predictions}
"""
KINDS = {
    "arithmetic": ("FFMA", "FADD", "FMUL", "FMNMX", "FSEL", "MUFU", "FSETP"),
    "shared": ("LDS", "STS"),
    "global": ("LDG", "STG", "RED", "ATOM"),
}
"""Instructions by kind; all others compute indices, compare, and branch."""
MEASURED = Path(__file__).resolve().parents[2] / "docs" / "development" / "benchmarks" / "gpu.csv"


class MachineCode(NamedTuple):
    """A kernel on a multiprocessor."""

    threads: int
    registers: int
    spilled: int
    """Bytes of local memory per thread."""
    shared: int
    """Bytes of static shared memory per block."""
    instructions: int
    """Instructions of the inner loop with most arithmetic, or of the kernel if it has none; 0 without nvdisasm."""
    mix: dict[str, float]
    """Share of each of `KINDS` in them."""

    @property
    def occupancy(self) -> float:
        """Share of the warps of a multiprocessor that are resident."""
        warps = -(-self.threads // WARP)
        # Registers are allotted to warps in units of 256.
        of_a_warp = -(-self.registers * WARP // 256) * 256
        limits = (MOST_WARPS // warps, MOST_BLOCKS, REGISTER_FILE // of_a_warp // warps)
        return min(*limits, SHARED_MEMORY // (self.shared + RESERVED)) * warps / MOST_WARPS


class Rates(NamedTuple):
    """Rates of a GPU, as measured with PyTorch."""

    operations: float
    """float32 operations per second in a product of large matrices."""
    bandwidth: float
    """Bytes per second of a copy, read and written."""


def machine_code(driver: CudaDriver) -> MachineCode:
    """Properties of a kernel's machine code."""
    cubin = cubin_of(driver, ARCHITECTURE)
    return MachineCode(
        driver.threads or ANY_THREADS,
        max(attributes(cubin, REGISTERS)),
        max(attributes(cubin, FRAME)),
        _shared_bytes(cubin),
        *_inner_loop(_instructions(cubin)),
    )


def attributes(cubin: bytes, kind: bytes) -> list[int]:
    """Values of an attribute of the functions of a cubin: of 8 bytes, in the format 0x04."""
    found = re.findall(rb"\x04" + re.escape(kind) + rb"\x08\0.{4}(.{4})", cubin, re.DOTALL)
    return [int.from_bytes(value, "little") for value in found]


def _shared_bytes(cubin: bytes) -> int:
    """Size of the section `.nv.shared.kernel`, by the section headers of the ELF file."""
    offset, size, number, names = (
        int.from_bytes(cubin[at : at + width], "little") for at, width in ((40, 8), (58, 2), (60, 2), (62, 2))
    )
    headers = [np.frombuffer(cubin, "<u4,<u4,<u8,<u8,<u8,<u8", 1, offset + size * place)[0] for place in range(number)]
    texts = int(headers[names][4])
    for name, _, _, _, _, nbytes in headers:
        begin = texts + int(name)
        if cubin[begin : cubin.index(b"\0", begin)].startswith(b".nv.shared."):
            return int(nbytes)
    return 0


def _instructions(cubin: bytes) -> list[str]:
    """Opcodes, and labels and branches with their targets, of the kernel; empty without nvdisasm."""
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) / "cu13" / "bin" / "nvdisasm" for place in (spec.submodule_search_locations if spec else ())]
    tool = next((place for place in places if place.is_file()), None)
    if tool is None:
        return []
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([tool, file.name], capture_output=True, text=True, check=True).stdout
    line = r"^(\.L_\w+):|^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w+)(?:.*`\((\.L_\w+)\))?"
    found = re.findall(line, text, re.MULTILINE)
    return [label or f"{opcode} {target}".strip() for label, opcode, target in found if opcode != "NOP"]


def _inner_loop(instructions: list[str]) -> tuple[int, dict[str, float]]:
    """Number and mix of the instructions of the innermost loop with most arithmetic."""
    labels = {text: place for place, text in enumerate(instructions) if text.startswith(".L")}
    branches = [(at, text.partition(" ")[2]) for at, text in enumerate(instructions) if text.startswith("BRA ")]
    loops = [(labels[target], at) for at, target in branches if labels.get(target, at) < at]
    inner = [loop for loop in loops if not any(loop[0] <= first and last < loop[1] for first, last in loops)]
    parts = [
        Counter(text.partition(" ")[0] for text in instructions[first : last + 1] if text not in labels)
        for first, last in inner or [(0, len(instructions))]
    ]
    most = max(parts, key=lambda part: sum(part[name] for name in KINDS["arithmetic"]))
    total = most.total()
    return total, {kind: sum(most[name] for name in names) / max(total, 1) for kind, names in KINDS.items()}


def launches(work: Workload, *, training: bool) -> list[Launch]:
    """The launches of a step, or of inference, in the plan for a GPU."""
    network = pl.loads(work.text(loss=training and bool(work.classes))).select("train" if training else "test")
    graph = build_graph(network, ParameterSet("float32"), {})
    schedule = dry_schedule(graph, network.outputs, work.rows, "float32", training=training, device="cuda")
    return [*schedule.forward, *schedule.backward]


def predicted_seconds(launch: Launch, rates: Rates) -> float:
    """The roofline of a launch."""
    found = [
        count(one, lambda extent: extent.at(lambda domain: domain.capacity), lambda _: None, itemsize=4)
        for one in launch.computes
    ]
    operations, nbytes = sum(one.operations for one in found), sum(one.nbytes for one in found)
    return max(operations / rates.operations, nbytes / rates.bandwidth, LAUNCH_SECONDS)


def measured(gpu: str) -> tuple[Rates, dict[tuple[str, str], float]]:
    """Rates and milliseconds of the last measurement of a GPU, from `gpu.csv`."""
    with MEASURED.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["machine"] == f"GPU: {gpu}"]
    if not rows:
        sys.exit(f"{MEASURED.name} has no measurements of {gpu!r}")
    rates = {row["metric"]: float(row["theirs"]) for row in rows if row["benchmark"] == "GPU rates"}
    copy = next(value for name, value in rates.items() if "copy" in name)
    product = next(value for name, value in rates.items() if "product" in name and "TF32" not in name)
    times = {
        (row["case"], row["metric"]): float(row["ours"])
        for row in rows
        if row["unit"] == "ms" and "on the device" in row["benchmark"]
    }
    return Rates(product * 1e12, copy * 1e9), times


def kernel_rows(works: list[Workload]) -> Iterator[list[str]]:
    """A row for each kernel, where it is first used."""
    seen: set[Path] = set()
    for work in works:
        for launch in launches(work, training=True):
            driver = launch_driver(launch, "float32")
            if driver.path in seen:
                continue
            seen.add(driver.path)
            code = machine_code(driver)
            numbers = map(str, (code.threads, code.registers, code.spilled, code.shared))
            mix = [str(code.instructions), *(f"{share:.0%}" for share in code.mix.values())]
            yield [work.name, driver.name, *numbers, f"{code.occupancy:.0%}", *mix]


def prediction_rows(works: list[Workload], gpu: str) -> Iterator[list[str]]:
    """A row for each network: predicted and measured milliseconds."""
    rates, times = measured(gpu)
    for work in works:
        for metric, training in (("inference", False), ("training step", True)):
            least = 1e3 * sum(predicted_seconds(launch, rates) for launch in launches(work, training=training))
            ours = times.get((work.name, metric))
            known = [f"{ours:.3g}", f"{ours / least:.1f}"] if ours is not None else ["", ""]
            yield [f"{work.name}: {metric}", f"{least:.3g}", *known]


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.kernel_table", description=__doc__)
    parser.add_argument("--gpu", default="NVIDIA H200", help="whose rates, by its name in gpu.csv (NVIDIA H200)")
    gpu = parser.parse_args().gpu
    head = ["First used by", "Kernel", "Threads", "Registers", "Spilled", "Shared", "Occupancy", "Loop", *KINDS]
    rates, _ = measured(gpu)
    page = PAGE.format(
        architecture=".".join(map(str, ARCHITECTURE)),
        kernels=table(head, kernel_rows([*NETWORKS[False], *LAYERS[False]])),
        operations=rates.operations / 1e12,
        bandwidth=rates.bandwidth / 1e9,
        launch=LAUNCH_SECONDS * 1e6,
        gpu=gpu,
        predictions=table(["Milliseconds", "Predicted", "Measured", "Ratio"], prediction_rows(NETWORKS[False], gpu)),
    )
    print(page, end="")


if __name__ == "__main__":
    main()
