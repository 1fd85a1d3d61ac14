"""`check` of optimizers, regularizers and schedules; errors of plugins before the first step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paddle_layers.define import registries
from paddle_layers.testing.properties.components import COMPONENTS, check_component

SCHEDULE = """\
import paddle_layers as pl


@pl.schedule("ours_rate")
class Rate:
    "A schedule."

{rate}
"""
OPTIMIZER = """\
import paddle_layers as pl


@pl.optimizer("ours_plain")
class Plain:
    "An optimizer with a state."

    velocity = pl.State("running step")


@pl.step(Plain)
def plain_step(i, value, gradient, rate, velocity):
    return {result}
"""
LOSS = """\
import paddle_layers as pl


@pl.layer("ours_loss")
class Loss:
    "Sum of absolute values."

    x = pl.Input("N C", "scores")
    y = pl.Output("N", "loss")
    examples = [pl.Example(x="7")]


@pl.each(Loss.y)
def loss_y(n, x, C):
    total = 0.0
    for c in range(C):
        total += abs(x[n, c])
    return total
"""
TRAINING = """\
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "y" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "cost" type: "ours_loss" input: "y" }
}
optimizer { type: "sgd" learning_rate: 0.1 }
steps: 1
source { type: "synthetic" synthetic { fields: "x: 2" } }
"""


def run(folder: Path, plugin: str, *words: str) -> tuple[int, str]:
    (folder / "ours.py").write_text(plugin)
    line = [sys.executable, "-m", "paddle_layers", *words, "--plugins", "ours.py"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder, timeout=120)
    return done.returncode, (done.stdout + done.stderr).replace(f"{folder}/", "")


@pytest.mark.parametrize("kind", COMPONENTS)
def test_built_in_ones_pass(kind: str) -> None:
    for definition in registries[kind].values():
        if definition.module.startswith("paddle_layers."):
            assert check_component(kind, definition.name) > 0


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (
            "    def rate(self, base, step):\n        return base",
            "ours.py:5: schedule `ours_rate`: `rate(self, base, step)` cannot be called with 3 arguments; write `def "
            "rate(self, base, step, total)`",
        ),
        (
            "    def value(self):\n        return 1",
            "ours.py:5: schedule `ours_rate`: has no method `rate`; write `def rate(self, base, step, total)`",
        ),
        (
            "    def rate(self, base, step, total):\n        return base - step",
            "ours.py:5: schedule `ours_rate`: `rate(0.1, 1, 100)` returns -0.9, must return a finite number >= 0",
        ),
        (
            "    def rate(self, base, step, total):\n        return base / step",
            "ours.py:5: schedule `ours_rate`: raised ZeroDivisionError: float division by zero",
        ),
    ],
)
def test_check_of_a_schedule(tmp_path: Path, rate: str, message: str) -> None:
    status, output = run(tmp_path, SCHEDULE.format(rate=rate), "check", "ours_rate")
    assert status == 1
    assert message in output
    assert "Traceback" not in output


def test_check_of_an_optimizer(tmp_path: Path) -> None:
    status, output = run(tmp_path, OPTIMIZER.format(result="value[i] - rate * gradient[i]"), "check", "ours_plain")
    assert status == 1
    assert "expected 2 numbers, the weight and its 1 states" in output
    right = OPTIMIZER.format(result="value[i] - rate * gradient[i], velocity[i]")
    assert run(tmp_path, right, "check", "ours_plain", "l2") == (
        0,
        "ours_plain: passed (optimizer, 32 checks)\nl2: passed (regularizer, 32 checks)\n",
    )


def test_a_loss_that_is_not_declared(tmp_path: Path) -> None:
    (tmp_path / "t.textproto").write_text(TRAINING)
    for command in ("validate", "train"):
        status, output = run(tmp_path, LOSS, command, "t.textproto")
        assert status == 1
        assert (
            "the network has no loss in the train phase; if the layer `cost` is meant as one, declare it in "
            '`ours_loss`, `y = pl.Output("N", "...", loss=True)`, or set `loss_weight: 1` in the layer' in output
        )


def test_negative_rates_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.textproto").write_text(
        TRAINING.replace('"ours_loss" input: "y"', '"square_error" input: "y" input: "x"')
        + 'schedule { type: "ours_rate" }\n'
    )
    rate = "    def rate(self, base, step, total):\n        return -base"
    for command in ("validate", "train"):
        status, output = run(tmp_path, SCHEDULE.format(rate=rate), command, "t.textproto")
        assert status == 1
        assert "t.textproto:9:1: error[E103]: the schedule returned -0.1 at step 1: `rate` of Rate must" in output
