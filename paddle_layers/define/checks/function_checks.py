"""Static checks of a function: its role, targets, options and source; errors point to the line of the author."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..errors import DefinitionError, suggestion
from ..fields.tensors import Bias, Entries, Field, Input, Output, Param, Stat, State, Temp
from ..fields.types import KINDS
from ..functions.ir import all_of, stores_of
from ..functions.point_functions import HELPERS, Function
from ..functions.program import Program

if TYPE_CHECKING:
    from ..definitions.layers import LayerDefinition

SCANS = ("forward", "back")
COMPUTED: dict[str, tuple[type[Field], ...]] = {
    "each": (Output, Temp, Stat),
    "fill": (Output, Temp, Stat),
    "gradient": (Input, Param),
    "update": (State,),
}
"""Results of a function, by its role."""
WORDS = {
    Input: "an input",
    Output: "an output",
    Param: "a parameter",
    Bias: "a bias",
    State: "a state",
    Temp: "a temporary",
    Entries: "entries, which an @entries function computes",
    Stat: "a statistic",
}
NUMBERS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
"""Expressions that are one number in a point function, whatever their parts are."""


def check_place(layer: LayerDefinition, function: Function) -> None:
    """Compare targets and options with the layer's fields. Raises `DefinitionError` at the function's line."""
    for target in function.targets:
        if layer.fields.get(target.name) is not target:
            raise function.error(f"`{target.name}` belongs to another layer")
        if wrong := _wrong_target(layer, function, target):
            raise function.error(wrong)
    if function.python:
        _check_python(layer, function)
    elif any(target.axes != function.targets[0].axes for target in function.targets):
        raise function.error("computes tensors with different axes")
    _check_scan(layer, function)
    if function.kind not in KINDS:
        raise function.error(f"unknown data type {function.kind!r}{suggestion(function.kind, KINDS)}")
    tensors = (*layer.inputs.values(), *layer.outputs.values())
    rows = {axis.name for field in tensors for axis in field.axes[:1]} | {*layer.groups.values()}
    if function.role == "fill" and function.options["per"] not in rows:
        per = function.options["per"]
        raise function.error(f"unknown rows `{per}` in `per`; available: {', '.join(sorted(rows))}")


def _check_python(layer: LayerDefinition, function: Function) -> None:
    """A Python function gives whole tensors, and gets others."""
    if any(target.per_item for target in function.targets):
        raise function.error("a Python function cannot compute a tensor per item of an input")
    if function.role == "gradient" and len(function.targets) > 1:
        raise function.error("a Python function computes one gradient; write one function per gradient")
    single = {"before", "after", *(group.lower() for group in layer.groups.values())}
    for name in function.args:
        if name in function.target_names:
            raise function.error(f"takes its target `{name}` as an argument: a Python function returns its tensors")
        if name in single:
            raise function.error(f"takes `{name}`, which exists per row only: a Python function receives all rows")


def _wrong_target(layer: LayerDefinition, function: Function, target: Field) -> str:
    """Why a function of this role does not compute this tensor, and what to write; empty where it does."""
    role, name, owner = function.role, target.name, layer.owner.__name__
    if role not in COMPUTED or isinstance(target, COMPUTED[role]):
        return ""
    what = f"`{name}` is {WORDS[type(target)]}"
    if role == "gradient":
        first = next(iter((*layer.inputs, *layer.params)), "x")
        reading = f", and reads `d{name}`" if isinstance(target, Output) else ""
        return (
            f"{what}; a gradient is with respect to an input or a parameter{reading}: write @gradient({owner}.{first})"
        )
    if isinstance(target, State):
        return f"{what}, which is updated after the pass: write @update({owner}.{name})"
    computed = "a state" if role == "update" else "an output, a temporary or a statistic"
    return f"{what}; a function below @{role} computes {computed}"


def _check_scan(layer: LayerDefinition, function: Function) -> None:
    scan, target = function.scan, function.targets[0]
    if scan is None:
        return
    if scan not in SCANS:
        raise function.error(f'`scan` must be "forward" or "back", not {scan!r}')
    if not target.axes or target.axes[0].name not in layer.groups:
        raise function.error(
            f"a scan requires axes of sequences, such as `T:S C`; those of `{target.name}` are `{target.text}`"
        )


def check_texts(layer: LayerDefinition) -> None:
    """Check the source of all functions of a layer and of their helpers. Raises `DefinitionError`."""
    for function in layer.functions:
        if function.role == "bias" or function.python:
            continue  # the framework's, or nothing that a device has to understand
        try:
            program = function.program
        except OSError:  # typed at a prompt: there is no text to read
            continue
        _check_names(function.call, program, layer.offered_names)
        _check_results(function, program)
        _check_own_target(layer, function, program)


def _error(call: Callable[..., Any], node: ast.AST, message: str) -> DefinitionError:
    """An error at the line of a part of a function."""
    code = call.__code__
    line = code.co_firstlineno + getattr(node, "lineno", 1) - 1
    return DefinitionError(f"{call.__name__}: {message}", code.co_filename, line)


def _check_names(call: Callable[..., Any], program: Program, offered: set[str]) -> None:
    names = list(all_of(program.tree, ast.Name))
    own = {*program.arguments, *stores_of(program.tree)}
    scope = call.__globals__
    for node in names:
        if node.id in own or node.id in scope or hasattr(builtins, node.id):
            continue
        if node.id in offered:
            raise _error(call, node, f"reads `{node.id}`, which is not an argument: add it to the arguments")
        if node.id in ("np", "numpy", "torch", "jnp", "tf"):
            raise _error(call, node, f"`{node.id}` cannot be used here: the function computes one element; use `math`")
        near = suggestion(
            node.id, own | offered | {name for name, found in scope.items() if isinstance(found, FunctionType)}
        )
        raise _error(
            call, node, f"unknown name `{node.id}`: not an argument, a variable or a number of the module{near}"
        )
    for part in all_of(program.tree, ast.Attribute):
        if isinstance(part.value, ast.Name) and scope.get(part.value.id) is math:
            if not hasattr(math, part.attr) and part.value.id not in own:
                raise _error(call, part, f"unknown function `math.{part.attr}`{suggestion(part.attr, vars(math))}")
    for name in {node.id for node in names}:
        found = scope.get(name)
        if name not in own and callable(found) and found in HELPERS and found is not call:
            _check_names(found, Program.of(found), set())


# ---- what is returned


def _check_results(function: Function, program: Program) -> None:
    returns = list(all_of(program.tree, ast.Return))
    if function.role == "fill":
        for node in returns:
            if node.value is not None:
                names = ", ".join(f"`{name}`" for name in function.target_names)
                raise _error(function.call, node, f"a @fill function writes into {names} and returns nothing")
        return
    wanted = _wanted(function)
    for node in returns:
        if node.value is None:
            raise _error(function.call, node, f"returns None here; {wanted}")
        for value in _values(node.value):
            if what := _wrong_value(value, len(function.targets)):
                raise _error(function.call, value, f"returns {what}; {wanted}")
    if not returns:
        raise _error(function.call, program.tree, f"has no `return`; {wanted}")
    if not _ends(program.tree.body):
        raise _error(function.call, program.tree.body[-1], f"may end without `return` here; {wanted}")


def _wanted(function: Function) -> str:
    names = [f"`{name}`" for name in function.target_names]
    if len(names) == 1:
        return f"it must return one number, the element of {names[0]}"
    return f"it must return {len(names)} numbers, the elements of {', '.join(names)}"


def _values(node: ast.expr) -> Iterator[ast.expr]:
    """Allowed kinds of an expression."""
    if isinstance(node, ast.IfExp):
        yield from _values(node.body)
        yield from _values(node.orelse)
    else:
        yield node


def _wrong_value(node: ast.expr, targets: int) -> str:
    """The error in a returned value; empty if the source does not show it."""
    if isinstance(node, ast.Tuple):
        return f"{len(node.elts)} values" if len(node.elts) != targets or targets == 1 else ""
    if isinstance(node, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.JoinedStr)):
        return f"`{ast.unparse(node)}`"
    if isinstance(node, ast.Constant):
        plain = isinstance(node.value, (int, float))
        return "" if plain and targets == 1 else "one number" if plain else f"`{node.value!r}`"
    return "one number" if targets > 1 and isinstance(node, NUMBERS) else ""


def _ends(body: list[ast.stmt]) -> bool:
    """Whether every way through ends with a return."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, (ast.Return, ast.Raise))


# ---- what it computes itself


def _check_own_target(layer: LayerDefinition, function: Function, program: Program) -> None:
    """Elements are computed in any order: only a scan may read what it has computed, and an update its own element."""
    if function.role == "fill" or function.scan is not None:
        return
    for name in function.target_names:
        if name not in function.args or not program.reads(name):
            continue
        if function.role == "update":
            if program.reads_own_element(name, function.indices):
                continue
            remedy = f"an update may only read `{name}[{', '.join(function.indices)}]`"
        elif function.targets[0].axes and function.targets[0].axes[0].name in layer.groups:
            remedy = 'to process a sequence in order, write `scan="forward"` or `scan="back"`'
        else:
            remedy = 'to read the previous row, declare sequences, axes `"T:S C"`, and `scan="forward"`'
        node = next(node for node in all_of(program.tree, ast.Name) if node.id == name)
        raise _error(
            function.call, node, f"reads its target `{name}`, but elements are computed in any order; {remedy}"
        )
