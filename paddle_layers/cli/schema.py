"""`schema`: what other programs need to know of the registry, and the numbers that keep binary configs readable."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def command() -> None:
    """Schemas of the config files for other programs; numbers of the binary format; changes between versions."""


@command.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def json(directory: Path) -> None:
    """Write JSON Schema of network and training files to DIRECTORY, for editors."""
    import json as text

    from paddle_layers.codegen.json_schema import ROOTS, json_schema

    directory.mkdir(parents=True, exist_ok=True)
    for kind in ROOTS:
        path = directory / f"{kind}.schema.json"
        path.write_text(text.dumps(json_schema(kind), indent=1) + "\n", encoding="utf-8")
        click.echo(path)


@command.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def proto(directory: Path) -> None:
    """Write .proto files of network and training files to DIRECTORY, for other languages."""
    from paddle_layers.codegen.proto import write_protos

    for path in write_protos(directory):
        click.echo(path)


@command.command()
@click.option("--check", is_flag=True, help="Change nothing; status 1 when something is not locked.")
@click.option("--package", default="paddle_layers", show_default=True, help="Importable name of the package.")
def lock(check: bool, package: str) -> None:
    """Give numbers to what is new in a package, for binary configs; those of what was removed are never used again."""
    from paddle_layers.define import registries
    from paddle_layers.define.numbers import lock_path, lock_text, next_lock

    definitions = [d for registry in registries.values() for d in registry.values() if d.package == package]
    path = lock_path(package)
    if path is None or not definitions:
        raise click.UsageError(f"no installed package `{package}` registers anything")
    text = lock_text(next_lock(package, definitions))
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        click.echo(f"{path} is up to date", err=True)
    elif check:
        click.echo(f"{path} is stale: run `paddle-layers schema lock --package {package}` and commit it", err=True)
        raise click.exceptions.Exit(1)
    else:
        path.write_text(text, encoding="utf-8")
        click.echo(path)
