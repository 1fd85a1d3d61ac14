"""`validate`: all errors of network and training files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options.settings import set_option
from ..output.terminal import echo

if TYPE_CHECKING:
    from paddle_layers.config import Training


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="Format of diagnostics: text on stderr, or JSON or GitHub annotations on stdout.",
)
@set_option
def command(files: tuple[str, ...], style: str, settings: tuple[str, ...]) -> None:
    """Check network and training FILES without running them.

    FILES are in text format or JSON. Also checks that lazily loaded data, such as images in folders, exist and match
    the network.
    """
    from paddle_layers.config import ConfigError
    from paddle_layers.config.checking import validated
    from paddle_layers.config.diagnostics.rendering import render_github, render_json, render_text

    found, fine = [], []
    for file in files:
        try:
            what, faults, training = validated(file, settings)
            _check_data(training)
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


def _check_data(training: Training | None) -> None:
    """Check the data of a training as far as possible without reading all of them. Raises `ConfigError`."""
    owners = [source.definition.owner for source in training.source] if training is not None else []
    hooks = ("indexed", "names", "word_fields")
    if training is None or not any(getattr(owner, hook, False) for owner in owners for hook in hooks):
        return
    from paddle_layers.config import ConfigError
    from paddle_layers.training.source_checks import source_faults

    if faults := source_faults(training):
        raise ConfigError(faults)
