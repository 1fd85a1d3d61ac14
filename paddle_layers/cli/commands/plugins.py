"""Installed plugins and conformance tests: `plugins`, `check`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define import Plugin


@click.command()
def plugins() -> None:
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


def _kind_of(name: str) -> str:
    """The kind of a definition that has checks and is not a layer; else empty."""
    from paddle_layers.define import registries
    from paddle_layers.testing.properties.components import COMPONENTS

    return next((kind for kind in COMPONENTS if name in registries[kind]), "")


def _check_components(components: Sequence[tuple[str, str]]) -> int:
    """Check optimizers, regularizers and schedules; returns the number of those with findings."""
    from paddle_layers.testing.properties.components import check_component

    broken = 0
    for name, kind in components:
        try:
            echo(f"{name}: passed ({kind}, {check_component(kind, name)} checks)")
        except AssertionError as finding:
            broken += 1
            echo(f"{name}: failed ({kind})\n{finding}", err=True)
    return broken


@click.command()
@click.argument("names", nargs=-1)
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only this property; repeatable.")
@click.option("--fast", is_flag=True, help="Check only a few generated configs, for a fast edit-and-check cycle.")
def check(names: tuple[str, ...], properties: tuple[str, ...], fast: bool) -> None:
    """Run the conformance tests of the layers NAMES, or of all.

    Tests their examples and generated configs. Plugin authors add `--plugins FILE.py`. The guide "Conformance"
    describes the properties. NAMES may also be optimizers, regularizers and schedules, whose functions are evaluated.
    """
    from paddle_layers.define import registries
    from paddle_layers.testing import CONFIGS, FAST, NEEDS_CUDA, NEEDS_HYPOTHESIS, check_layer, has_cuda, has_hypothesis

    registry = registries["layer"]
    components = [(name, kind) for name in names if name not in registry and (kind := _kind_of(name))]
    known = {name for name, _ in components}
    if components and (properties or fast):
        name, kind = components[0]
        raise click.UsageError(f"--property and --fast are for layers, but `{name}` is of kind {kind}; remove them")
    wanted = [registry[name].name for name in names if name not in known]
    wanted = wanted if names else list(registry)
    broken = _check_components(components)
    if components and not wanted:
        if broken:
            raise click.exceptions.Exit(1)
        return
    reports = []
    for name in wanted:
        try:
            # All layers are checked, whatever fails: authors want one list.
            report = check_layer(
                name, raise_findings=False, configs=FAST if fast else CONFIGS, properties=properties or None
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        reports.append(report)
        if report.findings:
            echo(f"{name}: failed ({report})\n" + "\n".join(map(str, report.findings)), err=True)
        elif report.checks:
            echo(f"{name}: passed ({report})")
        else:
            echo(f"{name}: skipped (no check for --property)")
    failed = sum(bool(report.findings) for report in reports)
    if not has_hypothesis():
        # After the results, where it is not scrolled away.
        echo(NEEDS_HYPOTHESIS, err=True)
    if not has_cuda():
        echo(NEEDS_CUDA, err=True)
    checks, seconds = sum(report.checks for report in reports), sum(report.seconds for report in reports)
    totals = f"({checks} checks; {seconds:.0f} s)"
    if failed or broken:
        echo(f"{failed} of {len(reports)} layers failed {totals}", err=True)
        raise click.exceptions.Exit(1)
    if len(reports) > 1:
        echo(f"all {len(reports)} layers passed {totals}")
