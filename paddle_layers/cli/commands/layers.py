"""`layers`: what is registered, or the page of one definition."""

from __future__ import annotations

import click

from ..output.terminal import echo, print_markdown


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the layers and everything else that is registered; with NAME print its page."""
    if name is None:
        _list()
    else:
        _page(name)


def _list() -> None:
    from paddle_layers.define import registries

    for kind, registry in registries.items():
        definitions = registry.values()
        if not definitions:
            continue
        click.secho(f"{kind}s" if not kind.endswith("y") else kind, bold=True)
        width = max(len(definition.name) for definition in definitions)
        for definition in definitions:
            echo(f"  {definition.name:{width}}  {definition.summary}")


def _page(name: str) -> None:
    from paddle_layers.codegen.pages import terminal_page
    from paddle_layers.define import registries

    found = [registry.get(name) for registry in registries.values()]
    pages = [terminal_page(definition) for definition in found if definition is not None]
    if not pages:
        pages = [terminal_page(registries["layer"][name])]  # raises, with the nearest name
    print_markdown("\n".join(pages))
