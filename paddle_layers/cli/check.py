"""`check`: the conformance kit over layers."""

from __future__ import annotations

import click


@click.command()
@click.argument("names", nargs=-1)
def command(names: tuple[str, ...]) -> None:
    """Run the conformance checks of the layers NAMES, or of all: types, gradients, kernels.

    A layer author runs this with `--plugins FILE.py`.
    """
    from paddle_layers.define import registries
    from paddle_layers.testing import check_layer

    registry = registries["layer"]
    wanted = [registry[name].name for name in names] or list(registry)
    failed = 0
    for name in wanted:
        try:
            report = check_layer(name)
        except AssertionError as findings:
            failed += 1
            click.echo(f"{name}: failed\n{findings}", err=True)
        else:
            click.echo(f"{name}: passed ({report})")
    if failed:
        click.echo(f"{failed} of {len(wanted)} layers failed", err=True)
        raise click.exceptions.Exit(1)
