"""Wiring in one state: the layers in order, with their types and shared parameters. Collects every error once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddle_layers.define import Attributes, ShapeError, Type
from paddle_layers.define.fields.types import shape_text

from ..binding.assignments import PhaseState
from ..binding.blocks import BlockDefinition
from ..binding.drafts import Draft, StepDraft
from ..diagnostics.report import DiagnosticReport
from .composites import UseReport, expanded_layers, output_types, repeated, types_inside, types_outside, with_params
from .inference import INPUT, Inference, Producer, Types, output_names
from .names import Names, has_variable_outputs, order
from .nodes import Inside, Node, parameter_hint, unknown_parameter

First = dict[str, tuple[Node, str, tuple[int, ...]]]
"""The first parameter of each `share` name, and its shape."""


def check_shared(
    drafts: Sequence[Draft],
    found: Mapping[int, Node],
    first: First,
    report: DiagnosticReport,
    seen: set[tuple[str, int, int]],
) -> None:
    """Compare parameters with the same `share` name: shapes and settings; the first mismatch of each is reported.

    One of them may have the settings of all, in any layer: a second, different one would have no effect.
    """
    for index, node in found.items():
        for name, settings in node.params.items():
            if settings.share is None:
                continue
            shape = parameter_shape(node, name)
            other, other_name, other_shape = first.setdefault(settings.share, (node, name, shape))
            given, others = settings.given, other.params[other_name].given
            if given and not others:
                first[settings.share] = node, name, shape
            if shape == other_shape and (not given or not others or given == others):
                continue
            start = drafts[index].param_place(name, "share")
            if ("E212", start, 0) in seen:
                continue
            seen.add(("E212", start, 0))
            here, there = f"as `{name}` of layer `{node.name}`", f"as `{other_name}` of layer `{other.name}`"
            message = f"shared parameter `{settings.share}` has shape {shape_text(shape)} {here}, but "
            message, help_ = f"{message}{shape_text(other_shape)} {there}", "shared parameters must have the same shape"
            if shape == other_shape:
                odd = next(one for one in (*given, *others) if given.get(one) != others.get(one))
                message = f"shared parameter `{settings.share}` has another `{odd}` {here} than {there}"
                help_ = "write the settings in one of the layers, or the same in both"
            notes = (report.note(f"layer `{other.name}` is here", other.span[0]),)
            report.add("E212", message, start, help=help_, notes=notes)


def parameter_shape(node: Node, name: str) -> tuple[int, ...]:
    """Shape of a parameter; `weight_1` is that of the second item of an input, `gates.weight` that of a part."""
    if node.inside is not None:
        part, _, name = name.partition(".")
        inner = next((inner for inner in node.inside.nodes if inner.name == part), None)
        return parameter_shape(inner, name) if inner is not None else ()
    params = node.definition.params
    item = 0
    if name not in params:
        name, _, number = name.rpartition("_")
        item = int(number) if number.isdecimal() else 0
    try:
        return node.binding.dims(params[name], item)
    except (ShapeError, IndexError, KeyError):  # an item that does not exist; the layer itself was checked before
        return ()


# ---- wiring

Uses = dict[tuple[BlockDefinition, Attributes, Types], Inside | None]
"""The networks of blocks, by settings and types of inputs; None after an error."""

NONE: Mapping[str, Producer] = {}
ANY = PhaseState("train")
"""Layers of a step exist in every state."""


class Resolver:
    """The wiring of all drafts. `results` and `orders` are the nodes and their order in each state.

    `around` is the wiring of the network around a step or a use of a block; `group` is the group of the step, `block`
    the block of the drafts.
    """

    def __init__(
        self,
        drafts: Sequence[Draft],
        report: DiagnosticReport,
        around: Resolver | None = None,
        group: Draft | None = None,
        block: BlockDefinition | None = None,
    ) -> None:
        self.drafts, self.report, self.around = drafts, report, around
        # A block cannot see the names around its use, unlike a step, whose errors mention them.
        outer = around.names if around is not None and block is None else None
        self.names: Names = Names(drafts, report, outer, group, block)
        # The memo is shared with steps. A use of a block reports at the block, by a separate report.
        self.inference: Inference = around.inference if around is not None and block is None else Inference(report)
        self.uses: Uses = around.uses if around is not None else {}
        self.steps: dict[Draft, Resolver] = {}
        self.results: dict[PhaseState, dict[int, Node]] = {}
        self.orders: dict[PhaseState, list[int]] = {}
        self.all_needs: dict[int, set[int]] = {}

    def run(self, state: PhaseState, given: Mapping[str, Producer] = NONE) -> dict[int, Node]:
        """Wire the layers of one state; returns the valid nodes by index of the draft.

        `given` are the values of a group's inputs in a step.
        """
        # Parameters are shared across steps and blocks, but states are independent: a layer may exist in one of them
        # only.
        self.shared: First = self.around.shared if self.around is not None else {}
        present = [i for i, draft in enumerate(self.drafts) if draft.setup is None or draft.setup.present(state)]
        producers = self.names.producers(present)
        needs = self.names.needs(present, producers, state)
        done = order(needs)
        if len(done) < len(present):
            self.names.report_cycles(present, needs, done)
        types: dict[str, Producer] = dict(given)
        nodes: dict[int, Node] = {}
        for position in done:
            index = present[position]
            node = self._node(self.drafts[index], types)
            if node is not None:
                nodes[index] = node
        # Layers on a cycle have no types, but the number of their inputs can still be wrong.
        for position in set(range(len(present))) - set(done):
            self._count(self.drafts[present[position]])
        for position, needed in enumerate(needs):
            self.all_needs.setdefault(present[position], set()).update(present[other] for other in needed)
        check_shared(self.drafts, nodes, self.shared, self.report, self.names.seen)
        self.names.check_inner(nodes)
        self.results[state], self.orders[state] = nodes, [present[i] for i in done if present[i] in nodes]
        return nodes

    def in_order(self, state: PhaseState) -> list[Node]:
        """The valid layers of a state that was run."""
        found = self.results[state]
        return [found[index] for index in self.orders[state]]

    def _node(self, draft: Draft, producers: dict[str, Producer]) -> Node | None:
        given = [producers[name].type if name in producers else None for name in draft.inputs]
        known = tuple(type_ for type_ in given if type_ is not None)
        self._check_made(draft, producers)
        made, inside = None, None
        if draft.step is not None:
            made, inside = self._group(draft, draft.step, given)
        elif isinstance(draft.definition, BlockDefinition):
            made, inside = self._use(draft, draft.definition, known)
        elif len(known) == len(given) and draft.setup is not None and not draft.broken:
            made = self.inference.run(draft, known, producers)
        else:
            self._count(draft)
        names = output_names(draft, len(made) if made is not None else len(self._outputs(draft)))
        if made is not None and len(names) != len(made):
            self._output_count(draft, names, len(made))
            made = None
        types: Sequence[Type | None] = made if made is not None else [None] * len(names)
        for position, (name, type_) in enumerate(zip(names, types, strict=True)):
            # An invalid layer also gets producers, with unknown types: its name is not unknown to its readers.
            producers.setdefault(name, Producer(draft, position, type_))
        if made is None or draft.setup is None or not self._weights(draft, names):
            return None
        inside = inside or self.inference.inside(draft.setup, known)
        unknown = unknown_parameter(draft.setup, known, inside)
        if unknown is not None:
            message = f"`{draft.setup.definition.name}` has no parameter `{unknown}`"
            start = draft.param_place(unknown, "of")
            help_ = parameter_hint(unknown, draft.setup, known, inside)
            self.names.report_once("E112", message, start, 0, help=help_)
        return Node(draft.name, draft.inputs, names, draft.setup, known, made, draft.offset, inside)

    def _group(self, draft: Draft, step: StepDraft, given: Sequence[Type | None]) -> tuple[Types | None, Inside | None]:
        inner = self.steps.setdefault(draft, Resolver(step.drafts, self.report, self, draft))
        # The resolver of a step is kept for all states, so that errors in it are reported once.
        types = types_inside(draft, given, self.report)
        producers = (Producer(draft, INPUT - item, type_) for item, type_ in enumerate(types))
        inner.run(ANY, dict(zip(draft.inputs, producers, strict=True)))
        nodes = tuple(inner.in_order(ANY))
        made = types_outside(draft, step, types, nodes, inner.names)
        if made is not None and draft.inputs:
            return made, Inside(nodes, draft.inputs, step.outputs)
        self._count(draft)
        return None, None

    def _use(self, draft: Draft, block: BlockDefinition, types: Types) -> tuple[Types | None, Inside | None]:
        """The layers of a block instead of a layer that uses it."""
        arity = block.arity
        if draft.setup is None or block.broken or len(types) != len(draft.inputs) or not arity.allows(len(types)):
            self._count(draft)
            return None, None
        copies: list[Inside] = []
        given, chained = types, {place for place, name in enumerate(draft.inputs) if name == draft.inputs[0]}
        # Each copy is inferred for itself: it may change the size of its input.
        for _ in range(draft.setup.times):
            inside = self._once(draft, block, given)
            if inside is None:
                return None, None
            copies.append(inside)
            made = output_types(inside)
            given = tuple(made[0] if place in chained else type_ for place, type_ in enumerate(types))
        whole = copies[0] if draft.setup.times == 1 else repeated(block, draft, types, copies)
        return output_types(whole), with_params(whole, draft.setup.params)

    def _once(self, draft: Draft, block: BlockDefinition, types: Types) -> Inside | None:
        """The network of a block for these settings and types; None after a report."""
        assert draft.setup is not None, "only a valid layer gets here"
        # Uses with equal settings and types share the network inside.
        key = (block, draft.setup.attributes, types)
        if key not in self.uses:
            report = UseReport(self.report, draft)
            inner = Resolver(expanded_layers(block, draft.setup.attributes, report), report, self, block=block)
            producers = (Producer(draft, INPUT - item, type_) for item, type_ in enumerate(types))
            inner.run(ANY, dict(zip(block.inputs, producers, strict=True)))
            nodes = tuple(inner.in_order(ANY))
            sound = len(nodes) == len(inner.drafts)
            self.uses[key] = Inside(nodes, tuple(block.inputs), tuple(block.outputs)) if sound else None
        return self.uses[key]

    def _outputs(self, draft: Draft) -> Sequence[str]:
        return draft.explicit_outputs() or list(draft.definition.outputs if draft.definition else ("",)) or ("",)

    def _check_made(self, draft: Draft, producers: Mapping[str, Producer]) -> None:
        """Report inputs that a layer with a variable number of outputs does not produce."""
        for item, name in enumerate(draft.inputs):
            stem = name.rpartition(".")[0]
            if name in producers or stem not in producers or name not in self.names.all_outputs:
                continue
            first = producers[stem]
            if first.type is not None and has_variable_outputs(first.draft):
                made = [name for name, producer in producers.items() if producer.draft is first.draft]
                own = getattr(first.draft.definition, "outputs", {}).get(name.rpartition(".")[2])
                self.names.report_missing_output(draft, item, made, own.when if own is not None else None)

    def _count(self, draft: Draft) -> None:
        """Check the number of inputs, even if a type is unknown."""
        definition = draft.definition
        if definition is None or draft.broken:
            return
        arity, count = definition.arity, draft.input_count
        if not arity.allows(count):
            message = f"layer `{draft.name}`: `{definition.name}` takes {arity}, found {count}"
            self.inference.add(draft, "E205", message, draft.input_place(arity.most if arity.exceeded(count) else None))

    def _output_count(self, draft: Draft, names: Sequence[str], count: int) -> None:
        if len(set(names)) < len(names):  # a duplicate name was reported
            return
        message = f"layer `{draft.name}` has {count} output{'s' * (count != 1)}, but `output` names {len(names)}"
        self.inference.add(draft, "E210", message, draft.place("output"))

    def _weights(self, draft: Draft, outputs: Sequence[str]) -> bool:
        setup = draft.setup
        assert setup is not None, "only a valid layer gets here"
        for name, values, count, of in (
            ("loss_weight", setup.loss_weight, len(outputs), "outputs"),
            ("propagate_down", setup.propagate_down, len(draft.inputs), "inputs"),
        ):
            if values and len(values) != count:
                message = f"layer `{draft.name}` has {count} {of}, but {len(values)} values of `{name}`"
                self.inference.add(draft, "E213", message, draft.place(name))
                return False
        return True
