"""What a launch is thought to cost, by which it is cut for threads."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime import Sequences
from paddle_layers.runtime.devices.cpu import table
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.runtime.devices.cpu.table import CHUNKS
from paddle_layers.runtime.launches.launch import ELEMENTARY, ROUNDS, operations

HELPERS = {
    "dear": Program.parse("def dear(v):\n    return math.exp(v)\n"),
    "cheap": Program.parse("def cheap(v):\n    return v + 1.0\n"),
}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["return x[i] + 1.0"], 1),
        (["return max(x[i], 0.0)"], 1),
        (["return math.exp(x[i])"], ELEMENTARY),
        (["return cheap(x[i])"], 1),
        (["return dear(x[i])"], ELEMENTARY),
        (["for c in range(C):", "    total += x[c]", "return total"], 20),
        (["for c in range(C):", "    total += dear(x[c])", "return total"], 20 * ELEMENTARY),
        (["for c in range(C):", "    total += x[c]", "return math.exp(total)"], 20),
        (["for c in range(C):", "    for j in range(3, C):", "        total += x[c]", "return total"], 20 * ROUNDS),
        (["for c in range(start[s], start[s + 1]):", "    total += x[c]", "return total"], ROUNDS),
        (["while c < 3:", "    c += 1", "return c"], ROUNDS),
        (["for c in range(none):", "    total += x[c]", "return total"], 1),
    ],
)
def test_operations_of_an_element(lines, expected):
    text = "\n    ".join(["def f(i, s, x, start, C, none):", "total = 0.0", *lines])
    assert operations(Program.parse(text + "\n"), HELPERS, {"C": 20, "none": 0}) == expected


def test_a_scan_is_cut_by_its_rows(monkeypatch):
    """Its items are sequences: 32 of them, with 50 rows each, are 1600 rows of 20 x 20 exponentials."""
    classes, count, length = 20, 32, 50
    config = f"""
    layer {{ name: "x" type: "data" data {{ shape: {classes} seq_nested_level: 1 }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: {classes} seq_nested_level: 1 }} }}
    layer {{ name: "cost" type: "crf" input: "x" propagate_down: true input: "label" propagate_down: false }}
    """
    rng = np.random.default_rng(0)
    starts = np.arange(count + 1) * length
    x = rng.standard_normal((count * length, classes), np.float32)
    monkeypatch.setattr(table, "interpret", lambda _: None)  # planned, not computed
    with interpreted(), pl.Net(pl.loads(config)) as net:
        net.forward({"x": Sequences(x, starts), "label": Sequences(rng.integers(0, classes, count * length), starts)})
        plan = net.plan("train")
        pieces = dict(zip((launch.name for launch in plan.launches), plan.table.rows[:, CHUNKS], strict=True))
    assert pieces["crf_alpha"] == pieces["crf_beta"] == pieces["crf_dtransitions"] == 8
