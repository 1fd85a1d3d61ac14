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
"""Trials in the table; `runs` has all of them."""


@click.command()
@click.argument("file")
@click.option(
    "--vary",
    metavar="FIELD=VALUES",
    multiple=True,
    help="A field as --set names it with a range, 1e-4..1e-1, drawn by its logarithm with 1e-4..1e-1:log, or with "
    "choices, sgd,adam. Whole numbers where both ends are. May be given several times.",
)
@click.option("--trials", type=IntRange(min=1), default=20, show_default=True, help="Trainings in all.")
@click.option("--watch", metavar="NAME", default="loss", show_default=True, help="The result of the test that counts.")
@click.option("--mode", type=click.Choice(["min", "max"]), help="Which values are better, where it is not known.")
@click.option("--processes", type=IntRange(min=1, max=1024), default=1, show_default=True, help="Trainings at a time.")
@click.option("--output", metavar="DIR", help="Folder of the trials; by default the training's with -sweep behind it.")
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
    """Look for good settings of the training FILE: trials with values that Optuna chooses from what came out before.

    Each trial is a run in a folder of its own. The same command goes on where it was stopped or killed, with more
    --trials too; given in several terminals, or machines with one folder, all of them do trials of one sweep.
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
        echo("no trial has ended")
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
    echo(f"Train with its settings: paddle-layers train {shlex.join([sweep.file, *plugins, *words])}")
