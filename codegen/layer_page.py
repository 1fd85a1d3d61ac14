"""Values of the template of a layer page, and executed examples: rows computed by the layer's own functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import loads
from paddle_layers.define import Example, Input, LayerDefinition, Type
from paddle_layers.define.checks.rules import rules_of
from paddle_layers.define.functions.ir import global_names
from paddle_layers.define.functions.point_functions import HELPERS, Function
from paddle_layers.define.functions.program import source_of
from paddle_layers.exchange.onnx_out.forms import BY_THE_EXPORT, WITHOUT_FORM
from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Csr, Net, Sequences
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.schema import layer_def_pb2 as pb
from paddle_layers.testing.cases.case import LAYER, Case

from .examples import parameters_of, python_text, worked_examples
from .formulas import Formula, formula
from .words import KINDS, family_title

STARTS: dict[int, tuple[tuple[int, ...], ...]] = {0: (), 1: ((0, 2, 3),), 2: ((0, 2, 3), (0, 1, 3, 4))}
"""Sequence starts by level, outermost first: two sequences."""
ROWS = {0: 2, 1: 3, 2: 4}
SHOWN = 6
"""Numbers of a row that are shown."""


class ExampleResult(NamedTuple):
    """Text by name: one list of rows per tensor."""

    inputs: list[tuple[str, list[str]]]
    parameters: list[tuple[str, list[str]]]
    outputs: list[tuple[str, list[str]]]


def run_example(
    layer: LayerDefinition, example: Example, inputs: Sequence[str], outputs: Sequence[str]
) -> ExampleResult | str | None:
    """The example with numbers, in the phase train.

    The functions run as Python: an example is small, and compiling takes longer than computing.

    Returns:
        The run; the reason where it fails; None for a layer without inputs or functions.
    """
    if not layer.inputs or layer.declared_only:
        return None
    types, attributes = layer.example_inputs(example)
    case = Case(layer, example, tuple(types), attributes, "train")
    deepest = max(type_.level for type_ in types)
    given = [
        _rows(type_, field, place, deepest) for place, (type_, field) in enumerate(zip(types, case.inputs, strict=True))
    ]
    feeds = {
        f"in{place}": Sequences(rows, *map(np.array, STARTS[deepest][: type_.level])) if type_.level else rows
        for place, (type_, rows) in enumerate(zip(types, given, strict=True))
    }
    try:
        with point_functions_only(), interpreted(), Net(case.network()) as net:
            parameters = []
            for name, parameter in net.parameters.items():
                parameter.value[...] = _numbers(parameter.shape, 3)
                parameters.append((name.removeprefix(f"{LAYER}."), _texts(parameter.value)))
            found = net.forward(feeds)
    except (ArithmeticError, ValueError) as error:  # Python refuses what a kernel gives NaN for
        return f"{type(error).__name__}: {error}"
    return ExampleResult(
        [(name, _texts(rows)) for name, rows in zip(inputs, given, strict=True)],
        parameters,
        [(name, _texts(found[own])) for name, own in zip(outputs, case.outputs, strict=True)],
    )


def starts_text(types: Sequence[Type]) -> str:
    """The sequence grouping of the rows of an example; empty for samples."""
    deepest = max((type_.level for type_ in types), default=0)
    if deepest == 0:
        return ""
    ends = " and ".join(f"`{list(starts)}`" for starts in STARTS[deepest])
    what = "sequences" if deepest == 1 else "sequences and sub-sequences"
    return f"The rows are grouped in {what} that start at {ends}."


def _rows(type_: Type, field: Input, place: int, deepest: int) -> Any:
    """Rows that are easy to reckon with: halves between -2 and 2, tenths between 0 and 1, ids in turn."""
    above = deepest - type_.level
    count = ROWS[deepest] if above == 0 else len(STARTS[deepest][type_.level]) - 1
    if type_.kind == "INT":
        return ((np.arange(count * type_.columns) + place) % type_.size).reshape(count, *type_.dims)
    if field.places is not None:
        lengths = np.diff(STARTS[deepest][type_.level])[:, None]
        places = np.arange(count)[:, None] + np.arange(type_.size) + place - 1
        return np.where(lengths > 0, places % np.maximum(lengths, 1), -1)
    if type_.kind == "DENSE":
        numbers = _numbers((count, *type_.dims), place)
        return numbers if field.within is None else _tenths(numbers, *field.within)
    ids = np.stack([np.arange(count) % type_.size, (np.arange(count) + 2) % type_.size], axis=1)
    ids.sort(axis=1)
    values = _numbers((count, 2), place) if type_.kind == "SPARSE" else None
    return Csr(np.arange(count + 1) * 2, ids.ravel(), None if values is None else values.ravel())


def _numbers(shape: tuple[int, ...], shift: int) -> NDArray[np.float64]:
    size = int(np.prod(shape, dtype=np.int64))
    # 5 and 9 are coprime, so nine different halves follow each other in no visible order; readers can check results by
    # hand.
    return (((np.arange(size) * 5 + 2 * shift + 1) % 9 - 4) / 2).reshape(shape)


def _tenths(numbers: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Halves between -2 and 2, brought into a range."""
    return np.round(low + (high - low) * (numbers * 2 + 5) / 10, 6)


def _texts(value: Any) -> list[str]:
    """One string per row."""
    if isinstance(value, Sequences):
        value = value.data
    if isinstance(value, Csr):
        return [_sparse(value, row) for row in range(len(value.start) - 1)]
    array = np.asarray(value)
    if array.ndim < 2:
        return [_list(array.ravel())]
    return [_list(row.ravel()) for row in array[:4]] + (["..."] if len(array) > 4 else [])


def _sparse(value: Csr, row: int) -> str:
    at = slice(value.start[row], value.start[row + 1])
    ids = value.id[at].tolist()
    if value.value is None:
        return f"columns {ids}"
    return "{" + ", ".join(f"{column}: {_number(v)}" for column, v in zip(ids, value.value[at], strict=True)) + "}"


def _list(row: NDArray[Any]) -> str:
    texts = [_number(v) for v in row[:SHOWN]] + (["..."] if len(row) > SHOWN else [])
    return f"[{', '.join(texts)}]"


def _number(value: Any) -> str:
    """Four digits; a zero has no sign."""
    text = f"{float(value):.4g}"
    return "0" if text == "-0" else text


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
    hooks = (source_text(layer.hooks.get(name), layer.owner.__name__) for name in ("infer", "output_types"))
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
        "inference": list(filter(None, hooks)),
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


def source_text(call: Callable[..., Any] | None, owner: str = "") -> str:
    """The source of a function; empty without source, as for one typed at a prompt.

    A function that `owner` shares with another layer is shown without its decorator, which names that layer.
    """
    try:
        text = source_of(call) if call is not None else ""
    except OSError:
        return ""
    decorators, def_, rest = text.partition("def ")
    if owner and not re.search(rf"\b{owner}\b", decorators):
        text = def_ + rest
    # Directives of the formatter say nothing to readers of the page.
    return re.sub(r"  # fmt: (skip|off|on)$", "", text, flags=re.MULTILINE)


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
    source = source_text(function.call, layer.owner.__name__)
    return FunctionSection(title, formula(layer, function) if formulas else None, source)


def _helpers(calls: Iterable[Callable[..., Any]]) -> list[str]:
    """Sources of the helpers that functions call, and of those that the helpers call."""
    found: dict[Callable[..., Any], str] = {}
    waiting = list(calls)
    while waiting:
        call = waiting.pop(0)
        for name in global_names(call.__code__):
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
