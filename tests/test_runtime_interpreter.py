"""Drivers run as Python give what compiled ones give, on all examples of all layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rotation import by_round

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Sequences
from paddle_layers.runtime.interpreter import interpreted, is_interpreted
from paddle_layers.testing.cases import Case, cases

WITH_INPUTS = [name for name in pl.registry if pl.registry[name].inputs]


def outputs_of(case: Case) -> dict[str, Any]:
    with case.net("float32") as net:
        found = net.forward(case.feeds(case.arrays()), phase=case.phase)
    return {name: value.data if isinstance(value, Sequences) else value for name, value in found.items()}


@pytest.mark.parametrize("name", by_round(WITH_INPUTS))
def test_python_and_machine_code_agree(name: str) -> None:
    for case in cases(pl.registry[name]):
        with point_functions_only():
            compiled = outputs_of(case)
            with interpreted():
                python = outputs_of(case)
        for output, value in compiled.items():
            np.testing.assert_allclose(python[output], value, rtol=1e-5, atol=1e-6, err_msg=str(case))


def test_the_switch_goes_back() -> None:
    with interpreted():
        assert is_interpreted()
    with pytest.raises(RuntimeError, match="stop"), interpreted():
        raise RuntimeError("stop")
    assert not is_interpreted()
