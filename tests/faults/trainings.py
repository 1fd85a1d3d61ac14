"""The training that the cases break: small, with a checkpoint after every step, and what is left of it in the end."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .processes import Done, Preparation, end, paddle_layers, start

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, write

STEPS = 40
TEXT = (NETWORK + SOURCES + SETTINGS).replace("steps: 30", f"steps: {STEPS}").replace(
    "checkpoint { every: 10 }", "checkpoint { every: 1 }"
) + "test { every: 7 }"
OUTPUT = "out"
WIDE = """name: "wide" type: "fc" input: "x" fc { size: WIDE } }
  layer { name: "fc0" type: "fc" input: "wide" fc { size: WIDE } }
  layer { name: "fc1" type: "fc" input: "fc0\""""


FEW = """
net {
  layer { name: "x" type: "data" data { shape: [8] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "scores" type: "fc" input: "x" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
source { type: "npz" phase: "train" npz { file: "train.npz" } }
batch_size: 8
steps: 4
optimizer { type: "sgd" learning_rate: 0.1 }
"""
"""A training with few kernels, which are soon compiled."""


class Left(NamedTuple):
    """What a training leaves: the weights, and the log without its times."""

    weights: bytes
    log: list[dict[str, str]]


def write_training(folder: Path, *, steps: int = STEPS, every: int = 1, wide: int = 6) -> None:
    """The training file and its data."""
    text = TEXT.replace(f"steps: {STEPS}", f"steps: {steps}")
    if wide > 6:
        text = text.replace('name: "fc1" type: "fc" input: "x"', WIDE.replace("WIDE", str(wide)))
    write(folder, text.replace("checkpoint { every: 1 }", f"checkpoint {{ every: {every} }}"))


def begin(
    folder: Path, *options: str, output: str | Path = OUTPUT, before: Preparation | None = None, **settings: str | None
) -> subprocess.Popen[str]:
    """Start the training."""
    command = paddle_layers("train", "train.textproto", "--output", str(output), *options)
    return start(command, folder, before=before, **settings)


def train(
    folder: Path, *options: str, output: str | Path = OUTPUT, before: Preparation | None = None, **settings: str | None
) -> Done:
    """Train to the end."""
    return end(begin(folder, *options, output=output, before=before, **settings))


def uninterrupted(folder: Path) -> Left:
    """What the training leaves when nothing happens to it."""
    train(folder, output="whole").fine()
    return left(folder / "whole")


def left(output: Path) -> Left:
    """What is in the folder of a training; nothing half-written is among it."""
    scraps = [str(path) for path in output.rglob("*") if path.name.endswith(".tmp")]
    assert not scraps, scraps
    with (output / "log.csv").open(newline="") as file:
        log = [{**line, "seconds": ""} for line in csv.DictReader(file)]
    return Left((output / "weights.safetensors").read_bytes(), log)


def goes_on(folder: Path, whole: Left, *, output: str | Path = OUTPUT) -> None:
    """What is there can be resumed, and ends as if nothing had happened."""
    train(folder, "--resume", output=output).fine()
    assert left(folder / output) == whole
