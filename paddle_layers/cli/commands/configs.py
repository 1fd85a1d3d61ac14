"""Commands on config files: `validate`, `fmt`, `convert`, `explain` and the language server `lsp`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..options import set_option
from ..terminal import echo

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic


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
def validate(files: tuple[str, ...], style: str, settings: tuple[str, ...]) -> None:
    """Check network and training FILES without running them.

    FILES are in text format or JSON. For a training file, also reads the data and the header of the initial weights,
    and reports all errors with which `train` would stop before the first step.
    """
    from paddle_layers.config import ConfigError
    from paddle_layers.config.checking import validated
    from paddle_layers.config.diagnostics.rendering import render_github, render_json, render_text

    found, fine = [], []
    # All files are checked before the exit, so one run reports all errors.
    for file in files:
        try:
            what, faults, training = validated(file, settings, _sizes)
        except ConfigError as error:
            found += error.diagnostics
            continue
        later = _training_faults(training)
        # W005 is the same as E310 for a file whose test data may come from Python.
        missing_tests = {fault.start for fault in later if fault.code == "E310"}
        faults = [fault for fault in faults if fault.code != "W005" or fault.start not in missing_tests]
        known = {(fault.start, fault.message) for fault in faults}
        faults += [fault for fault in later if (fault.start, fault.message) not in known]
        found += sorted(faults, key=lambda fault: (fault.source.name == file, fault.start))
        if what and not later:
            fine.append((file, what))
    if style == "json":
        echo(render_json(found))
    elif style == "github":
        # Without annotations, not even an empty line, which GitHub would show in the log.
        echo(render_github(found), nl=bool(found))
    else:
        for file, what in fine:
            echo(f"{file}: valid, {what}")
        if found:
            echo(render_text(found), err=True)
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise click.exceptions.Exit(1)


def _sizes(training: Training, layers: Sequence[str]) -> Mapping[str, int]:
    """The sizes of data layers that the training would take from its data."""
    from paddle_layers.training.training_checks import unread_sizes

    return unread_sizes(training, layers)


def _training_faults(training: Training | None) -> list[Diagnostic]:
    """The errors of a training file that `train` would only raise with the data, weights and callbacks."""
    if training is None:
        return []
    # Only here: validations of networks need not wait for the import.
    from paddle_layers.training.training_checks import training_faults

    return training_faults(training)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; exit with status 1 if a file is not formatted.")
@click.option("--stdout", is_flag=True, help="Write the formatted text to stdout; change nothing.")
def fmt(files: tuple[Path, ...], check: bool, stdout: bool) -> None:
    """Format config FILES in place, keeping their comments."""
    if check and stdout:
        raise click.UsageError("--check and --stdout are mutually exclusive")
    from paddle_layers.config import format_text
    from paddle_layers.config.files import BINARY, read_file

    from ..files import replace_file

    changed = 0
    for file in files:
        # A usage error: the file may be valid, but there is nothing to format.
        if file.suffix in BINARY:
            raise click.UsageError(f"{file} is a binary config; convert it to text with `paddle-layers convert`")
        text = read_file(file)
        formatted = format_text(text, str(file))
        if stdout:
            click.echo(formatted, nl=False)  # the file itself, as it would be written
        elif formatted != text:
            changed += 1
            # With --check it is the error, without it the result.
            echo(f"{file}: {'would be reformatted' if check else 'reformatted'}", err=check)
            if not check:
                replace_file(file, formatted.encode())
    if check and changed:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def convert(source: Path, target: Path, overwrite: bool) -> None:
    """Convert the network or training file IN to OUT.

    The extension selects the format: text (.textproto), JSON (.json) or binary (.binpb). JSON and binary files have no
    comments. A training file still refers to the same network file.
    """
    from paddle_layers.config.conversion import FORMATS, converted

    from ..files import replace_file

    for path in (source, target):
        if path.suffix not in FORMATS:
            raise click.UsageError(f"{path}: unsupported extension; expected one of {', '.join(FORMATS)}")
    if target.exists() and not overwrite:
        echo(f"{target} already exists; add --overwrite to replace it", err=True)
        raise click.exceptions.Exit(1)
    content, lost = converted(source, FORMATS[target.suffix])
    replace_file(target, content)
    echo(f"{target}: {FORMATS[target.suffix]}, {len(content)} bytes" + (", without the comments" if lost else ""))


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
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


@click.command()
def lsp() -> None:
    """Run the language server on stdin and stdout.

    It provides diagnostics, completion, hover, go to definition and formatting of config files.
    """
    try:
        from paddle_layers.editor.server import serve
    except ModuleNotFoundError as error:
        # A missing module of another name is a broken installation, which a hint at the extra would hide.
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        echo("the language server requires pygls: pip install 'paddle-layers[lsp]'", err=True)
        raise click.exceptions.Exit(1) from None
    raise click.exceptions.Exit(serve())
