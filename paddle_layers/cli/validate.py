"""`validate`: every fault of network and training files."""

from __future__ import annotations

import click

from .terminal import echo


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How faults are written: for people on stderr, as a JSON list or as GitHub annotations on stdout.",
)
def command(files: tuple[str, ...], style: str) -> None:
    """Check network and training FILES, in text format or JSON, without running anything."""
    from paddle_layers.config import ConfigError, validate
    from paddle_layers.config.diagnostics.rendering import render_github, render_json, render_text

    found, fine = [], []
    for file in files:
        try:
            what, faults = validate(file)
        except ConfigError as error:
            found += error.diagnostics
        else:
            fine.append((file, what))
            found += faults
    if style == "json":
        echo(render_json(found))
    elif style == "github":
        echo(render_github(found), nl=bool(found))
    else:
        for file, what in fine:
            echo(f"{file}: valid, {what}")
        if found:
            echo(render_text(found), err=True)
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise click.exceptions.Exit(1)
