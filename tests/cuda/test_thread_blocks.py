"""Which loops the threads of a block may share, and that it is so for the layers that need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle_layers as pl
from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime.devices.cuda.thread_blocks import shared_by_block
from paddle_layers.runtime.generate.drivers import Array, Kernel
from paddle_layers.testing.properties.cuda import cuda_drivers

TEXT = """
def f(n, x, C, places):
    {}
"""
HEAD = "total = real(0.0)\n    "


def kernel(body: str) -> Kernel:
    program = Program.parse(TEXT.format(body))
    args = {"y": Array(1), "x": Array(2), "C": "int", "places": Array(1, "int64")}
    return Kernel("f", "test", program, {}, ("n",), ("y",), args)


SHARED = {
    "sum": HEAD + "for c in range(C):\n        total += x[n, c]\n    return total",
    "difference": HEAD + "for c in range(1, C, 2):\n        total -= x[n, c]\n    return total",
    "local": HEAD + "for c in range(C):\n        d = x[n, c] - x[n, 0]\n        total += d * d\n    return total",
    "condition": HEAD + "for c in range(C):\n        if c != 3:\n            total += x[n, c]\n    return total",
    "nest": HEAD + "for r in range(C):\n        for c in range(4):\n            total += x[r, c]\n    return total",
    "ragged": HEAD + "for r in range(C):\n        for c in range(r):\n            total += x[r, c]\n    return total",
    "cube": HEAD + "for r in range(1, C):\n        for s in range(2):\n            for c in range(1, 4):\n"
    "                total += x[r, c] * real(s + 1)\n    return total",
    "inside": HEAD + "for r in range(C):\n        h = r - 1\n        if 0 <= h < C:\n            for c in range(C):\n"
    "                w = c - 1\n                if 0 <= w < C:\n                    total += x[h, w]\n    return total",
    "names of the author's": HEAD + "r_step = real(2.0)\n    total_part = real(3.0)\n    for r in range(C):\n"
    "        for c in range(4):\n            total += x[r, c] * r_step + total_part\n    return total",
    "extreme": "best = x[n, 0]\n    for c in range(1, C):\n        best = max(best, x[n, c])\n    return best",
    "count": "hits = 0\n    for c in range(C):\n        hits += places[c]\n    return real(hits)",
    "twice": HEAD + "for c in range(C):\n        total += x[n, c]\n    mean = total / real(C)\n    total = real(0.0)\n"
    "    for c in range(C):\n        total += x[n, c] - mean\n    return total",
    "exact": "total = double(0)\n    for c in range(C):\n        total += double(x[n, c])\n    return real(total)",
}
ALONE = {
    "no loop": "return x[n, 0]",
    "place of the largest": "best = 0\n    for c in range(C):\n        if x[n, c] > x[n, best]:\n            best = c\n"
    "    return real(best)",
    "running": HEAD + "last = real(0.0)\n    for c in range(C):\n        total += last\n        last = x[n, c]\n"
    "    return total",
    "read within": HEAD + "for c in range(C):\n        total += total * x[n, c]\n    return total",
    "product": "total = real(1.0)\n    for c in range(C):\n        total = total * x[n, c]\n    return total",
    "break": HEAD + "for c in range(C):\n        if x[n, c] > 0:\n            break\n        total += x[n, c]\n"
    "    return total",
    "last value": HEAD + "for c in range(C):\n        d = x[n, c]\n        total += d\n    return total + d",
    "value of an earlier iteration": HEAD + "for c in range(C):\n        if x[n, c] > 0:\n            d = x[n, c]\n"
    "        total += d\n    return total",
    "value of a branch": HEAD
    + "for c in range(C):\n        if x[n, c] > 0:\n            total += d\n            d = x[n, c]\n"
    "    return total",
    "while": HEAD + "c = 0\n    while c < C:\n        total += x[n, c]\n        c += 1\n    return total",
    "other type": "total = 0\n    for c in range(C):\n        total += x[n, c]\n    return total",
    "loop in a branch": HEAD + "if C > 2:\n        for c in range(C):\n            total += x[n, c]\n    return total",
}


@pytest.mark.parametrize("name", SHARED)
def test_is_shared_with_the_same_result(name):
    whole, shared = kernel(SHARED[name]), shared_by_block(kernel(SHARED[name]))
    assert shared is not None
    x = [[0.5 * c - 3 * r for c in range(7)] for r in range(7)]
    rows = _Rows(x)
    expected = run(whole.program, rows, _One())
    assert run(shared.program, rows, _One()) == pytest.approx(expected)


@pytest.mark.parametrize("name", ALONE)
def test_stays_with_one_thread(name):
    assert shared_by_block(kernel(ALONE[name])) is None


def test_the_long_loops_of_the_layers_are_shared():
    with tuned_at_every_size():
        names = {"softmax", "batch_norm", "layer_norm", "fc", "softmax_with_loss"}
        drivers = [driver for name in names for driver in cuda_drivers(pl.registry[name])]
    shared = {driver.name for driver in drivers if driver.block}
    assert shared >= {"softmax_peak", "softmax_total", "softmax_dot", "batch_norm_moments", "batch_norm_sums"}
    assert shared >= {"layer_norm_moments", "layer_norm_dgain", "fc_bias_gradient"}


class _Rows:
    """A two-dimensional array that counts from nested lists."""

    def __init__(self, rows: list[list[float]]) -> None:
        self._rows = rows

    def __getitem__(self, place: Any) -> float:
        return self._rows[place[0]][place[1]] if isinstance(place, tuple) else float(self._rows[0][place])


class _One:
    """A block of a single thread: it has all iterations, and nothing to wait for."""

    class threadIdx:  # noqa: N801  (the name that CUDA gives it)
        x = 0

    class shared:  # noqa: N801  (the name that CUDA gives it)
        @staticmethod
        def array(size: int, kind: Callable[[float], float]) -> list[float]:
            return [kind(0)] * size

    @staticmethod
    def syncthreads() -> None: ...


def run(program: Program, x: _Rows, cuda: _One) -> float:
    scope = {"real": float, "double": float, "whole": int, "cuda": cuda, "THREADS": 1}

    exec(compile(program.named("f").text, "<block>", "exec"), scope)
    return float(scope["f"](2, x, 7, [1, 0, 1, 1, 0, 0, 1]))
