"""The same round of compiled kernels in every worker, told at the top of the report; property tests that repeat."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from tests.rotation import current_round, summary

# A run judges the change, not the luck of its random numbers; `--hypothesis-profile default` looks further.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Fix the round before workers start: a run may last over midnight."""
    current_round()
    gc.disable()  # collecting tests makes hundreds of thousands of objects and no garbage: a fifth of its time


def pytest_collection_finish(session: pytest.Session) -> None:
    """From here on there is garbage; what was collected is none, and need not be looked at again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def as_python() -> Iterator[None]:
    """Functions of layers run as Python: for tests of what is computed, which need not wait for a compiler.

    That compiled and tuned kernels give the same is a property of the conformance kit.
    """
    with point_functions_only(), interpreted():
        yield


@pytest.hookimpl(tryfirst=True)  # before any are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that compare with PyTorch are known by their names."""
    for item in items:
        if item.path.name.startswith("test_truth_torch_"):
            item.add_marker("peers")


def pytest_report_header(config: pytest.Config) -> str:
    """What this run compiles."""
    return summary()
