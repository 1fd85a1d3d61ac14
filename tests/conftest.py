"""The same round of compiled kernels in every worker, told at the top of the report."""

from __future__ import annotations

import pytest
from rotation import current_round, summary


def pytest_configure(config: pytest.Config) -> None:
    """Fix the round before workers start: a run may last over midnight."""
    current_round()


def pytest_report_header(config: pytest.Config) -> str:
    """What this run compiles."""
    return summary()
