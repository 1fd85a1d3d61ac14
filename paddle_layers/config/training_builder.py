"""Trainings from Python: built from fields, which are checked by the same reader as a file, or given as an argument."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.define.errors import brief
from paddle_layers.define.fields.attribute_values import plain

from .files import load_plugins, read_file
from .network import Network
from .training import Training
from .trainingfiles import Sizes, loads_training, read_training, require_valid
from .writing.text import fields_text

NAME = "<training built in Python>"


def make_training(network: Network, *, optimizer: Mapping[str, Any], **fields: Any) -> Training:
    """Training configuration from Python values: the fields of a training file as keyword arguments, blocks as dicts.

    Args:
        network: The network.
        optimizer: The optimizer, such as `{"type": "sgd", "learning_rate": 0.01, "sgd": {"momentum": 0.9}}`: as in a
            file, attributes of a type are in a block that is named like it.
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
    # One field per line, so that an error shows only the field that it concerns. The first line is empty: it is the
    # position of errors in data that are passed to `train`.
    text = "".join(f"\n{fields_text({name: value})}" for name, value in given.items())
    return require_valid(*read_training(text, NAME, network))


def resolve_training(
    given: object,
    asked: str,
    plugins: Sequence[str | Path] = (),
    settings: Sequence[str] = (),
    sizes: Sizes | None = None,
) -> tuple[Training, str]:
    """The training of an argument: a training file, its text, or a training built in Python.

    Args:
        given: The argument. Every text of a training has a brace, and few paths have.
        asked: Name of the function whose argument it is, for messages.
        plugins: Python files that register definitions; imported first.
        settings: Fields that override those of the file, as `--set` has them.
        sizes: As in `read_training`.

    Returns:
        The training, and how commands name it, `train.textproto --plugins mine.py`; empty if it is in no file.

    Raises:
        ConfigError: The file or the text has errors.
        TypeError: The argument has another type, or settings are given for a training built in Python.
    """
    if isinstance(given, Training):
        if settings:
            raise TypeError("settings override fields of a training file, not of a training object")
        load_plugins(plugins)
        return given, ""
    if isinstance(given, str) and "{" in given and not os.path.exists(given):
        load_plugins(plugins)
        return loads_training(given, sources_needed=False, settings=settings, sizes=sizes), ""
    if isinstance(given, (str, os.PathLike)):
        load_plugins(plugins)
        path = Path(given)
        training = loads_training(read_file(path), path, sources_needed=False, settings=settings, sizes=sizes)
        options = [word for plugin in plugins for word in ("--plugins", str(plugin))]
        options += [word for setting in settings for word in ("--set", setting)]
        return training, shlex.join([str(given), *options])
    meant = ""
    if isinstance(given, Network):
        made = 'make_training(network, optimizer={"type": "adam", "learning_rate": 0.01}, steps=1000)'
        meant = f": write {asked}({made}, ...)"
    raise TypeError(f"training must be a file, its text, or the result of `make_training`, not {brief(given)}{meant}")


def _check_network(given: object) -> None:
    if not isinstance(given, Network):
        meant = f": write make_training(load({given!r}), ...)" if isinstance(given, str) else ""
        raise TypeError(f"network must be a Network, got {brief(given)}{meant}")


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, in blocks and lists too."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else plain(value)
