"""How much quicker `series_average` is with its tuned kernels: `python benchmark.py`, on a quiet machine."""

import contextlib
import time

import numpy as np

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size

SHAPES = ((64, 96, 25), (256, 336, 7), (256, 336, 25), (256, 336, 101))
"""Rows, columns, width."""


def microseconds(rows: int, columns: int, width: int) -> tuple[float, float]:
    """Least time of a forward and of a backward pass."""
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {columns} }} }}
    layer {{ name: "y" type: "series_average" input: "x" propagate_down: true series_average {{ width: {width} }} }}
    """
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    forward, backward = [], []
    with pl.Net(pl.loads(text)) as net:
        for _ in range(30):
            start = time.perf_counter()
            net.forward({"x": x})
            middle = time.perf_counter()
            net.backward(gradients={"y": x})
            forward.append(middle - start)
            backward.append(time.perf_counter() - middle)
    return min(forward) * 1e6, min(backward) * 1e6


def measured(kernels: contextlib.AbstractContextManager[None], shape: tuple[int, int, int]) -> tuple[float, float]:
    """The times with one choice of kernels."""
    with kernels:
        return microseconds(*shape)


if __name__ == "__main__":
    print("rows  columns  width  forward: sum  running   backward: sum  running  (microseconds)")
    for shape in SHAPES:
        plain = measured(point_functions_only(), shape)
        tuned = measured(tuned_at_every_size(), shape)
        times = f"{plain[0]:12.0f} {tuned[0]:8.0f} {plain[1]:15.0f} {tuned[1]:8.0f}"
        print(f"{shape[0]:4} {shape[1]:8} {shape[2]:6}  {times}")
