"""What the usual run compiles: a forty-eighth of the layers, other ones every day, and those whose files have changed.

The rest runs as Python, which gives the same numbers; `pytest -m slow` compiles everything, the CUDA kernels of each
layer for one of the architectures, for another one every day.
"""

from __future__ import annotations

import functools
import os
import subprocess
import zlib
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
    of_today = sorted(definition.name for definition in pl.registry.built_in())[current_round() :: ROUNDS]
    return layer in of_today or not changed_files().isdisjoint({str(Path(definition.file).resolve()), *map(str, tuned)})


@functools.cache
def changed_files() -> frozenset[str]:
    """Files that differ from the commit before the last one; none where there is no repository."""
    git = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return frozenset(str(ROOT / name) for name in git.stdout.splitlines())


def marks_of(layer: str) -> tuple[pytest.MarkDecorator, ...]:
    """Tests that compile the kernels of a layer are slow in the other rounds."""
    return () if is_compiled(layer) else (pytest.mark.slow,)


def summary() -> str:
    """What is compiled, and how to repeat it."""
    number, (major, minor) = current_round(), architecture()
    return (
        f"compiled kernels: those of round {number} of 0 to {ROUNDS - 1}, CUDA for sm_{major}{minor}; "
        f"{VARIABLE}={number} repeats it, `pytest -m slow` compiles all, those of each layer for one "
        f"of {len(ARCHITECTURES)} cards, another one in the next round"
    )
