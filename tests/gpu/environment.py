"""Environment of the measurements: GPU, driver, versions; and a first net on the device."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .page import table
from .parts import Facts, Part, Setup

LIBRARIES = ("numpy", "scipy", "numba", "numba-cuda", "cuda-bindings", "cupy-cuda13x", "torch", "protobuf")
SMALL = 'layer { name: "x" type: "data" data { shape: 3 } } layer { name: "y" type: "relu" input: "x" }'


def items(_: Setup) -> list[str]:
    """The facts, and a first net."""
    return ["facts", "device"]


def run(item: str, setup: Setup) -> Facts:
    """In a child process."""
    return first_net(setup) if item == "device" else {"rows": facts()}


def first_net(setup: Setup) -> Facts:
    """A minimal network; also on the CPU, to compile the functions that every process needs."""
    import numpy as np

    import paddle_layers as pl

    findings = []
    for device in ("cpu", setup.device):
        with pl.Net(pl.loads(SMALL), device=device) as net:
            found = net.forward({"x": np.array([[-1, 0, 2]], np.float32)})["y"].tolist()
        if found != [[0, 0, 2]]:
            findings.append(f"relu of -1, 0, 2 is {found} on {device}")
    return {"findings": findings}


def facts() -> list[tuple[str, str]]:
    """What can be found out; what cannot says so."""
    query = "--query-gpu=name,memory.total,driver_version,compute_cap"
    readings: dict[str, Callable[[], str]] = {
        "GPU": lambda: output("nvidia-smi", query, "--format=csv,noheader"),
        "CUDA": cuda_versions,
        "Processor": lambda: f"{processor()}, {os.cpu_count()} cores",
        "Python": lambda: f"{platform.python_version()}, {platform.platform()}",
        "Commit": lambda: output("git", "describe", "--always", "--dirty"),
        "paddle_layers": library_version,
    }
    readings |= {name: partial(importlib.metadata.version, name) for name in LIBRARIES}
    return [(name, _reading(read)) for name, read in readings.items()]


def _reading(read: Callable[[], str]) -> str:
    try:
        return read()
    except Exception as error:  # bindings of a broken driver raise anything; one missing fact must not end the report
        return f"unknown ({type(error).__name__})"


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def cuda_versions() -> str:
    """What the driver knows, and what links the kernels."""
    from cuda.bindings import driver, nvjitlink

    _, known = driver.cuDriverGetVersion()
    return f"driver {known // 1000}.{known % 1000 // 10}, nvJitLink {'.'.join(map(str, nvjitlink.version()))}"


def processor() -> str:
    """The name that Linux gives it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def library_version() -> str:
    """Ours."""
    import paddle_layers

    return paddle_layers.__version__


def page(facts: dict[str, Facts]) -> list[str]:
    """A table of facts."""
    return [table(["", ""], facts["facts"]["rows"])] if "facts" in facts else []


PART = Part("Environment", items, run, page, share=0.3)
