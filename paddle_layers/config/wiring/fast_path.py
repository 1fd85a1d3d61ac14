"""Fast path of wiring for networks without special features."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Type

from ..binding.drafts import Draft, Setup
from .inference import output_names, types_of
from .nested import inner_names, inside_of, unknown_parameter
from .nodes import Inside, Node
from .producers import Types


def wire_simple(drafts: Sequence[Draft]) -> list[Node] | None:
    """Fast path: nodes of layers without rules, each of which reads earlier layers; else None.

    It reports no errors; `Resolver` does.
    """
    types: dict[str, Type] = {}
    nodes: list[Node] = []
    add = nodes.append
    names: set[str] = set()
    inner: set[str] = set()
    known: dict[tuple[Setup, Types], tuple[Types, Inside | None]] = {}
    for draft in drafts:
        setup = draft.setup
        if setup is None:
            return None
        name, inputs = draft.name, draft.inputs
        try:
            given = tuple([types[other] for other in inputs])
        except KeyError:
            return None
        result = known.get((setup, given))
        if result is None:
            if not setup.is_simple:
                return None
            try:
                result = known[setup, given] = types_of(setup, given), inside_of(setup, given)
            except Exception:  # a plugin's function may raise anything; `Resolver` calls it again and reports it
                return None
            if unknown_parameter(setup, result[1]):
                return None
        output_types, inside = result
        names.add(name)
        outputs: tuple[str, ...]
        if len(output_types) == 1 and not setup.output_names:
            outputs = (name,)
            if name in types:
                return None
            types[name] = output_types[0]
        else:
            outputs = output_names(draft, len(output_types))
            taken = len(set(outputs)) < len(outputs) or any(output in types for output in outputs)
            if taken or len(outputs) != len(output_types):
                return None
            types.update(zip(outputs, output_types, strict=True))
        add(Node(name, inputs, outputs, setup, given, output_types, draft.offset, inside))
        if inside is not None:
            inner.update(inner_names(nodes[-1]))
    distinct = len(names) == len(nodes) and not inner & names and not inner & types.keys()
    return nodes if distinct and nodes else None
