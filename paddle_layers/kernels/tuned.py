"""Tuned kernels: they replace a point function on one device for the shapes that they accept, never define it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from paddle_layers.define.errors import DefinitionError

Sizes = Mapping[str, int]


class Tuned(NamedTuple):
    """A tuned kernel: a compiled function `call(first, last, names ...)` over its own work items."""

    call: Any
    names: tuple[str, ...]
    when: Callable[..., bool] | None
    work: Callable[..., int]
    least: int
    items: Callable[..., int]
    scratch: Callable[..., int] | None
    in_place: bool

    def accepts(self, sizes: Mapping[str, Any]) -> bool:
        """Whether it takes these sizes and attributes."""
        if self.when is not None and not call_by_name(self.when, sizes):
            return False
        return int(call_by_name(self.work, sizes)) >= self.least


_TUNED: dict[tuple[str, str, str], list[Tuned]] = {}


def tuned(
    layer: str,
    function: str,
    *,
    items: Callable[..., int],
    work: Callable[..., int],
    least: int = 0,
    when: Callable[..., bool] | None = None,
    device: str = "cpu",
    scratch: Callable[..., int] | None = None,
    in_place: bool = False,
) -> Callable[[Any], Any]:
    """Register an njit function as a faster form of the point function `function` of `layer`.

    It is called as `call(first, last, ...)` for the work items `first` to `last` of `items(...)`, and asks for
    tensors (whole arrays), axis sizes, attributes, `accumulate` (add to the target) and `scratch` (an array of
    `items x scratch(...)` reals) by name, as point functions do. `work`, `items` and `scratch` are host functions
    of sizes and attributes: operations in all, work items, scratch of an item. Below `least` operations, and where
    `when` says no, the point function stays. The number of items depends on shapes only, so results do not depend
    on threads.
    """

    def mark(call: Any) -> Any:
        names = tuple(inspect.signature(getattr(call, "py_func", call)).parameters)[2:]
        entry = Tuned(call, names, when, work, least, items, scratch, in_place)
        _TUNED.setdefault((layer, function, device), []).append(entry)
        return call

    return mark


def call_by_name(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a host function with the values that it asks for."""
    return function(**{name: given[name] for name in inspect.signature(function).parameters})


@functools.cache
def _load() -> str:
    """Import the kernels room once; gives a digest of its text, which is part of every tuned driver."""
    package = importlib.import_module("paddle_layers.kernels")
    digest = hashlib.sha256()
    for folder in package.__path__:
        for file in sorted(Path(folder).glob("*.py")):
            digest.update(file.read_bytes())
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{info.name}")
    return digest.hexdigest()[:16]


def check_names(functions: Mapping[str, set[str]]) -> None:
    """Refuse tuned kernels of functions that don't exist; `functions` maps layer types to function names."""
    _load()
    for layer, function, _ in _TUNED:
        if function not in functions.get(layer, ()):
            raise DefinitionError(f"a tuned kernel replaces `{function}` of layer `{layer}`, which does not exist")


def find_tuned(layer: str, function: str, device: str, sizes: Mapping[str, Any]) -> Tuned | None:
    """The first tuned kernel that accepts these sizes, or None: the point function it is."""
    if _SWITCHED_OFF:
        return None
    _load()
    for entry in _TUNED.get((layer, function, device), ()):
        if entry.accepts(sizes):
            return entry
    return None


def tuned_functions(layer: str, device: str = "cpu") -> list[str]:
    """Names of the point functions of a layer that have a tuned form on a device."""
    _load()
    return sorted({function for name, function, place in _TUNED if (name, place) == (layer, device)})


def tuned_digest() -> str:
    """Digest of the kernels room."""
    return _load()


_SWITCHED_OFF = False


@contextlib.contextmanager
def point_functions_only() -> Iterator[None]:
    """Within it, no tuned kernel is chosen: plans made there run the point functions."""
    global _SWITCHED_OFF  # noqa: PLW0603  (a switch for checks, never for users)
    before, _SWITCHED_OFF = _SWITCHED_OFF, True
    try:
        yield
    finally:
        _SWITCHED_OFF = before
