"""`train`: training."""

from __future__ import annotations

import click

from ..options.device import device_option
from ..options.plugins import given_plugins
from ..options.ranges import FloatRange, IntRange
from ..options.settings import set_option
from ..options.threads import threads_option


@click.command()
@click.argument("file")
@click.option("--output", metavar="DIR", help="Folder of the results; overrides the file's.")
@click.option("--resume", is_flag=True, help="Continue the newest checkpoint in the output folder.")
@click.option("--overwrite", is_flag=True, help="Replace what is in the output folder.")
@click.option("--weights", metavar="FILE", help="Start from these weights; overrides `weights { file }`.")
@click.option("--seed", type=IntRange(min=0, max=2**63 - 1), help="Overrides the file's seed.")
@click.option(
    "--patience",
    metavar="SECONDS",
    type=FloatRange(min=1),
    default=600.0,
    show_default=True,
    help="Under mpiexec: how long a process waits for the others before all of them end.",
)
@set_option
@device_option
@threads_option
def command(
    file: str,
    output: str | None,
    resume: bool,
    overwrite: bool,
    weights: str | None,
    seed: int | None,
    patience: float,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Train the network of the training FILE; Ctrl-C saves and stops.

    `mpiexec -n 4 paddle-layers train FILE` trains it with four processes, which share every batch.
    """
    if resume and overwrite:
        raise click.UsageError("--resume and --overwrite exclude each other")
    if resume and weights is not None:
        raise click.UsageError("--resume goes on from the weights of a checkpoint: leave --weights out")
    from paddle_layers.training import train

    train(
        file,
        output=output,
        resume=resume,
        overwrite=overwrite,
        weights=weights,
        seed=seed,
        device=device,
        settings=settings,
        plugins=given_plugins(),
        patience=patience,
    )
