"""Block uses: expansion to layers with the settings of the use."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from paddle_layers.define import Attributes, Type

from ..binding.binder import Binder, Bound
from ..binding.blocks import BlockDefinition
from ..binding.drafting import draft
from ..binding.drafts import Draft, Step
from ..binding.expressions import Value, shown
from ..binding.settings import ParamSettings
from ..binding.steps import BLOCK
from ..diagnostics.diagnostic import Fix, Note
from ..diagnostics.report import Report
from .nodes import Inside, Node

LONGEST = 120
"""Maximum length of the settings in a note."""


class UseReport(Report):
    """Errors of a block in a use, each reported once, at the first use with it.

    Errors of the block alone were reported before. Those of a use come from its settings and inputs, and one of these
    may invalidate many layers of the block, so only the first error of a use is reported.
    """

    def __init__(self, outer: Report, use: Draft) -> None:
        super().__init__(outer.source)
        self.outer, self.use, self.diagnostics = outer, use, outer.diagnostics
        self.has_reported = False

    def add(
        self,
        code: str,
        message: str,
        start: int,
        end: int = 0,
        *,
        help: str = "",
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic with a note on the use, unless another use has reported it."""
        warning = code.startswith("W")
        if self.has_reported and not warning:
            return
        self.has_reported = self.has_reported or not warning
        if any((known.code, known.start) == (code, start) for known in self.diagnostics):
            return
        notes = (*notes, self.note(f"in this use of the block{_settings(self.use)}", self.use.offset))
        self.outer.add(code, message, start, end, help=help, notes=notes, fix=fix)


def _settings(use: Draft) -> str:
    values = use.setup.attributes if use.setup is not None else {}
    text = ", ".join(f"{name} = {shown(value)}" for name, value in values.items())
    return f", with {text}"[:LONGEST] if text else ""


def expanded_layers(block: BlockDefinition, settings: Attributes, report: Report) -> tuple[Draft, ...]:
    """The layers of a block, with attributes computed from its settings."""
    binder = Binder(report)
    return tuple(
        draft(_filled(one.bound, settings, binder), binder, BLOCK)
        if one.bound is not None and _varies(one.bound)
        else one
        for one in block.drafts
    )


def _varies(bound: Bound) -> bool:
    return bool(bound.pending) or any(_varies(layer) for layer in _layers_of_step(bound))


def _layers_of_step(bound: Bound) -> Sequence[Bound]:
    step: Any = bound.values.get("step")
    block = step.bound if isinstance(step, Step) else step
    return block.values.get("layer", ()) if block is not None else ()


def _filled(bound: Bound, settings: Mapping[str, Value], binder: Binder) -> Bound:
    """A layer with the values of its pending attributes, including the layers of its step."""
    made: Bound = copy.copy(bound)
    made.values, made.pending = dict(bound.values), ()
    definition = bound.definition
    if bound.pending and definition is not None:
        fields = [one.field(settings, binder.report) for one in bound.pending]
        made.block = [*bound.block, *(field for field in fields if field is not None)]
        made.broken = bound.broken or None in fields
        own = bound.places.get(definition.name)
        start = own[0][3] if own else bound.place("type")
        made.attributes = binder.attributes(definition, made.block, start, made)
    if layers := _layers_of_step(bound):
        step: Any = bound.values["step"]
        block: Bound = copy.copy(step.bound if isinstance(step, Step) else step)
        block.values = {**block.values, "layer": [_filled(layer, settings, binder) for layer in layers]}
        made.values["step"] = block
    return made


# ---- the network inside


def repeated(block: BlockDefinition, use: Draft, types: Sequence[Type], copies: Sequence[Inside]) -> Inside:
    """Copies of a block in sequence: `0`, `1` and so on.

    Each reads the output of the previous one instead of its first input, and of other inputs with the same value.
    """
    assert use.setup is not None, "an invalid layer has no inside"
    nodes: list[Node] = []
    for number, inside in enumerate(copies):
        setup = copy.copy(use.setup)
        setup.params, setup.output_names, setup.times = {}, (), 1
        setup.include, setup.exclude, setup.loss_weight, setup.propagate_down = (), (), None, ()
        inputs, given = tuple(block.inputs), tuple(types)
        if nodes:
            last, chained = nodes[-1], [name == use.inputs[0] for name in use.inputs]
            inputs = tuple(last.name if same else name for name, same in zip(inputs, chained, strict=True))
            given = tuple(last.output_types[0] if same else type_ for type_, same in zip(types, chained, strict=True))
        nodes.append(Node(str(number), inputs, (str(number),), setup, given, output_types(inside), use.offset, inside))
    return Inside(tuple(nodes), tuple(block.inputs), (nodes[-1].name,))


def output_types(inside: Inside) -> tuple[Type, ...]:
    """Output types of the network inside a layer."""
    types = {
        name: type_ for node in inside.nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }
    return tuple(types[name] for name in inside.outputs)


def with_params(inside: Inside, params: Mapping[str, ParamSettings]) -> Inside:
    """The network inside, with the parameter settings of a use instead of those of the block."""
    if not params:
        return inside
    return Inside(tuple(_changed(node, params) for node in inside.nodes), inside.inputs, inside.outputs)


def _changed(node: Node, params: Mapping[str, ParamSettings]) -> Node:
    prefix = f"{node.name}."
    own = {name.removeprefix(prefix): found for name, found in params.items() if name.startswith(prefix)}
    if not own:
        return node
    setup = copy.copy(node.setup)
    setup.params = {**node.params, **own}
    inside = with_params(node.inside, own) if node.inside is not None else None
    types = node.input_types, node.output_types
    return Node(node.name, node.inputs, node.output_names, setup, *types, node.span[0], inside)
