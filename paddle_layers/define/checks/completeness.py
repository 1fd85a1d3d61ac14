"""Completeness checks of a module: every tensor is computed, gradients are complete, examples are valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..definitions.derived_gradients import derived_gradient
from ..definitions.registry import is_built_in
from ..errors import ShapeError, suggestion
from ..fields.attributes import Bool
from ..fields.tensors import Field
from ..functions.point_functions import Function
from ..functions.program import Program
from .function_checks import check_texts

if TYPE_CHECKING:
    from ..definitions.layers import LayerDefinition


def check_complete(layer: LayerDefinition) -> None:
    """Raise `DefinitionError` for what is missing; add the functions of the bias."""
    if not layer.inputs and not layer.outputs and not layer.networks:
        raise layer.error(
            'has neither inputs nor outputs; write `x = pl.Input("N C", "rows")`, `y = pl.Output("N C", ...)`'
        )
    if not layer.examples and not layer.networks:
        written = f'`examples = [pl.Example({next(iter(layer.inputs), "")}="7")]`'
        where = "`examples` in the message" if layer.from_message else f"{written} in the class"
        raise layer.error(f"has no example; write {where}")
    _check_absent_outputs(layer)
    # Before gradients are derived from the functions, which cannot differentiate an unknown name either.
    if not is_built_in(layer):
        check_texts(layer)  # parsing source takes time at every start; for built-in definitions a test does it
    if not layer.declared_only:
        _check_functions(layer)
    for example in layer.examples:
        try:
            layer.infer(*layer.example_inputs(example))
        except ShapeError as error:
            raise layer.error(f"example {example!r}: {error.message}") from error


def _check_functions(layer: LayerDefinition) -> None:
    computed = {name for function in layer.functions for name in function.target_names}
    for name in (*layer.outputs, *layer.temps, *layer.stats):
        if name not in computed and layer.inputs and not (layer.is_composite or layer.networks):
            raise layer.error(f"no function computes `{name}`; add one below @each({layer.owner.__name__}.{name})")
    if not layer.is_composite:
        layer.functions += _derived_gradients(layer, computed)
    if layer.bias is not None:
        layer.functions += bias_functions(layer)
    if layer.is_composite and layer.functions:
        raise layer.functions[0].error(f"`{layer.name}` has a body, which computes all outputs")
    if layer.dynamic_rows and "starts" not in layer.hooks and not layer.is_composite:
        row = next(iter(layer.dynamic_rows))
        raise layer.error(f"no input has the rows `{row}`; add a function below @starts({layer.owner.__name__})")
    if layer.entries:
        _check_entries(layer)
    if layer.stats:
        _check_result(layer)


def _derived_gradients(layer: LayerDefinition, computed: set[str]) -> list[Function]:
    """Gradients of what no function differentiates: parameters, and all inputs of a layer without any gradient."""
    written = any(function.role == "gradient" for function in layer.functions)
    dense = [field for field in layer.inputs.values() if "DENSE" in field.kinds]
    inputs = [field for field in dense if field.derivative]
    if not written and (not layer.outputs or (dense and not inputs)):
        return []
    gradients = [] if written else [derived_gradient(layer, field) for field in inputs]
    for name, field in layer.params.items():
        if f"d{name}" not in computed and field is not layer.bias:
            function = derived_gradient(layer, field)
            if function is None and (written or any(gradients)):
                raise layer.error(f"parameter `{name}` has no gradient: no output depends on it")
            gradients.append(function)
    return [function for function in gradients if function is not None]


def _check_absent_outputs(layer: LayerDefinition) -> None:
    """Outputs that an attribute decides of come last, so that the others keep their places."""
    fields = list(layer.outputs.values())
    for place, field in enumerate(fields):
        if field.when is None:
            if any(one.when is not None for one in fields[:place]):
                raise layer.error(f"output `{field.name}` is unconditional: declare it before the outputs with `when`")
        elif place == 0:
            raise layer.error(f"output `{field.name}`: the first output cannot have `when`")
        elif not isinstance(layer.attributes.get(field.when), Bool):
            raise layer.error(f"output `{field.name}`: `when` must name a Bool, not `{field.when}`")


def _check_entries(layer: LayerDefinition) -> None:
    name = next(iter(layer.entries))
    if len(layer.entries) > 1:
        raise layer.error(f"has the Entries {', '.join(layer.entries)}; at most one is allowed")
    if "entries" not in layer.hooks:
        raise layer.error(f"no function computes `{name}`; add one below @entries({layer.owner.__name__})")
    constants = {*layer.attributes, *layer.numbers, *layer.axis_names}
    known = {"prepare": constants, "entries": constants | {*layer.inputs, "key", "prepared"}}
    for role, names in known.items():
        for asked in layer.hook_names.get(role, ()):
            if asked not in names:
                raise layer.error(f"unknown argument `{asked}` of the @{role} function{suggestion(asked, names)}")


def _check_result(layer: LayerDefinition) -> None:
    if "result" not in layer.hooks:
        raise layer.error("has statistics but no @result function that reports them")
    known = {*layer.stats, *layer.attributes}
    for name in layer.hook_names["result"]:
        if name not in known:
            raise layer.error(f"unknown argument `{name}` of the @result function{suggestion(name, known)}")
    for name in layer.results:
        if not (name.isidentifier() or name == layer.results[0] == "") or layer.results.count(name) > 1:
            raise layer.error(f"@result name `{name}` must be a unique identifier")


def bias_functions(layer: LayerDefinition) -> list[Function]:
    """`y += bias` along the bias's axis, and its gradient: the sum of `dy` over the other axes."""
    assert layer.bias is not None
    bias, output = layer.bias, next(iter(layer.outputs.values()))
    y, b, along = output.name, bias.name, bias.indices[0]
    if along not in output.indices:
        raise layer.error(f"axis {bias.text} of `{b}` is not an axis of `{y}`")
    others = [(axis, index) for axis, index in enumerate(output.indices) if index != along]
    at = ", ".join(output.indices)
    name = f"{layer.name}_{b}"
    forward = bias_text(name, output.indices, y, b, along)
    lines = [f"def {name}_gradient({along}, d{y}):", "    total = 0.0"]
    for depth, (axis, index) in enumerate(others):
        lines.append(f"{'    ' * (depth + 1)}for {index} in range(d{y}.shape[{axis}]):")
    lines += [f"{'    ' * (len(others) + 1)}total += d{y}[{at}]", "    return total"]
    backward = "\n".join(lines) + "\n"
    return [_generated("bias", output, name, forward), _generated("gradient", bias, f"{name}_gradient", backward)]


def bias_text(name: str, indices: Sequence[str], target: str, bias: str, along: str) -> str:
    """The text of a function that adds a bias along one of the axes."""
    at = ", ".join(indices)
    return f"def {name}({at}, {target}, {bias}):\n    return {target}[{at}] + {bias}[{along}]\n"


def _generated(role: str, target: Field, name: str, text: str) -> Function:
    scope: dict[str, Any] = {}
    exec(compile(text, f"<bias of {name}>", "exec"), scope)  # our own text, made of checked field names
    return Function(role, (target,), scope[name], Program.parse(text))
