"""Parameter settings of a training file, by patterns of parameter names."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from paddle_layers.define.name_patterns import matching

from .binding.assignments import ParamSettings
from .network import Network
from .wiring.nodes import Inside, Node, all_settings, own_settings


@dataclass(frozen=True, slots=True)
class ParamRule:
    """Settings of all parameters whose names match `of`; unset fields keep the values of the network."""

    of: str
    lr_mult: float | None = None
    decay_mult: float | None = None
    frozen: bool | None = None
    clip: float | None = None
    clip_norm: float | None = None
    l1: float | None = None
    l2: float | None = None
    momentum: float | None = None
    max_norm: float | None = None
    prune: float | None = None

    def change(self, settings: ParamSettings) -> ParamSettings:
        """The settings of a parameter with those of the rule."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "of"}
        return replace(settings, **{name: value for name, value in given.items() if value is not None})


def parameter_names(network: Network) -> list[str]:
    """Names of all parameters of a network, including nested ones, as in weights files: `conv1.weight`."""
    return list(all_settings(network.nodes))


def settings_of(network: Network) -> Mapping[str, ParamSettings]:
    """The parameter settings of a network, by name."""
    return all_settings(network.nodes)


def learning_names(network: Network) -> list[str]:
    """Names of the trainable parameters."""
    return [name for name, settings in all_settings(network.nodes).items() if not settings.frozen and settings.lr_mult]


def shared_names(network: Network) -> list[list[str]]:
    """Names of shared parameters, in groups."""
    return list(_shared(all_settings(network.nodes)).values())


def with_rules(network: Network, rules: Sequence[ParamRule]) -> Network:
    """The network with the settings of the rules; later rules override earlier ones.

    A rule for a shared parameter applies to all of its names.
    """
    if not rules:
        return network
    known = all_settings(network.nodes)
    shared = _shared(known)
    for rule in rules:
        for name in matching(rule.of, known):
            # Shared parameters are one array with one setting; a pattern that matches only one of its names must not
            # split them.
            for other in shared.get(known[name].share or "", [name]):
                known[other] = rule.change(known[other])
    return Network.checked(network.name, [_changed(node, "", known) for node in network.nodes], network.source)


def _shared(known: Mapping[str, ParamSettings]) -> dict[str, list[str]]:
    """Parameter names by `share` name."""
    found: dict[str, list[str]] = {}
    for name, settings in known.items():
        if settings.share is not None:
            found.setdefault(settings.share, []).append(name)
    return found


def _changed(node: Node, prefix: str, known: dict[str, ParamSettings]) -> Node:
    """The node with these settings of its parameters."""
    own, inside, setup = f"{prefix}{node.name}.", node.inside, node.setup
    if inside is not None:
        inside = Inside(tuple(_changed(part, own, known) for part in inside.nodes), inside.inputs, inside.outputs)
    else:
        # A setup is shared by all layers with the same text, so it is never changed in place.
        setup = copy.copy(setup)
        setup.params = {name: known[own + name] for name, _ in own_settings(node)}
    types = node.input_types, node.output_types
    return Node(node.name, node.inputs, node.output_names, setup, *types, node.span[0], inside)
