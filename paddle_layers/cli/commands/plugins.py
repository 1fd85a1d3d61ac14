"""`plugins`: installed plugin packages."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import click

from ..output.terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define import Plugin


@click.command()
def command() -> None:
    """List the installed plugins.

    Prints distribution, version, module, state and definitions. Exits with status 1 if a plugin is broken and reports
    why on stderr.
    """
    from paddle_layers.define import ENTRY_POINTS, PluginWarning, installed_plugins, load_entry_points

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # the reasons are listed below
        load_entry_points()
    plugins = installed_plugins()
    if not plugins:
        echo(f"no plugins installed; packages provide them as entry points in the group `{ENTRY_POINTS}`")
        return
    rows = [("PREFIX", "DISTRIBUTION", "MODULE", "STATE"), *map(_row, plugins)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    echo(lines[0])
    for line, plugin in zip(lines[1:], plugins, strict=True):
        echo(line)
        for kind, names in plugin.names.items():
            echo(f"  {kind}: {', '.join(names)}")
    broken = [plugin for plugin in plugins if plugin.broken]
    for plugin in broken:
        echo(plugin.report, err=True)
    if broken:
        raise click.exceptions.Exit(1)


def _row(plugin: Plugin) -> tuple[str, str, str, str]:
    return plugin.prefix, plugin.origin, plugin.module, plugin.state
