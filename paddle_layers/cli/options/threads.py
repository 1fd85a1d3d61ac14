"""The option `--threads` of all commands that compute on the CPU."""

from __future__ import annotations

import click

from paddle_layers.define.machine import usable_cores

from .ranges import IntRange


def _limit(_context: click.Context, _parameter: click.Parameter, count: int | None) -> None:
    if count is None:
        return
    if count > usable_cores():
        cores = f"{usable_cores()} core{'s' * (usable_cores() != 1)}"
        raise click.BadParameter(f"{count} threads exceed the {cores} available to this process")
    from paddle_layers.runtime.devices.cpu.threads import limit_threads

    limit_threads(count)


def is_given(name: str) -> bool:
    """Whether an option is present on the command line."""
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


threads_option = click.option(
    "--threads",
    type=IntRange(min=1),
    callback=_limit,
    expose_value=False,
    help="Number of CPU threads; by default the number of available cores.",
)
