"""The switch between drivers that run as Python and compiled ones; that they agree is a property of the kit."""

from __future__ import annotations

import pytest

from paddle_layers.runtime.devices.cpu.interpreter import interpreted, is_interpreted


def test_the_switch_goes_back() -> None:
    with interpreted():
        assert is_interpreted()
    with pytest.raises(RuntimeError, match="stop"), interpreted():
        raise RuntimeError("stop")
    assert not is_interpreted()
