"""The option `--device` of all commands that run a network."""

from __future__ import annotations

import click

from paddle_layers.runtime.devices import DEVICES

device_option = click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="cpu",
    show_default=True,
    help="Device of the network; auto selects CUDA if there is a GPU.",
)
