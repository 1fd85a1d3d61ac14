"""Functions of a layer that run on the host, with checked arguments: ONNX export, and all-reduce of temporaries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from ..errors import DefinitionError, suggestion
from ..fields.tensors import Field, Temp


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


class Joined(NamedTuple):
    """Temporaries that a function on the host gives, of those of all processes."""

    targets: tuple[str, ...]
    when: str
    """The attribute that has to be true."""
    call: Callable[..., Any]
    args: tuple[str, ...]


def make_joined(targets: tuple[Field, ...], when: str, call: Callable[..., Any], attributes: Collection[str]) -> Joined:
    """Raises `DefinitionError` for what the function asks for and is not given."""
    code = call.__code__
    for target in targets:
        if not isinstance(target, Temp):
            raise DefinitionError(f"@joined: `{target.name}` is not a Temp", code.co_filename, code.co_firstlineno)
    args, names = tuple(inspect.signature(call).parameters), tuple(target.name for target in targets)
    known = {*names, *attributes, "training", "add_up"}
    for name in (when, *args):
        if name not in known:
            message = f"@joined: unknown argument `{name}`{suggestion(name, known)}"
            raise DefinitionError(message, code.co_filename, code.co_firstlineno)
    return Joined(names, when, call, args)
