"""Every kernel of a layer compiled for CUDA cards, which needs no card."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddle_layers.define import LayerDefinition
from paddle_layers.runtime.cuda import compile_ptx, cuda_drivers

from .cases import cases


class Ptx(NamedTuple):
    """A kernel for one architecture: which, and whether it computes in double precision without being told to."""

    kernel: str
    architecture: tuple[int, int]
    has_f64: bool
    text: str


def compile_layer(definition: LayerDefinition, architectures: tuple[tuple[int, int], ...] = ((8, 0),)) -> list[Ptx]:
    """PTX of the float32 kernels that the layer's examples need. Needs numba-cuda; raises what the compiler raises."""
    drivers: dict[str, Any] = {}
    for case in cases(definition):
        for driver in cuda_drivers(case.network(), training=case.phase == "train"):
            drivers.setdefault(driver.text, driver)
    compiled = []
    for driver in drivers.values():
        for architecture in architectures:
            text = compile_ptx(driver, architecture)
            compiled.append(Ptx(driver.name, architecture, ".f64" in text, text))
    return compiled
