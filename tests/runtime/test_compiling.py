"""The first compile of a network: on all cores, with the time that is left, and kept when it is stopped."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.kernels import digests
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime.devices.cpu import compiler
from paddle_layers.runtime.devices.cpu.compiler import Driver, DriverText, _in_order, compile_all, cpu_driver
from paddle_layers.runtime.generate.cache import is_compiled
from paddle_layers.runtime.generate.drivers import TunedCall
from paddle_layers.testing.properties.cuda import launches_of
from paddle_layers.training.progress import LineProgress

TEXT = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "a" type: "fc" input: "x" fc { size: 2 act: "tanh" } }
layer { name: "b" type: "softmax" input: "a" }
"""


@pytest.fixture
def drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Driver]:
    """Those of a network, in a folder of their own, where nothing is compiled; none is imported yet."""
    found = {}
    for launch in launches_of(pl.loads(TEXT), training=True, device="cpu"):
        made = cpu_driver(launch.code, "float64")
        found[made.name] = made._replace(path=tmp_path / "cpu" / made.path.name)
        monkeypatch.delitem(sys.modules, f"paddle_layers_driver_cpu_{made.path.stem}", raising=False)
    (tmp_path / "cpu").mkdir(mode=0o700)
    return list(found.values())


def test_a_process_compiles_what_it_is_given(drivers: list[Driver]) -> None:
    wrong = DriverText(drivers[0].path.with_name("wrong.py"), "raise ValueError")
    given = [wrong, *(DriverText(driver.path, driver.text) for driver in drivers[:2])]
    process = compiler._start_process(given)
    assert process is not None
    assert process.wait(timeout=600) == 0
    assert [is_compiled(text.path) for text in given] == [False, True, True]


def test_as_many_processes_as_there_is_work_for(drivers: list[Driver], monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[DriverText]] = []
    monkeypatch.setattr(compiler, "_start_process", lambda texts: started.append(list(texts)))
    monkeypatch.setattr(compiler, "MIN_DRIVERS", 12)
    texts = [DriverText(driver.path, "") for driver in drivers * 30][: 12 * 3 - 1]
    for cores, expected in ((1, 0), (2, 1), (8, 2)):
        monkeypatch.setattr(compiler, "most_threads", lambda cores=cores: cores)
        started.clear()
        with compiler.compiling_beside(texts):
            pass
        assert len(started) == expected
        if started:  # every driver is somebody's, the last ones come first
            assert sorted(text for part in started for text in part) == sorted(texts)
            assert started[0][0] == texts[-1]


TWO_CONVOLUTIONS = """
layer { name: "x" type: "data" data { shape: [8, 12, 12] } }
layer { name: "a" type: "conv" input: "x" conv { num_filters: 8 filter_size: 3 act: "relu" } }
layer { name: "b" type: "conv" input: "a" conv { num_filters: 8 filter_size: 3 } }
layer { name: "c" type: "conv" input: "a" conv { num_filters: 8 filter_size: 3 } }
"""


@pytest.fixture
def tuned_drivers() -> list[Driver]:
    """Those of a network in which two layers add to one gradient, one for each launch."""
    with tuned_at_every_size():
        launches = launches_of(pl.loads(TWO_CONVOLUTIONS), training=True, device="cpu")
    return [cpu_driver(launch.code, "float32") for launch in launches]


def test_a_long_kernel_is_compiled_once_for_setting_and_adding(tuned_drivers: list[Driver]) -> None:
    gradients = [driver for driver in tuned_drivers if driver.function == "correlate_volumes_back"]
    adds = [driver.code.constants["accumulate"] for driver in gradients if isinstance(driver.code, TunedCall)]
    assert sorted(adds) == [False, True]
    assert len({driver.text for driver in gradients}) == 1


def test_what_takes_longest_is_at_both_ends(tuned_drivers: list[Driver]) -> None:
    drivers = [*{driver.path: driver for driver in tuned_drivers}.values()]
    ordered = _in_order(drivers)
    assert sorted(driver.path for driver in ordered) == sorted(driver.path for driver in drivers)
    functions = [(driver.module, driver.function) for driver in ordered]
    tuned = [function for function in functions if function != ("", "")]
    assert functions[0][1]
    assert functions[-1][1]
    assert ("", "") in functions
    assert tuned == sorted(tuned)


def test_ctrl_c_says_what_is_kept(drivers: list[Driver], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def stop(done: int, total: int, name: str) -> None:
        seen.append((done, total, name))
        if done == 1:
            raise KeyboardInterrupt

    few = drivers[:3]
    with pytest.raises(
        KeyboardInterrupt, match=r"^compiled and cached 1 of 3 kernels; the next run compiles the other 2$"
    ):
        compile_all(few, stop)
    again: list[tuple[int, int, str]] = []
    compile_all(few, lambda *facts: again.append(facts))
    assert again == [(0, 2, few[1].name), (1, 2, few[2].name), (2, 2, "")]


def test_lines_say_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = io.StringIO(), iter([100.0] * 2 + [110.0] * 2 + [112.0] * 2 + [140.0] * 2)
    monkeypatch.setattr("paddle_layers.training.progress.time.monotonic", lambda: next(clock))
    lines = LineProgress(shown)
    for done in (0, 5, 6, 20):
        lines.compiling(done, 20, "kernel")
    assert shown.getvalue().splitlines()[1:] == ["compiled 5 of 20 kernels, 30 s left", "compiled 20 of 20 kernels"]


def test_the_command_says_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(TEXT, encoding="utf-8")
    program = (
        "import sys, paddle_layers.runtime.devices.cpu.compiler as c\n"
        "from paddle_layers.cli.app import main\n"
        "def stop(driver): raise KeyboardInterrupt\n"
        "c.Driver.address = stop\n"
        "sys.argv[1:] = ['warm', 'net.textproto']\n"
        "main()\n"
    )
    environment = os.environ | {"PADDLE_LAYERS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "\ncompiled and cached 0 of " in done.stderr
    assert " kernels; the next run compiles the other " in done.stderr
    assert "Traceback" not in done.stderr


def test_no_kernel_assigns_an_array_to_a_slice() -> None:
    """The first one costs the compiler 1.7 s in every process: `vectors.copy` does it."""

    def is_slice(node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))

    found = [
        f"{file.name}:{node.lineno}"
        for file in digests.FOLDER.glob("*/*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Assign) and is_slice(node.targets[0]) and is_slice(node.value)
    ]
    assert not found
