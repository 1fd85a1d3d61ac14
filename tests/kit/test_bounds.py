"""Tuned kernels with every index checked; point functions are in every test that runs them as Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paddle_layers.runtime.devices.cpu.interpreter import _Strict

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow  # two minutes the first time: the kernels are compiled anew
def test_tuned_kernels_read_and_write_in_their_arrays_only() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.bounds"], cwd=ROOT, capture_output=True, text=True, check=False)
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
