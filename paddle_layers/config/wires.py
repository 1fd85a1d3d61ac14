"""One state at a time: who makes what, in which order, with which types. Collects every fault once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddle_layers.define import Type

from .diagnostics import Fix, Report
from .drafts import Draft, input_count
from .graph import cycles, order
from .groups import wire_group
from .inference import Inference, Maker, Types, output_names, story
from .insides import inner_names, inside_of, parameter_hint, unknown_parameter
from .network import Inside, Node
from .settings import State
from .sharing import First, check_shared
from .steps import Step
from .suggestions import nearest

_SHOWN = 7
NONE: Mapping[str, Maker] = {}


class Wires:
    """The wiring of all drafts. `results` and `orders` hold what came out for each state.

    `around` is the wiring of the network around a step, and `group` the group that the step belongs to.
    """

    def __init__(
        self, drafts: Sequence[Draft], report: Report, around: Wires | None = None, group: Draft | None = None
    ) -> None:
        self.drafts, self.report, self.around, self.group = drafts, report, around, group
        self.inputs = frozenset(group.inputs if group is not None else ())
        self.inference: Inference = around.inference if around is not None else Inference(report)
        self.steps: dict[int, Wires] = {}
        self.results: dict[State, dict[int, Node]] = {}
        self.orders: dict[State, list[int]] = {}
        self.all_needs: dict[int, set[int]] = {}
        self.seen: set[tuple[str, int, int]] = set()
        self.absent: dict[int, tuple[State, int, str]] = {}
        self.works: set[int] = set()
        self.anywhere = {name for draft in drafts for name in self._possible(draft)}

    def start_group(self) -> None:
        """Begin the states of one phase."""
        self.absent, self.works = {}, set()

    def end_group(self) -> None:
        """Report layers that lack an input in every state of the phase in which they are there."""
        for index, (state, item, name) in self.absent.items():
            if index in self.works:
                continue
            draft = self.drafts[index]
            others = ", ".join(f"`{d.name}`" for d in self.drafts if name in self._possible(d))
            self._once(
                "E211",
                f"layer `{draft.name}` reads `{name}`, which is not there in the {state.phase} phase",
                draft.input_place(item),
                index,
                help=f"layer {others} has `include` or `exclude` rules: give layer `{draft.name}` the same ones",
            )

    def run(self, state: State, given: Mapping[str, Maker] = NONE) -> dict[int, Node]:
        """Wire the layers of one state; the nodes that came out well, by number of the draft.

        `given` are the values of a group's inputs in a step.
        """
        self.shared: First = self.around.shared if self.around is not None else {}
        present = [i for i, draft in enumerate(self.drafts) if draft.setup is None or draft.setup.present(state)]
        makers = self._makers(present)
        needs = self._needs(present, makers, state)
        done = order(needs)
        if len(done) < len(present):
            self._cycles(present, needs, done)
        types: dict[str, Maker] = dict(given)
        nodes: dict[int, Node] = {}
        for position in done:
            index = present[position]
            node = self._node(self.drafts[index], types)
            if node is not None:
                nodes[index] = node
        for position in set(range(len(present))) - set(done):
            self._count(self.drafts[present[position]])
        for position, needed in enumerate(needs):
            self.all_needs.setdefault(present[position], set()).update(present[other] for other in needed)
        check_shared(self.drafts, nodes, self.shared, self.report, self.seen)
        self._check_inner_names(nodes)
        self.results[state], self.orders[state] = nodes, [present[i] for i in done if present[i] in nodes]
        return nodes

    # ---- who makes what

    def _possible(self, draft: Draft) -> Iterable[str]:
        if draft.explicit_outputs() or draft.definition is None:
            return output_names(draft, 1)
        return output_names(draft, max(1, len(draft.definition.outputs)))

    def _makers(self, present: list[int]) -> dict[str, int]:
        """Position of the layer that makes each output; duplicates of layers and outputs are reported."""
        names: dict[str, Draft] = {}
        makers: dict[str, int] = {}
        for position, index in enumerate(present):
            draft = self.drafts[index]
            first = names.setdefault(draft.name, draft) if draft.name else draft
            if first is not draft:
                self._duplicate("E201", f"layer name `{draft.name}` is taken", draft, first, index)
            for item, output in enumerate(self._possible(draft)):
                if output in self.inputs and self.group is not None:
                    self._name_of_an_input(output, draft, self.group, index)
                elif output not in makers:
                    makers[output] = position
                elif first is draft or draft.explicit_outputs():
                    other = self.drafts[present[makers[output]]]
                    self._duplicate("E202", f"output `{output}` is made twice", draft, other, index, item)
        return makers

    def _name_of_an_input(self, output: str, draft: Draft, group: Draft, index: int) -> None:
        note = self.report.note("the group reads it here", group.input_place(group.inputs.index(output)))
        message = f"output `{output}` has the name of an input of group `{group.name}`"
        self._once("E202", message, draft.offset, index, help="give it a name of its own", notes=(note,))

    def _duplicate(self, code: str, message: str, draft: Draft, other: Draft, index: int, item: int = -1) -> None:
        start = draft.offset
        hint = "every layer has its own name"
        if code == "E202":
            hint = "every output has its own name"
            if draft.bound is not None and draft.explicit_outputs():
                start = draft.bound.place("output", item)
            if draft.name in draft.inputs or set(draft.inputs) & set(draft.explicit_outputs()):
                hint = "a layer cannot write over its input: give the output a name of its own; memory is shared anyway"
        what = f"layer `{other.name}` is here" if code == "E202" and other is not draft else "first used here"
        note = self.report.note(what, other.offset if other is not draft else draft.offset)
        self._once(code, message, start, index, help=hint, notes=(note,))

    def _check_inner_names(self, nodes: Mapping[int, Node]) -> None:
        """A layer or output may not be called like one inside of another layer: they would have one parameter.

        A group's own outputs may: `group.state` is what its layer `state` gives.
        """
        inner = {name: node for node in nodes.values() for name in inner_names(node)}
        for index, node in nodes.items() if inner else ():
            own = (node.name, *node.output_names)
            name = next((name for name in own if inner.get(name, node) is not node), None)
            if name is not None:
                outer = inner[name]
                note = self.report.note(f"layer `{outer.name}` is here", outer.span[0])
                message = f"layer `{node.name}` has the name of a part of layer `{outer.name}`: `{name}`"
                start = self.drafts[index].offset
                self._once("E201", message, start, index, help="every layer has its own name", notes=(note,))

    def _needs(self, present: list[int], makers: dict[str, int], state: State) -> list[list[int]]:
        needs: list[list[int]] = []
        for index in present:
            draft = self.drafts[index]
            needed, complete = [], True
            for item, name in enumerate(draft.inputs):
                if name in makers:
                    needed.append(makers[name])
                elif name in self.inputs:
                    continue
                elif name in self.anywhere:
                    self.absent.setdefault(index, (state, item, name))
                    complete = False
                elif not self._unfinished(draft, name) and not self.may_be_made(name):
                    self._unknown_input(draft, index, item, name)
            if complete:
                self.works.add(index)
            needs.append(needed)
        return needs

    def _unfinished(self, draft: Draft, name: str) -> bool:
        return not name and draft.bound is not None and draft.bound.broken

    def may_be_made(self, name: str) -> bool:
        """Whether a faulty or repeatable layer may make an output of this name."""
        stem, dot, _ = name.rpartition(".")
        if not dot:
            return False
        return any(draft.name == stem and (draft.definition is None or draft.setup is None) for draft in self.drafts)

    def _unknown_input(self, draft: Draft, index: int, item: int, name: str) -> None:
        near = nearest(name, (self.anywhere | self.inputs) - {draft.name})
        start = draft.input_place(item)
        end = self.report.source.token_end(start)
        hint = f"did you mean `{near}`?" if near else "an input is the name of another layer's output"
        fix = Fix(start, end, f'"{near}"') if near else None
        message = f"layer `{draft.name}` reads `{name}`, which no layer makes"
        if name == draft.name:
            message = f"layer `{draft.name}` reads its own output"
        if elsewhere := self._elsewhere(name):
            hint, fix = elsewhere, None
        self._once("E203", message, start, index * 65536 + item, help=hint, fix=fix)

    def _elsewhere(self, name: str) -> str:
        """What to do about a name that is known outside of this step, or in the step of a group; else empty."""
        around = self.around
        while around is not None and self.group is not None:
            if name in around.anywhere | around.inputs:
                static = f'and `static: "{name}"` if each step sees all of it'
                return f'it stands outside of the step: add `input: "{name}"` to group `{self.group.name}`, {static}'
            around = around.around
        for draft in self.drafts:
            if draft.step is not None and any(name in self._possible(inner) for inner in draft.step.drafts):
                return f"it stands in the step of group `{draft.name}`: read what the group gives"
        return ""

    def _cycles(self, present: list[int], needs: list[list[int]], done: list[int]) -> None:
        among = sorted(set(range(len(present))) - set(done))
        for cycle in cycles(needs, among):
            drafts = [self.drafts[present[position]] for position in cycle]
            names = [f"`{draft.name}`" for draft in drafts]
            if len(names) > _SHOWN:
                names = [*names[:3], f"({len(names) - 5} more)", *names[-2:]]
            outputs = set(self._possible(drafts[-1]))
            first = drafts[0]
            item = next((i for i, name in enumerate(first.inputs) if name in outputs), 0)
            text = " -> ".join([*names, names[0]])
            message = f"the layers form a cycle: {text}"
            if len(drafts) == 1:
                message = f"layer {names[0]} reads its own output"
            self._once("E204", message, first.input_place(item), present[cycle[0]], help=self._way_out)

    @property
    def _way_out(self) -> str:
        if self.group is None:
            return "break it at one input"
        return "break it at one input: a `memory` is what a layer gave in the step before"

    # ---- types

    def _node(self, draft: Draft, makers: dict[str, Maker]) -> Node | None:
        given = [makers[name].type if name in makers else None for name in draft.inputs]
        known = tuple(type_ for type_ in given if type_ is not None)
        made, inside = None, None
        if draft.step is not None:
            made, inside = self._group(draft, draft.step, given)
        elif len(known) == len(given) and draft.setup is not None and (draft.bound is None or not draft.bound.broken):
            made = self.inference.run(draft, known, lambda item: story(draft, item, makers, self.report))
        else:
            self._count(draft)
        names = output_names(draft, len(made) if made is not None else len(self._outputs(draft)))
        if made is not None and len(names) != len(made):
            self._output_count(draft, names, len(made))
            made = None
        types: Sequence[Type | None] = made if made is not None else [None] * len(names)
        for position, (name, type_) in enumerate(zip(names, types, strict=True)):
            makers.setdefault(name, Maker(draft, position, type_))
        if made is None or draft.setup is None or not self._weights(draft, names):
            return None
        inside = inside or inside_of(draft.setup, known)
        unknown = unknown_parameter(draft.setup, inside)
        if inside is not None and unknown is not None:
            message = f"`{draft.setup.definition.name}` has no parameter `{unknown}`"
            start = draft.param_place(unknown, "of")
            self._once("E112", message, start, 0, help=parameter_hint(unknown, inside))
        return Node(draft.name, draft.inputs, names, draft.setup, known, made, draft.offset, inside)

    def _group(self, draft: Draft, step: Step, given: Sequence[Type | None]) -> tuple[Types | None, Inside | None]:
        inner = self.steps.setdefault(id(draft), Wires(step.drafts, self.report, self, draft))
        found = wire_group(draft, step, given, inner)
        if found is not None and draft.inputs:
            return found
        self._count(draft)
        return None, None

    def _outputs(self, draft: Draft) -> Sequence[str]:
        return draft.explicit_outputs() or list(draft.definition.outputs if draft.definition else ("",)) or ("",)

    def _count(self, draft: Draft) -> None:
        """The number of inputs is checked even where a type is missing."""
        definition = draft.definition
        if definition is None or (draft.bound is not None and draft.bound.broken):
            return
        count = input_count(draft.bound) if draft.bound is not None else len(draft.inputs)
        fields = definition.inputs.values()
        least = sum(field.minimum if field.repeatable else not field.optional for field in fields)
        most = None if any(field.repeatable for field in fields) else len(fields)
        if least <= count and (most is None or count <= most):
            return
        wanted = f"at least {least}" if most is None else f"{least} to {most}" if least < most else f"{least}"
        start = draft.input_place(most if most is not None and count > most else None)
        message = (
            f"layer `{draft.name}`: `{definition.name}` takes {wanted} input{'s' * (wanted != '1')}, found {count}"
        )
        self.inference.add(draft, "E205", message, start)

    def _output_count(self, draft: Draft, names: Sequence[str], count: int) -> None:
        if len(set(names)) < len(names):  # a name that is given twice was reported
            return
        start = draft.bound.place("output") if draft.bound else draft.offset
        message = f"layer `{draft.name}` makes {count} output{'s' * (count != 1)}, but `output` names {len(names)}"
        self.inference.add(draft, "E210", message, start)

    def _weights(self, draft: Draft, outputs: Sequence[str]) -> bool:
        setup, bound = draft.setup, draft.bound
        assert setup is not None, "only a sound layer gets here"
        for name, values, count, of in (
            ("loss_weight", setup.loss_weight, len(outputs), "outputs"),
            ("propagate_down", setup.propagate_down, len(draft.inputs), "inputs"),
        ):
            if values and len(values) != count:
                start = bound.place(name) if bound else draft.offset
                message = f"layer `{draft.name}` has {count} {of}, but {len(values)} values of `{name}`"
                self.inference.add(draft, "E213", message, start)
                return False
        return True

    def _once(self, code: str, message: str, start: int, key: int, **rest: Any) -> None:
        if (code, start, key) not in self.seen:
            self.seen.add((code, start, key))
            self.report.add(code, message, start, **rest)
