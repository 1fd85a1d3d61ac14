"""`warm`: compilation of kernels in advance."""

from __future__ import annotations

import click

from ..options.device import device_option
from ..options.ranges import IntRange
from ..output.terminal import echo


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--batch-size", type=IntRange(min=1), default=64, show_default=True, help="Batch size.")
@click.option(
    "--dtype", type=click.Choice(["float32", "float64"]), default="float32", show_default=True, help="Data type."
)
@device_option
def command(files: tuple[str, ...], batch_size: int, dtype: str, device: str) -> None:
    """Compile the kernels of the networks in FILES in advance."""
    from paddle_layers.config import network_of
    from paddle_layers.runtime import Net
    from paddle_layers.training.progress import make_progress

    for file in files:
        network = network_of(file)
        progress = make_progress()
        try:
            with Net(network, device=device, dtype=dtype, batch_size=batch_size, progress=progress.compiling):
                pass
        finally:
            progress.close()
        echo(f"{file}: kernels compiled")
