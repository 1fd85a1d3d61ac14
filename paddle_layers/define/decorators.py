"""The decorators of functions: each takes its place in the definition whose fields it names."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .checks.function_places import check_place
from .definitions.layers import LayerDefinition
from .errors import DefinitionError
from .fields.tensors import Entries, Field, Input, Output, Param, Temp
from .functions.joining import make_joined
from .functions.onnx_functions import onnx_function
from .functions.point_functions import Function

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


_EXAMPLES = {"each": "Swish.y", "gradient": "Swish.x", "update": "Swish.mean", "fill": 'Swish.y, per="N"'}


def definition_of(owner: type) -> LayerDefinition:
    """The layer whose class of fields this is."""
    definition: LayerDefinition | None = owner.__dict__.get("__layer__")
    if definition is None:
        file, line = "", 0
        with contextlib.suppress(OSError, TypeError):  # a class that was made elsewhere than in a file
            file, line = inspect.getsourcefile(owner) or "", inspect.getsourcelines(owner)[1]
        raise DefinitionError(f"{owner.__name__} is not registered: put @layer(...) above the class", file, line)
    return definition


def _marker(
    role: str, targets: tuple[Field, ...], options: dict[str, Any]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    if not targets or not all(isinstance(target, Field) for target in targets):
        raise TypeError(f"@{role} names the tensors that the function computes, as in @{role}({_EXAMPLES[role]})")

    def mark(call: Callable[P, R]) -> Callable[P, R]:
        definition, function = definition_of(targets[0].owner), Function(role, targets, call, **options)
        check_place(definition, function)
        definition.add(function)
        return call

    return mark


def each(
    *targets: Field,
    over: Input | None = None,
    along: str | None = None,
    kind: str = "DENSE",
    scan: str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function gives one element of every target, as a tuple when there are several.

    `over`: called for each item of a repeatable input, results add up; `along="C"`: they lie side by side along that
    axis instead, and `c` counts in the item's own part; `kind`: variant for items of that data type;
    `scan`: rows of a sequence are computed in order, `"forward"` or `"back"`.
    """
    return _marker("each", targets, {"over": over, "along": along, "kind": kind, "scan": scan})


def gradient(
    *targets: Field,
    over: Input | Output | None = None,
    along: str | None = None,
    kind: str = "DENSE",
    used: Input | Entries | None = None,
    scan: str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function gives one element of the cost's derivative by every target; it gathers, it never scatters.

    `over`: called for each item of a repeatable input; `along="C"`: for each item of a repeatable output, results lie
    side by side along that axis. `used`: only the rows named by the ids of that input, or of entries; the first
    index is then `u`, the number of the used row. The layer then reads no other rows of the parameter either.
    """
    return _marker("gradient", targets, {"over": over, "along": along, "kind": kind, "used": used, "scan": scan})


def update(*targets: Field) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function gives the new value of a state, after the forward pass and while training only."""
    return _marker("update", targets, {})


def fill(*targets: Field, per: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A procedure, called for each `per` (rows or sequences), that writes its own part of the targets."""
    return _marker("fill", targets, {"per": per})


def python(*targets: Field) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function computes whole tensors with NumPy, or with whatever Python has; for an input or parameter, `dx`.

    It asks by name for what a point function may ask for, as arrays in the shapes that those see, rows first, and
    gives an array for each target, which is checked. It is slow: nothing compiles it, it runs alone on one thread of
    the host, and what it reads and gives is copied from and to a card. Meant for experiments.
    """
    role = "gradient" if targets and isinstance(targets[0], (Input, Param)) else "each"
    return _marker(role, targets, {"python": True})


def _attach(role: str, owner: type) -> Callable[[F], F]:
    if not isinstance(owner, type):
        raise TypeError(f"@{role} names the class of the layer, as in @{role}(Swish)")

    def mark(call: F) -> F:
        definition_of(owner).attach(role, call)
        return call

    return mark


def infer(owner: type) -> Callable[[F], F]:
    """Sizes of axes that nothing else binds: a function of axes, attributes and input types, giving a dict."""
    return _attach("infer", owner)


def output_types(owner: type) -> Callable[[F], F]:
    """All output types at once, for layers whose axes don't say it: the function gives a list of `Type`."""
    return _attach("output_types", owner)


def starts(owner: type) -> Callable[[F], F]:
    """Starts of the sequences of an output that has rows of its own (`"Y:S C"` where no input has `Y`).

    A function on the host, called for every batch, of starts (`A_start` for rows `A:S` of an input), inputs (an array
    of ids or of real numbers), temporaries that have rows of inputs, sizes (of an axis of rows, too) and attributes; it
    gives the starts as an array, one more than there are sequences. Sub-sequences, too, can be new: for `"Y:Q:N C"` it
    gives the starts of Q in the samples N, and those of Y in Q. What is computed is read in the middle of the pass; a
    GPU is waited for.
    """
    return _attach("starts", owner)


def entries(owner: type) -> Callable[[F], F]:
    """What `Entries` are in a batch: starts of the rows, ids, and values, as arrays.

    A function on the host, called before each pass with inputs (arrays of ids or numbers, or `Csr`), which have to be
    fed, sizes, attributes, `key`, a whole number that differs from step to step, for a seed, and `prepared`, what a
    function below `@prepare` gives.
    """
    return _attach("entries", owner)


def prepare(owner: type) -> Callable[[F], F]:
    """What a function below `@entries` needs and is the same for all batches: made once, of sizes and attributes."""
    return _attach("prepare", owner)


def joined(*targets: Temp, when: str) -> Callable[[F], F]:
    """What temporaries are where several processes share a batch, and the attribute `when` is true.

    A function on the host, called behind the one that computes them, of these temporaries, which are arrays of this
    process's rows, attributes, `training` and `add_up`, which replaces an array by its sums over all processes. It
    gives what takes the place of each, or None for nothing. A process that trains by itself does not call it.
    """

    def mark(call: F) -> F:
        definition = definition_of(targets[0].owner)
        definition.joined.append(make_joined(targets, when, call, definition.attributes))
        return call

    return mark


def result(owner: type, *names: str, best: str | tuple[str, ...] = "") -> Callable[[F], F]:
    """What is reported for the layer's statistics: a function of their sums and of attributes, by name.

    A sum is a number, or a list of numbers where the statistic has axes besides its rows. The function gives one
    number, or a tuple of numbers with these `names`; the first name may be empty, for the one that the layer is named
    after. `best` says whether the smallest or the largest is the best,
    "min" or "max": of all of them, or of each in their order. `save_best` and `early_stop` then refuse the other one.
    """
    attach = _attach("result", owner)

    def mark(call: F) -> F:
        definition = definition_of(owner)
        definition.results = names or definition.results  # those of a message are there already
        named = definition.results or ("",)
        better = best if isinstance(best, tuple) else (best,) * len(named)
        if len(better) != len(named) or set(better) - {"min", "max", ""}:
            raise definition.error(f'@result has best={best!r}; write "min" or "max", or one of them for each number')
        definition.best = {name: which for name, which in zip(named, better, strict=True) if which}
        return attach(call)

    return mark


def onnx(owner: type) -> Callable[[F], F]:
    """How the layer is written as ONNX nodes, in the test phase: a function of `graph` and of what it asks for by name.

    `graph.Conv(x, weight, strides=[2, 2])` makes a node. The function may ask for inputs, parameters and states (None
    where they are absent, tuples where they are repeatable), attributes and sizes of axes, and gives the outputs. Rows
    of sequences come one after the other, as single rows do; an input `"T:S C"` is `[S, T, C]` instead, padded, and
    `T_lengths` and `T_mask` say which rows are real. `require` refuses what has no form.
    """

    def mark(call: F) -> F:
        definition = definition_of(owner)
        if definition.onnx is not None:
            raise definition.error("has two @onnx functions")
        if definition.is_composite:
            raise definition.error("has an @onnx function, but is written by its parts")
        definition.onnx = onnx_function(call, definition.onnx_names)
        return call

    return mark
