"""Drivers run as Python give what compiled ones give on all examples: outputs, statistics, states, gradients."""

from __future__ import annotations

import numpy as np
import pytest
from rotation import by_round

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted, is_interpreted
from paddle_layers.testing.cases import cases
from paddle_layers.testing.results import run

TOLERANCE = 2e-5
"""Share of the largest number: functions of `math` round otherwise than those of machine code."""
WITH_INPUTS = [name for name in pl.registry if pl.registry[name].inputs]


@pytest.mark.parametrize("name", by_round(WITH_INPUTS))
def test_python_and_machine_code_agree(name: str) -> None:
    for case in cases(pl.registry[name]):
        with point_functions_only():
            compiled, _ = run(case, "float32")
            with interpreted():
                python, _ = run(case, "float32")
        for name_of_value, value in compiled.items():
            scale = float(np.abs(value[np.isfinite(value)]).max(initial=1e-30))
            np.testing.assert_allclose(
                python[name_of_value], value, rtol=0, atol=TOLERANCE * scale, err_msg=f"{name_of_value} of {case}"
            )


def test_the_switch_goes_back() -> None:
    with interpreted():
        assert is_interpreted()
    with pytest.raises(RuntimeError, match="stop"), interpreted():
        raise RuntimeError("stop")
    assert not is_interpreted()
