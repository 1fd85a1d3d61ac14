"""Checks of the role, the targets and the options of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import suggestion
from ..fields.tensors import Bias, Entries, Field, Input, Output, Param, Stat, State, Temp
from ..fields.types import KINDS
from ..functions.point_functions import Function

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
