"""Block definitions before their use: errors in the block alone, and the total number of layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from paddle_layers.define import registries
from paddle_layers.define.definitions.layers import LayerDefinition
from paddle_layers.define.escaping import CONTROL

from ..binding.binder import Binder, Bound
from ..binding.blocks import BlockDefinition, piece_place
from ..binding.drafting import check_name, make_draft
from ..binding.drafts import Draft, StepDraft
from ..binding.expressions import ExpressionError, assignment, pieces
from ..binding.steps import BLOCK
from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from ..reading.fields import STRING
from .inference import INPUT, Producer
from .names import cycles, order
from .resolver import ANY, Resolver

# 20 nested blocks of two layers each are a million layers from 40 lines, so the size is computed before anything is
# expanded.
MOST = 100_000
"""Maximum number of layers that the blocks of a network expand to."""
DEEPEST = 20
"""Maximum nesting depth of blocks."""


def prepare_blocks(network: Bound, binder: Binder) -> list[BlockDefinition]:
    """Make drafts of the layers of all blocks, each block after those that it uses; errors go to the report."""
    found: dict[BlockDefinition, Bound] = {}
    for bound in network.values.get("block", ()):
        if isinstance(bound.definition, BlockDefinition):
            found[bound.definition] = bound
    blocks, outside = list(found), _names(network.values.get("layer", ()))
    for block, bound in found.items():
        before, block.outside = binder.report.errors, outside
        block.bound, block.used = bound, tuple(dict.fromkeys(_used(bound.values.get("layer", ()))))
        _check_declaration(block, bound, found, binder.report)
        block.broken = block.broken or bound.broken or binder.report.errors > before
    place = {block: number for number, block in enumerate(blocks)}
    needs = [[place[other] for other in block.used if other in place] for block in blocks]
    # Blocks that use themselves are not `done`: they are reported, and never expanded.
    done = order(needs)
    _report_cycles(blocks, needs, done, binder.report)
    for number in done:
        _prepare(blocks[number], binder)
    return blocks


def _names(layers: Iterable[Draft | Bound]) -> frozenset[str]:
    """Names of the layers of a network, and of their outputs."""
    found: set[str] = set()
    for layer in layers:
        name = layer.name if isinstance(layer, Draft) else layer.values.get("name")
        found.update(layer.explicit_outputs() if isinstance(layer, Draft) else layer.values.get("output", ()))
        found.update([name] if name else ())
    return frozenset(found)


def _used(layers: Iterable[Bound]) -> Iterator[BlockDefinition]:
    for layer in layers:
        if isinstance(layer.definition, BlockDefinition):
            yield layer.definition
        step = layer.values.get("step")
        if isinstance(step, Bound):
            yield from _used(step.values.get("layer", ()))


def _prepare(block: BlockDefinition, binder: Binder) -> None:
    """Drafts, names, and sizes of a block whose own blocks are prepared."""
    report = binder.report
    before = report.errors
    block.drafts = tuple(make_draft(layer, binder, BLOCK) for layer in block.bound.values.get("layer", ()))
    inner = Resolver(block.drafts, report, block=block)
    # The types of the inputs are unknown without a use, so only names and settings are checked here; types are checked
    # in each use.
    around = Draft(block.name, None, (), None, block.start)
    inner.names.start_phase()
    inner.run(ANY, {name: Producer(around, INPUT, None) for name in block.inputs})
    inner.names.end_phase()
    # An invalid layer may be the producer of the output.
    if report.errors == before:
        _check_outputs(block, inner.names.all_outputs, report)
    _mark_losses(block, report)
    block.layer_count = sum(use_count(one) for one in all_drafts(block.drafts))
    block.depth = 1 + max((other.depth for other in block.used), default=0)
    # Equality: reported at the one block that exceeds the limit, not at all around it.
    if block.depth == DEEPEST + 1:
        message = f"blocks are nested more than {DEEPEST} deep in block `{block.name}`"
        report.add("E220", message, block.bound.place("name"), help="reduce the nesting")
    block.broken = block.broken or report.errors > before or block.depth > DEEPEST
    block.broken = block.broken or any(other.broken for other in block.used)


def use_count(one: Draft) -> int:
    """The number of layers that a layer expands to."""
    if not isinstance(one.definition, BlockDefinition):
        return 1
    times = one.setup.times if one.setup is not None else one.bound.values.get("times", 1) if one.bound else 1
    return int(times) * (1 + one.definition.layer_count)


def all_drafts(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Layers, including those in steps."""
    for one in drafts:
        yield one
        if one.step is not None:
            yield from all_drafts(one.step.drafts)


def check_size(drafts: Sequence[Draft], report: DiagnosticReport) -> None:
    """Report a network whose blocks expand to too many layers, before expansion."""
    total = 0
    for one in all_drafts(drafts):
        if isinstance(one.definition, BlockDefinition):
            total += use_count(one)
            if total > MOST:
                message = f"the blocks of this network expand to more than {MOST:,} layers"
                help_ = f"layer `{one.name}` alone expands to {use_count(one):,}; use fewer or smaller blocks"
                report.add("E220", message, one.place("times"), help=help_)
                break
    if total > MOST:
        # Without a setup, the uses are skipped, and the other layers are still checked.
        for one in drafts:
            one.setup = one.setup if not isinstance(one.definition, BlockDefinition) else None


# ---- blocks alone


def _check_declaration(
    block: BlockDefinition, bound: Bound, blocks: Iterable[BlockDefinition], report: DiagnosticReport
) -> None:
    name = block.name
    if not name:  # a missing name was reported, an empty one was not
        if "name" in bound.places and not bound.broken:
            report.add("E120", "empty block name", bound.place("name"))
        return
    check_name(name, "a block", bound.place("name"), report)
    # Otherwise a later version with a new layer type would change the meaning of the file unnoticed.
    if name in registries["layer"]:
        message = f"block `{name}` has the name of a layer type"
        report.add("E120", message, bound.place("name"), help="choose another name")
    first = next(other for other in blocks if other.name == name)
    if first is not block:
        note = report.note("first defined here", first.bound.place("name"))
        report.add("E120", f"duplicate block name `{name}`", bound.place("name"), notes=(note,))
    for field in ("input", "output"):
        texts = bound.values.get(field, ())
        for item, text in enumerate(texts):
            if text in texts[:item]:
                report.add("E120", f"duplicate {field} `{text}` of block `{name}`", bound.place(field, item))
            elif not text or CONTROL.search(text) or text.isdecimal():
                message = f"invalid {field} name `{text}`" if not CONTROL.search(text) else ""
                check_name(text, f"an {field}", bound.place(field, item), report)
                if message:
                    report.add("E120", message, bound.place(field, item), help="use an identifier, such as `x`")
    _check_settings(block, bound, report)
    if "input" not in {*bound.places, *bound.meant} and not bound.broken:
        message = f"block `{name}` has no `input`"
        report.add("E120", message, bound.start, help='add `input: "x"`; the layers of the block read it by this name')
    if "output" not in {*bound.places, *bound.meant} and not bound.broken:
        report.add("E218", f"block `{name}` has no `output`", bound.start,
                   help="add `output: ...` with the name of one of its layers")  # fmt: skip


def _check_settings(block: BlockDefinition, bound: Bound, report: DiagnosticReport) -> None:
    seen: dict[str, int] = {}
    for text, place in _settings_in_file(bound, report):
        try:
            name, expression, _ = assignment(text)
        except ExpressionError as error:
            help_ = 'write names with optional defaults: `settings: "filters, stride = 1"`'
            report.add("E118", error.message, place, place + len(text), help=help_)
            continue
        if name in ("true", "false"):
            report.add("E118", f"`{name}` is reserved and cannot be the name of a setting", place)
        if name in seen:
            note = report.note("first declared here", seen[name])
            report.add("E106", f"duplicate setting `{name}` of block `{block.name}`", place, notes=(note,))
        seen.setdefault(name, place)
        if expression is not None:
            try:
                if expression.names:
                    message = f"the default of `{name}` depends on `{expression.names[0]}`"
                    report.add(
                        "E119",
                        message,
                        place,
                        help="a default must be a number, `true`, `false` or a string in single quotes",
                    )
                else:
                    expression.value({})
            except ExpressionError as error:
                report.add("E119", error.message, place, help=error.help)


def _settings_in_file(bound: Bound, report: DiagnosticReport) -> list[tuple[str, int]]:
    """The settings that a block declares, with their positions."""
    fields = [field for field in bound.places.get("settings", ()) if field[1] == STRING]
    return [(text, piece_place(report, field, at)) for field in fields for text, at in pieces(field[2])]


def _check_outputs(block: BlockDefinition, made: set[str], report: DiagnosticReport) -> None:
    for item, name in enumerate(block.bound.values.get("output", ())):
        if name in made:
            continue
        near = nearest(name, made)
        help_ = f"did you mean `{near}`?" if near else "an output must be the output of a layer in the block"
        message = f"unknown output `{name}` of block `{block.name}`"
        if name in block.inputs:
            message = f"output `{name}` of block `{block.name}` is one of its inputs"
            help_ = "remove it: layers outside of the block can read it directly"
        start = block.bound.place("output", item)
        fix = Fix(start, report.source.token_end(start), f'"{near}"') if near and name not in block.inputs else None
        report.add("E218", message, start, help=help_, fix=fix)


def _mark_losses(block: BlockDefinition, report: DiagnosticReport) -> None:
    """Mark outputs of a block that are losses; a loss that is not an output would never be trained."""
    for one in block.drafts:
        outputs = list(one.definition.outputs.values()) if isinstance(one.definition, LayerDefinition) else []
        for name, output in zip(one.explicit_outputs() or (one.name,), outputs, strict=False):
            if output.loss and name in block.outputs:
                block.outputs[name].loss = True
            elif output.loss:
                message = f"loss `{one.name}` is not an output of block `{block.name}`"
                report.add("E116", message, one.place("type"), help=f'add `output: "{name}"` to the block')


def _report_cycles(
    blocks: Sequence[BlockDefinition], needs: Sequence[Sequence[int]], done: Sequence[int], report: DiagnosticReport
) -> None:
    among = sorted(set(range(len(blocks))) - set(done))
    for cycle in cycles(needs, among):
        names = [f"`{blocks[number].name}`" for number in reversed(cycle)]
        text = " -> ".join(
            [*(names if len(names) <= 6 else [*names[:3], f"({len(names) - 4} more)", names[-1]]), names[0]]
        )
        first = blocks[cycle[-1]]
        message = f"block {names[0]} uses itself" if len(cycle) == 1 else f"recursive blocks: {text}"
        report.add("E219", message, _place_of_use(first, blocks[cycle[0] if len(cycle) == 1 else cycle[-2]]),
                   help="a block is expanded in each layer that uses it, so this would never end")  # fmt: skip
    # Those that use a recursive block without being in the cycle are broken, too, but need no separate error.
    for number in among:
        blocks[number].broken = True


def _place_of_use(block: BlockDefinition, other: BlockDefinition) -> int:
    # The list grows while it is read: layers in steps may be nested to any depth.
    waiting: list[Bound] = list(block.bound.values.get("layer", ()))
    for layer in waiting:
        if layer.definition is other:
            return layer.place("type")
        step: Any = layer.values.get("step")
        inner = step.bound if isinstance(step, StepDraft) else step
        waiting += inner.values.get("layer", ()) if inner is not None else ()
    return int(block.start)


# ---- unused parts


def report_unused(blocks: Sequence[BlockDefinition], drafts: Sequence[Draft], report: DiagnosticReport) -> None:
    """Warn about unused blocks, settings and inputs."""
    uses = {one.definition for one in all_drafts(drafts)}
    reached = {other for block in blocks if block in uses for other in _reached(block)}
    for block in blocks:
        bound = block.bound
        if block not in reached:
            report.add("W007", f"unused block `{block.name}`", bound.place("name"), help="use it or remove it")
        layers = [one.bound for one in all_drafts(block.drafts) if one.bound is not None]
        named = {name for layer in layers for one in layer.pending for name in one.expression.names}
        read = {name for one in all_drafts(block.drafts) for name in one.inputs}
        places = [place for _, place in _settings_in_file(bound, report)]
        idle = [
            ("setting", name, place) for name, place in zip(block.attributes, places, strict=True) if name not in named
        ]
        idle += [
            ("input", name, bound.place("input", item)) for item, name in enumerate(block.inputs) if name not in read
        ]
        for what, name, place in idle:
            message = f"unused {what} `{name}` of block `{block.name}`"
            report.add("W007", message, place, help="use it or remove it")


def _reached(block: BlockDefinition) -> Iterator[BlockDefinition]:
    seen, waiting = {block}, [block]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [other for other in one.used if other not in seen]
        seen.update(one.used)
