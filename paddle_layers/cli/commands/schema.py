"""`schema`: schemas of the registry for other programs, and the field numbers of binary configs."""

from __future__ import annotations

from pathlib import Path

import click

from ..terminal import CommandGroup, echo


@click.group(cls=CommandGroup)
def schema() -> None:
    """Export config schemas, lock field numbers, compare versions."""


@schema.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def json(directory: Path) -> None:
    """Write the JSON Schemas of network and training files to DIRECTORY, for editors."""
    import json as text

    from paddle_layers.codegen.json_schema import ROOTS, json_schema
    from paddle_layers.define.output_folders import write_texts

    schemas = {f"{kind}.schema.json": text.dumps(json_schema(kind), indent=1) + "\n" for kind in ROOTS}
    for path in write_texts(directory, schemas):
        echo(path)


@schema.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def proto(directory: Path) -> None:
    """Write the .proto files of configs and of `schema export` to DIRECTORY, for other languages."""
    from paddle_layers.codegen.proto import write_protos

    for path in write_protos(directory):
        echo(path)


@schema.command()
@click.option("--check", is_flag=True, help="Change nothing; exit with status 1 if the lock file is stale.")
@click.option("--package", default="paddle_layers", show_default=True, help="Import name of the package.")
def lock(check: bool, package: str) -> None:
    """Assign binary field numbers to the new definitions of a package; never reuses removed numbers."""
    from paddle_layers.define import registries
    from paddle_layers.define.messages.numbers import lock_changes, lock_path, lock_text, next_lock, read_lock

    definitions = [d for registry in registries.values() for d in registry.values() if d.package == package]
    path = lock_path(package)
    if path is None or not definitions:
        raise click.UsageError(f"no installed package `{package}` registers definitions")
    new = next_lock(package, definitions)
    text, changes = lock_text(new), lock_changes(read_lock(package), new)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        echo(f"{path} is up to date", err=True)
        return
    # With --check the changes are the reason for the exit status, otherwise the result.
    for change in changes:
        echo(change, err=check)
    if check:
        echo(f"{path} is stale: run `paddle-layers schema lock --package {package}` and commit it", err=True)
        raise click.exceptions.Exit(1)
    path.write_text(text, encoding="utf-8")
    echo(path)


@schema.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(file: Path) -> None:
    """Write all registered definitions to FILE (.textproto, .json or .binpb), for `schema diff`."""
    from paddle_layers.codegen.compatibility import ENDS, registry_content, registry_def

    from ..files import replace_file

    if file.suffix not in ENDS:
        raise click.UsageError(f"{file}: unsupported extension; expected one of {', '.join(ENDS)}")
    message = registry_def()
    replace_file(file, registry_content(message, file.suffix))
    echo(f"{file}: {len(message.layers)} layers and {len(message.components)} other definitions")


@schema.command()
@click.argument("old")
@click.argument("new")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def diff(old: str, new: str, style: str) -> None:
    """Report the changes from OLD to NEW: files of `schema export`, or `current` for the registered definitions.

    Exits with status 1 if a change breaks configs, weights or programs without a new version of the definition.
    """
    import json as text

    from paddle_layers.codegen.compatibility import (
        RegistryFileError,
        differences,
        differences_data,
        differences_text,
        read_registry,
        registry_def,
    )

    try:
        before, after = (registry_def() if name == "current" else read_registry(Path(name)) for name in (old, new))
    except RegistryFileError as error:
        echo(str(error), err=True)
        raise click.exceptions.Exit(1) from None
    found = differences(before, after)
    if style == "json":
        echo(text.dumps(differences_data(found), indent=1))
    else:
        echo(differences_text(found) or "no changes")
    if any(difference.refused for difference in found):
        raise click.exceptions.Exit(1)
