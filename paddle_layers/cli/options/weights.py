"""The option `--weights` of the commands that use a trained network."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import click

from ..output.terminal import echo

weights_option = click.option(
    "--weights", metavar="FILE", help="Weights file; by default the best weights in the output folder of FILE."
)


class WithWeights(Protocol):
    """A trained network that is ready to be used."""

    @property
    def weights(self) -> Path:
        """Their file."""

    @property
    def note(self) -> str:
        """Notes about conversions of the weights; empty without any."""


def say_weights(run: WithWeights, chosen: str | None) -> None:
    """Report on stderr which weights are used if the user chose none, and their conversions."""
    from paddle_layers.training.callbacks.monitoring import BEST

    if chosen is None and run.weights.name == BEST:
        echo(f"weights: {run.weights} (best test)", err=True)
    if run.note:
        echo(f"note: {run.weights}{run.note}", err=True)
