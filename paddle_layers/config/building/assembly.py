"""Assembly of networks from Python: helper calls become text, and are checked by the same reader as a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..binding.steps import group_output_names
from ..diagnostics.diagnostic import Note, Source
from ..diagnostics.report import ConfigError, warn
from ..wiring.network_builder import Wired, wire_text
from ..writing.text import attributes_fields, fields_text, value_text
from .calls import Call, Sink, StepCalls, Value, check_scope


def build(outputs: Sequence[Any], name: str) -> Wired:
    """The layers that the given outputs depend on. Raises `ConfigError`; notes name the lines of the helper calls."""
    calls = _calls(_flat(outputs))
    names = _names(calls)
    text = f"name: {value_text(name)}\n" if name else ""
    for call in calls:
        # One layer per line, so that the line of an error is the number of the call.
        text += f"layer {{ {fields_text(_fields(call, names))} }}\n"
    # Through text, because there is one binder for all ways to write a network: they cannot differ in what they accept.
    wired, faults = wire_text(Source("<network built in Python>", text))
    for fault in faults:
        line = fault.line - 1 - bool(name)
        if 0 <= line < len(calls):
            fault.notes = (*fault.notes, Note(f"layer created at {calls[line].place}"))
    if wired is None or any(fault.severity == "error" for fault in faults):
        raise ConfigError(faults)
    warn(faults)
    return wired


def _flat(outputs: Any) -> list[Value | Sink]:
    if isinstance(outputs, (Value, Sink)):
        raise TypeError("outputs must be a list: write Network(outputs=[...])")
    found: list[Value | Sink] = []
    for item in outputs:
        for value in item if isinstance(item, (list, tuple)) else (item,):
            if not isinstance(value, (Value, Sink)):
                raise TypeError(f"outputs must be values returned by helpers, found {value!r}")
            check_scope("a network", value)
            found.append(value)
    return found


def _calls(values: Iterable[Value | Sink]) -> list[Call]:
    """All calls that the values depend on, in topological order."""
    done: dict[Call, None] = {}
    # An explicit stack: a chain of 1,000 layers would exceed Python's recursion limit.
    stack: list[tuple[Call, bool]] = [(value.call, False) for value in reversed(list(values))]
    while stack:
        call, entered = stack.pop()
        if call in done:
            continue
        if entered:
            done[call] = None
        else:
            stack.append((call, True))
            stack += [(value.call, False) for value in reversed(call.inputs)]
    return list(done)


def _names(calls: Sequence[Call], known: Collection[str] = ()) -> dict[Call, str]:
    """Names of the layers: explicit ones, or the type and a number; the `known` names are not used."""
    taken = {*known, *(call.headers["name"] for call in calls if "name" in call.headers)}
    counts: dict[str, int] = {}
    names = {}
    for call in calls:
        name = call.headers.get("name")
        # Numbers count per type and skip names that the program gives to other layers, whichever call comes first.
        while name is None or (name in taken and "name" not in call.headers):
            kind = call.definition.name
            counts[kind] = counts.get(kind, 0) + 1
            name = f"{kind}_{counts[kind]}"
        names[call] = name
    return names


def _fields(call: Call, names: dict[Call, str]) -> dict[str, Any]:
    definition = call.definition
    fields: dict[str, Any] = {"name": names[call], "type": definition.name}
    fields["input"] = [_output_name(value, names) for value in call.inputs]
    fields |= {key: value for key, value in call.headers.items() if key != "name"}
    settings = attributes_fields(definition, call.attributes)
    if call.step is not None:
        settings |= {"static": [_output_name(value, names) for value in call.step.static]}
        fields["step"] = _step(call, call.step, names)
    if settings:
        fields[definition.name] = settings
    return {key: value for key, value in fields.items() if value != []}


def _step(call: Call, step: StepCalls, names: dict[Call, str]) -> dict[str, Any]:
    inside = _names_inside(call, step, names)
    return {
        "layer": [_fields(inner, inside) for inner in step.calls],
        "output": [_output_name(value, inside) for value in step.outputs],
    }


def _names_inside(call: Call, step: StepCalls, names: dict[Call, str]) -> dict[Call, str]:
    """Names available in a step: those of the group's inputs and of the layers in the step."""
    return names | _names(step.calls, [_output_name(value, names) for value in call.inputs])


def _output_name(value: Value, names: dict[Call, str]) -> str:
    call = value.call
    given = call.headers.get("output")
    if given is not None:
        return str(given if isinstance(given, str) else given[value.index])
    if call.step is not None:
        inside = _names_inside(call, call.step, names)
        own = [_output_name(inner, inside) for inner in call.step.outputs]
        return group_output_names(names[call], own)[value.index]
    count = len(call.definition.infer([v.type for v in call.inputs], call.attributes))
    return call.definition.names_in_network(names[call], count)[value.index]
