"""Digests of the texts of kernels: a driver is compiled anew where what its kernel is made of has changed.

The driver calls the kernel, and numba does not notice an edit in what is called.
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
"""It says when a kernel runs, not what it computes."""


@functools.cache
def tuned_digest(module: str) -> str:
    """Digest of the files that the kernels of a module are made of."""
    digest = hashlib.sha256()
    for file in sources(module):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def sources(module: str) -> list[Path]:
    """The files of a module of kernels: its own and those that it imports of this package; none if it is missing.

    Kernels of a plugin may call whatever their package has, so its whole text counts.
    """
    package = module.partition(".")[0]
    if package == LIBRARY:
        return sorted(_files([module]))
    folders = map(Path, importlib.import_module(package).__path__)
    own = {file for folder in folders for file in folder.glob("**/*.py")}
    return sorted(own | _files(name for file in own for name in _imports(file.read_bytes(), "")))


def _files(modules: Iterable[str]) -> set[Path]:
    """The files of modules of this package, and of those that they import."""
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
    """Full names that a text imports, of modules or from them; relative ones only where its package is given."""
    names: list[str] = []
    for node in _statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names += (base, *(f"{base}.{alias.name}" for alias in node.names))
    return names


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, but not the expressions in them, of which there are ten times as many."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(tree, block, ()):
            yield inner
            yield from _statements(inner)
