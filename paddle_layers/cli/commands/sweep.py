"""`sweep`: hyperparameter search."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..options.device import device_option
from ..options.plugins import given_plugins
from ..options.ranges import IntRange
from ..options.settings import set_option
from ..options.threads import threads_option
from ..output.terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.training.sweeps.search import Trial
    from paddle_layers.training.sweeps.study import Sweep

SHOWN = 10
"""Maximum number of trials in the table; `runs` lists all of them."""


@click.command()
@click.argument("file")
@click.option(
    "--vary",
    metavar="FIELD=VALUES",
    multiple=True,
    help="Field to vary, named as in --set: a range, 1e-4..1e-1 or 1e-4..1e-1:log (log scale), or choices, sgd,adam. "
    "Integer bounds search integers. Repeatable.",
)
@click.option("--trials", type=IntRange(min=1), default=20, show_default=True, help="Total number of trials.")
@click.option("--watch", metavar="NAME", default="loss", show_default=True, help="Test result to optimize.")
@click.option(
    "--mode", type=click.Choice(["min", "max"]), help="Minimize or maximize the result, if this is not known."
)
@click.option(
    "--processes", type=IntRange(min=1, max=1024), default=1, show_default=True, help="Number of trials in parallel."
)
@click.option(
    "--output", metavar="DIR", help="Folder of the trials; by default the output folder of FILE with the suffix -sweep."
)
@set_option
@device_option
@threads_option
def command(
    file: str,
    vary: tuple[str, ...],
    trials: int,
    watch: str,
    mode: str | None,
    processes: int,
    output: str | None,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Tune hyperparameters of the training FILE with Optuna.

    Each trial is a run in a separate folder. The same command resumes an interrupted sweep and accepts more --trials;
    several terminals, or machines with a shared folder, work on the same sweep.
    """
    from paddle_layers.training.sweeps.search import prepare_sweep, run_sweep

    sweep = prepare_sweep(
        file,
        vary,
        watch=watch,
        mode=mode,
        trials=trials,
        output=output,
        device=device,
        settings=settings,
        plugins=given_plugins(),
    )
    _print(sweep, run_sweep(sweep, processes, lambda text: echo(text, err=True)))


def _print(sweep: Sweep, trials: Sequence[Trial]) -> None:
    from rich.table import Table

    from paddle_layers.training.sweeps.study import trial_folder

    done = [one for one in trials if one.value is not None]
    if not done:
        echo("no trial has finished")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("trial", justify="right")
    table.add_column(sweep.watch, justify="right")
    names = [setting.partition("=")[0] for setting in done[0].settings]
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for one in done[:SHOWN]:
        table.add_row(str(one.number), f"{one.value:.4g}", *(text.partition("=")[2] for text in one.settings))
    print_table(table)
    best, failed = done[0], len(trials) - len(done)
    echo("")
    echo(f"Best of {len(done)} trials{f', {failed} failed' if failed else ''}: {trial_folder(sweep, best.number)}")
    words = [word for setting in (*sweep.settings, *best.settings) for word in ("--set", setting)]
    plugins = [word for plugin in sweep.plugins for word in ("--plugins", plugin)]
    echo(f"Train with these settings: paddle-layers train {shlex.join([sweep.file, *plugins, *words])}")
