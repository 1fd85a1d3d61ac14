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
@click.option("--output", metavar="DIR", help="Output folder; overrides that of FILE.")
@click.option("--resume", is_flag=True, help="Resume from the latest checkpoint in the output folder.")
@click.option("--overwrite", is_flag=True, help="Replace the contents of the output folder.")
@click.option("--weights", metavar="FILE", help="Initial weights; overrides `weights { file }` in FILE.")
@click.option("--seed", type=IntRange(min=0, max=2**63 - 1), help="Random seed; overrides that of FILE.")
@click.option(
    "--patience",
    metavar="SECONDS",
    type=FloatRange(min=1),
    default=600.0,
    show_default=True,
    help="Under mpiexec: maximum wait for another process before all of them exit.",
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
    """Train the network of the training FILE. Ctrl-C saves a checkpoint and stops.

    `mpiexec -n 4 paddle-layers train FILE` trains with four data-parallel processes.
    """
    if resume and overwrite:
        raise click.UsageError("--resume and --overwrite are mutually exclusive")
    if resume and weights is not None:
        raise click.UsageError("--resume restores the weights of a checkpoint; remove --weights")
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
