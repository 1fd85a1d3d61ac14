"""What is counted of a layer against numbers by hand, times of a step, threads."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.define.machine import cores_of_container, usable_cores
from paddle_layers.runtime.devices.cpu import peaks, pool
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.profile import step
from paddle_layers.runtime.profile.counting import Counts, count
from paddle_layers.testing.cases.case import cases
from paddle_layers.testing.properties.cuda import launches_of

DATA = 'layer {{ name: "x" type: "data" data {{ {} }} }} layer {{ name: "y" type: "{}" input: "x" {} }}'
FOUR = 4
"""Bytes of a number."""


def counted(data: str, layer: str, settings: str, rows: int) -> dict[str, Counts]:
    """Counts of each function of a layer; no whole numbers are known."""
    text = DATA.format(data, layer, f"propagate_down: true {layer} {{ {settings} }}")
    found: dict[str, Counts] = {}
    for launch in launches_of(pl.loads(text), training=True, device="cpu"):
        for one in launch.computes:
            found[launch.name] = count(one, lambda extent: size(extent, rows), lambda _: None, FOUR)
    return found


def size(extent: Extent, rows: int) -> int:
    return extent.extra + rows * extent.factor


def test_fc() -> None:
    rows, inputs, outputs = 5, 7, 3
    found = counted("shape: 7", "fc", "size: 3", rows)
    x, weight, y = rows * inputs, inputs * outputs, rows * outputs
    assert found["fc_y"] == Counts(2 * rows * inputs * outputs, FOUR * (x + weight + y))
    assert found["fc_dx"] == Counts(2 * rows * inputs * outputs, FOUR * (y + weight + x))
    assert found["fc_dweight"] == Counts(2 * rows * inputs * outputs, FOUR * (x + y + weight))
    bias = next(counts for name, counts in found.items() if name == "fc_bias")
    assert bias.operations == y


def pairs(size: int, filter_size: int, stride: int, padding: int) -> int:
    """Places of an output along an axis with those of the filter that meet the image."""
    places = range((size + 2 * padding - filter_size) // stride + 1)
    return sum(0 <= p * stride - padding + a < size for p, a in itertools.product(places, range(filter_size)))


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 1), (3, 2)])
def test_conv(stride: int, padding: int) -> None:
    rows, channels, height, width, filters = 4, 6, 13, 17, 8
    settings = f"num_filters: {filters} filter_size: 3 stride: {stride} padding: {padding}"
    found = counted(f"shape: [{channels}, {height}, {width}]", "conv", settings, rows)
    wanted = 2 * rows * channels * filters * math.prod(pairs(n, 3, stride, padding) for n in (height, width))
    near = pytest.approx(wanted, rel=0 if padding == 0 and stride == 1 else 0.02)
    assert found["conv_y"].operations == near
    assert found["conv_dx"].operations == pytest.approx(wanted, rel=0.02)
    assert found["conv_dweight"].operations == near


def test_what_is_looked_up_counts_the_rows_that_are_read() -> None:
    found = counted("data_type: INT size: 100000", "embedding", "size: 8", 3)
    assert found["embedding_y"] == Counts(0, 3 * 8 * FOUR * 2 + 3 * 8)


def test_functions_and_both_ways() -> None:
    numbers = 2 * 10
    elu = counted("shape: 10", "elu", "", 2)["elu_y"]  # a product and a function, for negative numbers
    assert elu == Counts(2 * numbers / 2, 2 * numbers * FOUR)
    assert counted("shape: 10", "tanh", "", 2)["tanh_y"].operations == numbers


@pytest.mark.parametrize(
    "name",
    [
        *("lstmemory", "ctc", "multi_head_attention", "embedding", "seq_slice", "batch_norm", "crf", "lrn"),
        pytest.param("*", marks=pytest.mark.slow),
    ],
)
def test_every_layer_is_counted(name: str) -> None:
    for layer in pl.registry if name == "*" else [name]:
        for case in cases(pl.registry[layer]):
            for launch in launches_of(case.network(), training=case.phase == "train", device="cpu"):
                for one in launch.computes:
                    found = count(one, lambda extent: size(extent, 5), lambda _: None, FOUR)
                    assert found.operations >= 0
                    assert found.nbytes > 0


NESTED = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "y" type: "simple_lstm" input: "x" simple_lstm { size: 3 } }
"""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that take no time."""
    monkeypatch.setattr(step, "SECONDS", 0.01)
    monkeypatch.setattr(peaks, "SECONDS", 0.01)
    monkeypatch.setattr(peaks, "NUMBERS", 1 << 16)


@pytest.mark.usefixtures("short")
def test_layers_and_the_whole_step() -> None:
    text = DATA.format("shape: 30", "fc", 'fc { size: 20 act: "tanh" }')
    times = step.time_step(pl.loads(text), "train", 8)
    assert list(times.layers) == [("y", "forward"), ("y", "backward")]
    assert list(times.whole) == ["forward", "backward"]
    for part in ("forward", "backward"):
        assert times.layers["y", part].seconds > 0
        assert times.whole[part].seconds > 0
        assert times.whole[part].operations == times.layers["y", part].operations >= 2 * 8 * 30 * 20
    assert list(step.time_step(pl.loads(text), "test", 8).whole) == ["forward"]


@pytest.mark.usefixtures("short")
def test_what_is_inside_of_a_layer_has_lines_of_its_own() -> None:
    times = step.time_step(pl.loads(NESTED), "test", 2)
    assert [layer for layer, _ in times.layers] == ["y.gates", "y.lstm"]


STEPS = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "start" type: "data" data { shape: 3 } }
layer {
  name: "g" type: "recurrent_group" input: "x" input: "start"
  recurrent_group { static: "start" }
  step {
    layer { name: "before" type: "memory" input: "start" memory { of: "h" } }
    layer { name: "h" type: "fc" input: "x" input: "before" fc { size: 3 act: "tanh" } }
    output: "h"
  }
}
layer { name: "y" type: "fc" input: "g" fc { size: 2 } }
"""


@pytest.mark.usefixtures("short")
def test_the_layers_of_a_step_take_the_time_of_all_steps() -> None:
    """Each launch of a loop runs in 20 steps, whose rows are counted together."""
    times = step.time_step(pl.loads(STEPS), "train", 2)
    rows = 2 * 20
    assert times.layers["g.h", "forward"].operations == rows * 3 * (2 * 4 + 2 * 3 + 2)
    assert times.layers["g.h", "forward"].seconds > 0
    assert times.layers["g.h", "backward"].seconds > 0
    assert times.layers["y", "forward"].operations == rows * 2 * (2 * 3 + 1)


@pytest.mark.usefixtures("short")
def test_peaks() -> None:
    found = peaks.measure_peaks(1)
    assert 1e8 < found.operations < 1e13
    assert 1e8 < found.bandwidth < 1e13


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, None),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "150000 100000"}, 1),
        ({"cpu.max": "400000 100000"}, 4),
        ({"cpu.max": "20000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({"cpu.max": "nonsense"}, None),
    ],
)
def test_the_share_of_a_container(tmp_path: Path, files: dict[str, str], cores: int | None) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    assert cores_of_container(tmp_path) == cores


def test_never_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pool.most_threads() == usable_cores() <= len(os.sched_getaffinity(0))
    monkeypatch.setattr(pool._Limit, "threads", usable_cores() + 5)
    assert pool.most_threads() == usable_cores()


def test_a_limit_holds_for_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(pool._Limit, "threads", 1)
    found: list[int] = []

    def look() -> None:
        found.append(pool.allowed_threads())

    other = threading.Thread(target=look)
    other.start()
    other.join()
    assert found == [1]


def test_what_numba_was_told_holds_too() -> None:
    code = (
        "import numba, sys\n"
        "from paddle_layers.runtime.devices.cpu.pool import allowed_threads\n"
        "before = allowed_threads()\n"
        "numba.set_num_threads(1)\n"
        "print(before, allowed_threads())\n"
    )
    for told, expected in (({}, f"{usable_cores()} 1\n"), ({"NUMBA_NUM_THREADS": "1"}, "1 1\n")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | told, capture_output=True, text=True, check=True
        )
        assert done.stdout == expected
