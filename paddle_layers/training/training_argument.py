"""Training arguments: a training file, its text, or a training created in Python."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.define.errors import brief

if TYPE_CHECKING:
    from paddle_layers.config import Training


def read_training(
    given: object, asked: str, plugins: Sequence[str | Path] = (), settings: Sequence[str] = ()
) -> tuple[Training, str]:
    """The training, and how commands name it, `train.textproto --plugins mine.py`; nothing where it is in no file.

    `settings` are fields in the place of those of the file, as `--set` gives them.

    Every training has a brace, and few paths have. Raises `ConfigError`, and `TypeError` for anything else, with what
    to write for the function that is `asked`.
    """
    from paddle_layers.config import Network, Training, load_plugins, load_training, loads_training

    if isinstance(given, Training):
        if settings:
            raise TypeError("settings override fields of a training file, not of a training object")
        load_plugins(plugins)
        return given, ""
    if isinstance(given, str) and "{" in given and not os.path.exists(given):
        load_plugins(plugins)
        return loads_training(given, sources_needed=False, settings=settings), ""
    if isinstance(given, (str, os.PathLike)):
        training = load_training(Path(given), plugins=plugins, sources_needed=False, settings=settings)
        options = [word for plugin in plugins for word in ("--plugins", str(plugin))]
        options += [word for setting in settings for word in ("--set", setting)]
        return training, shlex.join([str(given), *options])
    meant = ""
    if isinstance(given, Network):
        made = 'make_training(network, optimizer={"type": "adam", "learning_rate": 0.01}, steps=1000)'
        meant = f": write {asked}({made}, ...)"
    raise TypeError(f"training must be a file, its text, or the result of `make_training`, not {brief(given)}{meant}")
