"""Warnings about suspicious settings in a valid network."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from paddle_layers.define import LayerDefinition
from paddle_layers.define.machine import as_bytes, memory_bytes

from ..binding.assignments import PhaseState
from ..binding.drafts import Setup
from ..diagnostics.report import DiagnosticReport
from .nodes import Node, NodesByType, all_settings, parameter_shapes

# Such a network is valid but trains badly, so this is a warning, not an error.
APPLIED = {
    "softmax_with_loss": ("softmax", "cross_entropy"),
    "softlabel_softmax_cost": ("softmax", "soft_cross_entropy"),
    "infogain_loss": ("softmax", ""),
    "ctc": ("softmax", ""),
    "sigmoid_cross_entropy": ("sigmoid", "soft_binary_cross_entropy"),
}
"""Losses of logits: the activation that each applies, and the equivalent loss of activated values."""

OF_PROBABILITIES = {
    **{instead: (applied, loss) for loss, (applied, instead) in APPLIED.items() if instead},
    "multi_binary_label_cross_entropy": ("sigmoid", ""),
    "wasserstein_loss": ("softmax", ""),
}
"""Losses of probabilities: the activation that computes these, and the equivalent loss of logits."""

GATED = {"lstmemory": "simple_lstm", "grumemory": "simple_gru"}
"""Recurrent layers without an input projection, and those with one."""

_MEANT = (
    "remove the layer, or use its output for a loss; if this is intended, set `frozen: true` in its `param` blocks "
    "in the network file"
)


def lint(nodes: Sequence[Node], by_type: NodesByType, report: DiagnosticReport) -> None:
    """Warn about suspicious settings in a valid network, as it is trained."""
    _too_large(by_type, report)
    state = PhaseState("train")
    setups = {node.setup for node in nodes}  # few: layers with equal text share one
    losses = {setup for setup in setups if _is_loss(setup) and setup.present(state)}
    # Without a loss, the network is for prediction only, and nothing in it is meant to be trained.
    if not losses:
        return
    present = [node for node in nodes if node.setup.present(state)]
    _ungated(present, report)
    of_scores = APPLIED.keys() | OF_PROBABILITIES.keys()
    costs = [node for node in present if node.setup in losses and node.definition.name in of_scores]
    # One table for all losses: a search for each would be quadratic with many of them.
    producers = {name: node for node in reversed(present) for name in node.output_names} if costs else {}
    for cost in costs:
        check = _activated_twice if cost.definition.name in APPLIED else _not_activated
        check(cost, producers[cost.inputs[0]], report)
    _not_learning(present, losses, report)


def _too_large(by_type: NodesByType, report: DiagnosticReport) -> None:
    """Parameters that exceed the memory of this machine; of equal layers, the first one is reported."""
    memory = memory_bytes()
    # Not every system reports its memory.
    if memory is None:
        return
    large = [same for definition, same in by_type.items() if same[0].inside is not None or _has_matrices(definition)]
    # Layers with equal text and input types share their types; of these the first one remains, by the reversed order.
    for node in {id(node.output_types): node for same in large for node in reversed(same)}.values():
        for name, shape in parameter_shapes(node).items():
            # 4 bytes: float32, the default; `float64` needs more.
            if 4 * math.prod(shape) > memory:
                what = f"parameter `{node.name}.{name}` ({' x '.join(map(str, shape))})"
                message = f"{what} needs {as_bytes(4 * math.prod(shape))}, but this machine has {as_bytes(memory)}"
                help_ = "it cannot be trained on this machine; reduce the size of the layer or of its input"
                report.add("W006", message, *node.span, help=help_)


def _has_matrices(definition: LayerDefinition) -> bool:
    """Whether a parameter may be larger than the values of a row, unlike a bias or a scale per channel."""
    return bool(definition.hooks) or any(len(param.axes) > 1 for param in definition.params.values())


def _activated_twice(cost: Node, producer: Node, report: DiagnosticReport) -> None:
    applied, instead = APPLIED[cost.definition.name]
    kind, name = cost.definition.name, producer.name
    own = producer.definition.name == applied
    if not own and (producer.activation is None or producer.activation[0].name != applied):
        return
    remedy = f"connect `{cost.name}` to `{producer.inputs[0]}`" if own else f"remove the activation of `{name}`"
    instead = f", or change the type of `{cost.name}` to `{instead}`, which takes probabilities" if instead else ""
    report.add(
        "W003",
        f"{applied} is applied twice: by `{name}` and by the loss `{cost.name}` (`{kind}` takes logits)",
        *producer.span,
        help=remedy + instead,
        notes=(report.note(f"loss `{cost.name}` is here", cost.span[0]),),
    )


def _not_activated(cost: Node, producer: Node, report: DiagnosticReport) -> None:
    """A loss of probabilities of the outputs of a linear layer, whose logarithms would be wrong or clipped."""
    if producer.activation is not None or "act" not in producer.definition.common or not parameter_shapes(producer):
        return
    applied, instead = OF_PROBABILITIES[cost.definition.name]
    kind, name = cost.definition.name, producer.name
    change = f", or change the type of `{cost.name}` to `{instead}`, which takes logits" if instead else ""
    report.add(
        "W010",
        f"the loss `{cost.name}` (`{kind}`) takes probabilities, but the `{producer.definition.name}` layer `{name}` "
        "has no activation",
        *cost.span,
        help=f'write `act: "{applied}"` in `{name}`{change}',
        notes=(report.note(f"`{name}` is here", producer.span[0]),),
    )


def _ungated(nodes: Sequence[Node], report: DiagnosticReport) -> None:
    """Recurrent layers that take features as gate pre-activations: of a data layer, an embedding or another of them."""
    recurrent = [node for node in nodes if node.definition.name in GATED]
    features = {"data": "a data layer", "embedding": "an embedding"} | {kind: f"a `{kind}`" for kind in GATED}
    kinds = {name: node.definition.name for node in nodes for name in node.output_names} if recurrent else {}
    for node in recurrent:
        if (producer := kinds.get(node.inputs[0], "")) in features:
            kind, other = node.definition.name, GATED[node.definition.name]
            message = f"`{kind}` takes gate pre-activations, but `{node.inputs[0]}` is {features[producer]}"
            help_ = f"for features, write `{other}`, or add an `fc` before the layer"
            report.add("W009", message, *node.span, help=help_)


def _not_learning(nodes: Sequence[Node], losses: Container[Setup], report: DiagnosticReport) -> None:
    """Layers with parameters on which no loss depends; of several in a row, the last one."""
    useful: set[str] = set()
    idle: list[Node] = []
    for node in reversed(nodes):
        if node.setup in losses or not useful.isdisjoint(node.output_names):
            useful.update(node.inputs)
        else:
            idle.append(node)
    if not any(_learns(node, ()) for node in idle):
        return
    others = set(nodes).difference(idle)
    # A parameter that is shared with a layer on which a loss depends is trained there.
    shared = {one.share for one in all_settings(list(others)).values() if one.share is not None}
    read: set[str] = set()
    for node in idle:
        if not read.isdisjoint(node.output_names):
            read.update(node.inputs)
        elif _learns(node, shared):
            # Only the last of a chain: its predecessors follow from it.
            read.update(node.inputs)
            message = f"no loss depends on layer `{node.name}`, so its parameters are not trained"
            report.add("W004", message, *node.span, help=_MEANT)


def _is_loss(setup: Setup) -> bool:
    losses = [output for output in setup.definition.outputs.values() if output.loss]
    return bool(losses) or (setup.loss_weight is not None and any(setup.loss_weight))


def _learns(node: Node, shared: Container[str | None]) -> bool:
    """Whether it has parameters that are neither frozen nor shared with layers that learn."""
    return any(not one.frozen and one.lr_mult and one.share not in shared for one in all_settings((node,)).values())
