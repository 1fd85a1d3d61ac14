"""Outputs and targets of a network: the values for predictions, and the data for losses and metrics only.

Losses and metrics evaluate a network: their predictions are its outputs, and their labels, targets and weights are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from paddle_layers.define.errors import suggestion

from ..problems import TrainingError
from ..results.result_names import costs_of, selected

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.training import Training
    from paddle_layers.config.wiring.nodes import Node

PROBABILITIES = {
    "softmax_with_loss": "softmax",
    "softlabel_softmax_cost": "softmax",
    "infogain_loss": "softmax",
    "sigmoid_cross_entropy": "sigmoid",
}
"""Costs that take scores, and the layer that turns these into probabilities."""
CLASS_COSTS = ("softmax_with_loss", "softlabel_softmax_cost", "infogain_loss", "cross_entropy", "hinge_loss")
"""Costs of the class with the best score."""
WITHOUT_LABELS = "without labels"
"""Causes of NaN in outputs that are irrelevant for predictions."""


class Reading(NamedTuple):
    """Interpretation of a value by the losses."""

    activation: str = ""
    """`softmax` or `sigmoid` where scores become probabilities."""
    classes: bool = False
    """Whether the columns are classes, of which the best is meant."""
    label: str = ""
    """The value with the target classes as ids."""
    places: tuple[int, ...] = ()
    """The axes after the classes, if each position (pixel) has a class."""

    def by_class(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The rows with the columns, or classes, as the second axis, and the places as the third."""
        places = math.prod(self.places)
        return rows.reshape(len(rows), math.prod(rows.shape[1:]) // places, places)


def readings(network: Network) -> dict[str, Reading]:
    """Interpretations of values by the losses, by name; the softmax of class scores is interpreted like these."""
    found: dict[str, Reading] = {}
    for node in network.nodes:
        kind = node.definition.name
        if kind in PROBABILITIES or kind in CLASS_COSTS:
            label = node.input_types[1]
            named = (node.inputs[1], label.dims) if label.kind == "INT" else ("", ())
            reading = Reading(PROBABILITIES.get(kind, ""), kind in CLASS_COSTS, *named)
            found.setdefault(node.inputs[0], reading)
    for node in network.nodes:
        of = found.get(node.inputs[0]) if node.definition.name == "softmax" else None
        if of is not None and of.classes:
            found.setdefault(node.output_names[0], of._replace(activation=""))
    return found


def predicted(network: Network) -> list[str]:
    """The outputs of a network: values that only losses and statistics read, in the order of the layers.

    Of the values that losses and statistics compare, those that are learned; labels and targets are excluded. Raises
    `TrainingError` if there is no output.
    """
    judges = [node for node in network.nodes if costs_of(node) or not node.output_names]
    others = [node for node in network.nodes if node not in judges]
    read = {name for node in others for name in node.inputs}
    learned = learned_values(network.nodes)
    judged = {name for node in judges for place, name in enumerate(node.inputs) if place == 0 or name in learned}
    unread = set(network.outputs)
    found = [
        name
        for node in others
        if node.definition.inputs
        for name in _telling(node)
        if name not in read and (name in judged or name in unread)
    ]
    if not found:
        raise TrainingError("the network has no output besides its costs and metrics; select a value with --value")
    return found


def part_for(network: Network, names: Iterable[str]) -> Network:
    """The layers that values rest on; optional labels are left out. `TrainingError` for values that are not there."""
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.data_layers import carried_values

    makers, carried = (
        {name: node for node in network.nodes for name in node.output_names},
        carried_values(network.nodes),
    )
    wanted: dict[str, Node] = {}
    waiting = list(names)
    for name in waiting:
        if name not in makers:
            known = ", ".join(f"`{known}`" for known in makers)
            hint = suggestion(name, makers) or f"; expected one of {known}"
            raise TrainingError(f"the network has no value `{name}` in the test phase{hint}")
        type_ = makers[name].output_types[makers[name].output_names.index(name)]
        if type_.kind.startswith("SPARSE"):
            raise TrainingError(f"`{name}` has sparse rows, which cannot be written; select another value")
    while waiting:
        node = makers[waiting.pop()]
        if node.name not in wanted:
            wanted[node.name] = _plain(_unlabelled(node))
            waiting += wanted[node.name].inputs
            waiting += [carried[name] for name in node.output_names if name in carried]
    nodes = [wanted[node.name] for node in network.nodes if node.name in wanted]
    return Network.checked(network.name, nodes, network.source)


def always(network: Network) -> Network:
    """The same layers without rules, so that they are there in every phase."""
    from paddle_layers.config import Network

    return Network.checked(network.name, map(_plain, network.nodes), network.source)


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


def learned_values(nodes: Iterable[Node]) -> set[str]:
    """Values that rest on a trained parameter."""
    learned: set[str] = set()
    for node in nodes:
        if has_own_parameters(node) or learned.intersection(node.inputs):
            learned.update(node.output_names)
    return learned


def has_own_parameters(node: Node) -> bool:
    """Whether a layer, or a layer inside of it, may have trained parameters."""
    return bool(node.definition.facts.has_param) or node.inside is not None


def _telling(node: Node) -> Iterator[str]:
    fields = list(node.definition.outputs.values())
    for position, name in enumerate(node.output_names):
        if position >= len(fields) or fields[position].nan != WITHOUT_LABELS:
            yield name


def _unlabelled(node: Node) -> Node:
    """The layer without a label or target that it may do without."""
    fields = list(node.definition.inputs)
    place = next((at for at, name in enumerate(fields) if name in ("label", "target")), -1)
    if place < 0 or not node.definition.inputs[fields[place]].optional or len(node.inputs) < len(fields):
        return node
    keep = [at for at in range(len(node.inputs)) if at != place]
    inputs, types = tuple(node.inputs[at] for at in keep), tuple(node.input_types[at] for at in keep)
    return _copy(node, inputs=inputs, types=types)


def _plain(node: Node) -> Node:
    return _copy(node, inputs=node.inputs, types=node.input_types) if node.include or node.exclude else node


def _copy(node: Node, *, inputs: tuple[str, ...], types: tuple[Any, ...]) -> Node:
    from paddle_layers.config.wiring.nodes import Node

    setup = copy(node.setup)
    setup.include = setup.exclude = setup.propagate_down = ()
    offset = node.span[0]
    return Node(node.name, inputs, node.output_names, setup, types, node.output_types, offset, node.inside)


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
