"""Options shared by commands: `--plugins`, `--set`, `--weights`, `--device`, `--threads`, and number types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from paddle_layers.define.decimals import is_plain
from paddle_layers.define.machine import usable_cores

from .terminal import echo

if TYPE_CHECKING:
    from paddle_layers.config import Training


class IntRange(click.IntRange):
    """An integer in a range; `1_000` and digits of other scripts are rejected."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer."""
        # Python's `int` accepts underscores and digits of all scripts, which config files do not.
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"{value!r} is not a valid integer.", param, ctx)
        return super().convert(value, param, ctx)


class FloatRange(click.FloatRange):
    """A number in a range; `1_000` and digits of other scripts are rejected."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        return super().convert(value, param, ctx)


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
    # Completion of the shell parses the line as well, and must not run code.
    if files and not ctx.resilient_parsing:
        from paddle_layers.define import load_plugin

        for file in files:
            load_plugin(file)
        # In the context, since the option may be given to the group and to the command; both count.
        ctx.meta.setdefault(_FILES, []).extend(files)


set_option = click.option(
    "--set",
    "settings",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Override a field of FILE, such as optimizer.learning_rate=0.01 or net.layer[fc1].fc.size=20; an empty value "
    "removes it. Repeatable.",
)


def chosen(file: str, settings: Sequence[str], weights: str | None) -> str | Training:
    """The file, or its training with the overrides applied, for some trained weights. Raises `ConfigError`."""
    if not settings:
        return file
    from paddle_layers.config.files import read_file
    from paddle_layers.config.trainingfiles import loads_training
    from paddle_layers.training.inference.input_data import sizes_of_weights

    sizes = sizes_of_weights(weights)
    return loads_training(read_file(file), file, sources_needed=False, settings=settings, sizes=sizes)


DEVICES = ("cpu", "cuda", "auto")
"""The devices of `paddle_layers.runtime.devices`, whose import is slow: a test compares the two."""

device_option = click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="cpu",
    show_default=True,
    help="Device of the network; auto selects CUDA if there is a GPU.",
)


def _limit(_context: click.Context, _parameter: click.Parameter, count: int | None) -> None:
    if count is None:
        return
    # A container may limit the cores by a share of time that numba does not see.
    if count > usable_cores():
        cores = f"{usable_cores()} core{'s' * (usable_cores() != 1)}"
        raise click.BadParameter(f"{count} threads exceed the {cores} available to this process")
    from paddle_layers.runtime.devices.cpu.pool import limit_threads

    limit_threads(count)


def is_given(name: str) -> bool:
    """Whether an option is present on the command line."""
    # The value does not tell: it may be given and equal to the default.
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


threads_option = click.option(
    "--threads",
    type=IntRange(min=1),
    callback=_limit,
    expose_value=False,
    help="Number of CPU threads; by default the number of available cores.",
)


weights_option = click.option(
    "--weights", metavar="FILE", help="Weights file; by default the best weights in the output folder of FILE."
)


class WithWeights(Protocol):
    """A trained network that is ready to be used."""

    @property
    def weights(self) -> Path:
        """Their file."""

    @property
    def note(self) -> str:
        """Notes about conversions of the weights; empty without any."""


def say_weights(run: WithWeights, chosen: str | None) -> None:
    """Report on stderr which weights are used if the user chose none, and their conversions."""
    from paddle_layers.training.callbacks.monitoring import BEST

    if chosen is None and run.weights.name == BEST:
        echo(f"weights: {run.weights} (best validation or test)", err=True)
    if run.note:
        echo(f"note: {run.weights}{run.note}", err=True)
