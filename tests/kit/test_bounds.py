"""Tuned kernels with every index checked; point functions are in every test that runs them as Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.devices.cpu.interpreter import _Strict
from tests.selection import is_later

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow  # two minutes for all, the first time: the kernels are compiled anew
@pytest.mark.parametrize("later", [False, pytest.param(True, marks=pytest.mark.later)])
def test_tuned_kernels_read_and_write_in_their_arrays_only(later: bool) -> None:
    layers = [layer for layer in pl.registry if is_later(layer) == later]
    command = [sys.executable, "-m", "tests.bounds", *layers]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("index", [(0, -1), (-1, 0), (0, 3), (2, 0), np.int64(-1), -1])
def test_python_refuses_indices_that_machine_code_does_not_check(index: object) -> None:
    memory = np.zeros((2, 3))
    array = memory.view(_Strict)
    with pytest.raises(IndexError):
        array[index]
    with pytest.raises(IndexError):
        array[index] = 1.0
    assert array[1, 2] == 0.0
