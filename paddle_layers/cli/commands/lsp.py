"""`lsp`: the language server."""

from __future__ import annotations

import click

from ..output.terminal import echo


@click.command()
def command() -> None:
    """Run the language server on stdin and stdout.

    It provides diagnostics, completion, hover, go to definition and formatting of config files.
    """
    try:
        from paddle_layers.editor.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        echo("the language server requires pygls: pip install 'paddle-layers[lsp]'", err=True)
        raise click.exceptions.Exit(1) from None
    raise click.exceptions.Exit(serve())
