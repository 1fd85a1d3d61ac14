"""Helper calls: arguments, immediate checks, and outputs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, ShapeError, Type, registries
from paddle_layers.define.bodies import activation_problem, inputs_of_call
from paddle_layers.define.definitions.search import equivalent_attribute, name_here
from paddle_layers.define.errors import UnknownName, brief, suggestion

from ..binding.drafts import LINEAR
from ..binding.steps import GROUP
from ..wiring.inference import swapped_order
from .calls import Call, Sink, StepCalls, Value, check_scope, current_scope, outputs_of, step_scope, types_in_step
from .operators import call_by

HEADERS = ("name", "output", "param", "activation", "include", "exclude", "loss_weight", "propagate_down")
"""Fields of the layer itself that a helper takes as keyword arguments; blocks are dicts or lists of dicts."""
HELPERS = "paddle_layers.nn"
"""The module that has the helpers."""
_PYTHON_TYPES = {"INT": int, "FLOAT": float, "BOOL": bool, "STRING": str, "CHOICE": str}
_HELPERS: dict[int, Callable[..., Any]] = {}


def signature_of(definition: LayerDefinition) -> inspect.Signature:
    """Inputs first (a repeatable one takes any number of values), then attributes and header fields by keyword."""
    parameters = []
    kind: inspect._ParameterKind
    if definition.name == GROUP:
        parameters.append(inspect.Parameter("step", inspect.Parameter.POSITIONAL_ONLY, annotation=Callable[..., Any]))
    behind = False
    for name, field in definition.inputs.items():
        kind = inspect.Parameter.KEYWORD_ONLY if behind else inspect.Parameter.POSITIONAL_OR_KEYWORD
        if field.repeatable:
            kind, behind = inspect.Parameter.VAR_POSITIONAL, True
        default = None if field.optional and not field.repeatable else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=Value))
    for name, attribute in definition.attributes.items():
        default = inspect.Parameter.empty if attribute.required else attribute.default
        # Shown as None: the effective default is the value of another argument.
        if attribute.default_from:
            default = None
        kind = inspect.Parameter.KEYWORD_ONLY
        annotation: Any = _PYTHON_TYPES[attribute.type]
        if definition.name == GROUP and name == "static":
            annotation = Value
        if attribute.repeated:
            annotation = Sequence[annotation]
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    taken = {parameter.name for parameter in parameters}
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for name in HEADERS
        if name not in taken
    ]
    return inspect.Signature(parameters)


def call_layer(definition: LayerDefinition, inputs: Sequence[Any], settings: dict[str, Any]) -> Any:
    """Create a layer with these inputs; returns its output, or a tuple of several.

    Raises `InvalidAttributes` and `ShapeError` immediately, `TypeError` for an input that is not a helper's value.
    """
    headers = {name: settings.pop(name) for name in HEADERS if settings.get(name) is not None}
    for name in HEADERS:
        if name not in definition.attributes:
            settings.pop(name, None)
    if definition.name == GROUP:
        return _call_group(definition, inputs[0], inputs[1:], settings, headers)
    values = tuple(_values(definition, inputs_of_call(definition, inputs, settings)))
    given = {name: value for name, value in settings.items() if value is not None}
    attributes = definition.bind(given)
    _check_activation(definition, attributes)
    try:
        # Immediately, so that the traceback of the program points to the line of the helper.
        types = definition.infer([value.type for value in values], attributes)
    except ShapeError as error:
        message = f"`{definition.name}`: {error.message}"
        if error.input is not None and swapped_order(
            lambda types: definition.infer(types, attributes), error.input, [value.type for value in values]
        ):
            message += f"; swap the inputs: {', then '.join(f'`{name}`' for name in definition.inputs)}"
        raise error.restated(message, attribute=error.attribute, input=error.input) from None
    return _outputs_of(Call(definition, values, attributes, headers, _caller()), types)


def _check_activation(definition: LayerDefinition, attributes: Attributes) -> None:
    """Raises `ValueError` for an activation that is no elementwise layer."""
    name = attributes["act"] if "act" in definition.common else LINEAR
    if name == LINEAR:
        return
    try:
        problem = activation_problem(registries["layer"][name])
    except UnknownName as error:
        problem = str(error)
    if problem:
        raise ValueError(f"nn.{definition.name}: act={name!r}: {problem}")


def _outputs_of(call: Call, types: Sequence[Type]) -> Any:
    """The result of a helper: the one output, a tuple of several, or a placeholder for a layer without outputs."""
    scope = current_scope()
    if scope is not None:
        scope.calls.append(call)
    if not call.definition.outputs:
        return Sink(call, scope)
    outputs = tuple(Value(call, index, type_, scope) for index, type_ in enumerate(types))
    return outputs[0] if len(outputs) == 1 else outputs


def _call_group(
    definition: LayerDefinition,
    step: Callable[..., Any],
    inputs: Sequence[Any],
    settings: dict[str, Any],
    headers: dict[str, Any],
) -> Any:
    """A recurrent group: `step` is called once, with the sequence inputs of one step and the static inputs."""
    stepped = tuple(_values(definition, inputs_of_call(definition, inputs, settings)))
    static = tuple(_values(definition, _listed(settings.pop("static", ()))))
    values = (*stepped, *static)
    types = types_in_step([value.type for value in stepped], [value.type for value in static])
    with step_scope() as scope:
        # Copies that belong to the step: the originals are values of the network around it.
        seen = [replace(value, type=type_, scope=scope) for value, type_ in zip(values, types, strict=True)]
        outputs = outputs_of(step, seen, scope)
    made = StepCalls(tuple(scope.calls), outputs, static)
    call = Call(definition, values, definition.bind(settings), headers, _caller(), made)
    return _outputs_of(call, [value.type._replace(level=value.type.level + 1) for value in outputs])


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _values(definition: LayerDefinition, given: Iterable[Any]) -> Iterator[Value]:
    for value in given:
        if not isinstance(value, Value):
            raise TypeError(
                f"the inputs of `{definition.name}` must be values returned by other helpers, found {_shown(value)}"
            )
        check_scope(f"`{definition.name}`", value)
        yield value


def _shown(value: Any) -> str:
    """The value on one line, or its type."""
    shown = repr(value)
    return shown if len(shown) < 60 and "\n" not in shown else brief(value)


def _caller() -> str:
    """File and line of the call of the helper."""
    frame = sys._getframe()
    # The depth differs between layers and groups, so the first frame outside of the package is taken.
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paddle_layers."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def helper(name: str) -> Callable[..., Any]:
    """The helper of a layer type. Raises `AttributeError` with the suggested name for an unknown type."""
    # `inspect`, `copy` and others probe modules for dunder names; these must not load plugins.
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        definition: LayerDefinition = registries["layer"][name]
    except UnknownName as error:
        raise AttributeError(str(error)) from None
    # By identity, not by name: a plugin that is loaded again has a new definition under its name.
    if id(definition) not in _HELPERS:
        _HELPERS[id(definition)] = _helper_of(definition)
    return _HELPERS[id(definition)]


call_by(helper)


def helper_names() -> list[str]:
    """Names of all helpers."""
    return list(registries["layer"])


def _helper_of(definition: LayerDefinition) -> Callable[..., Any]:
    signature = signature_of(definition)

    def call(*inputs: Any, **settings: Any) -> Any:
        if unknown := [key for key in settings if key not in signature.parameters]:
            other = equivalent_attribute(unknown[0], signature.parameters)
            near = f"; {name_here(unknown[0], other)}" if other else suggestion(unknown[0], signature.parameters)
            raise TypeError(f"nn.{definition.name} has no argument `{unknown[0]}`{near}")
        if (setting := next((one for one in inputs if isinstance(one, (bool, int, float, str))), None)) is not None:
            named = next((name for name, one in definition.attributes.items() if one.required), "NAME")
            remedy = f"attributes are keyword arguments: write {named}={setting!r}"
            if isinstance(setting, str):
                remedy = "pass the value itself instead of its name"
            what = f"the inputs of `{definition.name}` must be values returned by other helpers, found {setting!r}"
            raise TypeError(f"{what}; {remedy}")
        for key, value in settings.items():
            if isinstance(value, FunctionType) and value.__module__ == HELPERS:
                raise TypeError(f"nn.{definition.name}: `{key}` is a function; write {key}={value.__name__!r}")
        # A list instead of separate inputs is legal, but the signature cannot describe it.
        if not (inputs and isinstance(inputs[0], (list, tuple))):
            try:
                signature.bind(*inputs, **settings)
            except TypeError as error:
                raise TypeError(f"nn.{definition.name}: {error}") from None
        return call_layer(definition, inputs, settings)

    made: Any = call
    made.__name__ = made.__qualname__ = definition.name
    made.__doc__ = _document(definition)
    made.__module__ = HELPERS
    made.__signature__ = signature
    return call


def _document(definition: LayerDefinition) -> str:
    lines = [definition.description, ""]
    for title, fields in (("Inputs", definition.inputs), ("Attributes", definition.attributes)):
        if fields:
            lines += [f"{title}:", *(f"    {name}: {field.doc}" for name, field in fields.items()), ""]
    return "\n".join(lines).rstrip() + "\n"
