"""Tuned kernels: they replace a point function on one device for the shapes that they accept, never define it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from paddle_layers.define.errors import DefinitionError
from paddle_layers.define.switching import switched

from .pieces import PIECES

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
    threads: int
    """Threads of a CUDA block."""
    scratch_of_pieces: bool = False
    """Whether items of a piece share their scratch memory."""
    runs: Callable[..., int] | None = None
    """Into how many equal runs the items cut each target."""
    pass_name: str = ""
    """The pass without which it is not chosen."""
    prepared: Callable[..., int] | None = None
    """Reals that it makes of parameters for the kernel behind it."""
    then: Tuned | None = None
    """What runs behind it and finds the scratch memory as it left it."""

    @property
    def function(self) -> Any:
        """The Python function that was compiled."""
        return getattr(self.call, "py_func", self.call)

    def is_of(self, module: str) -> bool:
        """Whether it is written in this module or in one below it."""
        return f"{self.function.__module__}.".startswith(f"{module}.")

    def scratch_size(self, sizes: Mapping[str, Any]) -> int:
        """Reals of scratch memory for all items."""
        assert self.scratch is not None
        items = int(call_by_name(self.items, sizes))
        return (min(items, PIECES) if self.scratch_of_pieces else items) * int(call_by_name(self.scratch, sizes))

    def accepts(self, sizes: Mapping[str, Any]) -> bool:
        """Whether it takes these sizes and attributes."""
        if self.pass_name in _WITHOUT.get():
            return False
        if self.when is not None and not call_by_name(self.when, sizes):
            return False
        return tuned_is_wanted(int(call_by_name(self.work, sizes)), self.least)


_TUNED: dict[tuple[str, str, str], list[Tuned]] = {}


def _no_work() -> int:
    return 0


def _error(function: Any, message: str) -> DefinitionError:
    code = function.__code__
    return DefinitionError(f"{function.__name__}: {message}", code.co_filename, code.co_firstlineno)


def tuned(
    layer: str,
    function: str,
    *,
    items: Callable[..., int],
    work: Callable[..., int] = _no_work,
    least: int = 0,
    when: Callable[..., bool] | None = None,
    device: str = "cpu",
    scratch: Callable[..., int] | None = None,
    in_place: bool = False,
    runs: Callable[..., int] | None = None,
    threads: int = 0,
    scratch_of_pieces: bool = False,
    pass_name: str = "",
    prepared: Callable[..., int] | None = None,
    behind: Any = None,
) -> Callable[[Any], Any]:
    """Register a function as a faster form of the point function `function` of `layer`.

    On the CPU it is an njit function, called as `call(first, last, ...)` for the work items `first` to `last` of
    `items(...)`. On `"cuda"` it is a plain function, `call(...)`, whose text becomes the kernel: it runs with `items`
    blocks of `threads` threads (`THREADS` in its text), and uses `cuda`, `real` and `double`. Both ask for
    tensors (whole arrays), axis sizes, attributes, `accumulate` (add to the target) and `scratch` (an array of
    `items x scratch(...)` reals) by name, as point functions do. `accumulate` is folded into the text, so the kernel is
    compiled for True and for False; one with a long text asks for `adding`, a number that is then not 0, in its place.
    `work`, `items` and `scratch` are host functions of sizes and attributes: operations in all, work items, scratch of
    an item. Below `least` operations, and where `when` says no, the point function stays. The number of items depends
    on shapes only, so results do not depend on threads. With `scratch_of_pieces` the memory is for each of the `PIECES`
    that the CPU cuts the items into, and item `i` has that of `primitives.scratch.piece_of(i, items)`.

    `runs` promises that the items write one after the other: how many equal runs of neighbours each target consists
    of, where item i of n writes those from `runs * i // n` to `runs * (i + 1) // n` and nothing else; 0 for sizes for
    which that is not so. A bias and an activation behind it are then computed on each part while it is in the cache.
    `in_place` promises that a target may lie where an input lies that is as large. With both, item i reads no other
    runs of such an input than it writes.

    A kernel `behind` another one, with `items`, `threads` and `runs` of its own, runs when that is done and finds its
    scratch memory: a sum in two steps. `pass_name` is the pass of `runtime.passes` without which it is not chosen.
    With `prepared` the first of two asks for parameters only and fills `prepared`, an array of `prepared(...)` reals
    that the second one reads: transformed weights, say. In the phase test that is done once, until a parameter changes.
    One that asks for `epilogue` does what it says to each sum before others read it (`primitives.epilogues`): in the
    phase test a norm, a bias and an activation behind it are then no launches of their own. The axes of its target are
    rows, channels, places.
    Raises `DefinitionError` outside of a module `kernels`, which is imported when a layer first runs, and for a
    `behind` that is no such kernel.
    """

    def mark(call: Any) -> Any:
        plain = getattr(call, "py_func", call)
        if "kernels" not in plain.__module__.split("."):
            raise _error(plain, "tuned kernels stand in the module `kernels` of a plugin's package")
        names = tuple(inspect.signature(plain).parameters)[2 if device == "cpu" else 0 :]
        entry = Tuned(
            call, names, when, work, least, items, scratch, in_place, threads, scratch_of_pieces, runs, pass_name,
            prepared,
        )  # fmt: skip
        kernels = _TUNED.setdefault((layer, function, device), [])
        if behind is None:
            kernels.append(entry)
            return call
        places = [at for at, kernel in enumerate(kernels) if kernel.call is behind]
        if not places:
            raise _error(plain, f'`behind` names a kernel for "{device}" that replaces `{function}` of `{layer}`, too')
        if work is not _no_work or least or when is not None or scratch is not None or in_place:
            raise _error(
                plain, "a kernel `behind` another one has `items`, `threads` and `runs`; the first one decides the rest"
            )
        kernels[places[0]] = kernels[places[0]]._replace(then=entry)
        return call

    return mark


def call_by_name(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a host function with the values that it asks for."""
    return function(*(given[name] for name in _names_of(function)))


@functools.cache
def _names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def registered(module: str) -> list[tuple[str, str]]:
    """Layers and functions for which a module, or one below it, has registered tuned kernels."""
    return [
        (layer, function)
        for (layer, function, _), kernels in _TUNED.items()
        if any(kernel.is_of(module) for kernel in kernels)
    ]


def forget(module: str) -> None:
    """Take back what a module, or one below it, has registered."""
    for kernels in _TUNED.values():
        kernels[:] = [kernel for kernel in kernels if not kernel.is_of(module)]


def tuned_kernels(layer: str, function: str, device: str) -> list[Tuned]:
    """What is registered in place of a function so far, in its order."""
    return _TUNED.get((layer, function, device), [])


def replaced_functions() -> list[tuple[str, str, str]]:
    """Layer, function and device of everything that is registered so far."""
    return [place for place, kernels in _TUNED.items() if kernels]


_SWITCHED_OFF = ContextVar("tuned kernels switched off", default=False)
_WITHOUT: ContextVar[frozenset[str]] = ContextVar("passes whose kernels are not chosen", default=frozenset())
_SIZES: ContextVar[Literal["worthwhile", "every", "alternate"]] = ContextVar(
    "sizes for which tuned kernels are chosen", default="worthwhile"
)


def is_switched_off() -> bool:
    """Whether the point functions run alone."""
    return _SWITCHED_OFF.get()


def tuned_is_wanted(work: int, least: int) -> bool:
    """Whether another form than the point function is to be chosen for this much work."""
    if _SWITCHED_OFF.get():
        return False
    if (sizes := _SIZES.get()) == "alternate":
        return work.bit_length() % 2 == 0
    return sizes == "every" or work >= least


def point_functions_only() -> AbstractContextManager[None]:
    """Within it, no tuned kernel is chosen: plans made there run the point functions."""
    return switched(_SWITCHED_OFF, True)


def kernels_without(*passes: str) -> AbstractContextManager[None]:
    """Within it, kernels that belong to one of these passes are not chosen."""
    return switched(_WITHOUT, _WITHOUT.get() | {*passes})


def tuned_at_every_size() -> AbstractContextManager[None]:
    """Within it, tuned kernels are chosen for the smallest shapes too, as long as their `when` agrees."""
    return switched(_SIZES, "every")


def tuned_at_alternate_sizes() -> AbstractContextManager[None]:
    """Within it, twice as much work brings the other form of a function, tuned or not: for checks of the choice."""
    return switched(_SIZES, "alternate")
