"""`explain`: the page of a diagnostic code."""

from __future__ import annotations

import click

from ..output.terminal import echo


@click.command()
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain the diagnostic CODE with examples, or list all codes."""
    from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
    from paddle_layers.define.errors import suggestion

    if code is None:
        for name, explanation in EXPLANATIONS.items():
            echo(f"{name}  {explanation.title}")
        return
    found = EXPLANATIONS.get(code.upper())
    if found is None:
        near = suggestion(code.upper(), EXPLANATIONS) or "; run `paddle-layers explain` to list all codes"
        echo(f"unknown code `{code}`{near}", err=True)
        raise click.exceptions.Exit(1)
    echo(str(found))
