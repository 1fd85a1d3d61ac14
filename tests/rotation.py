"""What a run compiles: a share of the layers, other ones every day, and those whose files have changed.

The usual run takes a forty-eighth, the slow part of `.ci/run` a quarter; the rest runs as Python, which gives the same
numbers. `pytest -m slow` compiles everything, the CUDA kernels of each layer for one of the architectures, for another
one every day.
"""

from __future__ import annotations

import functools
import os
import subprocess
import zlib
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import paddle_layers as pl
from paddle_layers.kernels.digests import sources
from paddle_layers.kernels.loading import kernels_module
from paddle_layers.testing.properties.ptx import ARCHITECTURES, Architecture

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "PADDLE_LAYERS_TEST_ROUND"
ROUNDS = 48
"""Rounds in which the usual run has compiled all layers."""
SHARES = 4
"""Rounds in which `.ci/run`, which leaves out tests with the mark `later`, has taken all; a divisor of the above."""


def current_round() -> int:
    """A number from 0 on: what the variable says, or the day."""
    return int(os.environ.setdefault(VARIABLE, str(date.today().toordinal() % ROUNDS))) % ROUNDS


def architecture() -> Architecture:
    """The compute capability for which kernels are compiled."""
    return ARCHITECTURES[current_round() % len(ARCHITECTURES)]


def architecture_of(layer: str) -> Architecture:
    """The compute capability for which the kernels of a layer are compiled in a run that compiles all layers."""
    return ARCHITECTURES[(current_round() + zlib.crc32(layer.encode())) % len(ARCHITECTURES)]


def every_architecture() -> list[ParameterSet]:
    """Architectures as a parameter of a test that compiles for them: in the usual run, that of the round."""
    return [
        pytest.param(one, id="sm_{}{}".format(*one), marks=() if one == architecture() else pytest.mark.slow)
        for one in ARCHITECTURES
    ]


@functools.cache
def is_compiled(layer: str) -> bool:
    """Whether the kernels of a layer are compiled in this round, or because its file or one of theirs changed."""
    definition = pl.registry[layer]
    tuned = [file for device in ("cpu", "cuda") for file in sources(kernels_module(definition.module, device))]
    return layer in _every(ROUNDS) or not changed_files().isdisjoint(
        {str(Path(definition.file).resolve()), *map(str, tuned)}
    )


@functools.cache
def _every(rounds: int) -> frozenset[str]:
    """Layers of this round, where all have had their turn after so many; those of a file have it one by one."""
    layers = sorted(pl.registry.built_in(), key=lambda definition: (definition.module, definition.name))
    return frozenset(definition.name for definition in layers[current_round() % rounds :: rounds])


@functools.cache
def changed_files() -> frozenset[str]:
    """Files that differ from the commit before the last one; none where there is no repository."""
    git = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return frozenset(str(ROOT / name) for name in git.stdout.splitlines())


def marks_of(layer: str) -> tuple[pytest.MarkDecorator, ...]:
    """Tests that compile the kernels of a layer are slow in the other rounds, and most of them `later`."""
    if is_compiled(layer):
        return ()
    return (pytest.mark.slow, pytest.mark.later) if is_later(layer) else (pytest.mark.slow,)


def is_turn(number: int) -> bool:
    """Whether the slow part of `.ci/run` takes what has this number in this round."""
    return number % SHARES == current_round() % SHARES


def is_later(layer: str) -> bool:
    """Whether even the slow part of `.ci/run` leaves a layer to another round."""
    return not is_compiled(layer) and layer not in _every(SHARES)


def layers_by_round(layers: Iterable[str]) -> list[ParameterSet]:
    """Layers as a parameter of a test, with the marks of each."""
    return [pytest.param(layer, marks=marks_of(layer)) for layer in layers]


def summary() -> str:
    """What is compiled, and how to repeat it."""
    number, (major, minor) = current_round(), architecture()
    return (
        f"compiled kernels: those of round {number} of 0 to {ROUNDS - 1}, CUDA for sm_{major}{minor}; "
        f"{VARIABLE}={number} repeats it, `pytest -m slow` compiles all, those of each layer for one "
        f"of {len(ARCHITECTURES)} cards, another one in the next round; with `and not later` those of one layer in "
        f"{SHARES} and one slow guide in {SHARES}, round {number % SHARES} of 0 to {SHARES - 1}, and what changed"
    )
