"""Targets, labels and sample weights: data for losses and metrics only, not for predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .inference.outputs import has_own_parameters, learned_values
from .results.result_names import costs_of, selected

if TYPE_CHECKING:
    from paddle_layers.config.training import Training
    from paddle_layers.config.wiring.nodes import Node


def target_fields(training: Training) -> set[str]:
    """The fields that are targets, labels or weights in the training or in the test."""
    phases = (selected(training, phase).nodes for phase in ("train", "test"))
    return {training.feed.get(name, name) for nodes in phases for name in target_values(nodes)}


def target_values(nodes: Sequence[Node]) -> set[str]:
    """The values from outside, such as those of data layers, that are targets, labels or weights.

    These are all that an input of a loss or metric is computed from without a trained parameter; of an input that rests
    on trained parameters too, such as a difference of prediction and target, those that no layer with parameters reads.
    """
    learned = learned_values(nodes)
    producers = {name: node for node in nodes if node.definition.inputs for name in node.output_names}
    targets, mixed, features = set[str](), set[str](), set[str]()
    for node in nodes:
        if not _is_judge(node):
            inner = _inner_targets(node)
            targets |= _sources(inner, producers)
            if has_own_parameters(node):
                features |= _sources([name for name in node.inputs if name not in inner], producers)
            continue
        for place, name in enumerate(node.inputs):
            if name in learned:
                mixed |= _sources([name], producers, through_parameters=False)
            elif place or not _first_is_prediction(node):
                targets |= _sources([name], producers)
            else:
                features |= _sources([name], producers)
    return targets | (mixed - features)


def _is_judge(node: Node) -> bool:
    return bool(costs_of(node) or node.definition.stats or not node.output_names)


def _first_is_prediction(node: Node) -> bool:
    """Whether a loss or metric has trainable parameters and predicts from its first input, or has no target."""
    required = [one for one in node.definition.inputs.values() if not one.optional]
    return has_own_parameters(node) or len(required) < 2


def _inner_targets(node: Node) -> set[str]:
    """The inputs of a layer that are targets of losses inside of it."""
    if node.inside is None:
        return set()
    inner = target_values(node.inside.nodes)
    return {outer for outer, name in zip(node.inputs, node.inside.inputs, strict=False) if name in inner}


def _sources(names: Iterable[str], producers: dict[str, Node], *, through_parameters: bool = True) -> set[str]:
    """The values from outside that values are computed from."""
    return set(_walked(names, producers, through_parameters=through_parameters))


def _walked(names: Iterable[str], producers: dict[str, Node], *, through_parameters: bool) -> Iterator[str]:
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        producer = producers.get(name)
        if producer is None:
            yield name
        elif through_parameters or not has_own_parameters(producer):
            waiting += producer.inputs
