"""Results of a pass of a test case."""

from __future__ import annotations

from paddle_layers.runtime.devices.protocol import Device

from .case import Case
from .trial import Results, Trial


def run(case: Case, dtype: str, device: str | Device = "cpu") -> tuple[Results, set[str]]:
    """Outputs, statistics, states and gradients of one pass, and the names of the tuned functions that ran."""
    with Trial(case, dtype, device) as trial:
        return trial.step(), trial.tuned
