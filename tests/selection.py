"""Layers whose kernels a run compiles: a fixed set that covers every kind of kernel, and those that a change concerns.

The selection depends on the commit only, never on the date, so that a commit passes or fails on every day. The usual
run compiles `COVERING` and layers with changed files of their own, the slow part of `.ci/run` every eighth layer and
some with changed shared files; all other kernels run as Python, which gives the same values. `pytest -m slow` compiles
all layers, `--shard 1/8` an eighth of the tests.
"""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

import paddle_layers as pl
from paddle_layers.kernels.digests import sources
from paddle_layers.kernels.selection import kernels_module
from paddle_layers.testing.properties.cuda import ARCHITECTURES, Architecture

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

F = TypeVar("F", bound=Callable[..., Any])
ROOT = Path(__file__).resolve().parent.parent
COVERING = {
    "fc": "tuned matrix product with an activation",
    "pool1d": "tuned windows, and windows from a point function",
    "recurrent": "loop over time steps",
    "softmax_with_loss": "reduction of rows, loss",
    "embedding": "gather, sparse gradient",
    "dropout": "random numbers",
    "seq_max_pool": "sequences",
}
"""Layers that the usual run compiles, each with the kind of kernel that it stands for."""
CONCERNED = 8
"""At most so many with changed files of their own, and so many with changed shared files: else all 200, at times."""
SHARE = 8
"""The slow part of `.ci/run`, which excludes tests marked `later`, takes one layer and one slow guide in so many.
With 4 it took 38 of the 62 minutes of `.ci/run` on two cores."""
ARCHITECTURE = ARCHITECTURES[0]
"""Compute capability for which the usual run compiles."""
LAYERS = "paddle_layers.layers."
RUNTIME = ROOT / "paddle_layers" / "runtime"
COMPILER = tuple(str(path) for folder in ("devices/cpu", "generate") for path in (RUNTIME / folder).glob("*.py"))
"""Files that make machine code of kernels."""
RECENT = 30
"""Commits that a push may have; a shallow checkout has fewer, and then the last one counts."""


def architecture_of(layer: str) -> Architecture:
    """The compute capability for which the slow tests compile the kernels of a layer; all have theirs."""
    return ARCHITECTURES[zlib.crc32(layer.encode()) % len(ARCHITECTURES)]


def every_architecture() -> list[ParameterSet]:
    """Architectures as a parameter of a test; all but one are slow."""
    return [
        pytest.param(one, id="sm_{}{}".format(*one), marks=() if one == ARCHITECTURE else pytest.mark.slow)
        for one in ARCHITECTURES
    ]


def is_compiled(layer: str) -> bool:
    """Whether the usual run compiles the kernels of a layer."""
    return layer in COVERING or is_changed(layer)


def is_changed(layer: str) -> bool:
    """Whether the usual run compiles the kernels of a layer because its own files changed."""
    return layer in _concerned()[0]


def is_touched(layer: str) -> bool:
    """Whether a file of a layer changed, be it shared with others."""
    return not changed_files().isdisjoint(files_of(layer))


@functools.cache
def _concerned() -> tuple[frozenset[str], frozenset[str]]:
    """Layers with a changed module or tuned kernel, and layers with another changed file, which many may share."""
    changed = changed_files()
    own = [layer for layer in _in_order() if not changed.isdisjoint(_own_files(layer))]
    others = [layer for layer in _in_order() if layer not in own and not changed.isdisjoint(files_of(layer))]
    return frozenset(_spaced(own)), frozenset(_spaced(others))


def _spaced(layers: list[str]) -> list[str]:
    """At most `CONCERNED` layers, evenly spaced, so that every family is represented."""
    return layers[:: -(-len(layers) // CONCERNED) or 1]


def _own_files(layer: str) -> set[str]:
    """The module of a layer, and the modules of its tuned kernels."""
    module = pl.registry[layer].module
    names = (module, *(kernels_module(module, device) for device in ("cpu", "cuda")))
    return {str((ROOT / name.replace(".", "/")).with_suffix(".py")) for name in names}


def files_of(layer: str) -> set[str]:
    """Files of a layer: its module, the modules of layers that this imports from, and its tuned kernels."""
    module = pl.registry[layer].module
    tuned = [file for device in ("cpu", "cuda") for file in sources(kernels_module(module, device))]
    own = [Path(str(sys.modules[name].__file__)) for name in _imported(module)]
    return {str(file.resolve()) for file in (*tuned, *own)}


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """A module and the modules of layers from which it imports, directly or not."""
    found, pending = {module}, [module]
    while pending:
        values = vars(sys.modules[pending.pop()]).values()
        owners = (one.__name__ if inspect.ismodule(one) else getattr(one, "__module__", None) for one in values)
        new = {name for name in owners if isinstance(name, str) and name.startswith(LAYERS)} - found
        found |= new
        pending += new
    return frozenset(found)


@functools.cache
def _eighth() -> frozenset[str]:
    """Every eighth layer."""
    return frozenset(_in_order()[::SHARE])


def _in_order() -> list[str]:
    """Layers in the order of their modules."""
    layers = sorted(pl.registry.built_in(), key=lambda definition: (definition.module, definition.name))
    return [definition.name for definition in layers]


@functools.cache
def changed_files(commits: int = 1) -> frozenset[str]:
    """Files that differ from the previous commit, or from one so many before; empty without a repository."""
    git = subprocess.run(
        ["git", "diff", "--name-only", f"HEAD~{commits}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if git.returncode and commits > 1:
        return changed_files()
    return frozenset(str(ROOT / name) for name in git.stdout.splitlines())


def marks_of(layer: str) -> tuple[pytest.MarkDecorator, ...]:
    """Marks of a test that compiles the kernels of a layer."""
    if is_compiled(layer):
        return ()
    return (pytest.mark.slow, pytest.mark.later) if is_later(layer) else (pytest.mark.slow,)


def later_unless_changed(*files: str) -> list[pytest.MarkDecorator]:
    """Marks of tests that are about these files only: none if one has changed, slow if recently, else later, too."""
    if not changed_files().isdisjoint(files):
        return []
    return [pytest.mark.slow, pytest.mark.later] if changed_files(RECENT).isdisjoint(files) else [pytest.mark.slow]


def with_marks(marks: Iterable[pytest.MarkDecorator]) -> Callable[[F], F]:
    """Decorator of a test that has these marks."""
    return lambda test: functools.reduce(lambda marked, mark: mark(marked), marks, test)


def is_turn(number: int) -> bool:
    """Whether the slow part of `.ci/run` takes the entry with this number in a list."""
    return number % SHARE == 0


def is_later(layer: str) -> bool:
    """Whether the slow part of `.ci/run` excludes a layer."""
    return not is_compiled(layer) and layer not in _eighth() and layer not in _concerned()[1]


def compiled_layers(layers: Iterable[str]) -> list[ParameterSet]:
    """Layers as a parameter of a test that compiles their kernels, with the marks of each."""
    return [pytest.param(layer, marks=marks_of(layer)) for layer in layers]


def thoroughly_compiled_layers(layers: Iterable[str]) -> list[ParameterSet]:
    """The same for a slow test with more cases of what the usual run checks: unchanged `COVERING` layers are later."""
    unchanged = COVERING.keys() - _concerned()[0] - _concerned()[1]
    later = (pytest.mark.slow, pytest.mark.later)
    return [pytest.param(layer, marks=later if layer in unchanged else marks_of(layer)) for layer in layers]


def shard(items: list[pytest.Item], choice: str) -> list[pytest.Item]:
    """Tests of shard K of N, given as `K/N`; a test stays in its shard when others are added.

    Raises:
        pytest.UsageError: The choice is not of this form, or not 1 <= K <= N.
    """
    number, _, count = choice.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise pytest.UsageError(f"--shard must be K/N with 1 <= K <= N, found {choice!r}")
    return [item for item in items if zlib.crc32(item.nodeid.encode()) % int(count) == int(number) - 1]


def summary() -> str:
    """What is compiled, for the header of the report."""
    own, shared = (", ".join(sorted(layers)) or "none" for layers in _concerned())
    return (
        f"compiled kernels: {', '.join(COVERING)}; changed since HEAD~1: {own}; in shared files (slow tests): {shared}"
    )
