"""Decorators that add functions to the definition whose fields they name."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .checks.function_checks import check_place
from .definitions.layers import LayerDefinition
from .errors import DefinitionError
from .fields.tensors import Entries, Field, Input, Output, Param, Temp
from .functions.host_calls import make_joined
from .functions.point_functions import Function

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


_EXAMPLES = {"each": "Swish.y", "gradient": "Swish.x", "update": "Swish.mean", "fill": 'Swish.y, per="N"'}


def definition_of(owner: type) -> LayerDefinition:
    """The layer definition of a class of fields."""
    definition: LayerDefinition | None = owner.__dict__.get("__layer__")
    if definition is None:
        file, line = "", 0
        with contextlib.suppress(OSError, TypeError):  # a class that was not defined in a file
            file, line = inspect.getsourcefile(owner) or "", inspect.getsourcelines(owner)[1]
        raise DefinitionError(f"{owner.__name__} is not registered: add @layer(...) above the class", file, line)
    return definition


def _marker(
    role: str, targets: tuple[Field, ...], options: dict[str, Any]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    if not targets or not all(isinstance(target, Field) for target in targets):
        raise TypeError(f"@{role} requires the tensors that the function computes, as in @{role}({_EXAMPLES[role]})")

    def mark(call: Callable[P, R]) -> Callable[P, R]:
        # Checked at import, at the author's line: a mistake would otherwise show up as an error of numba in generated
        # code.
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
    """Point function of outputs and temporaries: computes one element of each target.

    Args:
        targets: Tensors that the function computes, such as `Swish.y`. It takes their indices, and tensors, sizes and
            attributes by name, and returns one value, or a tuple with one value per target.
        over: Repeatable input: the function is called for each of its items, and the results are summed.
        along: Axis, such as `"C"`, along which the results of the items are concatenated instead of summed; the index
            `c` counts within the item.
        kind: Data type of the items that this variant is for.
        scan: `"forward"` or `"back"`: the rows of a sequence are computed in this order (a recurrence).

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: A target is not a field.
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @each(Swish.y)
        def swish_y(i, x, beta):
            return x[i] / (1.0 + math.exp(-beta * x[i]))
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
    """Point function of gradients: computes one element of the derivative of the loss by each target.

    The function gathers: it reads all contributions to its element and never scatters into other elements. It takes
    output gradients as `dy` for an output `y`.

    Args:
        targets: Inputs and parameters, such as `Swish.x`.
        over: Repeatable input or output: the function is called for each of its items, and the results are summed.
        along: Axis along which the results of the items of a repeatable output are concatenated instead of summed.
        kind: Data type of the items that this variant is for.
        used: Input of ids, or `Entries`: only the rows of the parameter that these ids name have a gradient, and the
            layer reads no other rows of it. The first index is then `u`, the position among the used rows.
        scan: `"forward"` or `"back"`: the rows of a sequence are computed in this order (a recurrence).

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: A target is not a field.
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @gradient(Swish.x)
        def swish_dx(i, x, dy, beta):
            s = 1.0 / (1.0 + math.exp(-beta * x[i]))
            return dy[i] * s * (1.0 + beta * x[i] * (1.0 - s))
    """
    return _marker("gradient", targets, {"over": over, "along": along, "kind": kind, "used": used, "scan": scan})


def update(*targets: Field) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Point function of states, such as running statistics: computes the new value of one element.

    It runs after the forward pass, and in training only.

    Args:
        targets: States of the layer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: A target is not a field.
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @update(Center.running_mean)
        def center_move(c, running_mean, mean, momentum):
            return momentum * running_mean[c] + (1.0 - momentum) * mean[c]
    """
    return _marker("update", targets, {})


def fill(*targets: Field, per: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Procedure that writes a block of each target, called once per row or sequence.

    Args:
        targets: Tensors whose elements the function writes; each call writes only its own block.
        per: Axis of the rows or sequences that it is called for, such as `"N"`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: A target is not a field.
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @fill(Cumsum.y, per="N")
        def cumsum_y(n, x, C):
            total = 0.0
            for c in range(C):
                total += x[n, c]
                y[n, c] = total
    """
    return _marker("fill", targets, {"per": per})


def python(*targets: Field) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Function that computes whole tensors with NumPy or other Python code, for experiments.

    It takes by name what a point function may take, as arrays of the same shapes, rows first, and returns one array per
    target, whose shape is checked. It is slow: it is not compiled, runs on one thread of the host, and its inputs and
    results are copied from and to a GPU.

    Args:
        targets: Outputs and temporaries; for gradients, inputs and parameters: the result is then `dx` for an input
            `x`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: A target is not a field.
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @python(Sort.y)
        def sort_y(x):
            return np.sort(x, axis=1)
    """
    role = "gradient" if targets and isinstance(targets[0], (Input, Param)) else "each"
    return _marker(role, targets, {"python": True})


def joined(*targets: Temp, when: str) -> Callable[[F], F]:
    """All-reduce of temporaries in data-parallel training, as for synchronized batch statistics.

    The function runs on the host after the one that computes the temporaries; single-process training does not call it.
    It takes the temporaries (arrays of this process's rows), attributes, `training` and `add_up`, which replaces an
    array by its sum over all processes, and returns the replacement of each temporary, or None to keep it.

    Args:
        targets: Temporaries of the layer.
        when: `Bool` attribute that enables it.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The layer is not registered, or the function does not fit it.
    """

    def mark(call: F) -> F:
        definition = definition_of(targets[0].owner)
        definition.joined.append(make_joined(targets, when, call, definition.attributes))
        return call

    return mark
