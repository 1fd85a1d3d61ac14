"""The option `--plugins` of every command."""

from __future__ import annotations

from collections.abc import Sequence

import click

_FILES = f"{__name__}.files"
"""Key of the plugin files in a click context."""


def plugins_option() -> click.Option:
    """A new option for each command, since click stores state in it."""
    return click.Option(
        ["--plugins"],
        multiple=True,
        metavar="FILE.py",
        help="Plugin file to load first; repeatable.",
        callback=_load,
        expose_value=False,
        is_eager=True,
    )


def given_plugins() -> Sequence[str]:
    """The `--plugins` files of the running command."""
    files: Sequence[str] = click.get_current_context().meta.get(_FILES, ())
    return files


def _load(ctx: click.Context, _: click.Parameter, files: tuple[str, ...]) -> None:
    if files and not ctx.resilient_parsing:
        from paddle_layers.define import load_plugin

        for file in files:
            load_plugin(file)
        ctx.meta.setdefault(_FILES, []).extend(files)
