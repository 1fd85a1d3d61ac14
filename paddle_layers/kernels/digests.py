"""Source digests of kernels: a driver is recompiled if the sources of its kernel have changed.

The driver calls the kernel, and numba does not detect changes in called functions.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
from collections.abc import Iterable, Iterator
from importlib.util import resolve_name
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY, KERNELS = __name__.split(".")[:2]
REGISTRY = FOLDER / "tuned.py"
"""Decides when a kernel runs, not what it computes."""


@functools.cache
def tuned_digest(module: str) -> str:
    """Digest of the source files of the kernels of a module."""
    digest = hashlib.sha256()
    for file in sources(module):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def sources(module: str) -> list[Path]:
    """Source files of a kernel module: its own and those that it imports from this package; empty if it is missing.

    Kernels of a plugin may call anything of their package, so the sources of the whole package count.
    """
    package = module.partition(".")[0]
    if package == LIBRARY:
        return sorted(_files([module]))
    folders = map(Path, importlib.import_module(package).__path__)
    own = {file for folder in folders for file in folder.glob("**/*.py")}
    # Too many files only cause needless compilations, too few wrong results.
    return sorted(own | _files(name for file in own for name in _imports(file.read_bytes(), "")))


def _files(modules: Iterable[str]) -> set[Path]:
    """Files of modules of this package and of the modules that they import."""
    files: set[Path] = set()
    pending = [*modules]
    while pending:
        module = pending.pop()
        file = FOLDER.joinpath(*module.split(".")[2:]).with_suffix(".py")
        if module.startswith(f"{LIBRARY}.{KERNELS}.") and file.is_file() and file not in {REGISTRY, *files}:
            files.add(file)
            pending += _imports(file.read_bytes(), module.rpartition(".")[0])
    return files


@functools.cache  # most kernels import the same files
def _imports(text: bytes, package: str) -> list[str]:
    """Full names that a source imports, of modules or from them; relative ones only if its package is known."""
    names: list[str] = []
    for node in _statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names += (base, *(f"{base}.{alias.name}" for alias in node.names))
    return names


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, without their expressions, of which there are ten times as many."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(tree, block, ()):
            yield inner
            yield from _statements(inner)
