"""The option `--set` of the commands that read training files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from paddle_layers.config import Training

set_option = click.option(
    "--set",
    "settings",
    metavar="FIELD=VALUE",
    multiple=True,
    help="A field in the place of the file's, such as optimizer.learning_rate=0.01 or net.layer[fc1].fc.size=20; "
    "without a value it is left out. May be given several times.",
)


def chosen(file: str, settings: Sequence[str]) -> str | Training:
    """The file, or the training that it becomes by the settings. Raises `ConfigError`."""
    if not settings:
        return file
    from paddle_layers.config import load_training

    return load_training(file, sources_needed=False, settings=settings)
