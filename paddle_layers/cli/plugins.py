"""`plugins`: installed plugin packages."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """List the installed plugins with what each registers."""
    from importlib.metadata import entry_points

    from paddle_layers.define import registries
    from paddle_layers.define.registry import ENTRY_POINTS

    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    for point in points:
        package = point.module.partition(".")[0]
        names = [d.name for registry in registries.values() for d in registry.values() if d.package == package]
        distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown distribution"
        click.echo(f"{point.name}: {distribution}, {point.value}: {', '.join(names) or 'registers nothing'}")
    if not points:
        click.echo(
            f"no plugins are installed; a package has one by an entry point in the group `{ENTRY_POINTS}`", err=True
        )
