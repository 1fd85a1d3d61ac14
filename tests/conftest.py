"""The options of a test run: repeatable property tests, shards, the compiled layers in the header of the report."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import settings

from paddle_layers.runtime.devices.cpu import compiler
from tests.fuzz.target import as_python as running_as_python
from tests.selection import shard, summary

# A run judges the change, not the luck of its random numbers; `--hypothesis-profile default` looks further.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
OF_RESULTS = {"config", "data", "exchange", "training"}
"""Folders with tests of what is computed, independent of how: they run `as_python`.

But for modules with `COMPILED`: equal bits are a property of kernels, and Python takes longer for long trainings.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shard K/N`, for a run of all slow tests on several machines."""
    parser.addoption("--shard", metavar="K/N", help="run only part K of N parts of the tests")


def pytest_configure(config: pytest.Config) -> None:
    """No garbage collection before all tests are collected; each worker compiles on one core."""
    gc.disable()  # collecting tests makes hundreds of thousands of objects and no garbage: a fifth of its time
    if hasattr(config, "workerinput"):
        compiler.MIN_DRIVERS = sys.maxsize  # a process beside it would take the core of another worker


def pytest_collection_finish(session: pytest.Session) -> None:
    """From here on there is garbage; what was collected is none, and need not be looked at again and again."""
    gc.freeze()
    gc.set_threshold(10_000)  # by default, 4 % of the time of tests that generate configs is garbage collection
    gc.enable()


@pytest.fixture
def as_python() -> Iterator[None]:
    """Functions of layers run as Python: for tests of what is computed, which need not wait for a compiler.

    That compiled and tuned kernels give the same is a property of the conformance kit.
    """
    with running_as_python():
        yield


@pytest.fixture(scope="module", autouse=True)
def _as_python_in_folders_of_results(request: pytest.FixtureRequest) -> Iterator[None]:
    """Of a module, so that its other fixtures do not compile either; runs of slow tests compile, as these train."""
    usual = "not slow" in request.config.getoption("markexpr")
    of_results = request.path.parent.name in OF_RESULTS and not getattr(request.module, "COMPILED", False)
    with running_as_python() if usual and of_results else nullcontext():
        yield


@pytest.hookimpl(tryfirst=True)  # before any are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that compare with PyTorch are known by their names; tests of other shards are deselected."""
    for item in items:
        if item.path.name.startswith("test_truth_torch_"):
            item.add_marker("peers")
    if choice := config.getoption("shard"):
        kept = shard(items, choice)
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names of tests without bytes: compressed ones contain the time, so that two workers would collect other tests."""
    return f"{argname}-{len(val)} bytes" if isinstance(val, bytes) else None


def pytest_report_header(config: pytest.Config) -> str:
    """What this run compiles."""
    return summary()
