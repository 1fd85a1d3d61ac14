"""The hand-written tests of a layer, for mutants that the comparison with references and the kit do not kill.

They take seconds where the other checks take milliseconds, so they run for these mutants only.
"""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Iterable
from pathlib import Path

import pytest

from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted

from .sources import Source

TESTS = Path(__file__).resolve().parents[1]
GENERIC = ("test_every_layer.py", "test_references.py")
"""Files that test all layers alike, which the other checks do as well."""
ALWAYS = ("test_limits.py",)
"""Files that find their layers in the registry."""
OPTIONS = (
    "-q",
    "-x",
    "-n0",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:hypothesispytest",
    "-m",
    "not slow and not peers and not benchmark",
)


def passing_files(source: Source) -> list[Path]:
    """Files of tests that name a definition of a source and pass without a mutant."""
    names = [definition.name for definition in source.definitions]
    named = [path for path in _files() if path.name in ALWAYS or any(f'"{name}"' in _text(path) for name in names)]
    return [path for path in named if _passes(path)]


def failing_file(paths: Iterable[Path]) -> str | None:
    """The first file with a test that fails, or None."""
    return next((path.name for path in paths if _run(path) == pytest.ExitCode.TESTS_FAILED), None)


def _files() -> list[Path]:
    folders = [path for path in sorted((TESTS / "layers").glob("test_*.py")) if path.name not in GENERIC]
    return [*folders, TESTS / "training" / "test_optimizers.py"]


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _passes(path: Path) -> bool:
    return _run(path) == pytest.ExitCode.OK


def _run(path: Path) -> int:
    """Exit status of the tests of a file, as Python, in this process: the mutant is planted here."""
    with contextlib.redirect_stdout(io.StringIO()), point_functions_only(), interpreted():
        return pytest.main([*OPTIONS, str(path)])
