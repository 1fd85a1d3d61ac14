"""The command group: lazy imports, `--plugins` everywhere, no traceback for a user's mistake.

Exit status: 0 success, 1 error in the input, 2 wrong usage. Messages go to stderr, results to stdout.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import click

from paddle_layers.define.standard_streams import dropping, open_closed_descriptors

from .options import plugins_option
from .terminal import CommandGroup, echo

# By name and not by class: importing the classes would import numba, also for an error such as a missing file.
USER_ERRORS = (
    ("paddle_layers.config", "ConfigError"),
    ("paddle_layers.define.errors", "DefinitionError"),
    ("paddle_layers.define.errors", "InvalidAttributes"),
    ("paddle_layers.define.errors", "ShapeError"),
    ("paddle_layers.define.errors", "UnknownName"),
    ("paddle_layers.data", "DataError"),
    ("paddle_layers.runtime", "DeviceError"),
    ("paddle_layers.runtime", "FeedError"),
    ("paddle_layers.runtime", "SaveError"),
    ("paddle_layers.runtime", "WeightsError"),
    ("paddle_layers.training", "TrainingError"),
    ("paddle_layers.exchange.onnx_in.model", "ImportFailure"),
    ("paddle_layers.exchange.onnx_out.model", "ExportError"),
    ("paddle_layers.exchange.caffe_in.binary", "CaffeError"),
)
"""Module and name; a module that was never imported has raised nothing."""
GROUPS = {
    "Train and use networks": {
        "new": "scaffolding",
        "validate": "configs",
        "show": "show",
        "train": "training",
        "evaluate": "inference",
        "predict": "inference",
        "generate": "inference",
        "warm": "show",
    },
    "Compare runs": {"runs": "training", "sweep": "training"},
    "Look up and edit": {
        "layers": "reference",
        "explain": "configs",
        "fmt": "configs",
        "lsp": "configs",
    },
    "Exchange with other formats": {
        "convert": "configs",
        "export": "exchange",
        "import": "exchange",
        "weights": "exchange",
    },
    "Extend": {"new-plugin": "scaffolding", "check": "plugins", "plugins": "plugins"},
    "Generate documentation and schemas": {"docs": "reference", "stubs": "reference", "schema": "schema"},
}
"""The commands by purpose, in the order in which a newcomer needs them, and their modules in `commands/`."""
MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}
"""The modules of all commands."""
_FUNCTIONS = {"import": "import_", "new-plugin": "new_plugin"}
"""Functions of commands whose names are not Python identifiers."""


def user_message(error: Exception) -> str | None:
    """The message of a user error; None for an internal error of the library."""
    if isinstance(error, OSError):
        # Without the number of the error, which `str` would print.
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"not a UTF-8 text file: {error}"
    if isinstance(error, tuple(_loaded())):
        return str(error)
    return None


def _loaded() -> list[type[Exception]]:
    found = (getattr(sys.modules.get(module), name, None) for module, name in USER_ERRORS)
    return [kind for kind in found if kind is not None]


class Commands(CommandGroup):
    """Lazily imported commands; user errors become messages."""

    sections = GROUPS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help text."""
        # click sorts by name; the order of the table is that in which a newcomer needs the commands.
        return [*MODULES, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None if there is no command of that name."""
        if cmd_name not in MODULES:
            return super().get_command(ctx, cmd_name)
        # Imported when it is used: `validate` must not wait for what `train` imports.
        module = importlib.import_module(f".commands.{MODULES[cmd_name]}", __package__)
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        command.name = cmd_name
        # `--plugins` is accepted before and after the name of the command: both places are natural.
        for each in (command, *getattr(command, "commands", {}).values()):
            if not any(parameter.name == "plugins" for parameter in each.params):
                each.params.append(plugins_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click, but with a suggestion for an unknown command."""
        if args and not args[0].startswith("-") and args[0] not in MODULES:
            from paddle_layers.define.errors import suggestion

            ctx.fail(f"no such command `{args[0]}`{suggestion(args[0], MODULES)}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """As in click, after loading the plugin files."""
        with _errors_as_messages():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _errors_as_messages():
            return super().invoke(ctx)


@contextlib.contextmanager
def _errors_as_messages() -> Iterator[None]:
    """Report user errors as a message with exit status 1."""
    try:
        yield
    except click.NoSuchOption as error:
        # Before the general branch: it is one of the exceptions of click that are handled there.
        raise _harmless(_in_the_file(error)) from None
    except click.ClickException as error:
        raise _harmless(error) from None
    except (click.exceptions.Exit, click.Abort, BrokenPipeError):
        # Not errors: an exit status that was chosen, Ctrl-C, and a reader such as `head` that has read enough.
        raise
    except MemoryError as error:  # here, where nothing has to be imported
        echo(f"out of memory{': ' if str(error) else ''}{error}", err=True)
        raise click.exceptions.Exit(1) from None
    except KeyboardInterrupt as stop:  # its message reports what was saved
        if str(stop):
            echo(str(stop), err=True)
        raise
    except Exception as error:  # re-raised unless it is a user's error; those classes are imported on failure only
        message = user_message(error)
        if message is None:
            raise
        echo(message, err=True)
        raise click.exceptions.Exit(1) from None


def _in_the_file(error: click.NoSuchOption) -> click.UsageError:
    """The error for an option that is a field of a training file, or has another name here."""
    options = error.ctx.command.params if error.ctx is not None else []
    if error.option_name == "--force" and any(option.name == "overwrite" for option in options):
        return click.UsageError("no such option `--force`; write `--overwrite` to replace existing files", error.ctx)
    if error.option_name in ("--gpu", "--cuda") and any(option.name == "device" for option in options):
        return click.UsageError(f"no such option `{error.option_name}`; write `--device cuda`", error.ctx)
    from paddle_layers.config.binding.headers import spec

    name = error.option_name.lstrip("-").replace("-", "_")
    training = spec("Training")
    field, (block, inner) = training.names.get(name, ""), training.home_of(name)
    written = f"{field}: ..." if field else f"{block} {{ {inner}: ... }}" if block else ""
    # Users of other frameworks try `--lr` and `--epochs`, which are fields of the training file here.
    if error.ctx is None or error.ctx.info_name != "train" or not written:
        return error
    path = field or f"{block}.{inner}"
    message = f"no such option `{error.option_name}`; set `{written}` in the training file, or write `--set {path}=...`"
    return click.UsageError(message, error.ctx)


def _harmless(error: click.ClickException) -> click.ClickException:
    """The error, with control characters of its message escaped."""
    from paddle_layers.define.escaping import printable

    found = error.format_message()
    shown = printable(found)
    if shown == found:
        return error
    # click prints its exceptions itself, past our escaping, and quotes arguments that may come from file names.
    return click.UsageError(shown, error.ctx) if isinstance(error, click.UsageError) else click.ClickException(shown)


@click.group(cls=Commands, params=[plugins_option()], context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="paddle-layers", prog_name="paddle-layers")
def commands() -> None:
    """Validate, train and run neural networks described in text files."""


def main() -> None:
    """The entry point of the console script."""
    warnings.showwarning = _show_warning
    sys.excepthook = _show_fault
    # With a closed stdout (`>&-`), the next opened file would get its descriptor, and results would be written into it.
    open_closed_descriptors()
    # A lost stderr, such as that of a closed terminal, must not end a training.
    sys.stderr = dropping(sys.stderr)
    try:
        commands(prog_name="paddle-layers")
    finally:
        _flush_results()


def _flush_results() -> None:
    """Exit with status 1 if stdout cannot be written; Python would exit with 120 and a traceback."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        # Otherwise Python would flush it once more at exit, with the same error.
        sys.stdout = None
        if not isinstance(error, BrokenPipeError):  # the reader has closed the pipe
            echo(f"cannot write to stdout: {getattr(error, 'strerror', None) or error}", err=True)
        sys.exit(1)


def _show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """Print a warning without its location in the library."""
    from paddle_layers.config import ConfigWarning

    echo(message if isinstance(message, ConfigWarning) else f"warning: {message}", err=True)


def _show_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an internal error, escaped, since its message may quote a file."""
    import traceback

    echo("".join(traceback.format_exception(kind, error, trace)), err=True, nl=False)
