"""Registry of tuned kernels: optimized implementations of a point function for a device and shapes."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from paddle_layers.define.concurrency import switched
from paddle_layers.define.errors import DefinitionError, suggestion

from .constants import MAX_CHUNKS

Sizes = Mapping[str, int]
IDENTIFIER = re.compile(r"\b[^\W\d]\w*")
"""A name in an expression."""


class Tuned(NamedTuple):
    """A tuned kernel: a compiled function `call(first, last, names ...)` over its work items."""

    call: Any
    names: tuple[str, ...]
    """Names of the layer in `arguments`."""
    when: Callable[..., bool] | None
    work: Callable[..., int]
    least: int
    items: Callable[..., int]
    scratch: Callable[..., int] | None
    in_place: bool
    threads: int
    """Threads of a CUDA block."""
    scratch_per_chunk: bool = False
    """Whether items of a chunk share their scratch buffer."""
    runs: Callable[..., int] | None = None
    """Number of equal runs into which the items divide each target."""
    pass_name: str = ""
    """The optimization pass without which it is not selected."""
    prepared: Callable[..., int] | None = None
    """Elements that it computes from parameters for the kernel that follows it."""
    arguments: str = ""
    """Source of the arguments after the range of work items, on the CPU."""
    folded: Mapping[str, Callable[..., int]] = {}
    """Arguments that are constants of its source, as functions of sizes and attributes."""
    joint: tuple[str, ...] = ()
    """Functions that it computes together, if there are several, in the order in which they would run."""
    then: Tuned | None = None
    """Kernel that runs after it on the same scratch buffer."""

    @property
    def function(self) -> Any:
        """The Python function that was compiled."""
        return getattr(self.call, "py_func", self.call)

    def is_of(self, module: str) -> bool:
        """Whether it is defined in this module or in one below it."""
        return f"{self.function.__module__}.".startswith(f"{module}.")

    def scratch_size(self, sizes: Mapping[str, Any]) -> int:
        """Scratch elements of all items."""
        assert self.scratch is not None
        items = int(call_by_name(self.items, sizes))
        return (min(items, MAX_CHUNKS) if self.scratch_per_chunk else items) * int(call_by_name(self.scratch, sizes))

    def folded_arguments(self, sizes: Mapping[str, Any]) -> dict[str, int]:
        """Arguments that are constants of its source."""
        return {name: int(call_by_name(value, sizes)) for name, value in self.folded.items()}

    def accepts(self, sizes: Mapping[str, Any]) -> bool:
        """Whether it accepts these sizes and attributes."""
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
    scratch_per_chunk: bool = False,
    pass_name: str = "",
    prepared: Callable[..., int] | None = None,
    folded: Mapping[str, Callable[..., int]] | None = None,
    after: Any = None,
    arguments: Mapping[str, str] | None = None,
    joint: tuple[str, ...] = (),
) -> Callable[[Any], Any]:
    """Registers a tuned kernel: a faster implementation of the point function `function` of `layer`.

    On the CPU it is an njit function, called as `call(first, last, ...)` for the work items `first` to `last` of
    `items(...)`. On `"cuda"` it is a plain function, `call(...)`, whose source becomes the kernel: it runs with `items`
    blocks of `threads` threads (`THREADS` in its source), and uses `cuda`, `real` and `double`. Both request tensors
    (whole arrays), axis sizes, attributes, `accumulate` (add to the target) and `scratch` (an array of
    `items x scratch(...)` elements) by name, as point functions do. `accumulate` is folded into the source, so the
    kernel is compiled for True and for False; one with a long source requests `adding` instead, an integer that is then
    not 0. `work`, `items` and `scratch` are host functions of sizes and attributes: total operations, work items,
    scratch elements of an item. Below `least` operations, and where `when` is false, the point function stays. The
    number of items depends on shapes only, so results do not depend on threads. With `scratch_per_chunk` the scratch
    buffer is per chunk of the `MAX_CHUNKS` into which the CPU divides the items, and item `i` has that of
    `primitives.scratch.chunk_of(i, items)`.

    `runs` promises that the items write disjoint consecutive runs: it is the number of equal runs of contiguous
    elements of each target, where item i of n writes those from `runs * i // n` to `runs * (i + 1) // n` and nothing
    else; 0 for sizes for which that does not hold. A bias and an activation that follow are then computed on each part
    while it is in the cache. `in_place` promises that a target may alias an input of the same size. With both, item i
    reads no other runs of such an input than it writes.

    An argument in `folded` is a constant of the source, computed from sizes and attributes when the kernel is selected,
    such as the width of a tile; `items` may request it, too.

    A kernel registered `after` another one, with its `items`, `threads`, `runs` and `folded`, runs after that one on
    the same scratch buffer: a two-step reduction. `pass_name` is the pass of `runtime.passes` without which it is not
    selected. With `prepared` the first of two requests parameters only and fills `prepared`, an array of
    `prepared(...)` elements that the second one reads, such as transformed weights. In the test phase that is done
    once, until a parameter changes. A kernel with the argument `epilogue` applies it to each sum
    (`primitives.epilogues`): in the test phase a batch normalization, a bias and an activation that follow then need no
    separate launches. The axes of its target are rows, channels, positions.

    A kernel may compute several functions at once, which share intermediate results: `joint` names those that run
    before `function`, and the kernel requests all of their targets. It runs instead of the last one. Gradients are
    always added to the targets, which are zero before; the kernel has no `accumulate`. It is not selected in recurrent
    groups.

    One function may serve several layers: `arguments` gives Python expressions for parameters that a layer calls
    differently or does not have, such as `{"step": "(stride_y, stride)"}`.

    Args:
        layer: Layer type.
        function: Name of the point function that the kernel replaces.
        items: Number of work items, as a function of sizes and attributes.
        work: Number of operations, likewise.
        least: Minimum number of operations for which the kernel is selected.
        when: Condition on sizes and attributes under which it is selected.
        device: `"cpu"` or `"cuda"`.
        scratch: Scratch elements of an item.
        in_place: Whether a target may alias an input of the same size.
        runs: Number of consecutive runs that the items write.
        threads: Threads per block, on `"cuda"`.
        scratch_per_chunk: Whether the scratch buffer is per chunk of the items, on `"cpu"`.
        pass_name: Graph optimization pass without which the kernel is not selected.
        prepared: Number of prepared elements.
        folded: Arguments that are constants of the source, as functions of sizes and attributes, on `"cuda"`.
        after: Kernel after which this one runs, on the same scratch buffer.
        arguments: Expressions of names of the layer, for parameters of other names, on `"cpu"`.
        joint: Functions before `function` that the kernel computes, too, on `"cpu"`.

    Returns:
        A decorator that registers the kernel and returns it unchanged.

    Raises:
        DefinitionError: The module is not called `kernels` (it is imported when a layer first runs), or `after` is
            invalid.

    Example::

        @tuned("ours_scale", "ours_scale_y", items=lambda N: N, work=lambda N, C: N * C, least=10_000)
        @numba.njit
        def scale_rows(first, last, y, x, factor):
            for n in range(first, last):
                y[n] = factor * x[n]
    """

    def mark(call: Any) -> Any:
        plain = getattr(call, "py_func", call)
        if "kernels" not in plain.__module__.split("."):
            raise _error(plain, "tuned kernels must be in the module `kernels` of a plugin's package")
        # The first two parameters on the CPU are the range of work items.
        parameters = tuple(inspect.signature(plain).parameters)[2 if device == "cpu" else 0 :]
        text = ", ".join((arguments or {}).get(name, name) for name in parameters)
        entry = Tuned(
            call, tuple(dict.fromkeys(IDENTIFIER.findall(text))), when, work, least, items, scratch, in_place, threads,
            scratch_per_chunk, runs, pass_name, prepared, text, folded or {}, (*joint, function) if joint else (),
        )  # fmt: skip
        if after is None:
            for name in (*joint, function):
                _TUNED.setdefault((layer, name, device), []).append(entry)
            return call
        kernels = _TUNED.setdefault((layer, function, device), [])
        places = [at for at, kernel in enumerate(kernels) if kernel.call is after]
        if not places:
            what = f"`after` must be a kernel of `{function}` of `{layer}`, registered earlier"
            raise _error(plain, f'{what} for "{device}"')
        if work is not _no_work or least or when is not None or scratch is not None or in_place:
            raise _error(
                plain,
                "a kernel `after` another one takes only `items`, `threads`, `runs` and `folded`; set the rest on the "
                "first",
            )
        kernels[places[0]] = kernels[places[0]]._replace(then=entry)
        return call

    return mark


def call_by_name(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Calls a host function with the values that it requests by parameter name."""
    try:
        values = [given[name] for name in _names_of(function)]
    except KeyError as error:
        raise unknown_argument(function, error.args[0], given) from None
    return function(*values)


def unknown_argument(function: Any, name: str, known: Iterable[str]) -> DefinitionError:
    """The error for a kernel or host function that requests a name which its layer does not have."""
    return _error(getattr(function, "py_func", function), f"unknown argument `{name}`{suggestion(name, known)}")


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
    """Unregisters the kernels of a module and those below it."""
    for kernels in _TUNED.values():
        kernels[:] = [kernel for kernel in kernels if not kernel.is_of(module)]


def tuned_kernels(layer: str, function: str, device: str) -> list[Tuned]:
    """The kernels registered for a function, in order."""
    return _TUNED.get((layer, function, device), [])


def replaced_functions() -> list[tuple[str, str, str]]:
    """Layer, function and device of all registered kernels."""
    return [place for place, kernels in _TUNED.items() if kernels]


# Context variables, so that a check in one thread does not change the plans of others.
_SWITCHED_OFF = ContextVar("tuned kernels switched off", default=False)
_WITHOUT: ContextVar[frozenset[str]] = ContextVar("passes whose kernels are not chosen", default=frozenset())
_SIZES: ContextVar[Literal["worthwhile", "every", "alternate"]] = ContextVar(
    "sizes for which tuned kernels are chosen", default="worthwhile"
)


def is_switched_off() -> bool:
    """Whether only point functions run."""
    return _SWITCHED_OFF.get()


def tuned_is_wanted(work: int, least: int) -> bool:
    """Whether a tuned kernel is to be selected for this amount of work."""
    if _SWITCHED_OFF.get():
        return False
    if (sizes := _SIZES.get()) == "alternate":
        return work.bit_length() % 2 == 0
    return sizes == "every" or work >= least


def point_functions_only() -> AbstractContextManager[None]:
    """Context manager: no tuned kernel is selected; plans created there run the point functions."""
    return switched(_SWITCHED_OFF, True)


def kernels_without(*passes: str) -> AbstractContextManager[None]:
    """Context manager: kernels that belong to one of these passes are not selected."""
    return switched(_WITHOUT, _WITHOUT.get() | {*passes})


def tuned_at_every_size() -> AbstractContextManager[None]:
    """Context manager: tuned kernels are selected for the smallest shapes too, as long as their `when` agrees."""
    return switched(_SIZES, "every")


def tuned_at_alternate_sizes() -> AbstractContextManager[None]:
    """Context manager: twice the work selects the other implementation, tuned or not: for checks of the selection."""
    return switched(_SIZES, "alternate")
