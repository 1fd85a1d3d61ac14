"""Values of the template of a layer page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from paddle_layers.config import loads
from paddle_layers.define import LayerDefinition
from paddle_layers.define.checks.rules import rules_of
from paddle_layers.define.functions.point_functions import HELPERS, Function
from paddle_layers.exchange.onnx_out.forms import BY_THE_EXPORT, WITHOUT_FORM
from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.schema import layer_def_pb2 as pb

from .examples import parameters_of, python_text, worked_examples
from .formulas import Formula, formula
from .runs import run_example, starts_text
from .words import KINDS, family_title


class FunctionSection(NamedTuple):
    """A point function on the page."""

    title: str
    formula: Formula | None
    text: str


class Ingredient(NamedTuple):
    """A part of a layer made of layers on the page."""

    name: str
    layer: str
    reads: str
    gives: str
    parameters: str


def layer_values(layer: LayerDefinition, *, formulas: bool = True) -> dict[str, Any]:
    """The values of the template `layer.md.j2`; functions without a formula are shown as source."""
    return {
        "layer": layer.message,
        "summary": layer.summary,
        "description": layer.description.partition("\n")[2].strip(),
        "examples": list(_examples(layer)),
        "networks": [network_text(text) for text in layer.networks],
        "rules": [(rule.subject, rule.condition, _in_words(rule.message)) for rule in layer.message.rules],
        "choices": choices_of(layer.message.layer_attr),
        "family": family_title(layer.family),
        "formulas": formulas,
        "forward": [_shown(layer, f, formulas) for f in layer.facts.forward if f.role != "bias"],
        "backward": [_shown(layer, f, formulas) for f in layer.facts.backward if f.role != "bias"],
        "helpers": _helpers([f.call for f in layer.functions]),
        "bias": _bias(layer),
        "sizes": list(_sizes(layer)),
        "inference": [text for name in ("infer", "output_types") if (text := source_text(layer.hooks.get(name)))],
        "tuned": tuned_functions(layer.name),
        "made_of": list(_made_of(layer)),
        "body": source_text(layer.hooks.get("body")),
        "onnx": _onnx(layer),
    }


_OPERATOR = re.compile(r'graph\.([A-Z]\w+)\(|graph, "([A-Z]\w+)"')


def _onnx(layer: LayerDefinition) -> str:
    """Description of the ONNX export."""
    if layer.is_composite:
        return "exported as its parts"
    if not layer.inputs:
        return "exported as an input of the model"
    if layer.name in BY_THE_EXPORT:
        return f"exported as {BY_THE_EXPORT[layer.name]}"
    if layer.onnx is None:
        return f"not exported{f': {WITHOUT_FORM[layer.name]}' if layer.name in WITHOUT_FORM else ''}"
    # From the source, because the operators depend on attributes: a run would show those of one example only.
    found = dict.fromkeys(one or other for one, other in _OPERATOR.findall(source_text(layer.onnx.call)))
    nodes = ", ".join(f"`{name}`" for name in found) or "nothing (identity)"
    rules = "".join(f"; rejected unless `{rule.condition}`" for rule in rules_of([layer.onnx.call]))
    return f"exported as {nodes}{rules}"


def _made_of(layer: LayerDefinition) -> Iterator[Ingredient]:
    """The parts of the first example."""
    body = layer.bind_axes(*layer.example_inputs(layer.examples[0])).body if layer.is_composite else None
    for part in body.parts if body is not None else ():
        rows = parameters_of(part.definition, part.binding, part.attributes)
        yield Ingredient(
            part.name,
            part.definition.name + (f" + {part.activation[0].name}" if part.activation else ""),
            ", ".join(f"`{name}`" for name in part.inputs),
            ", ".join(f"`{type_}`" for type_ in part.binding.outputs),
            ", ".join(f"`{part.name}.{name}` {shape}" for name, shape, _ in rows),
        )


def _in_words(message: str) -> str:
    """A message of a rule, with the names of what it fills in: `{groups} groups` is "`groups` groups"."""
    spans = re.split(r"(`[^`]*`)", message)
    spans[::2] = [re.sub(r"\{([^{}]+)\}", r"`\1`", text) for text in spans[::2]]
    spans[1::2] = [re.sub(r"\{([^{}]+)\}", r"\1", span) for span in spans[1::2]]
    return "".join(spans)


def choices_of(attributes: Iterable[pb.AttributeDef]) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """Descriptions of choices: names of attributes with the same choices, and each choice with its description."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for attribute in attributes:
        choices = tuple((choice.name, choice.description) for choice in attribute.choices)
        if any(text for _, text in choices):
            groups.setdefault(choices, []).append(attribute.name)
    return [(names, list(choices)) for choices, names in groups.items()]


def network_text(text: str) -> str:
    """A network that is an example, with the inferred types of its outermost layers as comments."""
    network = loads(text)
    types = {node.name: ", ".join(map(str, node.output_types)) for node in network}
    width = max(map(len, types))
    rows = [f"# {name:{width}}  {found}" for name, found in types.items()]
    return "\n".join([text.strip(), "", *rows])


def source_text(call: Callable[..., Any] | None) -> str:
    """The source of a function; empty without source, as for one typed at a prompt."""
    try:
        text = inspect.getsource(call) if call is not None else ""
        # Directives of the formatter say nothing to readers of the page.
        return re.sub(r"  # fmt: (skip|off|on)$", "", text, flags=re.MULTILINE)
    except OSError:
        return ""


def _shown(layer: LayerDefinition, function: Function, formulas: bool) -> FunctionSection:
    title = ", ".join(f"`{name}`" for name in function.target_names)
    if function.over is not None:
        title += f", per `{function.over.name}`"
        kinds = {f.kind for f in layer.functions if f.target_names == function.target_names and f.role == function.role}
        title += f" that is {KINDS[function.kind]}" if len(kinds) > 1 else ""
        if function.along is not None:
            title += f", concatenated along `{function.along}`"
        elif function.role == "each":
            title += ", summed"
    if function.role == "update":
        title += ", after a training step"
    return FunctionSection(title, formula(layer, function) if formulas else None, source_text(function.call))


def _helpers(calls: Iterable[Callable[..., Any]]) -> list[str]:
    """Sources of the helpers that functions call, and of those that the helpers call."""
    found: dict[Callable[..., Any], str] = {}
    waiting = list(calls)
    while waiting:
        call = waiting.pop(0)
        for name in call.__code__.co_names:
            callee = call.__globals__.get(name)
            if callable(callee) and callee in HELPERS and callee not in found:
                found[callee] = source_text(callee)
                waiting.append(callee)
    return [text for text in found.values() if text]


def _bias(layer: LayerDefinition) -> str:
    if layer.bias is None:
        return ""
    output = next(iter(layer.outputs))
    return f"Then `{layer.bias.name}` is added to `{output}` along `{layer.bias.text}`, unless `bias` is false."


def _sizes(layer: LayerDefinition) -> Iterator[tuple[str, str]]:
    """Axes of the outputs, and where their sizes come from."""
    made = {attribute.axis: name for name, attribute in layer.attributes.items() if attribute.axis}
    required = {name: field for name, field in reversed(layer.inputs.items()) if not field.optional}
    inputs = {axis.name: name for name, field in required.items() for axis in field.axes}
    groups = {group: name for name, field in layer.inputs.items() for a in field.axes if (group := a.group)}
    seen = set()
    for axis in (axis for field in layer.outputs.values() for axis in field.axes):
        if axis.name in seen or axis.name == "1":
            continue
        seen.add(axis.name)
        if "output_types" in layer.hooks or layer.networks:
            continue
        if axis.name in made:
            yield axis.name, f"the attribute `{made[axis.name]}`"
        elif axis.name in inputs:
            yield axis.name, f"as in `{inputs[axis.name]}`"
        elif axis.name in groups:
            yield axis.name, f"the number of sequences of `{groups[axis.name]}` (one nesting level less)"
        elif "infer" in layer.hooks:
            yield axis.name, f"computed by `{layer.hooks['infer'].__name__}`"
        elif layer.is_composite:
            yield axis.name, "inferred from the parts"


def _examples(layer: LayerDefinition) -> Iterator[dict[str, Any]]:
    for example, worked in zip(layer.examples, worked_examples(layer), strict=True):
        names = [name for name, _ in worked.inputs], [name for name, _ in worked.outputs]
        run = run_example(layer, example, *names)
        types, _ = layer.example_inputs(example)
        failed = run if isinstance(run, str) else ""
        yield {
            "worked": worked,
            "python": python_text(layer, example, worked),
            "run": None if failed else run,
            "failed": failed,
            "starts": starts_text(types),
        }
