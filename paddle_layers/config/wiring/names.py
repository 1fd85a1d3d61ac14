"""Name resolution in a network or step: producers, consumers, topological order, cycles."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from paddle_layers.define.name_patterns import listed

from ..binding.assignments import PhaseState
from ..binding.blocks import BlockDefinition
from ..binding.drafts import Draft
from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import Vocabulary
from .inference import output_names
from .nodes import Node, inner_names


def order(needs: Sequence[Sequence[int]]) -> list[int]:
    """Vertices in topological order; ties are broken by number.

    Vertices on a cycle, and those that depend on them, are omitted.
    """
    users: list[list[int]] = [[] for _ in needs]
    missing = [0] * len(needs)
    for vertex, needed in enumerate(needs):
        for other in set(needed):
            users[other].append(vertex)
            missing[vertex] += 1
    # A heap, so that layers keep the order of the file as far as possible; a list in ascending order is a heap.
    ready = [vertex for vertex, count in enumerate(missing) if count == 0]
    done = []
    while ready:
        vertex = heapq.heappop(ready)
        done.append(vertex)
        for user in users[vertex]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    return done


def cycles(needs: Sequence[Sequence[int]], among: Sequence[int]) -> list[list[int]]:
    """One short cycle for each strongly connected component among the given vertices, in the direction of data."""
    inside = set(among)
    found = []
    # One cycle per component: a component may contain exponentially many.
    for component in _components(needs, inside):
        members = set(component)
        first = min(component)
        if len(component) > 1 or first in needs[first]:
            found.append(_cycle(needs, first, members))
    return sorted(found)


def _cycle(needs: Sequence[Sequence[int]], first: int, members: set[int]) -> list[int]:
    """A shortest cycle through `first`, found breadth first against the direction of data."""
    user: dict[int, int] = {}
    queue = [first]
    for vertex in queue:
        for other in needs[vertex]:
            if other == first:
                path = [vertex]
                while path[-1] != first:
                    path.append(user[path[-1]])
                return [first, *path[:-1]]
            if other in members and other not in user:
                user[other] = vertex
                queue.append(other)
    return [first]


def _components(needs: Sequence[Sequence[int]], inside: set[int]) -> list[list[int]]:
    """Tarjan's strongly connected components, with an explicit stack."""
    # An explicit stack, because a cycle of 10,000 layers would exceed Python's recursion limit.
    near = {vertex: [other for other in needs[vertex] if other in inside] for vertex in inside}
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in sorted(inside):
        work = [(root, 0)] if root not in index else []
        while work:
            vertex, at = work.pop()
            if at == 0:
                index[vertex] = low[vertex] = len(index)
                stack.append(vertex)
                on_stack.add(vertex)
            if at > 0:
                low[vertex] = min(low[vertex], low[near[vertex][at - 1]])
            while at < len(near[vertex]):
                other = near[vertex][at]
                at += 1
                if other not in index:
                    work.append((vertex, at))
                    work.append((other, 0))
                    break
                if other in on_stack:
                    low[vertex] = min(low[vertex], index[other])
            else:
                if low[vertex] == index[vertex]:
                    component: list[int] = []
                    while not component or component[-1] != vertex:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)
    return found


# ---- names

_SHOWN = 7


class Names:
    """The names of all drafts. Every error is reported once, however many states show it.

    `around` has the names around a step, and `group` is the group that the step belongs to; `block` is the block that
    contains the drafts.
    """

    def __init__(
        self,
        drafts: Sequence[Draft],
        report: DiagnosticReport,
        around: Names | None = None,
        group: Draft | None = None,
        block: BlockDefinition | None = None,
    ) -> None:
        self.drafts, self.report, self.around, self.group, self.block = drafts, report, around, group, block
        self.inputs = frozenset(group.inputs if group is not None else block.inputs if block is not None else ())
        self.seen: set[tuple[str, int, int]] = set()
        self.absent: dict[int, tuple[PhaseState, int, str]] = {}
        self.works: set[int] = set()
        # A layer may have any number of outputs `name.output_1`, so only those that are read are generated.
        self.read = {name for draft in drafts for name in draft.inputs if "." in name}
        self.all_outputs = {name for draft in drafts for name in _possible(draft, self.read)}

    def start_phase(self) -> None:
        """Begin the states of one phase."""
        self.absent, self.works = {}, set()

    def end_phase(self) -> None:
        """Report layers that lack an input in every state of the phase in which they exist."""
        for index, (state, item, name) in self.absent.items():
            if index in self.works:
                continue
            draft = self.drafts[index]
            others = ", ".join(f"`{d.name}`" for d in self.drafts if name in _possible(d, self.read))
            self.report_once(
                "E211",
                f"input `{name}` of layer `{draft.name}` does not exist in the {state.phase} phase",
                draft.input_place(item),
                index,
                help=f"layer {others} has `include` or `exclude` rules: give layer `{draft.name}` the same ones",
            )

    def producers(self, present: list[int]) -> dict[str, int]:
        """Position of the producer of each output; duplicate layers and outputs are reported."""
        names: dict[str, Draft] = {}
        producers: dict[str, int] = {}
        for position, index in enumerate(present):
            draft = self.drafts[index]
            first = names.setdefault(draft.name, draft) if draft.name else draft
            if first is not draft:
                self._duplicate("E201", f"duplicate layer name `{draft.name}`", draft, first, index)
            for item, output in enumerate(_possible(draft, self.read)):
                if output in self.inputs:
                    self._name_of_an_input(output, draft, index)
                elif output not in producers:
                    producers[output] = position
                elif first is draft or draft.explicit_outputs():
                    # A layer with the name of another has its output name, too, by default: the first error covers
                    # both.
                    other = self.drafts[present[producers[output]]]
                    self._duplicate("E202", f"duplicate output `{output}`", draft, other, index, item)
        return producers

    def _name_of_an_input(self, output: str, draft: Draft, index: int) -> None:
        if self.group is not None:
            whose, place = f"group `{self.group.name}`", self.group.input_place(self.group.inputs.index(output))
            note = self.report.note("the group reads it here", place)
        else:
            assert self.block is not None, "only groups and blocks have inputs"
            whose, place = (
                f"block `{self.block.name}`",
                self.block.bound.place("input", [*self.block.inputs].index(output)),
            )
            note = self.report.note("the input is here", place)
        message = f"output `{output}` has the name of an input of {whose}"
        self.report_once("E202", message, draft.offset, index, help="choose another name", notes=(note,))

    def _duplicate(self, code: str, message: str, draft: Draft, other: Draft, index: int, item: int = -1) -> None:
        start = draft.offset
        hint = "layer names must be unique"
        if code == "E202":
            hint = "output names must be unique"
            if draft.explicit_outputs():
                start = draft.place("output", item)
            if draft.name in draft.inputs or set(draft.inputs) & set(draft.explicit_outputs()):
                hint = "a layer cannot overwrite its input: rename the output; the runtime reuses buffers automatically"
        what = f"layer `{other.name}` is here" if code == "E202" and other is not draft else "first defined here"
        note = self.report.note(what, other.offset if other is not draft else draft.offset)
        self.report_once(code, message, start, index, help=hint, notes=(note,))

    def check_inner(self, nodes: Mapping[int, Node]) -> None:
        """Report a layer or output with the name of a nested one: their parameters would have the same name.

        Outputs of a group are an exception: `group.state` is the output of its layer `state`.
        """
        inner = {name: node for node in nodes.values() for name in inner_names(node)}
        for index, node in nodes.items() if inner else ():
            own = (node.name, *node.output_names)
            name = next((name for name in own if inner.get(name, node) is not node), None)
            if name is not None:
                outer = inner[name]
                note = self.report.note(f"layer `{outer.name}` is here", outer.span[0])
                message = f"name `{name}` of layer `{node.name}` is also the name of a part of layer `{outer.name}`"
                start = self.drafts[index].offset
                self.report_once(
                    "E201", message, start, index, help="names of layers and outputs must be unique", notes=(note,)
                )

    def needs(self, present: list[int], producers: dict[str, int], state: PhaseState) -> list[list[int]]:
        """Positions of the layers that each layer reads; unknown names are reported."""
        needs: list[list[int]] = []
        for index in present:
            draft = self.drafts[index]
            needed, complete = [], True
            for item, name in enumerate(draft.inputs):
                if name in producers:
                    needed.append(producers[name])
                elif name in self.inputs:
                    continue
                elif name in self.all_outputs:
                    # It exists in other states, so this may be legal; see `end_phase`.
                    self.absent.setdefault(index, (state, item, name))
                    complete = False
                elif not _unfinished(draft, name) and not self.may_be_produced(name):
                    self._unknown_input(draft, index, item, name)
            if complete:
                self.works.add(index)
            needs.append(needed)
        return needs

    def may_be_produced(self, name: str) -> bool:
        """Whether an invalid layer may produce an output of this name."""
        stem, dot, _ = name.rpartition(".")
        if not dot:
            return False
        return any(draft.name == stem and (draft.definition is None or draft.setup is None) for draft in self.drafts)

    def report_missing_output(self, draft: Draft, item: int, made: Sequence[str], when: str | None) -> None:
        """Report an input that its layer does not produce: it produces `made`, and this one only with `when`."""
        name = draft.inputs[item]
        message = f"unknown input `{name}` of layer `{draft.name}`"
        help_ = f"the outputs of layer `{name.rpartition('.')[0]}` are {listed(made)}"
        if when is not None:
            help_ = f"layer `{name.rpartition('.')[0]}` has this output only with `{when}: true`"
        self.report_once("E203", message, draft.input_place(item), item, help=help_)

    def _unknown_input(self, draft: Draft, index: int, item: int, name: str) -> None:
        # Once per network: listing the names anew for each of 100 unknown inputs in 10,000 layers took 8 times as long
        # as the full check of onnx.
        near = self._vocabulary.nearest(name, besides=draft.name)
        start = draft.input_place(item)
        end = self.report.source.token_end(start)
        hint = f"did you mean `{near}`?" if near else "an input must be the output of another layer"
        fix = Fix(start, end, f'"{near}"') if near else None
        message = f"unknown input `{name}` of layer `{draft.name}`"
        # As in `input: "a, b"`, which other formats allow.
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and all(part in self.all_outputs | self.inputs for part in parts):
            written = " ".join(f'input: "{part}"' for part in parts)
            hint, fix = f"write each input as a separate string: `{written}`", None
        if name == draft.name:
            message = f"layer `{draft.name}` reads its own output"
        if elsewhere := self._elsewhere(name):
            hint, fix = elsewhere, None
        # the key distinguishes the inputs of a layer, which may have one position in common
        self.report_once("E203", message, start, index * 65536 + item, help=hint, fix=fix)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.all_outputs | self.inputs)

    @cached_property
    def _groups(self) -> list[tuple[Draft, set[str]]]:
        """Layers with a step, and the names inside."""
        steps = [(draft, draft.step) for draft in self.drafts]
        return [(draft, {n for d in step.drafts for n in _possible(d)}) for draft, step in steps if step is not None]

    @cached_property
    def _blocks(self) -> list[tuple[Draft, BlockDefinition, set[str]]]:
        """Uses of blocks, and the names inside."""
        used = [(draft, draft.definition) for draft in self.drafts if isinstance(draft.definition, BlockDefinition)]
        return [(draft, block, {n for d in block.drafts for n in _possible(d)}) for draft, block in used]

    def _elsewhere(self, name: str) -> str:
        """The fix for a name that exists outside of this step, or inside of another one; else empty."""
        around = self.around
        while around is not None and self.group is not None:
            if name in around.all_outputs | around.inputs:
                static = f'and `static: "{name}"` if every step reads all of it'
                return f'it is outside of the step: add `input: "{name}"` to group `{self.group.name}`, {static}'
            around = around.around
        for draft, inner in self._groups:
            if name in inner:
                return f"it is inside the step of group `{draft.name}`: read an output of the group"
        if self.block is not None and name in self.block.outside:
            return f'it is outside of the block: add `input: "{name}"` to the block and to the layers that use it'
        for draft, block, inner in self._blocks:
            if name.removeprefix(f"{draft.name}.") in inner:
                return f"it is inside block `{block.name}`: read `{draft.name}`, or add it to `output` of the block"
        return ""

    def report_cycles(self, present: list[int], needs: list[list[int]], done: list[int]) -> None:
        """Report the cycles among the layers that are not `done`."""
        memory = "; to read a value of the previous time step, use a `memory`"
        way_out = "remove one input of the cycle" + (memory if self.group is not None else "")
        among = sorted(set(range(len(present))) - set(done))
        for cycle in cycles(needs, among):
            drafts = [self.drafts[present[position]] for position in cycle]
            names = [f"`{draft.name}`" for draft in drafts]
            # A cycle through 10,000 layers was a message of 121,730 characters in the prototype.
            if len(names) > _SHOWN:
                names = [*names[:3], f"({len(names) - 5} more)", *names[-2:]]
            outputs = set(_possible(drafts[-1]))
            first = drafts[0]
            item = next((i for i, name in enumerate(first.inputs) if name in outputs), 0)
            text = " -> ".join([*names, names[0]])
            message = f"the layers form a cycle: {text}"
            if len(drafts) == 1:
                message = f"layer {names[0]} reads its own output"
            self.report_once("E204", message, first.input_place(item), present[cycle[0]], help=way_out)

    def report_once(self, code: str, message: str, start: int, key: int, **rest: Any) -> None:
        """Report an error that may occur in several states."""
        if (code, start, key) not in self.seen:
            self.seen.add((code, start, key))
            self.report.add(code, message, start, **rest)


def has_repeatable_output(draft: Draft) -> bool:
    """Whether the number of a layer's outputs depends on its input types; outputs of a group have names."""
    definition = draft.definition
    if draft.step is not None or definition is None:
        return False
    return any(one.repeatable for one in definition.outputs.values())


def has_variable_outputs(draft: Draft) -> bool:
    """Whether a layer may have fewer outputs than its definition could name."""
    definition = draft.definition
    if draft.step is not None or definition is None:
        return False
    return any(one.repeatable or one.when is not None for one in definition.outputs.values())


def _possible(draft: Draft, read: Iterable[str] = ()) -> Iterable[str]:
    """Names of a layer's outputs; if their number depends on types, only the later ones that are read."""
    definition = draft.definition
    if draft.explicit_outputs() or definition is None:
        return output_names(draft, 1)
    if has_repeatable_output(draft):
        (own,) = definition.outputs
        # The number of outputs is known after inference only, which needs the order that the names determine.
        later = re.compile(rf"{re.escape(draft.name)}\.{own}_[1-9]\d{{0,8}}")
        return draft.name, *filter(later.fullmatch, read)
    return output_names(draft, max(1, len(definition.outputs)))


def _unfinished(draft: Draft, name: str) -> bool:
    return not name and draft.broken
