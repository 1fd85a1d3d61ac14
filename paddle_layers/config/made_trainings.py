"""Trainings written in Python: their fields become text, and go through the same reader as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle_layers.define.errors import brief
from paddle_layers.define.fields.attributes import plain

from .network import Network
from .training import Training
from .trainingfiles import read_training, sound
from .writing.text import fields_text

NAME = "<training made in Python>"


def make_training(network: Network, *, optimizer: Mapping[str, Any], **fields: Any) -> Training:
    """How a network is trained, for `train`: the fields of a training file as keyword arguments, blocks as dicts.

    `optimizer` is `{"type": "adam", "learning_rate": 0.01}`, with attributes in a block that is named like the type,
    as in a file; so are `schedule`, `regularizer`, `clip`, `test`, `checkpoint`, `log`. One of `steps` and `epochs`
    says how long. Without a `source`, data come from `train(..., datasets=...)`. Paths are relative to the working
    directory. Raises `ConfigError` with every fault, `TypeError` for what is no network.
    """
    _check_network(network)
    given = {name: _plain(value) for name, value in {"optimizer": optimizer, **fields}.items() if value is not None}
    text = "".join(f"{fields_text({name: value})}\n" for name, value in given.items())
    return sound(*read_training(text, NAME, network))


def _check_network(given: object) -> None:
    if not isinstance(given, Network):
        meant = f": write make_training(load({given!r}), ...)" if isinstance(given, str) else ""
        raise TypeError(f"network is what `load` or `Network` gives, not {brief(given)}{meant}")


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, in blocks and lists too."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else plain(value)
