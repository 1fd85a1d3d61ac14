"""All-reduce of temporaries over the processes that share a batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from ..errors import DefinitionError, suggestion
from ..fields.tensors import Field, Temp


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
