"""A fault in a definition for a while: its function has another tree, and what was derived from it is derived anew."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any
from unittest import mock

from paddle_layers.define import Definition
from paddle_layers.define.functions.program import Program

from .sources import Mutant, Source

DERIVED = ("facts", "message")
"""What a definition keeps that follows from the text of its functions."""


@contextlib.contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Within it, the definitions of a mutant's source have the change."""
    with with_tree(mutant.source, mutant.change.tree):
        yield


@contextlib.contextmanager
def with_tree(source: Source, tree: ast.FunctionDef) -> Iterator[None]:
    """Within it, a function or a helper has another text. Drivers are named by their text, so none is stale."""
    if source.function is None:
        with _other_helper(source.call, ast.unparse(tree)):
            yield
        return
    kept = source.function.program
    source.function.__dict__["program"] = Program(tree)
    _forget(source.definitions)
    try:
        yield
    finally:
        source.function.__dict__["program"] = kept
        _forget(source.definitions)


@contextlib.contextmanager
def _other_helper(call: FunctionType, text: str) -> Iterator[None]:
    """Within it, a helper has another text, and does what it says where it is called from Python, too."""
    scope: dict[str, Any] = {}
    exec(compile(text, call.__code__.co_filename, "exec"), scope)
    original, code = inspect.getsource, call.__code__
    with mock.patch.object(inspect, "getsource", lambda asked: text if asked is call else original(asked)):
        call.__code__ = scope[call.__name__].__code__
        try:
            yield
        finally:
            call.__code__ = code


def _forget(definitions: Iterable[Definition]) -> None:
    for definition in definitions:
        for name in DERIVED:
            definition.__dict__.pop(name, None)
