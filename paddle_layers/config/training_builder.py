"""Training construction in Python: the fields become text, and are checked by the same reader as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle_layers.define.errors import brief
from paddle_layers.define.fields.attribute_values import plain

from .network import Network
from .training import Training
from .trainingfiles import read_training, require_valid
from .writing.text import fields_text

NAME = "<training built in Python>"


def make_training(network: Network, *, optimizer: Mapping[str, Any], **fields: Any) -> Training:
    """Training configuration from Python values: the fields of a training file as keyword arguments, blocks as dicts.

    Args:
        network: The network.
        optimizer: The optimizer, such as `{"type": "adam", "learning_rate": 0.01}`. Attributes may also be in a block
            that is named like the type, as in a file; so in `schedule`, `regularizer`, `clip`, `test`, `checkpoint` and
            `log`.
        **fields: Other fields of a training file. Either `steps` or `epochs` is required. Without a `source`, data come
            from `train(..., datasets=...)`. Paths are relative to the working directory.

    Returns:
        The training, for `train`.

    Raises:
        ConfigError: Invalid fields; all errors are reported.
        TypeError: `network` is not a network.

    Example::

        optimizer = {"type": "adam", "learning_rate": 0.001}
        training = pl.make_training(network, optimizer=optimizer, batch_size=32, epochs=5)
    """
    _check_network(network)
    # None is what optional arguments of a program have if they are not set; text format has no such value.
    given = {name: _plain(value) for name, value in {"optimizer": optimizer, **fields}.items() if value is not None}
    # One field per line, so that an error shows only the field that it concerns.
    text = "".join(f"{fields_text({name: value})}\n" for name, value in given.items())
    return require_valid(*read_training(text, NAME, network))


def _check_network(given: object) -> None:
    if not isinstance(given, Network):
        meant = f": write make_training(load({given!r}), ...)" if isinstance(given, str) else ""
        raise TypeError(f"network must be a Network, got {brief(given)}{meant}")


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, in blocks and lists too."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else plain(value)
