"""Tables of the benchmark."""

from __future__ import annotations

from typing import Any

from .page import paragraph, table
from .parts import Facts, Measurement

ABOUT = """
Both sides take turns in blocks of about 50 ms, each ended by waiting for the device; the figures are medians over
seven blocks. PyTorch computes in float32 with TF32 switched off, as the kernels here do, and chooses its convolutions
by trying them; with TF32, which keeps 10 bits of the factors, it is shown for information. Ratios are times, ours
over PyTorch's: below 1, this library is faster. Both sides have the same parameters, and their outputs were compared.
"""
RATES = """
The rates of the GPU, by PyTorch: a copy of 1 GiB within the GPU memory, bytes read and written; a product of two
matrices of 8192 by 8192.
"""
ALONE = """
Networks, with batch and parameters on the device: what the device does, without copies from and to the host. Training
is forward, backward and SGD with momentum. TFLOP/s count the operations of products and convolutions, as PyTorch
counts them.
"""
CALLED = """
The same as a user calls it: NumPy arrays in and out (of a step, the loss), the copies included.
"""
LAYERS = """
Layers on the device. GB/s count the bytes that have to be moved at least, each read or written once: inputs and
outputs, in the backward pass their gradients and whichever of them it reads. The share is that of the rate of the
copy.
"""


def page(facts: dict[str, Facts]) -> list[str]:
    """Rates, networks in two ways, layers."""
    rates = next((found for found in facts.values() if "copy" in found), None)
    networks = {name: found["rows"] for name, found in facts.items() if found.get("kind") == "network"}
    layers = {name: found["rows"] for name, found in facts.items() if found.get("kind") == "layer"}
    blocks = [paragraph(ABOUT)]
    if rates:
        units = [["Copy", f"{rates['copy'] / 1e9:,.0f} GB/s"]]
        units += [[f"Product, {name}", f"{rates[name] / 1e12:,.1f} TFLOP/s"] for name in ("float32", "tf32")]
        blocks += [paragraph(RATES), table(["", "Rate"], units)]
    if networks:
        blocks += [paragraph(ALONE), _alone(networks, rates), paragraph(CALLED), _called(networks)]
    if layers:
        blocks += [paragraph(LAYERS), _layers(layers, rates)]
    return blocks


def measurements(facts: dict[str, Facts]) -> list[Measurement]:
    """Rows of `gpu.csv`: rates of the GPU, times and rates of networks and layers."""
    kinds = {"copy": _gpu_rates, "network": _network, "layer": _layer}
    return [row for name, found in facts.items() for row in kinds[found.get("kind", "copy")](name, found)]


def _gpu_rates(_: str, rates: Facts) -> list[Measurement]:
    head = ("GPU rates", rates["gpu"])
    products = [("float32", "float32"), ("tf32", "TF32")]
    return [
        Measurement(*head, "copy of 1 GiB", "GB/s", "", f"{rates['copy'] / 1e9:.0f}", "PyTorch"),
        *(
            Measurement(
                *head, f"product of 8192x8192 matrices, {label}", "TFLOP/s", "", f"{rates[name] / 1e12:.1f}", "PyTorch"
            )
            for name, label in products
        ),
    ]


def _network(name: str, found: Facts) -> list[Measurement]:
    rows = []
    for what, row in found["rows"].items():
        metric, times = {"outputs": "inference", "step": "training step"}[what], row["alone"]
        on_device = "GPU networks, tensors on the device"
        speeds = [f"{row['operations'] / times[side] / 1e12:.2f}" for side in ("ours", "torch")]
        rows += [
            _times(on_device, name, metric, times),
            Measurement(on_device, name, metric, "ms", ms(times["ours"]), ms(times["tf32"]), "PyTorch, TF32"),
            _times("GPU networks, NumPy arrays in and out", name, metric, row["called"]),
            Measurement("GPU networks, arithmetic", name, metric, "TFLOP/s", *speeds, "PyTorch"),
        ]
    return rows


def _layer(name: str, found: Facts) -> list[Measurement]:
    rows = []
    for metric, row in found["rows"].items():
        speeds = [f"{row['bytes'] / row['alone'][side] / 1e9:.0f}" for side in ("ours", "torch")]
        rows.append(_times("GPU layers", name, metric, row["alone"]))
        rows.append(Measurement("GPU layers, memory bandwidth", name, metric, "GB/s", *speeds, "PyTorch"))
    return rows


def _times(benchmark: str, case: str, metric: str, times: dict[str, float]) -> Measurement:
    ours, theirs = times["ours"], times["torch"]
    return Measurement(benchmark, case, metric, "ms", ms(ours), ms(theirs), "PyTorch", f"{theirs / ours:.2f}")


def _alone(networks: dict[str, Any], rates: Facts | None) -> str:
    head = ["Network", "Of it", "Ours, ms", "PyTorch, ms", "Ratio", "Ours, TFLOP/s", "PyTorch, TFLOP/s"]
    head += ["Ours, share of product", "PyTorch with TF32, ms"]
    rows = []
    for name, found in networks.items():
        for what, row in found.items():
            times = row["alone"]
            speeds = [row["operations"] / times[side] for side in ("ours", "torch")]
            share = f"{speeds[0] / rates['float32']:.0%}" if rates else ""
            rows.append(
                [name, what, *_pair(times), *(f"{speed / 1e12:.2f}" for speed in speeds), share, ms(times["tf32"])]
            )
    return table(head, rows)


def _called(networks: dict[str, Any]) -> str:
    head = ["Network", "Of it", "Ours, ms", "PyTorch, ms", "Ratio"]
    rows = [[name, what, *_pair(row["called"])] for name, found in networks.items() for what, row in found.items()]
    return table(head, rows)


def _layers(layers: dict[str, Any], rates: Facts | None) -> str:
    head = ["Layer", "Of it", "Ours, ms", "PyTorch, ms", "Ratio"]
    head += ["Ours, GB/s", "PyTorch, GB/s", "Ours, share of copy", "PyTorch, share of copy"]
    rows = []
    for name, found in layers.items():
        for what, row in found.items():
            speeds = [row["bytes"] / row["alone"][side] for side in ("ours", "torch")]
            shares = [f"{speed / rates['copy']:.0%}" if rates else "" for speed in speeds]
            rows.append([name, what, *_pair(row["alone"]), *(f"{speed / 1e9:,.0f}" for speed in speeds), *shares])
    return table(head, rows)


def _pair(times: dict[str, float]) -> list[str]:
    return [ms(times["ours"]), ms(times["torch"]), f"{times['ours'] / times['torch']:.2f}"]


def ms(seconds: float) -> str:
    """Milliseconds with three digits or so."""
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"
