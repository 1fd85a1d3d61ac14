"""PyTorch forms of the parameters of a graph.

For recurrent layers, and the linear layers before them, the form depends on the surrounding layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from paddle_layers.runtime.memory.layouts import FORMS, GATES, Form, Gates

from .domains import Value
from .graph import Graph, Op

_PEEPHOLES = "PyTorch's LSTM has no peephole connections; set `peepholes: false`"
_RESETS_BEFORE = "PyTorch's GRU applies the reset gate after the matrix product; set `reset_after: true`"
_OTHER_GATES = 'the gates of PyTorch\'s GRU use sigmoid; set `gate_act: "sigmoid"`'
"""Our update gate is 1 minus PyTorch's, which only for a sigmoid means negated pre-activations."""


def torch_forms(graphs: Iterable[Graph]) -> dict[str, Form]:
    """The form of each parameter and state by its name."""
    found: dict[str, Form] = {}
    for graph in graphs:
        readers = _readers(graph)
        for op in graph.ops:
            gates = GATES.get(op.layer.name) or _gates_behind(op, readers)
            for field, parameters in op.params.items():
                form = _form(op, field, gates)
                for one in parameters:
                    found[one.name] = found.get(one.name, form).joined(form)
            found.update((one.name, _form(op, field, None)) for field, one in op.states.items())
    return found


def _form(op: Op, field: str, gates: Gates | None) -> Form:
    layer = op.layer.name
    form = FORMS.get((layer, field), Form(field))
    if layer == "embedding":
        form = replace(form, padding=op.attributes["padding_id"])
    if gates is None:
        return form
    missing = ""
    if layer == "lstmemory" and op.attributes["peepholes"]:
        missing = _PEEPHOLES
    elif layer == "grumemory" and not op.attributes["reset_after"]:
        missing = _RESETS_BEFORE
    elif layer == "grumemory" and op.attributes["gate_act"] != "sigmoid":
        missing = _OTHER_GATES
    recall = layer == "grumemory" and field == "bias"
    return replace(form, transposed=field == "weight", gates=replace(gates, recall=recall), missing=missing)


def _gates_behind(op: Op, readers: Mapping[Value, list[str]]) -> Gates | None:
    """For an `fc` whose columns are the gates of a recurrent layer and nothing else: these gates."""
    # Only if nothing else reads the columns: another reader would see them permuted.
    behind = set(readers.get(op.outputs[0], ())) if op.layer.name == "fc" else set()
    return GATES.get(behind.pop()) if len(behind) == 1 else None


def _readers(graph: Graph) -> dict[Value, list[str]]:
    """Types of the layers that read each value."""
    found: dict[Value, list[str]] = {}
    for op in graph.ops:
        for value in op.inputs:
            found.setdefault(value, []).append(op.layer.name)
    return found
