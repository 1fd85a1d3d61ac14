"""ONNX export functions of layers, which take tensors and attributes by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import DefinitionError, suggestion


class OnnxFunction(NamedTuple):
    """The function and the names that it asks for."""

    call: Callable[..., Any]
    args: tuple[str, ...]


def onnx_function(call: Callable[..., Any], known: set[str]) -> OnnxFunction:
    """Check the arguments at once, at the author's line. Raises `DefinitionError`."""
    code, args = call.__code__, tuple(inspect.signature(call).parameters)
    wrong = ""
    if args[:1] != ("graph",):
        wrong = "the first argument must be `graph`, which creates the nodes"
    for name in args[1:]:
        if name not in known and not wrong:
            wrong = f"unknown argument `{name}`{suggestion(name, known)}"
    if wrong:
        raise DefinitionError(f"{call.__name__}: {wrong}", code.co_filename, code.co_firstlineno)
    return OnnxFunction(call, args)
