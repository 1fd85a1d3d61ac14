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
    help="Override a field of FILE, such as optimizer.learning_rate=0.01 or net.layer[fc1].fc.size=20; an empty value "
    "removes it. Repeatable.",
)


def chosen(file: str, settings: Sequence[str]) -> str | Training:
    """The file, or its training with the overrides applied. Raises `ConfigError`."""
    if not settings:
        return file
    from paddle_layers.config import load_training

    return load_training(file, sources_needed=False, settings=settings)
